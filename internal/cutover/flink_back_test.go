package cutover

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// thereAndBack takes a job to MirrorMaker 2 and back by a savepoint in a format.
func thereAndBack(t *testing.T, w *world, version, format string) {
	ctx := t.Context()
	defer w.stop(context.WithoutCancel(ctx))
	w.scenario = "Flink " + version + ", " + format
	orders := w.topic("orders")
	must(t, w.create(ctx, 3, orders))
	tps := []topicPartition{{Topic: orders}, {Topic: orders, Partition: 1}}
	for _, tp := range tps {
		must(t, produce(ctx, w.source, tp, 0, 100))
	}
	o := w.job(version, offsetmap.SinkExactlyOnce, orders)
	o.Format = format
	job := flinklab.Start(t, o)
	w.awaitEnds(t, kgo.ReadCommitted(), 100, tps...)
	snap, err := flinkstate.ReadDir(job.StopWithSavepoint(t, w.dir))
	must(t, err)
	m, err := w.migration([]string{orders})
	must(t, err)
	_, err = m.Create(ctx)
	must(t, err)
	plan, err := m.MakePlan(ctx, flinkRequest(snap, offsetmap.SinkExactlyOnce, offsetmap.StoppedWithSavepoint))
	must(t, err)
	must(t, w.applyTwiceAndVerify(ctx, m, plan, len(tps)))
	before, err := w.ends(ctx, orders)
	must(t, err)
	_, err = m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
	must(t, err)
	all := map[topicPartition]int{{Topic: orders}: 160, {Topic: orders, Partition: 1}: 100, {Topic: orders, Partition: 2}: 30}
	must(t, errors.Join(produce(ctx, w.source, tps[0], 100, 160), produce(ctx, w.source, topicPartition{Topic: orders, Partition: 2}, 0, 30)))
	w.awaitRecordsAfter(t, before, 60, tps[0])
	w.awaitRecordsAfter(t, before, 30, topicPartition{Topic: orders, Partition: 2})
	backFromTheSavepoint(t, w, m, plan, o, all)
}

// backFromTheSavepoint stops MirrorMaker 2 and lets the job go on from its savepoint, set to
// C': what it copies begins with the record at C' in every partition, and on the target every
// record is there once.
func backFromTheSavepoint(t *testing.T, w *world, m *flinkmm2.Migration, plan *offsetmap.Plan, o flinklab.Options, all map[topicPartition]int) {
	ctx := t.Context()
	back, err := m.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	must(t, err)
	r := flinkstate.Rewrite{Source: "source", Next: map[topicPartition]offsetmap.NextOffset{}}
	for _, p := range back.Boundary.Partitions {
		r.Next[p.TopicPartition] = p.Next
		if c, _ := p.Next.Value(); c != int64(all[p.TopicPartition]) {
			t.Errorf("%v: C' = %v of a partition with %d records, all of them copied", p.TopicPartition, p.Next, all[p.TopicPartition])
		}
	}
	p, err := flinkstate.PrepareRewriteDir(filepath.Dir(plan.Body.Savepoint.Location), r)
	must(t, err)
	to := filepath.Join(w.dir, "rewritten")
	rewritten, err := p.WriteDir(ctx, to)
	must(t, err)
	before, err := w.ends(ctx, topicsOf(keys(all))...)
	must(t, err)

	o.Restore = rewritten.Location
	job := flinklab.Start(t, o)
	for tp, n := range all {
		must(t, produce(ctx, w.source, tp, n, n+40))
		all[tp] = n + 40
	}
	w.awaitRecordsAfter(t, before, 40, keys(all)...)
	snap, err := flinkstate.ReadDir(job.StopWithSavepoint(t, w.dir))
	must(t, err)
	for tp, c := range positionsOf(t, snap) {
		if c != int64(all[tp]) {
			t.Errorf("%v: the restored job stands at %d of %d", tp, c, all[tp])
		}
	}
	expectIDs(t, w, "after the way back", ends(all), keys(all)...)
}

func keys(m map[topicPartition]int) []topicPartition {
	var out []topicPartition
	for tp := range m {
		out = append(out, tp)
	}
	return out
}
