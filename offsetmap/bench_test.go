package offsetmap_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// manyPartitions is PC18: 2,000 topics with 50 partitions each.
func manyPartitions() offsetmap.Input {
	in := offsetmap.Input{Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted}
	for t := range 2000 {
		topic := fmt.Sprintf("tenant-%04d.orders_v1", t)
		id := offsetmap.TopicID{byte(t), byte(t >> 8), 1}
		for p := range int32(50) {
			end := int64(t)*1_000_003 + int64(p)*977
			name := offsetmap.TopicPartition{Topic: topic, Partition: p}
			m := offsetmap.Measured{TopicPartition: name, TopicID: id, Range: log(end/2, end), TargetTopic: topic, TargetEnd: next(end / 3), Group: next(end - end/8)}
			in.Measured = append(in.Measured, m)
			in.Positions = append(in.Positions, offsetmap.Position{TopicPartition: name, Next: next(end - end/10)})
		}
	}
	return in
}

func BenchmarkPlan100k(b *testing.B) {
	in := manyPartitions()
	body := bodyOf(in)
	plan := seal(b, body)
	file := encode(b, plan)
	stored := make(map[offsetmap.TopicPartition]offsetmap.SourceOffset, len(plan.Body.Rows))
	for i, r := range plan.Body.Rows {
		if i%10 != 0 {
			stored[r.TopicPartition] = r.Write.Result()
		}
	}
	raw := marshal(b, body)
	b.Run("Resolve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if rows, _ := offsetmap.Resolve(in); len(rows) != 100_000 {
				b.Fatal(len(rows))
			}
		}
	})
	b.Run("Seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			seal(b, body)
		}
	})
	b.Run("Digest", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, err := offsetmap.Digest(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Encode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			encode(b, plan)
		}
	})
	b.Run("ReadPlan", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if _, err := offsetmap.ReadPlan(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Diff", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d := plan.Diff(stored); d.Equal() {
				b.Fatal("equal")
			}
		}
	})
}
