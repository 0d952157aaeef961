package preflight_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var update = flag.Bool("update", false, "write the generated configs that the golden files hold")

func template(version string) preflight.Template {
	v, err := connectrest.ParseVersion(version)
	if err != nil {
		panic(err)
	}
	return preflight.Template{
		Version: v, SourceAlias: "source", SourceBootstrap: []string{"source-1:9092", "source-2:9092"}, TargetBootstrap: []string{"target-1:9092"},
		Topics: []string{"orders", "payments.eu"}, Naming: preflight.KeepNames, Isolation: offsetmap.ReadCommitted, Tasks: 4, TargetBrokers: 5,
	}
}

// What no config can mend stays.
func unavoidable(version string) []string {
	out := []string{}
	if version < "3.9" {
		out = append(out, "warn config/offset-syncs-unavoidable")
	}
	return out
}

func TestTheLinterHasNothingToSayOfAGeneratedConfig(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3"} {
		for _, naming := range []preflight.Naming{preflight.KeepNames, preflight.AliasInFront} {
			in := template(version)
			in.Naming = naming
			g, err := preflight.GenerateConfig(in)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := lint(t, with(g.Config), preflight.LintOptions{Version: in.Version, Topics: in.Topics})
			if diff := cmp.Diff(unavoidable(version), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", version, naming, diff)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(g.Config)), slices.Sorted(maps.Keys(g.Reasons))) {
				t.Errorf("%s: keys and reasons differ", version)
			}
			for key := range g.Left {
				if _, there := g.Config[key]; there {
					t.Errorf("%s: %s is said to be left out, and stands there", version, key)
				}
			}
		}
	}
}

func TestGeneratedConfigsAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.6", "3.8", "3.9", "4.3"} {
		g, err := preflight.GenerateConfig(template(version))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.MarshalIndent(g, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "generated", version+".json")
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(got, '\n'), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
			t.Errorf("%s (-golden +got):\n%s", path, diff)
		}
	}
}

// Workers of each version take it, and a sound migration stays sound with it.
func TestWorkersTakeAGeneratedConfig(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2", "4.3.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{version: version})
			in := template(version)
			in.SourceBootstrap, in.TargetBootstrap = l.source.ListenAddrs(), l.target.ListenAddrs()
			in.Topics, in.Isolation, in.TargetBrokers = []string{"orders", "payments"}, offsetmap.ReadUncommitted, 1
			g, err := preflight.GenerateConfig(in)
			l.must(err)
			v, err := l.client.Validate(t.Context(), mirrorSource, with(g.Config))
			l.must(err)
			if v.ErrorCount != 0 {
				t.Errorf("the worker refuses it: %+v", v)
			}
			l.config = g.Config
			l.put()
			l.want(l.judge(), unavoidable(version)...)
		})
	}
}

func TestATemplateThatDoesNotSayEnoughIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*preflight.Template)
		want   []string
	}{
		"nothing": {func(in *preflight.Template) { *in = preflight.Template{} }, []string{
			"isolation: ", "naming: ", "source alias: missing", "source bootstrap: missing", "target bootstrap: missing", "tasks: 0", "topics: missing", "version: unknown is not",
		}},
		"a worker that cannot alter offsets": {func(in *preflight.Template) { in.Version = connectrest.KafkaVersion(3, 5) }, []string{"version: 3.5.0 is older than 3.6"}},
		"equal aliases":                      {func(in *preflight.Template) { in.TargetAlias = "source" }, []string{`target alias: it is "source"`}},
		"the target's alias by default":      {func(in *preflight.Template) { in.SourceAlias = "target" }, []string{`target alias: it is "target"`}},
		"an alias with a space":              {func(in *preflight.Template) { in.SourceAlias = "a b" }, []string{`source alias: "a b" has characters`}},
		"an alias with a dot":                {func(in *preflight.Template) { in.SourceAlias, in.Naming = "a.b", preflight.AliasInFront }, []string{"source alias: an alias with a dot"}},
		"a broker without a port":            {func(in *preflight.Template) { in.TargetBootstrap = []string{"a:1", "b"} }, []string{`target bootstrap: "b" is not HOST:PORT`}},
		"a broker of port 0":                 {func(in *preflight.Template) { in.TargetBootstrap = []string{"b:0"} }, []string{`target bootstrap: "b:0" is not HOST:PORT`}},
		"a broker of port 65536":             {func(in *preflight.Template) { in.TargetBootstrap = []string{"b:65536"} }, []string{`target bootstrap: "b:65536" is not HOST:PORT`}},
		"a broker without a host":            {func(in *preflight.Template) { in.TargetBootstrap = []string{":9092"} }, []string{`target bootstrap: ":9092" is not HOST:PORT`}},
		"a broker with a space":              {func(in *preflight.Template) { in.TargetBootstrap = []string{"a b:9092"} }, []string{`target bootstrap: "a b:9092" is not HOST:PORT`}},
		"two brokers in one":                 {func(in *preflight.Template) { in.SourceBootstrap = []string{"a:1,b:2"} }, []string{`source bootstrap: "a:1,b:2" is not`}},
		"a topic twice":                      {func(in *preflight.Template) { in.Topics = []string{"a", "a"} }, []string{"topics: a stands twice"}},
		"a regex":                            {func(in *preflight.Template) { in.Topics = []string{"a.*"} }, []string{"topics: "}},
		"an internal topic":                  {func(in *preflight.Template) { in.Topics = []string{"__consumer_offsets"} }, []string{"topics: __consumer_offsets counts as internal"}},
		"a name of heartbeats":               {func(in *preflight.Template) { in.Topics = []string{"my-heartbeats"} }, []string{"topics: my-heartbeats would be written to source.my-heartbeats"}},
		"a cycle":                            {func(in *preflight.Template) { in.Topics, in.Naming = []string{"target.a"}, preflight.AliasInFront }, []string{"topics: target.a begins with the target's alias"}},
		"a name that grows too long": {func(in *preflight.Template) {
			in.Topics, in.Naming = []string{strings.Repeat("x", 245)}, preflight.AliasInFront
		}, []string{"topics: xxx"}},
		"no brokers before 3.9": {func(in *preflight.Template) { in.Version, in.TargetBrokers = connectrest.KafkaVersion(3, 8), 0 }, []string{"target brokers: missing"}},
		"negative numbers":      {func(in *preflight.Template) { in.TargetBrokers, in.MaxRequestSize, in.Tasks = -1, -1, -1 }, []string{"max request size: -1", "target brokers: -1", "tasks: -1"}},
		"a password":            {func(in *preflight.Template) { in.SourceSecurity = connectrest.Config{"ssl.key.password": password} }, []string{"source security: ssl.key.password holds a secret"}},
		"a password within a line": {func(in *preflight.Template) {
			in.TargetSecurity = connectrest.Config{"sasl.jaas.config": `PlainLoginModule required username="a" password="` + password + `";`}
		}, []string{"target security: sasl.jaas.config holds a secret"}},
		"a word of one's own within a line": {func(in *preflight.Template) {
			in.TargetSecurity = connectrest.Config{"sasl.jaas.config": "ScramLoginModule required username=a pwd=" + password + ";"}
		}, []string{"target security: sasl.jaas.config holds a secret"}},
		"what does not pass":       {func(in *preflight.Template) { in.SourceSecurity = connectrest.Config{"client.id": "a"} }, []string{"source security: client.id is no setting of security"}},
		"security of nobody's own": {func(in *preflight.Template) { in.ProducerSecurity = connectrest.Config{"security.protocol": "SSL"} }, []string{"producer security: there is no producer bootstrap"}},
	} {
		in := template("4.3")
		c.change(&in)
		g, err := preflight.GenerateConfig(in)
		if !errors.Is(err, preflight.ErrTemplate) || g.Config != nil {
			t.Errorf("%s: %v, %v", name, g, err)
			continue
		}
		lines := strings.Split(strings.TrimPrefix(err.Error(), preflight.ErrTemplate.Error()+": "), "\n")
		if len(lines) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, lines, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: %q, want %q", name, lines[i], want)
			}
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("%s: the error shows a secret", name)
		}
	}
}

func TestSecurityIsGivenToTheClientsThatNeedIt(t *testing.T) {
	t.Parallel()
	in := template("4.3")
	in.ProducerBootstrap, in.MaxRequestSize = []string{"target-1:9092"}, 5_000_000
	in.SourceSecurity = connectrest.Config{"sasl.jaas.config": `PlainLoginModule required username="a" password="${file:/etc/mm2:password}";`, "security.protocol": "SASL_SSL"}
	in.TargetSecurity = connectrest.Config{"ssl.keystore.password": "${env:KEYSTORE}"}
	in.ProducerSecurity = connectrest.Config{"sasl.mechanism": "SCRAM-SHA-512"}
	g, err := preflight.GenerateConfig(in)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"source.cluster.sasl.jaas.config":      in.SourceSecurity["sasl.jaas.config"],
		"source.cluster.security.protocol":     "SASL_SSL",
		"target.cluster.ssl.keystore.password": "${env:KEYSTORE}",
		"producer.override.sasl.mechanism":     "SCRAM-SHA-512",
		"producer.override.bootstrap.servers":  "target-1:9092",
		"producer.override.max.request.size":   "5000000",
	} {
		if g.Config[key] != want || g.Reasons[key] == "" {
			t.Errorf("%s is %q, want %q, because %q", key, g.Config[key], want, g.Reasons[key])
		}
	}
}

// Whatever topics there are, MirrorMaker 2 copies them and none beside them.
func TestGeneratedTopicsSelectThemselves(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-z][a-z0-9._-]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		in := template(rapid.SampledFrom([]string{"3.6", "3.9", "4.3"}).Draw(t, "version"))
		in.Topics = rapid.SliceOfNDistinct(name, 1, 5, rapid.ID[string]).Draw(t, "topics")
		g, err := preflight.GenerateConfig(in)
		if errors.Is(err, preflight.ErrTemplate) {
			t.Skip("a name that is never copied")
		}
		if err != nil {
			t.Fatal(err)
		}
		other := name.Draw(t, "other")
		for _, f := range preflight.Lint(with(g.Config), preflight.LintOptions{Version: in.Version, Topics: append([]string{other}, in.Topics...)}) {
			if f.Check == "config/topics-unselected" && f.Scope != other {
				t.Fatal(f)
			}
		}
		selected := true
		for _, f := range preflight.Lint(with(g.Config), preflight.LintOptions{Version: in.Version, Topics: []string{other}}) {
			selected = selected && f.Check != "config/topics-unselected"
		}
		if selected != slices.Contains(in.Topics, other) {
			t.Fatalf("%s is selected by %s: %t", other, g.Config["topics"], selected)
		}
	})
}

// A config is made for the version of the worker.
func ExampleGenerateConfig() {
	g, err := preflight.GenerateConfig(preflight.Template{
		Version:     connectrest.KafkaVersion(3, 8),
		SourceAlias: "source", SourceBootstrap: []string{"source:9092"}, TargetBootstrap: []string{"target:9092"},
		Topics: []string{"orders.v1"}, Naming: preflight.KeepNames, Isolation: offsetmap.ReadCommitted, Tasks: 4, TargetBrokers: 3,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"topics", "offset-syncs.topic.location"} {
		fmt.Printf("%s = %s\n  %s\n", key, g.Config[key], g.Reasons[key])
	}
	fmt.Println("without emit.offset-syncs.enabled:", g.Left["emit.offset-syncs.enabled"])
	// Output:
	// topics = orders\.v1
	//   the topics of the migration and no others: each entry is a regex, so dots are quoted
	// offset-syncs.topic.location = target
	//   before 3.9 offset-syncs are always written: there rather than to the source, where rights may lack and copying stall
	// without emit.offset-syncs.enabled: comes with 3.9; before it is ignored without a word
}

func TestTheSmallestTemplateValuesAreTaken(t *testing.T) {
	t.Parallel()
	in := template("4.3")
	in.Tasks, in.TargetBootstrap = 1, []string{"b:1", "b:65535"}
	if g, err := preflight.GenerateConfig(in); err != nil || g.Config["tasks.max"] != "1" {
		t.Errorf("%v, %v", g.Config, err)
	}
}
