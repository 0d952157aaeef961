package proof

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// manyPrints makes n prints; every one of a period is the same when period is
// not zero.
func manyPrints(n, period int) []Print {
	d := NewDigester()
	ps := make([]Print, n)
	value := make([]byte, 100)
	for i := range ps {
		k := i
		if period > 0 {
			k %= period
		}
		binary.BigEndian.PutUint64(value, uint64(k))
		ps[i] = d.Print(&kgo.Record{Offset: int64(i), Key: value[:8], Value: value, Timestamp: time.UnixMilli(int64(k))}, Kept)
	}
	return ps
}

func BenchmarkDigest(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprint(size, " bytes"), func(b *testing.B) {
			d := NewDigester()
			r := &kgo.Record{Key: []byte("key-1234"), Value: make([]byte, size), Timestamp: time.UnixMilli(1), Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("0123456789abcdef")}}}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				d.Print(r, Kept)
			}
		})
	}
}

func BenchmarkCompare(b *testing.B) {
	const n = 1_000_000
	distinct := manyPrints(n, 0)
	equal := manyPrints(n, 1)
	few := manyPrints(n, 100)
	foreign := NewDigester().Print(&kgo.Record{Value: []byte("other")}, Kept)
	for _, bb := range []struct {
		name   string
		source []Print
		target func(feed func(Print))
	}{
		{"exact", distinct, func(feed func(Print)) {
			for _, p := range distinct {
				feed(p)
			}
		}},
		{"a replay of 1000 each 10000", distinct, func(feed func(Print)) {
			for i, p := range distinct {
				feed(p)
				if i%10000 == 9999 {
					for _, p := range distinct[i-999 : i+1] {
						feed(p)
					}
				}
			}
		}},
		{"one dropped each 1000", distinct, func(feed func(Print)) {
			for i, p := range distinct {
				if i%1000 != 500 {
					feed(p)
				}
			}
		}},
		{"every tenth foreign", distinct, func(feed func(Print)) {
			for i, p := range distinct {
				feed(p)
				if i%10 == 0 {
					feed(foreign)
				}
			}
		}},
		{"backwards", distinct, func(feed func(Print)) {
			for i := range distinct {
				feed(distinct[n-1-i])
			}
		}},
		{"all equal, twice", equal, func(feed func(Print)) {
			for range 2 {
				for _, p := range equal {
					feed(p)
				}
			}
		}},
		{"a hundred different, one dropped each 1000", few, func(feed func(Print)) {
			for i, p := range few {
				if i%1000 != 500 {
					feed(p)
				}
			}
		}},
		{"nothing of it, all foreign", distinct, func(feed func(Print)) {
			for range n {
				feed(foreign)
			}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var heap uint64
			for b.Loop() {
				before := heapNow()
				c := NewComparer()
				for _, p := range bb.source {
					c.Source(p)
				}
				c.End()
				c.Settle(everything)
				bb.target(c.Target)
				r := c.Result()
				heap = heapNow() - before
				if r.Source != n {
					b.Fatal(r.Counts)
				}
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64(heap)/n, "B/record")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkRun holds the proof to a bare consumer of the same topics on the same
// brokers, in turns.
func BenchmarkRun(b *testing.B) {
	const partitions, each = 8, 100_000
	c := startClusters(b)
	c.topic("orders", partitions, nil)
	var parts []Partition
	for p := range int32(partitions) {
		for first := 0; first < each; first += 10_000 {
			rs := records("orders", p, first, 10_000)
			for _, r := range rs {
				r.Value = append(make([]byte, 0, 200), r.Value...)
				r.Value = r.Value[:200]
			}
			c.source.write(b, rs...)
			c.target.write(b, copyOf(rs...)...)
		}
		parts = append(parts, c.from("orders", p, 0, each, 0))
	}
	var bare, proof time.Duration
	for b.Loop() {
		start := time.Now()
		consume(b, c, partitions, 2*partitions*each)
		bare += time.Since(start)
		start = time.Now()
		o := c.proof(parts...)
		o.Interval = 100 * time.Millisecond
		if r := mustRun(b, o); r.Outcome != Proven || r.Total.Copied != partitions*each {
			b.Fatal(r.Outcome, r.Total)
		}
		proof += time.Since(start)
	}
	records := float64(b.N) * 2 * partitions * each
	b.ReportMetric(records/bare.Seconds(), "bare-records/s")
	b.ReportMetric(records/proof.Seconds(), "proof-records/s")
	b.ReportMetric(bare.Seconds()/proof.Seconds(), "proof/bare")
}

// consume reads all partitions of both clusters and does nothing with them.
func consume(b *testing.B, c *clusters, partitions int32, total int) {
	from := map[int32]kgo.Offset{}
	for p := range partitions {
		from[p] = kgo.NewOffset().At(0)
	}
	var wg sync.WaitGroup
	for _, side := range []*brokers{c.source, c.target} {
		cl, err := kgo.NewClient(side.options(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"orders": from}))...)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer cl.Close()
			for n := 0; n < total/2; {
				n += cl.PollFetches(context.Background()).NumRecords()
			}
		})
	}
	wg.Wait()
}
