package flinkmm2_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// oldGroup is the group of the old job, whose offsets the plan has recorded.
const oldGroup = "copy-orders"

// wayBack is a migration that was started, has copied everything, and is to go
// back: orders-0 stood at C = 20 of 50 records, orders-1 at its end 32, orders-2
// was never read and has none.
type wayBack struct {
	*testing.T
	source, target *side
	connect        *connectrest.Client
	worker         *connecttest.Worker
	journal        *flinkmm2.FileJournal
	steps          *flinkmm2.Migration
	plan           *offsetmap.Plan
	boundary       *flinkmm2.Boundary
	checkpoint     int64  // of the savepoint that plans are made from
	group          string // that plans are to look at
	options        []flinkmm2.Option
	changes        map[string]string // of the connector's config
	beside         flinkmm2.Connect  // instead of a client of the worker

	*clock
}

// hasty takes the offsets of a worker in memory for stable sooner.
type hasty struct{ *connectrest.Client }

func (h hasty) AwaitStableOffsets(ctx context.Context, name string, _, within time.Duration) ([]connectrest.Offset, error) {
	return h.Client.AwaitStableOffsets(ctx, name, 20*time.Millisecond, within)
}

// clock is the time of a test: nobody has to wait.
type clock struct {
	mu       sync.Mutex
	ahead    time.Duration
	whenIdle func() // runs once, while a step waits until nothing moves
}

type side struct {
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
	wrote  map[int32]int // records, by partition
}

func newSide(t *testing.T, id string) *side {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.ClusterID(id), kfake.SeedTopics(3, "orders"),
		kfake.BrokerConfigs(map[string]string{"offset.metadata.max.bytes": "4096"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RetryTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &side{c, client, kadm.NewClient(client), map[int32]int{}}
}

// produce writes the next records of a partition, which are the same on either side.
func (s *side) produce(t *testing.T, partition int32, n int) {
	t.Helper()
	for range n {
		r := &kgo.Record{
			Topic: "orders", Partition: partition, Value: fmt.Appendf(nil, "order %d-%d", partition, s.wrote[partition]),
			Timestamp: began.Add(time.Duration(s.wrote[partition]) * time.Millisecond),
		}
		s.wrote[partition]++
		if err := s.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// began is the time of the first record of each partition.
var began = time.Now()

const flushTimeout = 2 * time.Second

// newestWorker is the version of the worker of most tests.
const newestWorker = "4.3.1"

// prepared is a migration before its first step: both clusters, and a worker.
func prepared(t *testing.T) *wayBack {
	t.Helper()
	return preparedOn(t, newestWorker, nil)
}

// preparedOn is prepared on a worker of a version, with changes of the connector's
// config; an empty value removes a key.
func preparedOn(t *testing.T, version string, changes map[string]string) *wayBack {
	t.Helper()
	w := &wayBack{T: t, clock: &clock{}, changes: changes, source: newSide(t, "the-source"), target: newSide(t, "the-target")}
	w.source.produce(t, 0, 50)
	w.source.produce(t, 1, 32)
	w.target.produce(t, 0, 20)
	w.target.produce(t, 1, 32)
	worker, err := connecttest.NewWorker(t.Context(), w.target.ListenAddrs(), connecttest.WithOffsetFlushInterval(50*time.Millisecond), connecttest.WithVersion(version))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	w.worker = worker
	if w.connect, err = connectrest.New(worker.URL); err != nil {
		t.Fatal(err)
	}
	w.journal = flinkmm2.NewFileJournal(filepath.Join(t.TempDir(), "journal.jsonl"))
	w.steps = w.migration(w.source.admin)
	return w
}

// started brings a migration up to a connector that has copied everything.
func started(t *testing.T) *wayBack {
	t.Helper()
	w := prepared(t)
	ctx := t.Context()
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	w.applyAndStart("test")
	if _, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute}); err != nil {
		t.Fatal(err)
	}
	return w
}

// applyAndStart lets the connector run from the plan, on somebody's word.
func (w *wayBack) applyAndStart(by string) {
	w.Helper()
	if _, err := w.steps.Apply(w.Context(), w.plan); err != nil {
		w.Fatal(err)
	}
	if _, err := w.steps.Start(w.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: by}); err != nil {
		w.Fatal(err)
	}
}

// rolledBack is started, and back to the boundary.
func rolledBack(t *testing.T) *wayBack {
	t.Helper()
	w := started(t)
	w.again()
	return w
}

func (w *wayBack) migration(source flinkmm2.Admin) *flinkmm2.Migration {
	w.Helper()
	return w.over(source, w.journal)
}

// over is a Migration over the given client and journal.
func (w *wayBack) over(source flinkmm2.Admin, journal flinkmm2.Journal) *flinkmm2.Migration {
	w.Helper()
	m, err := flinkmm2.New(flinkmm2.Config{
		Source:  flinkmm2.Cluster{Admin: source, Options: w.source.client.Opts()},
		Target:  flinkmm2.Cluster{Admin: w.target.admin, Options: w.target.client.Opts()},
		Connect: w.client(), Connector: "mm2", Journal: journal,
		ConnectorConfig: w.config(),
	}, append([]flinkmm2.Option{flinkmm2.WithClock(w.now, w.sleep), flinkmm2.WithFlushTimeout(flushTimeout), flinkmm2.WithReadBackTimeout(2 * time.Second)}, w.options...)...)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

// client is the Connect client of this world.
func (w *wayBack) client() flinkmm2.Connect {
	if w.beside != nil {
		return w.beside
	}
	return hasty{w.connect}
}

// config is the connector's, with the changes of this world.
func (w *wayBack) config() connectrest.Config {
	config := mirrorConfig(w.source.ListenAddrs(), w.target.ListenAddrs(), "orders")
	for key, value := range w.changes {
		if config[key] = value; value == "" {
			delete(config, key)
		}
	}
	return config
}

func (w *clock) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

// sleep lets the clock go on by d, and takes a moment of it.
func (w *clock) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.ahead += d
	idle := w.whenIdle
	if d > flushTimeout {
		w.whenIdle = nil
	} else {
		idle = nil
	}
	w.mu.Unlock()
	if idle != nil {
		idle()
	}
	time.Sleep(min(d, 10*time.Millisecond))
	return ctx.Err()
}

func (w *wayBack) makePlan() { w.makePlanFrom("20", "32") }

// makePlanFrom makes a plan that has recorded what the old group had committed, and
// takes it for the one of the journal.
func (w *wayBack) makePlanFrom(c0, c1 string) {
	w.Helper()
	plan, err := w.planFrom(w.steps, c0, c1)
	if err != nil {
		w.Fatal(err)
	}
	body := plan.Body
	body.Group, body.Rows = &offsetmap.Group{ID: oldGroup}, slices.Clone(body.Rows)
	body.Rows[0].Group, body.Rows[1].Group = offset(w.T, "18"), offset(w.T, "32")
	if w.plan, err = offsetmap.Seal(body); err != nil {
		w.Fatal(err)
	}
	entries, err := w.journal.Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.writeJournal(flinkmm2.Entry{Act: "plan", Phase: flinkmm2.PhaseDone, Plan: w.plan.Digest, Savepoint: entries[len(entries)-1].Savepoint})
}

// planFrom makes a plan by the given steps, from a savepoint that holds c0 and c1.
func (w *wayBack) planFrom(steps *flinkmm2.Migration, c0, c1 string) (*offsetmap.Plan, error) {
	w.Helper()
	return steps.MakePlan(w.Context(), w.requestFrom(c0, c1))
}

// requestFrom is what a plan is made from, for a savepoint that holds c0 and c1.
func (w *wayBack) requestFrom(c0, c1 string) flinkmm2.PlanRequest {
	w.Helper()
	position := func(p int32, next string) offsetmap.Position {
		one := offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: p}, Unread: offsetmap.Earliest}
		if next != "" {
			one.Next, one.Unread = offset(w.T, next), 0
		}
		return one
	}
	return flinkmm2.PlanRequest{
		Group: w.group,
		Snapshot: &flinkstate.Snapshot{
			Location: "savepoint-test/_metadata", MetadataVersion: 4, CheckpointID: w.checkpoint, Kind: flinkstate.KindStopWithSavepoint,
			Files:     []flinkstate.File{{Name: "_metadata", Size: 1, SHA256: fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d: %s, %s", w.checkpoint, c0, c1)))}},
			Operators: []flinkstate.Operator{{ID: "30198ea1e33432d6307d761dd131f28a", Parallelism: 1, MaxParallelism: 128}},
			Sources: []flinkstate.Source{{
				OperatorID: "30198ea1e33432d6307d761dd131f28a", Kind: flinkstate.KafkaSource, Parallelism: 1, Discovery: flinkstate.DiscoveryFinished,
				Partitions: []offsetmap.Position{position(0, c0), position(1, c1), position(2, "")},
			}},
		},
		Attestations: attested(),
	}
}

func offset(t *testing.T, text string) (o offsetmap.NextOffset) {
	t.Helper()
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

// hand gives the boundary to a group, with Flink's end attested.
func (w *wayBack) hand(group string, accept ...offsetmap.Acceptance) (*flinkmm2.CommittedBoundary, error) {
	return w.steps.CommitBoundary(w.Context(), w.plan, w.boundary, flinkmm2.GroupReturn{
		Group: group, FlinkStopped: offsetmap.Attest(offsetmap.StoppedWithSavepoint, "ana", "flink list is empty"), Acceptances: accept,
	})
}

func accept(check, scope string) offsetmap.Acceptance {
	return offsetmap.Acceptance{Check: check, Scope: scope, By: "ana", Reason: "known"}
}

// commit commits offsets of orders from outside, partition by partition.
func (w *wayBack) commit(group string, at ...int64) {
	w.Helper()
	var offsets kadm.Offsets
	for p, o := range at {
		offsets.AddOffset("orders", int32(p), o, -1)
	}
	if err := w.source.admin.CommitAllOffsets(w.Context(), group, offsets); err != nil {
		w.Fatal(err)
	}
}

// holds returns what the group has committed: "50/32/0", - where nothing, and
// what stands beside the first.
func (w *wayBack) holds(group string) (offsets, note string) {
	w.Helper()
	fetched, err := w.source.admin.FetchOffsets(w.Context(), group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		w.Fatal(err)
	}
	var parts []string
	for p := range int32(3) {
		text := "-"
		if o, ok := fetched.Lookup("orders", p); ok && o.At >= 0 {
			text = offsetText(o.At)
		}
		parts = append(parts, text)
	}
	first, _ := fetched.Lookup("orders", 0)
	return strings.Join(parts, "/"), first.Metadata
}

func offsetText(v int64) string {
	o, err := offsetmap.Next(v)
	if err != nil {
		return err.Error()
	}
	return o.String()
}

// refused holds an error to the checks that it names, with their scopes, and to
// its exit status, and the group to hold what it held.
func (w *wayBack) refused(err error, status int, want ...string) {
	w.Helper()
	var findings []offsetmap.Finding
	var blocked *offsetmap.BlockedError
	var refusal *flinkmm2.RefusedError
	switch {
	case errors.As(err, &blocked):
		findings = blocked.Findings
	case errors.As(err, &refusal):
		findings = refusal.Findings
	}
	var got []string
	for _, f := range findings {
		got = append(got, strings.TrimSpace(f.Check+" "+f.Scope))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.Errorf("refused for %q, want %q: %v", got, want, err)
	}
	if err == nil || !saysOnceWhose(err.Error()) {
		w.Errorf("the error does not say once whose it is: %v", err)
	}
	if got := flinkmm2.ExitStatus(err); got != status {
		w.Errorf("exit status %d, want %d: %v", got, status, err)
	}
}

// saysOnceWhose reports whether a text begins with the one act that it is an error of;
// remedies may name the program's flags.
func saysOnceWhose(text string) bool {
	n := 0
	if strings.HasPrefix(text, "old-savepoint") {
		n++
	}
	for _, act := range []string{"commit-boundary", "rewrite-savepoint", "hand-back"} {
		n += strings.Count(strings.ReplaceAll(text, "--"+act, ""), act)
	}
	return n == 1
}

// acts returns what the journal holds of hand-backs of boundaries: "begin", "done".
func (w *wayBack) acts() (out []string) {
	w.Helper()
	entries, err := w.journal.Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if slices.Contains([]string{"hand-back", "commit-boundary", "rewrite-savepoint"}, e.Act) {
			out = append(out, string(e.Phase))
		}
	}
	return out
}

// in is the same way back, for a part of the test: with the journal as it is
// now, and one of its own from then on.
func (w *wayBack) in(t *testing.T) *wayBack {
	t.Helper()
	part := *w
	part.T = t
	entries, err := w.journal.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	part.journal = flinkmm2.NewFileJournal(filepath.Join(t.TempDir(), "journal.jsonl"))
	for _, e := range entries {
		if err := part.journal.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	part.steps = part.migration(w.source.admin)
	_, _ = w.source.admin.DeleteGroups(t.Context(), oldGroup) // which need not be there
	part.commit(oldGroup, 18, 32)                             // as the plan has recorded
	return &part
}
