package cutover

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab"
	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A restored exactly-once sink commits again what its savepoint had prepared. That does no
// harm while the brokers know the transactional ids, as backFromTheSavepoint shows; once they
// have dropped them the job fails, and comes up from a savepoint that is rewritten without
// those transactions.
func TestFlinkAfterTheTransactionalIDsHaveGone(t *testing.T) {
	t.Parallel()
	flinklab.Require(t)
	stage := jvms(t, lab.Start(t, lab.Options{Target: lab.Properties{
		"transactional.id.expiration.ms": "6000", "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
	}}))
	stage.Patience = 2 * time.Minute
	sideBySide(t, flinklab.Versions(), func(t *testing.T, version string) {
		ctx := t.Context()
		w := newWorld(t, stage)
		defer w.stop(context.WithoutCancel(ctx))
		orders := w.topic("orders")
		must(t, w.create(ctx, 1, orders))
		tp := topicPartition{Topic: orders}
		must(t, produce(ctx, w.source, tp, 0, 100))
		o := w.job(version, offsetmap.SinkExactlyOnce, orders)
		o.CheckpointInterval = time.Hour // the savepoint is the only one
		job := flinklab.Start(t, o)
		w.awaitEnds(t, kgo.ReadUncommitted(), 100, tp)
		o.Restore = job.StopWithSavepoint(t, w.dir)

		must(t, w.until(ctx, func() (bool, error) {
			listed, err := w.admin.target.ListTransactions(ctx, nil, nil)
			for _, l := range listed.Sorted() {
				if strings.HasPrefix(l.TxnID, o.Group) {
					return false, err
				}
			}
			return true, err
		}))
		if log := flinklab.Refused(t, o); !strings.Contains(log, "InvalidPidMappingException") {
			t.Errorf("it failed for another reason: %.2000s", log)
		}
		p, err := flinkstate.PrepareRewriteDir(o.Restore, flinkstate.Rewrite{Kept: []topicPartition{tp}, WithoutCommittables: true})
		must(t, err)
		must(t, check(len(p.Committables()) > 0, "the savepoint names no prepared transaction"))
		rewritten, err := p.WriteDir(ctx, filepath.Join(w.dir, "rewritten"))
		must(t, err)
		o.Restore = rewritten.Location
		job = flinklab.Start(t, o)
		must(t, produce(ctx, w.source, tp, 100, 150))
		w.awaitEnds(t, kgo.ReadUncommitted(), 151, tp)
		job.StopWithSavepoint(t, w.dir)
		expectIDs(t, w, "without them", map[topicPartition]int64{tp: 150}, tp)
	})
}
