package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	made    = time.Date(2026, 10, 15, 8, 0, 0, 0, time.UTC)
	topicID = offsetmap.TopicID{1, 2, 3}

	configDigest = "sha256:" + strings.Repeat("c0", 32)
)

func tp(topic string, p int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: topic, Partition: p}
}

func next(t testing.TB, v int64) offsetmap.NextOffset {
	t.Helper()
	c, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func source(t testing.TB, v int64) offsetmap.SourceOffset {
	t.Helper()
	m, err := offsetmap.Source(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plan has orders-0 at C = 400, orders-1 at C = 0 (a clear) and orders-2 at its
// end, where nothing is to be copied. backup is what Connect held for orders-0.
func plan(t testing.TB, backup offsetmap.SourceOffset, acceptances ...offsetmap.Acceptance) *offsetmap.Plan {
	t.Helper()
	var in offsetmap.Input
	in.Origin, in.Isolation = offsetmap.FromSavepoint, offsetmap.ReadUncommitted
	for p, c := range []int64{400, 0, 1000} {
		in.Positions = append(in.Positions, offsetmap.Position{TopicPartition: tp("orders", int32(p)), Next: next(t, c)})
		in.Measured = append(in.Measured, measured(t, int32(p)))
	}
	in.Measured[0].Backup = backup
	rows, findings := offsetmap.Resolve(in)
	if err := offsetmap.Blocked(findings); err != nil {
		t.Fatal(err)
	}
	sealed, err := offsetmap.Seal(offsetmap.Body{
		Tool:      offsetmap.Tool{Name: "test", Version: "1"},
		CreatedAt: offsetmap.At(made), ExpiresAt: offsetmap.At(made.Add(time.Hour)),
		Source: offsetmap.Cluster{ID: "source-id"}, Target: offsetmap.Cluster{ID: "target-id"},
		Connector: offsetmap.Connector{Name: "mm2", SourceAlias: "source", Config: configDigest, ActiveTopics: []string{}},
		Worker:    offsetmap.Worker{Version: "4.3.1", PluginVersion: "4.3.1", ClusterID: "target-id", ProducerClusterID: "target-id"},
		Savepoint: &offsetmap.Savepoint{
			Location: "sp", MetadataVersion: 4, OperatorID: "30198ea1e33432d6307d761dd131f28a",
			Files: []offsetmap.File{{Name: "_metadata", SHA256: strings.Repeat("ab", 32)}},
		},
		Isolation:    offsetmap.ReadUncommitted,
		Attestations: attested(),
		Acceptances:  acceptances,
		Rows:         rows,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func attested() offsetmap.Attestations {
	const by, reason = "test", "so"
	return offsetmap.Attestations{
		CopyOnly:       offsetmap.Attest(true, by, reason),
		FlinkStopped:   offsetmap.Attest(offsetmap.StoppedWithSavepoint, by, reason),
		AutoRestartOff: offsetmap.Attest(true, by, reason),
		SinkGuarantee:  offsetmap.Attest(offsetmap.SinkExactlyOnce, by, reason),
		Isolation:      offsetmap.Attest(offsetmap.ReadUncommitted, by, reason),
		RollbackWindow: offsetmap.Attest("1h", by, reason),
		MaxDuplicates:  offsetmap.Attest(int64(0), by, reason),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     offsetmap.Attest("Flink 1.20", by, reason),
			SinkEvidence:      offsetmap.Attest("the output of flink stop", by, reason),
			ClustersAndTopics: offsetmap.Attest("source to target", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}
}

func measured(t testing.TB, p int32) offsetmap.Measured {
	return offsetmap.Measured{
		TopicPartition: tp("orders", p), TopicID: topicID, TargetTopic: "orders", TargetEnd: next(t, 70),
		Range: offsetmap.Range{Start: next(t, 0), End: next(t, 1000), Stable: next(t, 1000)},
	}
}

// world is the world as the plan saw it: nothing applied yet.
func world(t testing.TB, p *offsetmap.Plan) Observed {
	stored, all := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}, map[offsetmap.TopicPartition]offsetmap.Measured{}
	for _, r := range p.Body.Rows {
		all[r.TopicPartition] = measured(t, r.Partition)
		if !r.Backup.IsNone() {
			stored[r.TopicPartition] = r.Backup
		}
	}
	return Observed{
		Now:      made.Add(time.Minute),
		SourceID: offsetmap.Known("source-id"), TargetID: offsetmap.Known("target-id"), ProducerID: offsetmap.Known("target-id"),
		Worker:    offsetmap.Known(Versions{Worker: "4.3.1", Plugin: "4.3.1"}),
		Connector: offsetmap.Known(Connector{State: "STOPPED"}),
		Config:    offsetmap.Known(configDigest),
		Stored:    offsetmap.Known(Stored{Offsets: stored}),
		Measured:  offsetmap.Known(all),
		Active:    offsetmap.Known([]string{}),
		History:   offsetmap.Known(History{Planned: true, Created: true}),
	}
}

// applied is the world after the plan was applied.
func applied(t testing.TB, p *offsetmap.Plan) Observed {
	w := world(t, p)
	w.Stored = offsetmap.Known(Stored{Offsets: plannedOffsets(p)})
	return w
}

func plannedOffsets(p *offsetmap.Plan) map[offsetmap.TopicPartition]offsetmap.SourceOffset {
	out := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
	for _, r := range p.Body.Rows {
		if m := r.Write.Result(); !m.IsNone() {
			out[r.TopicPartition] = m
		}
	}
	return out
}

func ends(t testing.TB, p *offsetmap.Plan) map[offsetmap.TopicPartition]offsetmap.NextOffset {
	out := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, r := range p.Body.Rows {
		out[r.TopicPartition] = next(t, 70)
	}
	return out
}

// edit changes one partition's measurement.
func edit(w *Observed, p int32, f func(*offsetmap.Measured)) {
	all, _ := w.Measured.Get()
	all = maps.Clone(all)
	m := all[tp("orders", p)]
	f(&m)
	all[tp("orders", p)] = m
	w.Measured = offsetmap.Known(all)
}

func store(w *Observed, p int32, m offsetmap.SourceOffset) {
	s, _ := w.Stored.Get()
	s.Offsets = maps.Clone(s.Offsets)
	s.Offsets[tp("orders", p)] = m
	w.Stored = offsetmap.Known(s)
}

func history(w *Observed, f func(*History)) {
	h, _ := w.History.Get()
	f(&h)
	w.History = offsetmap.Known(h)
}

// act expects an act; refuse expects a refusal that names every check.
func act(t *testing.T, d Decision, want Act) Decision {
	t.Helper()
	if d.Refusal != nil {
		t.Fatalf("want %s, refused (%s): %v", want, d.Refusal.Reason, d.Refusal.Findings)
	}
	if d.Act != want {
		t.Fatalf("want %s, got %s", want, d.Act)
	}
	return d
}

func refuse(t *testing.T, d Decision, reason Reason, checks ...string) {
	t.Helper()
	if d.Refusal == nil {
		t.Fatalf("want a refusal for %v, got %s", checks, d.Act)
	}
	if d.Act != "" || d.Writes != nil {
		t.Errorf("a refusal with the act %q and writes %v", d.Act, d.Writes)
	}
	var got []string
	for _, f := range d.Refusal.Findings {
		got = append(got, f.Check)
		if f.Detail == "" || strings.Contains(f.Detail, "%!") {
			t.Errorf("%s: detail %q", f.Check, f.Detail)
		}
	}
	got = slices.Compact(got)
	slices.Sort(checks)
	slices.Sort(got)
	if diff := cmp.Diff(checks, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s\n%v", diff, d.Refusal.Findings)
	}
	if d.Refusal.Reason != reason {
		t.Errorf("reason %s, want %s", d.Refusal.Reason, reason)
	}
}

var errLost = errors.New("connection reset")
