package cutover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/internal/flinklab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// TestFlink carries the progress of real Flink jobs over to a real worker.
// Every record has an id, and the ids on the target say what became of it.
func TestFlink(t *testing.T) {
	flinklab.Require(t)
	stage := jvms(t, jvm.Get(t))
	stage.Patience = 2 * time.Minute
	stage.Figures = &Figures{}
	defer func() { keep(t, "Flink\n"+stage.Figures.String()) }()
	sideBySide(t, flinklab.Versions(), func(t *testing.T, version string) {
		for _, guarantee := range []offsetmap.SinkGuarantee{offsetmap.SinkExactlyOnce, offsetmap.SinkAtLeastOnce} {
			t.Run(string(guarantee)+"/stopped with savepoint", func(t *testing.T) {
				stoppedWithSavepoint(t, newWorld(t, stage), version, guarantee)
			})
		}
		t.Run("native savepoint, there and back", func(t *testing.T) {
			thereAndBack(t, newWorld(t, stage), version, "native")
		})
		t.Run("savepoint and cancel", func(t *testing.T) {
			savepointAndCancel(t, newWorld(t, stage), version)
		})
	})
}

// stoppedWithSavepoint goes the whole line while producers never pause: what
// comes before the savepoint is Flink's, what follows it MirrorMaker's.
func stoppedWithSavepoint(t *testing.T, w *world, version string, guarantee offsetmap.SinkGuarantee) {
	ctx := t.Context()
	defer w.stop(context.WithoutCancel(ctx))
	w.scenario = "Flink " + version + ", " + string(guarantee)
	orders, payments := w.topic("orders"), w.topic("payments")
	must(t, errors.Join(w.create(ctx, 3, orders), w.create(ctx, 2, payments)))
	quiet := topicPartition{Topic: payments, Partition: 1} // no record before the start
	busy := []topicPartition{{Topic: orders, Partition: 0}, {Topic: orders, Partition: 1}, {Topic: orders, Partition: 2}, {Topic: payments, Partition: 0}}
	producers := w.produceOnAndOn(ctx, 0, 2, 50*time.Millisecond, busy...)
	defer producers.stop()

	o := w.job(version, guarantee, orders, payments)
	o.Name, o.Keep = "copy "+w.prefix, true
	job := flinklab.Start(t, o)
	m := w.askingFlink(t, job.REST(t), o.Name, orders, payments)
	_, err := m.Create(ctx)
	must(t, err)
	// In transactions, what is visible comes from a checkpoint that is complete.
	w.awaitEnds(t, kgo.ReadCommitted(), 100, busy...)
	snap, err := flinkstate.ReadDir(job.Savepoint(t, w.dir))
	must(t, err)
	_, err = m.MakePlan(ctx, flinkRequest(snap, guarantee, offsetmap.StoppedWithSavepoint))
	expectBlockedBy(t, err, "flink/job-running ", "flink/stop-contradicted ")

	snap, err = flinkstate.ReadDir(job.StopWithSavepoint(t, w.dir))
	must(t, err)
	c := positionsOf(t, snap)
	for _, tp := range busy {
		if c[tp] < 100 {
			t.Errorf("the savepoint has C = %d for %s, of which the target showed 100 records before it", c[tp], tp)
		}
	}
	expectIDs(t, w, "what Flink copied", c, busy...)

	_, err = m.MakePlan(ctx, flinkRequest(snap, guarantee, offsetmap.Canceled))
	expectBlockedBy(t, err, "flink/end-contradicted ", "flink/unclean-stop ")
	plan, err := m.MakePlan(ctx, flinkRequest(snap, guarantee, offsetmap.StoppedWithSavepoint))
	must(t, err)
	if !slices.ContainsFunc(plan.Body.Findings, func(f offsetmap.Finding) bool {
		return f.Check == "flink/job-evidence" && strings.Contains(f.Detail, "FINISHED") && strings.Contains(f.Detail, "stopped with savepoint")
	}) {
		t.Errorf("the plan does not say that Flink has shown the stop: %v", plan.Body.Findings)
	}
	plan, err = w.throughAFile(plan)
	must(t, err)
	must(t, w.applyTwiceAndVerify(ctx, m, plan, len(busy)))
	before, err := w.ends(ctx, orders, payments)
	must(t, err)
	_, err = m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
	must(t, err)
	must(t, produce(ctx, w.source, quiet, 0, 50))
	// MirrorMaker copies what waited for it, and also what comes while it runs.
	w.awaitRecordsAfter(t, before, 100, busy...)
	all, err := producers.stop()
	must(t, err)
	all[quiet] = 50

	want, total := map[topicPartition][2]int{}, 0
	for tp, n := range all {
		want[tp] = [2]int{int(c[tp]), n}
		total += n - int(c[tp])
	}
	must(t, w.expectCopied(ctx, before, want))
	expectIDs(t, w, "everything", ends(all), append(busy, quiet)...)

	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	must(t, err)
	if proof.Records != int64(total) || proof.Missing != 0 || proof.Repeated != 0 || len(proof.Partitions) != len(all) {
		t.Errorf("the proof counts %d records, want %d; %d missing, %d repeated, %d partitions", proof.Records, total, proof.Missing, proof.Repeated, len(proof.Partitions))
	}
	for _, p := range proof.Partitions {
		if first, known := p.First.Value(); !known || first != c[p.TopicPartition] {
			t.Errorf("%s: the first record copied is that at %s, and C = %d", p.TopicPartition, p.First, c[p.TopicPartition])
		}
	}
	t.Logf("Flink %s copied %v, MirrorMaker 2 %d records from there on", version, c, total)

	if guarantee == offsetmap.SinkExactlyOnce {
		o.Name, o.Keep = "", false
		backFromTheSavepoint(t, w, m, plan, o, all)
	}
}

// savepointAndCancel ends a job in the way that looks like a clean stop and is
// none: the savepoint counts records that nobody will ever see.
func savepointAndCancel(t *testing.T, w *world, version string) {
	ctx := t.Context()
	defer w.stop(context.WithoutCancel(ctx))
	orders := w.topic("orders")
	must(t, w.create(ctx, 2, orders))
	both := []topicPartition{{Topic: orders, Partition: 0}, {Topic: orders, Partition: 1}}
	for _, tp := range both {
		must(t, produce(ctx, w.source, tp, 0, 200))
	}
	o := w.job(version, offsetmap.SinkExactlyOnce, orders)
	o.CheckpointInterval = time.Hour // the savepoint is the only one
	job := flinklab.Start(t, o)
	w.awaitEnds(t, kgo.ReadUncommitted(), 200, both...)
	savepoint := job.Savepoint(t, w.dir)
	job.Cancel(t)
	snap, err := flinkstate.ReadDir(savepoint)
	must(t, err)
	copied := map[topicPartition]int64{both[0]: 200, both[1]: 200}
	if diff := cmp.Diff(copied, positionsOf(t, snap)); diff != "" {
		t.Errorf("positions of the savepoint (-want +got):\n%s", diff)
	}
	expectIDs(t, w, "after the cancel", nil, both...)

	m, err := w.migration([]string{orders})
	must(t, err)
	_, err = m.Create(ctx)
	must(t, err)
	scopes := openScopes(t, w, both...)
	var open []string
	for _, scope := range scopes {
		open = append(open, "target/open-transaction "+scope)
	}
	var prepared []string // as the state and the coordinators say, whatever is attested
	for _, sink := range snap.Sinks {
		for _, t := range sink.Transactions {
			prepared = append(prepared, "flink/sink-transactions "+t.TransactionalID)
		}
	}
	slices.Sort(prepared)
	prepared = slices.Compact(prepared)
	must(t, check(len(prepared) > 0, "the savepoint names no prepared transaction"))
	var hidden []string // what the open transactions may hold is not proven either way
	for _, tp := range both {
		hidden = append(hidden, "boundary/unproven "+tp.String())
	}
	prepared = append(hidden, prepared...)
	silent, damaged := *snap, *snap // silent as files of before metadata version 4 are
	silent.Kind, silent.MetadataVersion = flinkstate.KindUnknown, 3
	damaged.Kind = flinkstate.KindUnknown
	for _, told := range []struct {
		what string
		end  offsetmap.FlinkEnd
		snap *flinkstate.Snapshot
		want []string
	}{
		{"the truth", offsetmap.Canceled, snap, slices.Concat(prepared, []string{"flink/unclean-stop "}, open)},
		{"a stop that was none", offsetmap.StoppedWithSavepoint, snap, slices.Concat(prepared, []string{"flink/stop-contradicted "}, open)},
		{"a stop that was none, and the savepoint does not say", offsetmap.StoppedWithSavepoint, &silent, slices.Concat(prepared, open)},
		{"a stop that was none, and what the savepoint says is damaged", offsetmap.StoppedWithSavepoint, &damaged, slices.Concat(prepared, []string{"flink/stop-contradicted kind-unknown"}, open)},
	} {
		must(t, w.expectNothingHappens(ctx, []string{orders}, func() error {
			_, err := m.MakePlan(ctx, flinkRequest(told.snap, offsetmap.SinkExactlyOnce, told.end))
			if got := blockers(err); !slices.Equal(got, told.want) {
				return fmt.Errorf("%s is attested: blocked by %q, want %q: %w", told.what, got, told.want, err)
			}
			return check(strings.Contains(err.Error(), "restore the job from the savepoint"), "the refusal does not tell what to do: %w", err)
		}))
	}
	// Nobody can accept that the savepoint contradicts them.
	contradicted := flinkRequest(snap, offsetmap.SinkExactlyOnce, offsetmap.StoppedWithSavepoint)
	for _, scope := range scopes {
		contradicted.Acceptances = append(contradicted.Acceptances, offsetmap.Acceptance{Check: "target/open-transaction", Scope: scope, Reason: "never mind", By: "suite"})
	}
	_, err = m.MakePlan(ctx, contradicted)
	if got := blockers(err); !slices.Equal(got, append(prepared, "flink/stop-contradicted ")) {
		t.Errorf("a false attestation whose open transactions were accepted is blocked by %q: %v", got, err)
	}

	// What the refusal tells to do is enough.
	o.Restore = savepoint
	snap, err = flinkstate.ReadDir(flinklab.Start(t, o).StopWithSavepoint(t, w.dir))
	must(t, err)
	if diff := cmp.Diff(copied, positionsOf(t, snap)); diff != "" {
		t.Errorf("positions after the stop (-want +got):\n%s", diff)
	}
	expectIDs(t, w, "after the stop", copied, both...)
	_, err = m.MakePlan(ctx, flinkRequest(snap, offsetmap.SinkExactlyOnce, offsetmap.StoppedWithSavepoint))
	must(t, err)
}

// askingFlink is a migration that asks the cluster at url about the job.
func (w *world) askingFlink(t *testing.T, url, job string, topics ...string) *flinkmm2.Migration {
	t.Helper()
	client, err := flinkrest.New(url)
	must(t, err)
	t.Cleanup(client.CloseIdleConnections)
	asking := *w
	asking.options = append(slices.Clone(w.options), flinkmm2.WithFlink(client, flinkrest.Job{Name: job}))
	m, err := asking.migration(topics)
	must(t, err)
	return m
}

// expectBlockedBy holds that all of these block, each as a check and the beginning
// of a scope; the job that runs may be the cause of others.
func expectBlockedBy(t *testing.T, err error, want ...string) {
	t.Helper()
	got := blockers(err)
	for _, w := range want {
		if !slices.ContainsFunc(got, func(b string) bool { return strings.HasPrefix(b, w) }) {
			t.Errorf("blocked by %q, want %q: %v", got, w, err)
		}
	}
}

// openScopes names the open transactions on the target as findings do, in their
// order.
func openScopes(t *testing.T, w *world, of ...topicPartition) []string {
	t.Helper()
	asked := kadm.TopicsSet{}
	for _, tp := range of {
		asked.Add(tp.Topic, tp.Partition)
	}
	described, err := w.admin.target.DescribeProducers(t.Context(), asked)
	must(t, err)
	var open []offsetmap.Finding
	described.EachProducer(func(p kadm.DescribedProducer) {
		if p.CurrentTxnStartOffset >= 0 {
			open = append(open, offsetmap.Finding{Scope: fmt.Sprintf("%s-%d:%d", p.Topic, p.Partition, p.ProducerID)})
		}
	})
	slices.SortFunc(open, offsetmap.Finding.Compare)
	var scopes []string
	for _, f := range open {
		scopes = append(scopes, f.Scope)
	}
	return scopes
}

// blockers are the findings that block a plan, with their scopes.
func blockers(err error) []string {
	blocked, ok := errors.AsType[*offsetmap.BlockedError](err)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range blocked.Findings {
		out = append(out, f.Check+" "+f.Scope)
	}
	slices.Sort(out)
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) job(version string, guarantee offsetmap.SinkGuarantee, topics ...string) flinklab.Options {
	return flinklab.Options{
		Version: version, Source: w.Source, Target: w.Target, Topics: topics,
		Group: w.prefix, Guarantee: guarantee, Isolation: offsetmap.ReadUncommitted,
	}
}

func flinkRequest(snap *flinkstate.Snapshot, guarantee offsetmap.SinkGuarantee, end offsetmap.FlinkEnd) flinkmm2.PlanRequest {
	r := request(snap)
	r.Source = "source"
	r.Attestations.SinkGuarantee.Value, r.Attestations.FlinkStopped.Value = guarantee, end
	return r
}

// positionsOf returns C of each partition that the job has read.
func positionsOf(t *testing.T, snap *flinkstate.Snapshot) map[topicPartition]int64 {
	t.Helper()
	src, err := snap.Source("source")
	must(t, err)
	out := map[topicPartition]int64{}
	for _, p := range src.Partitions {
		if c, known := p.Next.Value(); known {
			out[p.TopicPartition] = c
		}
	}
	return out
}

// awaitEnds waits until each partition of the target ends at n or behind it.
func (w *world) awaitEnds(t *testing.T, level kgo.IsolationLevel, n int64, of ...topicPartition) {
	t.Helper()
	must(t, w.until(t.Context(), func() (bool, error) {
		now, err := w.endsAt(t.Context(), level, of...)
		for _, end := range now {
			if end < n {
				return false, err
			}
		}
		return true, err
	}))
}

func (w *world) awaitRecordsAfter(t *testing.T, before map[topicPartition]int64, n int64, of ...topicPartition) {
	t.Helper()
	must(t, w.until(t.Context(), func() (bool, error) {
		now, err := w.ends(t.Context(), topicsOf(of)...)
		for _, tp := range of {
			if now[tp] < before[tp]+n {
				return false, err
			}
		}
		return true, err
	}))
}

// endsAt lists the target's ends as a reader of the isolation level sees them.
func (w *world) endsAt(ctx context.Context, level kgo.IsolationLevel, of ...topicPartition) (map[topicPartition]int64, error) {
	list := w.admin.target.ListEndOffsets
	if level == kgo.ReadCommitted() {
		list = w.admin.target.ListCommittedOffsets
	}
	listed, err := list(ctx, topicsOf(of)...)
	if err := errors.Join(err, listed.Error()); err != nil {
		return nil, err
	}
	out := map[topicPartition]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if tp := (topicPartition{Topic: o.Topic, Partition: o.Partition}); slices.Contains(of, tp) {
			out[tp] = o.Offset
		}
	})
	return out, check(len(out) == len(of), "%d of %d partitions were listed", len(out), len(of))
}

func topicsOf(tps []topicPartition) []string {
	seen := map[string]bool{}
	for _, tp := range tps {
		seen[tp.Topic] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func ends(counts map[topicPartition]int) map[topicPartition]int64 {
	out := map[topicPartition]int64{}
	for tp, n := range counts {
		out[tp] = int64(n)
	}
	return out
}

// expectIDs holds what a reader of committed records sees in the partitions of
// the target, from their beginning to their end, to the first n ids of each:
// every one exactly once.
func expectIDs(t *testing.T, w *world, when string, n map[topicPartition]int64, of ...topicPartition) {
	t.Helper()
	seen, err := w.ids(t.Context(), of...)
	must(t, err)
	for _, tp := range of {
		count := map[string]int{}
		for _, id := range seen[tp] {
			count[id]++
		}
		missing, twice := 0, 0
		for i := range n[tp] {
			id := fmt.Sprintf("%s/%d", tp, i)
			switch count[id] {
			case 0:
				missing++
			case 1:
			default:
				twice++
			}
			delete(count, id)
		}
		if missing > 0 || twice > 0 || len(count) > 0 {
			t.Errorf("%s: %s: of %d ids %d are missing and %d came more than once; %d others are there", when, tp, n[tp], missing, twice, len(count))
		}
	}
}

// ids reads the ids of the committed records of target partitions.
func (w *world) ids(ctx context.Context, of ...topicPartition) (map[topicPartition][]string, error) {
	end, err := w.endsAt(ctx, kgo.ReadCommitted(), of...)
	if err != nil {
		return nil, err
	}
	from := map[string]map[int32]kgo.Offset{}
	maps.DeleteFunc(end, func(_ topicPartition, offset int64) bool { return offset == 0 })
	for tp := range end {
		if from[tp.Topic] == nil {
			from[tp.Topic] = map[int32]kgo.Offset{}
		}
		from[tp.Topic][tp.Partition] = kgo.NewOffset().AtStart()
	}
	// Control records are kept because one may be the last before the end.
	c, err := kgo.NewClient(append(clientOptions(w.Target), kgo.ConsumePartitions(from), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, w.Patience)
	defer cancel()
	got := map[topicPartition][]string{}
	for len(end) > 0 {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("reading the target up to %v: %w", end, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			tp := topicPartition{Topic: r.Topic, Partition: r.Partition}
			if !r.Attrs.IsControl() {
				got[tp] = append(got[tp], idOf(r))
			}
			if r.Offset+1 >= end[tp] {
				delete(end, tp)
			}
		})
	}
	return got, nil
}
