package proof

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRunTellsFaultsApart(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const n, before = 40, 5
	for _, tt := range []struct {
		name    string
		copier  func(rs []*kgo.Record) []*kgo.Record
		outcome Outcome
		part    PartitionOutcome
		want    counts
	}{
		{
			"exact", func(rs []*kgo.Record) []*kgo.Record { return rs },
			Proven, PartitionProven,
			counts{Copied: n},
		},
		{
			"replay", func(rs []*kgo.Record) []*kgo.Record { return slices.Concat(rs[:20], rs[10:]) },
			Proven, PartitionProven,
			counts{Copied: n, Repeated: 10},
		},
		{
			"replay of the end", func(rs []*kgo.Record) []*kgo.Record { return slices.Concat(rs, rs[30:]) },
			Proven, PartitionProven,
			counts{Copied: n, Repeated: 10},
		},
		{
			"one doubled", func(rs []*kgo.Record) []*kgo.Record { return slices.Concat(rs[:7], rs[6:]) },
			Proven, PartitionProven,
			counts{Copied: n, Repeated: 1},
		},
		{
			"foreign writer", func(rs []*kgo.Record) []*kgo.Record {
				return slices.Concat(rs[:3], records(rs[0].Topic, 0, 1000, 3), rs[3:], records(rs[0].Topic, 0, 2000, 1))
			},
			Proven, PartitionProven,
			counts{Copied: n, Foreign: 4},
		},
		{
			"one dropped", func(rs []*kgo.Record) []*kgo.Record { return slices.Delete(rs, 17, 18) },
			Failed, PartitionFailed,
			counts{Copied: n - 1, Missing: 1},
		},
		{
			"the first dropped", func(rs []*kgo.Record) []*kgo.Record { return rs[1:] },
			Failed, PartitionFailed,
			counts{Copied: n - 1, Missing: 1},
		},
		{
			"tombstone made empty", func(rs []*kgo.Record) []*kgo.Record { rs[0].Value = []byte{}; return rs },
			Failed, PartitionFailed,
			counts{Copied: n - 1, Altered: 1},
		},
		{
			"null key made empty", func(rs []*kgo.Record) []*kgo.Record { rs[6].Key = []byte{}; return rs },
			Failed, PartitionFailed,
			counts{Copied: n - 1, Altered: 1},
		},
		{
			"null header made empty", func(rs []*kgo.Record) []*kgo.Record {
				rs[2].Headers = slices.Clone(rs[2].Headers)
				rs[2].Headers[1].Value = []byte{}
				return rs
			},
			Failed, PartitionFailed,
			counts{Copied: n - 1, Altered: 1},
		},
		{
			"headers in another order", func(rs []*kgo.Record) []*kgo.Record {
				rs[2].Headers = slices.Clone(rs[2].Headers)
				slices.Reverse(rs[2].Headers)
				return rs
			},
			Failed, PartitionFailed,
			counts{Copied: n - 1, Altered: 1},
		},
		{
			"timestamp", func(rs []*kgo.Record) []*kgo.Record { rs[9].Timestamp = rs[9].Timestamp.Add(time.Second); return rs },
			Failed, PartitionFailed,
			counts{Copied: n - 1, Altered: 1},
		},
		{
			"all headers changed by a wrong converter", func(rs []*kgo.Record) []*kgo.Record {
				for _, r := range rs {
					r.Headers = []kgo.RecordHeader{{Key: r.Headers[0].Key, Value: append([]byte("base64:"), r.Headers[0].Value...)}}
				}
				return rs
			},
			Failed, PartitionFailed,
			counts{Altered: n},
		},
		{
			"two swapped", func(rs []*kgo.Record) []*kgo.Record { rs[11], rs[12] = rs[12], rs[11]; return rs },
			Failed, PartitionFailed,
			counts{Copied: n, OutOfOrder: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, before+n)
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs[:before]...)...)
			c.target.write(t, tt.copier(copyOf(rs[before:]...))...)
			o := c.proof(c.from(topic, 0, before, before+n, before))
			outcome, p := onlyPartition(t, o)
			if outcome != tt.outcome || p.Outcome != tt.part {
				t.Errorf("outcome %s, partition %s (%s); want %s, %s", outcome, p.Outcome, p.Reason, tt.outcome, tt.part)
			}
			if d := cmp.Diff(tt.want, short(p.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if p.Counts.Undecided != 0 {
				t.Errorf("%d undecided", p.Counts.Undecided)
			}
		})
	}
}
