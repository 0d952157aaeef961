package proof

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/measured"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	heapOfEnv   = "PROOF_HEAP_OF"   // how many records a child compares
	heapOverEnv = "PROOF_HEAP_OVER" // how many records the test compares instead, such as 1000000,50000000
)

// What is compared streams by. Each number of records is compared in a process
// of its own, where nothing else has a heap but the brokers that serve them.
func TestTheHeapDoesNotGrowWithWhatIsCompared(t *testing.T) {
	if of := os.Getenv(heapOfEnv); of != "" {
		n, err := strconv.ParseInt(of, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		peak := heapOfSynthetic(t, n)
		fmt.Printf("peak=%d seconds=%.1f\n", peak, time.Since(began).Seconds())
		return
	}
	over := "500000,1500000"
	if set := os.Getenv(heapOverEnv); set != "" {
		over = set
	}
	exe := measured.Binary(t)
	var first uint64
	for n := range strings.SplitSeq(over, ",") {
		cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestTheHeapDoesNotGrowWithWhatIsCompared$", "-test.count=1", "-test.timeout=0")
		cmd.Env = append(os.Environ(), heapOfEnv+"="+n)
		out, err := cmd.CombinedOutput()
		var peak uint64
		var seconds float64
		_, figures, _ := strings.Cut(string(out), "peak=")
		if _, scanErr := fmt.Sscanf("peak="+figures, "peak=%d seconds=%f", &peak, &seconds); err != nil || scanErr != nil {
			t.Fatalf("%v, %v\n%s", err, scanErr, out)
		}
		t.Logf("%s records on either side: %.1f MB live on the heap at most, %.1f s", n, float64(peak)/1e6, seconds)
		if first == 0 {
			first = peak
		}
		if float64(peak) > 1.6*float64(first) {
			t.Errorf("%s records took %d bytes, the first number %d: it grows", n, peak, first)
		}
	}
}

// ending is an admin client of a cluster whose logs end where it says.
type ending struct {
	Admin
	end int64
}

func (e ending) ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	return e.cut(e.Admin.ListEndOffsets(ctx, topics...))
}

func (e ending) ListCommittedOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	return e.cut(e.Admin.ListCommittedOffsets(ctx, topics...))
}

func (e ending) cut(l kadm.ListedOffsets, err error) (kadm.ListedOffsets, error) {
	for topic, ps := range l {
		for p, o := range ps {
			o.Offset = min(o.Offset, e.end)
			l[topic][p] = o
		}
	}
	return l, err
}

// heapOfSynthetic compares n records of two partitions and returns the most
// bytes that were live on the heap.
func heapOfSynthetic(t *testing.T, n int64) (peak uint64) {
	const partitions = 2
	synthetic := func() *brokers {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "orders"), kfake.SyntheticFetch(kfake.SyntheticBatch{Records: 5_000, RecordBytes: 100}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return connect(t, c.ListenAddrs()[0])
	}
	c := &clusters{t: t, source: synthetic(), target: synthetic()}
	each := n / partitions
	var parts []Partition
	for p := range int32(partitions) {
		parts = append(parts, c.from("orders", p, 0, each, 0))
	}
	o := c.proof(parts...)
	o.Source.Admin, o.Target.Admin = ending{o.Source.Admin, each}, ending{o.Target.Admin, each}
	fetches := []kgo.Opt{kgo.FetchMaxBytes(4 << 20), kgo.FetchMaxPartitionBytes(1 << 20)}
	o.Source.Options, o.Target.Options = append(o.Source.Options, fetches...), append(o.Target.Options, fetches...)
	o.Source.Isolation, o.Target.Isolation = offsetmap.ReadUncommitted, offsetmap.ReadUncommitted
	o.Window = 1 << 16
	o.Bound = time.Hour
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	o.Progress = func(Progress) {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
	}
	r := mustRun(t, o)
	if r.Outcome != Proven || r.Total.Source != each*partitions || r.Total.Copied != each*partitions || r.Total.Older+r.Total.Repeated+r.Total.Foreign != 0 {
		t.Fatalf("outcome %s, %+v", r.Outcome, r.Total)
	}
	return peak
}
