package cutover

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Stage is where a scenario runs.
type Stage struct {
	Version connectrest.Version // of the worker
	Source  string              // bootstrap servers
	Target  string
	Connect string // base URL of the worker
	// FlushTimeout is the worker's offset.flush.timeout.ms.
	FlushTimeout time.Duration
	// StartTimeout is how long a resume may take to show.
	StartTimeout time.Duration
	// Patience bounds each wait for records.
	Patience time.Duration
	// Compact has the source's brokers compact their topics. With nil they do so
	// by themselves, soon.
	Compact func()
	// Kill ends the worker as SIGKILL does; Restart starts it again under the
	// same URL and returns when it answers.
	Kill, Restart func(testing.TB)
	// Seed decides when the worker is killed.
	Seed uint64
	// Figures takes what the oracle counts. With nil nobody does.
	Figures *Figures
}

// world is one scenario's view of a stage: clients, a folder, and names that no
// other scenario uses.
type world struct {
	Stage
	dir       string
	prefix    string
	connector string
	source    *kgo.Client
	target    *kgo.Client
	admin     struct{ source, target *kadm.Client }
	connect   *connectrest.Client
	client    flinkmm2.Connect    // what migrations use; connect, unless a bug is planted in it
	options   []flinkmm2.Option   // of migrations, after those of the stage
	selects   []string            // topics of the connector where a migration is of some of them; else nil
	scenario  string              // its name in the figures
	isolation offsetmap.Isolation // of the old job, and so of the connector
	kill      func()
	restart   func()
	blind     bool // the oracle looks away, so that the proof alone must notice
	log       func(format string, args ...any)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func newWorld(t testing.TB, s Stage) *world {
	t.Helper()
	// Topic and connector names follow the test's, so that a shared stage keeps
	// scenarios apart and a log tells them.
	prefix := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	if len(prefix) > 80 {
		prefix = prefix[len(prefix)-80:]
	}
	w := &world{
		Stage: s, dir: t.TempDir(), prefix: prefix, connector: prefix, log: t.Logf,
		scenario: t.Name(), isolation: offsetmap.ReadUncommitted,
		kill: func() { s.Kill(t) }, restart: func() { s.Restart(t) },
	}
	w.source, w.target = client(t, s.Source), client(t, s.Target)
	w.admin.source, w.admin.target = kadm.NewClient(w.source), kadm.NewClient(w.target)
	var err error
	if w.connect, err = connectrest.New(s.Connect); err != nil {
		t.Fatal(err)
	}
	w.client = w.connect
	return w
}

func client(t testing.TB, bootstrap string) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(clientOptions(bootstrap)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func clientOptions(bootstrap string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}
}

func (w *world) topic(name string) string { return w.prefix + "." + name }

// migration is a new Migration over the same journal, as another run of a
// program would make it.
func (w *world) migration(topics []string) (*flinkmm2.Migration, error) {
	return w.over(w.client, flinkmm2.NewFileJournal(filepath.Join(w.dir, "journal.jsonl")), topics...)
}

// over is a Migration over the given client and journal.
func (w *world) over(connect flinkmm2.Connect, journal flinkmm2.Journal, topics ...string) (*flinkmm2.Migration, error) {
	return w.build(connect, journal, w.Stage, topics...)
}

// reading is a Migration whose record readers lead to the brokers of another
// stage.
func (w *world) reading(from Stage, topics ...string) (*flinkmm2.Migration, error) {
	return w.build(w.client, flinkmm2.NewFileJournal(filepath.Join(w.dir, "journal.jsonl")), from, topics...)
}

func (w *world) build(connect flinkmm2.Connect, journal flinkmm2.Journal, readers Stage, topics ...string) (*flinkmm2.Migration, error) {
	selected := topics
	if w.selects != nil {
		selected = w.selects
	}
	return flinkmm2.New(flinkmm2.Config{
		Source:          flinkmm2.Cluster{Admin: w.admin.source, Options: clientOptions(readers.Source)},
		Target:          flinkmm2.Cluster{Admin: w.admin.target, Options: clientOptions(readers.Target)},
		Connect:         connect,
		Connector:       w.connector,
		ConnectorConfig: w.config(selected),
		Topics:          topics,
		Journal:         journal,
	}, append([]flinkmm2.Option{
		flinkmm2.WithActor("suite"),
		flinkmm2.WithFlushTimeout(w.FlushTimeout),
		flinkmm2.WithReadBackTimeout(20 * time.Second),
		flinkmm2.WithStopTimeout(time.Minute),
		flinkmm2.WithStartTimeout(w.StartTimeout),
	}, w.options...)...)
}

// created is a migration of the topics whose connector exists, STOPPED.
func (w *world) created(ctx context.Context, topics []string) (*flinkmm2.Migration, error) {
	m, err := w.migration(topics)
	if err != nil {
		return nil, err
	}
	_, err = m.Create(ctx)
	return m, err
}

// config is the users' template.
func (w *world) config(topics []string) connectrest.Config {
	quoted := make([]string, len(topics))
	for i, t := range topics {
		quoted[i] = strings.ReplaceAll(t, ".", `\.`)
	}
	const bytes = "org.apache.kafka.connect.converters.ByteArrayConverter"
	config := connectrest.Config{
		"connector.class":                     "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                           "3",
		"source.cluster.alias":                "source",
		"target.cluster.alias":                "target",
		"source.cluster.bootstrap.servers":    w.Source,
		"target.cluster.bootstrap.servers":    w.Target,
		"topics":                              strings.Join(quoted, ","),
		"replication.policy.class":            "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"replication.factor":                  "1",
		"emit.offset-syncs.enabled":           "false",
		"refresh.topics.enabled":              "true",
		"refresh.topics.interval.seconds":     "2",
		"sync.topic.configs.enabled":          "false",
		"sync.topic.acls.enabled":             "false",
		"source.consumer.auto.offset.reset":   "earliest",
		"source.consumer.isolation.level":     string(w.isolation),
		"source.consumer.metadata.max.age.ms": "2000",
		"key.converter":                       bytes,
		"value.converter":                     bytes,
		"header.converter":                    bytes,
		"errors.tolerance":                    "none",
	}
	if !w.Version.AtLeast(3, 9) { // which cannot do without offset-syncs
		delete(config, "emit.offset-syncs.enabled")
		config["offset-syncs.topic.location"], config["offset-syncs.topic.replication.factor"] = "target", "1"
	}
	return config
}

// stop leaves the stage as the scenario found it, apart from its topics.
func (w *world) stop(ctx context.Context) {
	if _, err := w.connect.Connector(ctx, w.connector); err != nil {
		return
	}
	for _, act := range []func(context.Context, string) error{w.connect.Stop, w.connect.ResetOffsets, w.connect.Delete} {
		if err := act(ctx, w.connector); err != nil {
			w.log("clean up connector %s: %v", w.connector, err)
		}
	}
}

// check is what a scenario expects; its error names what was seen.
func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
