package preflight

import (
	"cmp"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Forecast says how many records the target will have twice after a start at the C of
// each partition: those from C on that the old job has delivered already. What
// MirrorMaker 2 repeats by itself, when a worker is lost, is not in it.
type Forecast struct {
	// Records and Bytes, of keys and values, are those that were found. AtLeast says
	// that more may be there.
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"atLeast"`
	// AtMost bounds the records: where all of them were looked for it is Records, else
	// the offsets from C to the end of what can be read of the source.
	AtMost int64 `json:"atMost"`
	// Partitions are those with such records, or of which it is not known how many they
	// are, sorted.
	Partitions []PartitionForecast `json:"partitions"`
}

// PartitionForecast is the forecast of one partition of the source.
type PartitionForecast struct {
	offsetmap.TopicPartition
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"atLeast"`
	AtMost  int64 `json:"atMost"`
	// Why says what it rests on.
	Why string `json:"why"`
}

// forecast is nil where nobody looked.
func (c *Case) forecast() *Forecast {
	s := c.Facts.Surroundings
	if s == nil || s.Delivery.IsAbsent() {
		return nil
	}
	found, known := s.Delivery.Get()
	out := &Forecast{Partitions: []PartitionForecast{}}
	for _, p := range c.Facts.toLookAt(c.Question.Positions, c.Question.isolation()) {
		d, looked := found[p.TopicPartition]
		one := PartitionForecast{TopicPartition: p.TopicPartition, Records: d.Beyond, Bytes: d.BeyondBytes, AtMost: d.Beyond}
		switch {
		case !known:
			one.AtLeast, one.Why = true, "nothing is known: "+s.Delivery.Err().Error()
		case !looked:
			one.AtLeast, one.Why = true, "nobody looked for its records"
		case d.Outcome != Delivered && d.Outcome != NothingBefore:
			one.AtLeast, one.Why = true, cmp.Or(d.Reason, string(d.Outcome))
		case d.BeyondAtLeast:
			one.AtLeast, one.Why = true, fmt.Sprintf("all of the first %d records from C on that were looked for are on the target", d.Ahead)
		case d.Beyond > 0:
			one.Why = fmt.Sprintf("of the first %d records from C on", d.Ahead)
		default:
			continue
		}
		if one.AtLeast {
			one.AtMost = max(one.Records, c.Facts.ahead(p, c.Question.isolation()))
			one.AtLeast = one.AtMost > one.Records
		}
		if one.AtMost == 0 { // nothing to read from C on, so nothing that could come twice
			continue
		}
		out.Records, out.Bytes, out.AtMost, out.AtLeast = out.Records+one.Records, out.Bytes+one.Bytes, out.AtMost+one.AtMost, out.AtLeast || one.AtLeast
		out.Partitions = append(out.Partitions, one)
	}
	return out
}

// ahead counts the offsets from where the old job stood, or from the log start where
// that lies behind it, to the end of what can be read of the source.
func (f Facts) ahead(p offsetmap.Position, level offsetmap.Isolation) int64 {
	r := f.Ranges[p.TopicPartition]
	end := r.End
	if level == offsetmap.ReadCommitted {
		end = r.Stable
	}
	from := p.Next
	if from.Compare(r.Start) < 0 { // or none: C can only be the log start then
		from = r.Start
	}
	n, _ := end.Sub(from)
	return max(0, n)
}

// String says it in one sentence.
func (f *Forecast) String() string {
	switch {
	case f == nil:
		return "not known: nobody looked on the target for records from C on"
	case f.AtMost == 0:
		return "none; no record from C on is on the target"
	case f.AtLeast && f.Records == 0:
		return fmt.Sprintf("not known: at most %d records, of %d partitions, are on the target already, and come twice", f.AtMost, len(f.Partitions))
	case f.AtLeast:
		return fmt.Sprintf("at least %d records (%d bytes), at most %d, of %d partitions are on the target already, and come twice", f.Records, f.Bytes, f.AtMost, len(f.Partitions))
	default:
		return fmt.Sprintf("%d records (%d bytes) of %d partitions are on the target already, and come twice", f.Records, f.Bytes, len(f.Partitions))
	}
}
