package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// recordAges says of some moments, in milliseconds, which record of each source
// partition is the first that is not older. Brokers answer it from their time index
// (ListOffsets), so no record is read, however long the log is.
type recordAges map[int64]firstRecords

// firstRecords are those of one moment.
type firstRecords struct {
	byTopic map[string][]fresh.Listed // by partition; there may be many, and several moments
	err     *fresh.UnmeasuredError
}

// of returns the record of a partition. kadm puts the end where no record is as young.
func (f firstRecords) of(tp offsetmap.TopicPartition) (fresh.Listed, error) {
	if all := f.byTopic[tp.Topic]; int(tp.Partition) < len(all) && !all[tp.Partition].Offset.IsNone() {
		return all[tp.Partition], nil
	}
	if err := f.err.Reason(tp); err != nil {
		return fresh.Listed{}, err
	}
	return fresh.Listed{}, errNoAge
}

// moments gathers which topics are to be asked about which moment, so that each moment
// costs one listing.
type moments map[int64]map[string]bool

func (m moments) add(at int64, topic string) {
	if m[at] == nil {
		m[at] = map[string]bool{}
	}
	m[at][topic] = true
}

// before returns the moment that lies so many milliseconds before at, and false where
// there is no such limit: brokers write "none" as a negative number or as one that leads
// beyond 1970, and a negative moment would ask ListOffsets for something else.
func before(at time.Time, ms int64) (int64, bool) {
	moment := at.UnixMilli() - ms
	return moment, ms >= 0 && moment > 0
}

// after is the moment behind at, likewise.
func after(at time.Time, ms int64) (int64, bool) {
	now := at.UnixMilli()
	if ms < 0 || ms > math.MaxInt64-now {
		return 0, false
	}
	return now + ms, true
}

func readAges(ctx context.Context, admin Admin, wanted moments) recordAges {
	ages := recordAges{}
	for _, moment := range slices.Sorted(maps.Keys(wanted)) {
		since := func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return admin.ListOffsetsAfterMilli(ctx, moment, topics...)
		}
		what := "first record since " + time.UnixMilli(moment).UTC().Format(time.RFC3339)
		listed, err := measured(fresh.List(ctx, admin, what, since, slices.Sorted(maps.Keys(wanted[moment]))...))
		ages[moment] = firstRecords{byPartition(listed), err}
	}
	return ages
}

var errNoAge = errors.New("the age of its records was not measured")

// older returns the first offset that is as young as the moment demands, and whether
// there is anything older from c on. Timestamps need not rise with offsets: what lies
// behind that offset may be older too. A marker of a transaction has a timestamp as well.
func (a recordAges) older(tp offsetmap.TopicPartition, c offsetmap.NextOffset, moment int64) (until offsetmap.NextOffset, found bool, err error) {
	listed, err := a[moment].of(tp)
	return listed.Offset, err == nil && listed.Offset.Compare(c) > 0, err
}

func byPartition(listed map[offsetmap.TopicPartition]fresh.Listed) map[string][]fresh.Listed {
	out := map[string][]fresh.Listed{}
	for tp, one := range listed {
		all := out[tp.Topic]
		if missing := int(tp.Partition) + 1 - len(all); missing > 0 {
			all = append(all, make([]fresh.Listed, missing)...)
		}
		all[tp.Partition] = one
		out[tp.Topic] = all
	}
	return out
}

// places returns where the old job stood in each partition of the topic that it is
// known of, sorted: by the rows, and while a rule blocks those, by the positions. What
// has expired already is source/offset-expired.
func (c *Case) places(topic string) []place {
	if c.byTopic == nil {
		c.byTopic = c.allPlaces()
	}
	return c.byTopic[topic]
}

func (c *Case) allPlaces() map[string][]place {
	out := map[string][]place{}
	add := func(tp offsetmap.TopicPartition, next offsetmap.NextOffset) {
		rg, there := c.Facts.Ranges[tp]
		if there && !next.IsNone() && !rg.End.IsNone() && next.Compare(rg.Start) >= 0 {
			out[tp.Topic] = append(out[tp.Topic], place{tp, next, rg})
		}
	}
	for _, row := range c.Rows {
		add(row.TopicPartition, row.Next)
	}
	if c.Rows == nil {
		for _, p := range c.Question.Positions {
			add(p.TopicPartition, p.Next)
		}
	}
	for _, places := range out {
		slices.SortFunc(places, func(a, b place) int { return a.Compare(b.TopicPartition) })
	}
	return out
}

// place is where the old job stood in a partition.
type place struct {
	offsetmap.TopicPartition
	next offsetmap.NextOffset // C
	rng  offsetmap.Range
}

// unread reports whether anything lies from C on.
func (p place) unread() bool { return p.next.Compare(p.rng.End) < 0 }

// spell writes a number of milliseconds as people say it.
func spell(ms int64) string {
	const day = 24 * time.Hour
	switch d := time.Duration(ms) * time.Millisecond; {
	case ms < 0 || ms > math.MaxInt64/int64(time.Millisecond):
		return fmt.Sprintf("%d ms", ms)
	case d >= day && d%day == 0:
		return fmt.Sprintf("%d d", d/day)
	default:
		return d.String()
	}
}
