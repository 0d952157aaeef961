package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const sample = "migration.sample.yaml"

func TestTheSampleIsAMigration(t *testing.T) {
	t.Parallel()
	m, err := readMigration(sample)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(here, "state"); m.State.Dir != want {
		t.Errorf("state.dir is %s, want %s", m.State.Dir, want)
	}
	if m.flushTimeout != 30*time.Second {
		t.Errorf("connect.flushTimeout is %s", m.flushTimeout)
	}
	if m.calm != 30*time.Second {
		t.Errorf("connect.calm is %s", m.calm)
	}
	attestsNothing(t, m)
	if diff := cmp.Diff([]string{"orders", "payments.eu"}, m.Topics); diff != "" {
		t.Error(diff)
	}
}

// attestsNothing holds that a migration that was copied says nothing in a person's
// name: every required attestation blocks until it is filled in.
func attestsNothing(t *testing.T, m *migration) {
	t.Helper()
	var got []string
	for _, f := range m.Attest.Check() {
		got = append(got, f.Check)
	}
	slices.Sort(got)
	want := []string{"attest/auto-restart-off", "attest/copy-only", "attest/flink-stopped", "attest/isolation", "attest/max-duplicates", "attest/rollback-window", "attest/sink-guarantee"}
	for _, point := range []string{"clusters-and-topics", "flink-versions", "image", "kubernetes", "limits", "sink-evidence", "target-names"} {
		want = append(want, "confirm/"+point)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// edited is the sample with one line replaced.
func edited(t *testing.T, old, text string) string {
	t.Helper()
	raw, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(raw), old) != 1 {
		t.Fatalf("the sample has %q not once", old)
	}
	path := filepath.Join(t.TempDir(), "migration.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryProblemNamesFileAndField(t *testing.T) {
	t.Parallel()
	const source = `  bootstrap: ["kafka-source-1:9092", "kafka-source-2:9092"] # PLAINTEXT, so far`
	for name, c := range map[string]struct{ old, text, want string }{
		"unknown section":                 {"topics: [orders, payments.eu]", "topic: [orders]", "topic: unknown field; the file has: source, target,"},
		"TLS":                             {source, source + "\n  tls: {ca: ca.pem}", "source.tls: unknown field; source has: bootstrap (brokers are reached in PLAINTEXT only, so far)"},
		"field inside a list":             {"accept: []", "accept: [{check: source/offset-expired, scop: orders-0:1, reason: r, by: b}]", "accept[0].scop: unknown field"},
		"field of an attestation":         {`copyOnly: {value: true, by: "", reason: ""}`, `copyOnly: {value: true, because: it is so}`, "attest.copyOnly.because: unknown field; attest.copyOnly has: value, by, reason"},
		"number as a setting":             {`tasks.max: "4"`, `tasks.max: 4`, `connector.config["tasks.max"]: want a text, found a number: put it in quotes`},
		"word that YAML takes for a bool": {`refresh.topics.enabled: "true"`, `refresh.topics.enabled: yes`, `connector.config["refresh.topics.enabled"]: want a text, found true or false: put it in quotes`},
		"field twice":                     {"topics: [orders, payments.eu]", "topics: [orders]\ntopics: [payments.eu]", `"topics" already set in map`},
		"bool as text":                    {"copyOnly: {value: true", `copyOnly: {value: "true"`, "attest.copyOnly.value: want true or false, found a text"},
		"one broker for a list":           {source, "  bootstrap: kafka-source-1:9092", "source.bootstrap: want a list, found a text"},
		"no port":                         {source, "  bootstrap: [kafka-source-1]", `source.bootstrap[0]: "kafka-source-1" is not HOST:PORT`},
		"no brokers":                      {source, "", "source.bootstrap: missing"},
		"worker without a scheme":         {`urls: ["http://connect-1:8083"]`, `urls: ["connect-1:8083"]`, "connect.urls[0]: "},
		"flush timeout without a unit":    {"flushTimeout: 30s", `flushTimeout: "30"`, `connect.flushTimeout: "30" is not a duration`},
		"calm without a unit":             {"calm: 30s", `calm: "30"`, `connect.calm: "30" is not a duration`},
		"a principal without its type":    {"# principal: User:mm2", "principal: mm2", `connect.principal: "mm2" is not TYPE:NAME, such as User:mm2`},
		"a principal without a name":      {"# sourcePrincipal: User:mm2-reader", "sourcePrincipal: 'User:'", `connect.sourcePrincipal: "User:" is not TYPE:NAME`},
		"one of three topics not named":   {"offset: connect-offsets, ", "", "connect.topics: the worker's offset.storage.topic is not named"},
		"a topic of the workers twice":    {"offset: connect-offsets", "offset: connect-configs", "connect.topics: the worker's config.storage.topic and offset.storage.topic cannot both be connect-configs"},
		"calm for longer than plans live": {"calm: 30s", "calm: 48h", "connect.calm: 48h0m0s is not shorter than a plan lives"},
		"flush timeout as a number":       {"flushTimeout: 30s", "flushTimeout: 30", "connect.flushTimeout: want a duration such as 30s, found a number"},
		"name of a connector":             {"name: flink-to-mm2", "name: flink/to/mm2", "connector.name: "},
		"two configs":                     {"  config:\n", "  file: connector.json\n  config:\n", "connector.file: connector.config is there too"},
		"config file that is not there":   {"connector:\n  name: flink-to-mm2", "connector:\n  file: none.json\n  name: flink-to-mm2", "connector.file: "},
		"positions from nowhere":          {"from: savepoint # or", "from: checkpoint # or", `positions.from: "checkpoint" is neither savepoint nor group`},
		"no savepoint":                    {"  savepoint: savepoints/savepoint-1b4098-816b420504c2\n", "", "positions.savepoint: missing"},
		"illegal topic":                   {"[orders, payments.eu]", "[orders, payments/eu]", "topics[1]: "},
		"topic twice":                     {"[orders, payments.eu]", "[orders, orders]", "topics[1]: orders stands at topics[0] already"},
		"no state":                        {"  dir: state #", "  # ", "state.dir: missing"},
		"unknown check":                   {"accept: []", "accept: [{check: source/expired, scope: orders-0:1, reason: r, by: b}]", `accept[0].check: there is no check "source/expired"`},
		"acceptance without a name":       {"accept: []", "accept: [{check: source/offset-expired, scope: orders-0:1, reason: r}]", "accept[0].by: missing"},
		"not YAML":                        {"topics: [orders, payments.eu]", "topics: [orders", "yaml: line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := edited(t, c.old, c.text)
			_, err := readMigration(path)
			if err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got: %v\nwant: %s: ... %s", err, path, c.want)
			}
			if got := exitStatus(err); got != exitUsage {
				t.Errorf("the exit status is %d, want %d", got, exitUsage)
			}
		})
	}
}

// Whoever mends a file wants to know of everything in it at once.
func TestAllProblemsAreNamedTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "migration.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readMigration(path)
	if err == nil {
		t.Fatal("an empty file was taken")
	}
	for _, field := range []string{"source.bootstrap", "target.bootstrap", "connect.urls", "connector.name", "connector.config", "positions.from", "state.dir"} {
		if !strings.Contains(err.Error(), path+": "+field+": missing") {
			t.Errorf("%s is not named in: %v", field, err)
		}
	}
}

// A value may be a secret that stands in the wrong place.
func TestNoProblemRepeatsAValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"password: hunter2", "source.consumer.sasl.jaas.config: [hunter2]", "accept: hunter2", "attest: {copyOnly: {value: hunter2}}"} {
		path := filepath.Join(t.TempDir(), "migration.yaml")
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readMigration(path); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
