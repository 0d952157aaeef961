package cutover

import (
	"bytes"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/flinklab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A job that starts without a savepoint, by the Java class of a boundary, copies from C' on:
// each record once. Where the source has lost what begins there it fails, and skips nothing.
func TestFlinkFromStartingOffsets(t *testing.T) {
	flinklab.Require(t)
	stage := jvms(t, jvm.Get(t))
	sideBySide(t, flinklab.Versions(), func(t *testing.T, version string) {
		ctx := t.Context()
		w := newWorld(t, stage)
		orders := w.topic("orders")
		must(t, w.create(ctx, 2, orders))
		next := map[topicPartition]int{{Topic: orders}: 60, {Topic: orders, Partition: 1}: 0}
		b := &flinkmm2.Boundary{APIVersion: offsetmap.APIVersion, Kind: flinkmm2.BoundaryKind, Plan: "sha256:of-the-test", SourceID: "source"}
		for p := range int32(2) {
			tp := topicPartition{Topic: orders, Partition: p}
			must(t, w.flinkCopied(ctx, tp, 100, next[tp])) // by MirrorMaker 2, this time
			c, err := offsetmap.Next(int64(next[tp]))
			must(t, err)
			b.Partitions = append(b.Partitions, offsetmap.Reverse{TopicPartition: tp, Next: c})
		}
		var java bytes.Buffer
		must(t, b.OffsetsInitializer(&java))
		o := w.job(version, offsetmap.SinkAtLeastOnce, orders)
		o.Offsets, o.OffsetsClass = java.Bytes(), "FlinkMM2Boundary"
		job := flinklab.Start(t, o)
		w.awaitEnds(t, kgo.ReadUncommitted(), 100, keys(next)...)
		job.StopWithSavepoint(t, w.dir)
		expectIDs(t, w, "from starting offsets", ends(map[topicPartition]int{{Topic: orders}: 100, {Topic: orders, Partition: 1}: 100}), keys(next)...)

		must(t, w.expire(ctx, topicPartition{Topic: orders}, 61))
		if log := flinklab.Refused(t, o); !strings.Contains(log, "OffsetOutOfRangeException") {
			t.Errorf("it failed for another reason: %.2000s", log)
		}
	})
}
