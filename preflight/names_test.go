package preflight_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var shownNames = preflight.Names{
	Source: preflight.Brokers{Servers: "source-1:9092,source-2:9092"}, Target: preflight.Brokers{Servers: "target:9093", CommandConfig: "/etc/kafka/my client.properties"},
	Worker: "http://li:hunter2@connect:8083/", Connector: "flink to/mm2", Alias: `it's "east"`, Group: "copy orders", Job: "1b4098816b420504c2d0a5b6a5f4c3d2", Migration: "migration.yaml",
	Topics: map[string]string{"orders": "east.orders", "payments": "east.payments", "payments-0": "east.payments-0", "unnamed": ""},
}

// fillable are the placeholders that names and scopes fill; open are those that only
// whoever runs the command can.
var (
	fillable = []string{"<SOURCE>", "<TARGET>", "<WORKER>", "<CONNECTOR>", "<ALIAS>", "<GROUP>", "<JOB>", "<MIGRATION>", "<SCOPE>", "<OTHER>", "<PARTITION>", "<N>", "<COUNT>", "<TOPIC>", "<TARGET-TOPIC>", "<TRANSACTIONAL-ID>"}
	open     = []string{
		"<DIR>", "<FILE>", "<FOLDER>", "<TEXT>", "<END>", "<SERVERS>", "<WORKERS-CLUSTER>", "<CONNECT-GROUP>", "<CONSUMER-GROUP>", "<RETURN-GROUP>", "<PRINCIPAL>", "<USER>", "<NAME>", "<NUMBER>", "<KIND>",
		"<OFFSET>", "<M>", "<MS>", "<BYTES>", "<POLICY>", "<REPLICAS>", "<PARTITIONS>",
	}
	anyPlaceholder = regexp.MustCompile(`<[^<>\s]*>`)
	// bareWord is how a placeholder must not be written.
	bareWord = regexp.MustCompile(`(^|[ /=:(])(TOPIC|NAME|TARGET|SOURCE|WORKER|GROUP|PARTITION|COUNT|OFFSET|ALIAS|SCOPE|PRINCIPAL|JOB|DIR|FILE|FOLDER|SERVERS|N|M|ID)\b`)
	tool     = regexp.MustCompile(`kafka-[a-z-]+\.sh --|\bcurl |runbook -f|flink (stop|savepoint) -*<|kubectl `)
)

func TestEveryPlaceholderOfARemedyIsOneOfTheList(t *testing.T) {
	unused := slices.Concat(fillable, open)
	for _, c := range preflight.Checks() {
		if strings.Count(c.Remedy, "`")%2 != 0 {
			t.Errorf("%s: a command begins and does not end: %s", c.ID, c.Remedy)
		}
		for _, p := range anyPlaceholder.FindAllString(c.Remedy, -1) {
			if !slices.Contains(fillable, p) && !slices.Contains(open, p) {
				t.Errorf("%s: %s is in no list", c.ID, p)
			}
			unused = slices.DeleteFunc(unused, func(u string) bool { return u == p })
		}
		if bare := bareWord.FindString(c.Remedy); bare != "" {
			t.Errorf("%s: %q has to be a placeholder, such as <TOPIC>: %s", c.ID, bare, c.Remedy)
		}
		for i, part := range strings.Split(c.Remedy, "`") {
			if at := tool.FindString(part); i%2 == 0 && at != "" {
				t.Errorf("%s: the command %q is not between backticks: %s", c.ID, at, c.Remedy)
			}
		}
	}
	if unused = slices.DeleteFunc(unused, func(p string) bool { return p == "<COUNT>" }); len(unused) > 0 {
		t.Errorf("no remedy has %v", unused)
	}
}

// scopes are such as the checks report.
var scopes = []string{"", "orders", "orders-0", "orders-7:12", "east.orders-3", "orders-0:unlisted", "copy orders", "other connector", "copy-0-1", "42", `{"cluster":"old","topic":"x"}`}

// What is filled in leaves none of the placeholders that could be filled, and no secret;
// each command is one that a shell takes as it is meant.
func TestAFilledRemedyLeavesOnlyWhatNobodyCanKnow(t *testing.T) {
	ofScope := []string{"<SCOPE>", "<OTHER>", "<PARTITION>", "<N>", "<COUNT>", "<TOPIC>", "<TARGET-TOPIC>", "<TRANSACTIONAL-ID>"}
	remedies := map[string]string{}
	var findings []offsetmap.Finding
	for _, c := range preflight.Checks() {
		remedies[c.ID] = c.Remedy
		for _, scope := range scopes {
			findings = append(findings, offsetmap.Finding{Check: c.ID, Scope: scope})
		}
	}
	for _, r := range preflight.RemediesFor(findings, shownNames) {
		before, got := strings.Count(remedies[r.Check], "`"), r.Text
		for _, scope := range r.Scopes {
			if strings.Contains(got, "hunter2") || strings.Contains(got, "li:") {
				t.Errorf("%s %s: a secret: %s", r.Check, scope, got)
			}
			if strings.Count(got, "`") != before {
				t.Errorf("%s %s: other commands than before: %s", r.Check, scope, got)
			}
			for _, p := range anyPlaceholder.FindAllString(got, -1) {
				if !slices.Contains(open, p) && !slices.Contains(ofScope, p) {
					t.Errorf("%s %s: %s is known, and not filled in: %s", r.Check, scope, p, got)
				}
				if scope == "orders-7:12" && slices.Contains(ofScope, p) && r.Check != "offsets/foreign" { // whose scope is JSON
					t.Errorf("%s: the scope says what %s is: %s", r.Check, p, got)
				}
			}
		}
	}
}

// A shell gets of each filled command the words that are meant.
func TestAShellTakesAFilledCommandAsItIsMeant(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for _, c := range []struct {
		check, scope string
		want         []string
	}{
		{"target/retention", "east.orders", []string{"kafka-configs.sh", "--bootstrap-server", "target:9093", "--command-config", "/etc/kafka/my client.properties", "--alter", "--entity-type", "topics", "--entity-name", "east.orders"}},
		{"target/retention", "east.orders-3", []string{"kafka-configs.sh", "--bootstrap-server", "target:9093", "--command-config", "/etc/kafka/my client.properties", "--alter", "--entity-type", "topics", "--entity-name", "east.orders"}},
		{"source/retention", "orders-7", []string{"kafka-configs.sh", "--bootstrap-server", "source-1:9092,source-2:9092", "--alter", "--entity-type", "topics", "--entity-name", "orders"}},
		{"connector/state", "", []string{"curl", "-X", "PUT", "http://connect:8083/connectors/flink%20to%2Fmm2/stop"}},
		{"connector/double-writer", "the & other", []string{"curl", "-X", "PUT", "http://connect:8083/connectors/the%20&%20other/stop"}},
		{"config/producer-timeouts", "x", []string{"curl", "-X", "POST", "http://connect:8083/connectors/flink%20to%2Fmm2/restart?includeTasks=true&onlyFailed=true"}},
		{"offsets/unplanned", "gone-5", []string{"curl", "-X", "PATCH", "-H", "Content-Type: application/json", "http://connect:8083/connectors/flink%20to%2Fmm2/offsets", "-d", `{"offsets":[{"partition":{"cluster":"it's \"east\"","topic":"gone","partition":5},"offset":null}]}`}},
		{"offsets/foreign", `{"cluster":"o'ld","topic":"x"}`, []string{"curl", "-X", "PATCH", "-H", "Content-Type: application/json", "http://connect:8083/connectors/flink%20to%2Fmm2/offsets", "-d", `{"offsets":[{"partition":{"cluster":"o'ld","topic":"x"},"offset":null}]}`}},
		{"flink/sink-transactions", "copy-0-1", []string{"kafka-transactions.sh", "--bootstrap-server", "target:9093", "--command-config", "/etc/kafka/my client.properties", "describe", "--transactional-id", "copy-0-1"}},
		{"plan/expired", "", []string{"runbook", "-f", "migration.yaml", "plan"}},
	} {
		all := preflight.RemediesFor([]offsetmap.Finding{{Check: c.check, Scope: c.scope}}, shownNames)
		if len(all) != 1 || len(all[0].Commands) == 0 {
			t.Errorf("%s: %+v", c.check, all)
			continue
		}
		command := all[0].Commands[0]
		command, _, _ = strings.Cut(command, " --add-config") // what stands there is for a person
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf '%s\\n' "+command).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %s: %v: %s", c.check, command, err, out)
			continue
		}
		if diff := cmp.Diff(c.want, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.check, command, diff)
		}
	}
}

// A command in which something is left to fill in is none that a shell runs.
func TestAShellRunsNoCommandThatIsNotFilledIn(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	n := 0
	for _, r := range preflight.RemediesFor([]offsetmap.Finding{{Check: "source/retention", Scope: "orders"}, {Check: "target/retention"}, {Check: "flink/records-in-flight"}, {Check: "connector/state"}}, preflight.Names{}) {
		for _, command := range r.Commands {
			n++
			run := exec.CommandContext(t.Context(), sh, "-c", "echo ran "+command)
			run.Dir = t.TempDir()
			if out, _ := run.Output(); strings.Contains(string(out), "ran") {
				t.Errorf("%s runs: %s", command, out)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d commands", n)
	}
}

// Whatever things are called, a command does no more than it says.
func TestNoNameActsInACommand(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	for _, name := range []string{"$(touch pwned)", "a'; touch pwned; '", `a" && touch pwned "`, "x > pwned", "a|touch pwned", "a\\", "!!", "~", "{a,b}", "'", `"`, "#x", "*", "a b"} {
		brokers := preflight.Brokers{Servers: name, CommandConfig: name}
		n := preflight.Names{
			Source: brokers, Target: brokers, Worker: "http://connect:8083/" + name, Connector: name, Alias: name, Group: name, Job: name, Migration: name,
			Topics: map[string]string{"orders": name},
		}
		var findings []offsetmap.Finding
		for _, c := range preflight.Checks() {
			for _, scope := range []string{"", name, "orders", "orders-1:3", name + "-3"} {
				findings = append(findings, offsetmap.Finding{Check: c.ID, Scope: scope})
			}
		}
		var script strings.Builder
		commands := 0
		for _, r := range preflight.RemediesFor(findings, n) {
			for _, command := range r.Commands {
				if !anyPlaceholder.MatchString(command) {
					commands++
					script.WriteString("printf '%s\\n' " + command + " > /dev/null\n")
				}
			}
		}
		run := exec.CommandContext(t.Context(), bash, "-e", "-c", script.String())
		run.Dir = t.TempDir()
		out, err := run.CombinedOutput()
		left, _ := os.ReadDir(run.Dir)
		if err != nil || len(out) > 0 || len(left) > 0 || commands < 50 {
			t.Errorf("%q: of %d commands: %v, %q, files %v", name, commands, err, out, left)
		}
	}
}

func TestAScopeIsTakenForNothingThatItMayNotBe(t *testing.T) {
	for _, c := range []struct{ check, scope, want string }{
		{"source/retention", "payments-0", "--entity-name <TOPIC>"},                // a topic, and a partition of one
		{"source/retention", "elsewhere-0", "--entity-name <TOPIC>"},               // of no topic of the migration
		{"target/retention", "unnamed", "--entity-name <TARGET-TOPIC>"},            // called nobody knows what there
		{"flink/sink-transactions", "42", "--transactional-id <TRANSACTIONAL-ID>"}, // a count
		{"source/retention", "orders`id`", "--entity-name <TOPIC>"},
		{"offsets/foreign", "no JSON", `"partition":<SCOPE>`},
		{"offsets/unplanned", "no partition", `"topic":"<TOPIC>","partition":<N>`},
		{"source/offset-expired", "orders-0:12", "accepts orders-0:12:"},
		{"source/offset-expired", "orders-0", "accepts orders-0:"},
		{"source/offset-expired", "", "accepts <PARTITION>:<COUNT>:"},
	} {
		if got := preflight.RemedyFor(offsetmap.Finding{Check: c.check, Scope: c.scope}, shownNames); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: want %s in: %s", c.check, c.scope, c.want, got)
		}
	}
	odd := shownNames
	odd.Topics = map[string]string{"a": "b", "b": "c"}
	if got := preflight.RemedyFor(offsetmap.Finding{Check: "source/retention", Scope: "b"}, odd); !strings.Contains(got, "<TOPIC>") {
		t.Errorf("b is a topic of either side: %s", got)
	}
	for name, n := range map[string]preflight.Names{"backtick": {Group: "a`b"}, "unseen": {Group: "a\x1bb"}, "none": {}} {
		if got := preflight.RemedyFor(offsetmap.Finding{Check: "source/group-absent", Scope: "g"}, n); !strings.Contains(got, "<GROUP>") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, worker := range []string{"connect:8083", "://", "li:hunter2@connect"} {
		if got := preflight.RemedyFor(offsetmap.Finding{Check: "connector/state"}, preflight.Names{Worker: worker}); !strings.Contains(got, "PUT <WORKER>/") {
			t.Errorf("%s is no URL: %s", worker, got)
		}
	}
	if got := preflight.RemedyFor(offsetmap.Finding{Check: "ours/own"}, shownNames); got != "" {
		t.Errorf("of a check that is in no catalogue: %s", got)
	}
}

func TestFindingsThatAreMendedAlikeShareARemedy(t *testing.T) {
	got := preflight.RemediesFor([]offsetmap.Finding{
		{Check: "source/retention", Scope: "orders-0"}, {Check: "source/retention", Scope: "orders-1"}, {Check: "source/retention", Scope: "payments"}, {Check: "ours/own"},
	}, shownNames)
	var scopes [][]string
	for _, r := range got {
		scopes = append(scopes, r.Scopes)
	}
	if diff := cmp.Diff([][]string{{"orders-0", "orders-1"}, {"payments"}}, scopes); diff != "" {
		t.Error(diff)
	}
}

func TestATextIsFilledWithWhatHoldsForTheWholeMigration(t *testing.T) {
	const text = "it hangs: `kafka-transactions.sh --bootstrap-server <SOURCE> abort --topic orders --group '<SOURCE>' --partition <N>` of <SOURCE>"
	const want = "it hangs: `kafka-transactions.sh --bootstrap-server source-1:9092,source-2:9092 abort --topic orders --group '<SOURCE>' --partition <N>` of source-1:9092,source-2:9092"
	if got := shownNames.Fill(text); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
