package cutover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// due is what MirrorMaker 2 owes the target of one source partition.
type due struct {
	c       int           // where it begins
	records []*kgo.Record // what it has to deliver, in the source's order
	what    string        // lies around C, for the figures
}

// span is due when the source holds the records from..to-1 at their own offsets.
func span(tp topicPartition, from, to int) due {
	d := due{c: from}
	for n := from; n < to; n++ {
		d.records = append(d.records, record(tp, n))
	}
	return d
}

// tally is what a reader of the target sees of one partition. Nothing of the
// library takes part: records are known by their id, and compared in full.
type tally struct {
	first             string // the source's offset of the first record copied, or "none"
	missing, repeated int
	strange           error // a record that the source does not have
}

func (d due) tally(got []*kgo.Record) tally {
	want := make(map[string]string, len(d.records))
	for _, r := range d.records {
		want[idOf(r)] = text(r)
	}
	out, seen := tally{first: "none"}, make(map[string]bool, len(want))
	for i, r := range got {
		id := idOf(r)
		if i == 0 {
			out.first = id[strings.LastIndex(id, "/")+1:]
		}
		switch {
		case want[id] == "":
			out.strange = errors.Join(out.strange, fmt.Errorf("%s-%d: record %s at offset %d is not due", r.Topic, r.Partition, id, r.Offset))
		case want[id] != text(r):
			out.strange = errors.Join(out.strange, fmt.Errorf("%s-%d: record %s at offset %d is %s, want %s", r.Topic, r.Partition, id, r.Offset, text(r), want[id]))
		case seen[id]:
			out.repeated++
		}
		seen[id] = true
	}
	for id := range want {
		if !seen[id] {
			out.missing++
		}
	}
	return out
}

// numberOf is the source's offset of a record.
func numberOf(r *kgo.Record) (int, bool) {
	id := idOf(r)
	n, err := strconv.Atoi(id[strings.LastIndex(id, "/")+1:])
	return n, err == nil
}

func idOf(r *kgo.Record) string {
	for _, h := range r.Headers {
		if h.Key == "id" {
			return string(h.Value)
		}
	}
	return "none"
}

// everythingIsThere says whether every record that is due has come.
func everythingIsThere(want map[topicPartition]due) func(map[topicPartition][]*kgo.Record) bool {
	left := map[topicPartition]map[string]bool{}
	for tp, d := range want {
		left[tp] = map[string]bool{}
		for _, r := range d.records {
			left[tp][idOf(r)] = true
		}
	}
	looked := map[topicPartition]int{}
	return func(got map[topicPartition][]*kgo.Record) bool {
		n := 0
		for tp, ids := range left {
			for _, r := range got[tp][looked[tp]:] {
				delete(ids, idOf(r))
			}
			looked[tp] = len(got[tp])
			n += len(ids)
		}
		return n == 0
	}
}

// read reads partitions of a cluster, each from an offset on, until enough has
// come, and then for another second, in which nothing may.
func (w *world) read(ctx context.Context, bootstrap string, from map[topicPartition]int64, enough func(map[topicPartition][]*kgo.Record) bool, opts ...kgo.Opt) (map[topicPartition][]*kgo.Record, error) {
	at := map[string]map[int32]kgo.Offset{}
	for tp, offset := range from {
		if at[tp.Topic] == nil {
			at[tp.Topic] = map[int32]kgo.Offset{}
		}
		at[tp.Topic][tp.Partition] = kgo.NewOffset().At(offset)
	}
	c, err := kgo.NewClient(append(append(clientOptions(bootstrap), kgo.ConsumePartitions(at)), opts...)...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	got := map[topicPartition][]*kgo.Record{}
	for deadline := time.Now().Add(w.Patience); ; {
		poll, cancel := context.WithTimeout(ctx, time.Second)
		fetches := c.PollFetches(poll)
		cancel()
		if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return got, err
		}
		came := 0
		fetches.EachRecord(func(r *kgo.Record) {
			tp := topicPartition{Topic: r.Topic, Partition: r.Partition}
			got[tp] = append(got[tp], r)
			came++
		})
		if came == 0 && (enough(got) || time.Now().After(deadline)) {
			return got, nil
		}
	}
}

// fromTheTarget reads what came to the target after its ends were before. What
// it finds of every partition stands in the figures.
func (w *world) fromTheTarget(ctx context.Context, before map[topicPartition]int64, want map[topicPartition]due) (map[topicPartition][]*kgo.Record, map[topicPartition]tally, error) {
	from := map[topicPartition]int64{}
	for tp := range want {
		from[tp] = before[tp]
	}
	got, err := w.read(ctx, w.Target, from, everythingIsThere(want))
	if err != nil {
		return nil, nil, err
	}
	all := map[topicPartition]tally{}
	for tp, d := range want {
		all[tp] = d.tally(got[tp])
		w.Figures.add(figure{
			scenario: w.scenario, partition: strings.TrimPrefix(tp.String(), w.prefix+"."),
			what: d.what, c: strconv.Itoa(d.c), first: all[tp].first, missing: all[tp].missing, repeated: all[tp].repeated,
		})
	}
	return got, all, nil
}

// expectCopied holds the target to the source's records from..to-1 of each
// partition: each once, in order, unaltered.
func (w *world) expectCopied(ctx context.Context, before map[topicPartition]int64, want map[topicPartition][2]int) error {
	all := map[topicPartition]due{}
	for tp, s := range want {
		all[tp] = span(tp, s[0], s[1])
	}
	return w.expectDelivered(ctx, before, all)
}

// expectDelivered holds the target, from each partition's end before the start,
// to what is due: each record once, in order, unaltered.
func (w *world) expectDelivered(ctx context.Context, before map[topicPartition]int64, want map[topicPartition]due) error {
	all, _, err := w.fromTheTarget(ctx, before, want)
	if err != nil {
		return err
	}
	var errs []error
	for tp, d := range want {
		got := all[tp]
		for i := range max(len(got), len(d.records)) {
			if at(got, i) != at(d.records, i) {
				errs = append(errs, fmt.Errorf("%s, C = %d: copied record %d is %s, want %s (%d copied, %d expected)",
					tp, d.c, i, at(got, i), at(d.records, i), len(got), len(d.records)))
				break
			}
		}
	}
	return sorted(errs)
}

// expectNoLoss holds the target to what is due of a worker that was killed: no
// record missing or altered, and none of another. How many came twice is
// returned.
func (w *world) expectNoLoss(ctx context.Context, before map[topicPartition]int64, want map[topicPartition]due) (map[topicPartition]int, error) {
	_, all, err := w.fromTheTarget(ctx, before, want)
	if err != nil {
		return nil, err
	}
	repeated := map[topicPartition]int{}
	var errs []error
	for tp, t := range all {
		repeated[tp] = t.repeated
		errs = append(errs, t.strange,
			check(t.missing == 0, "%s: %d of %d records are missing", tp, t.missing, len(want[tp].records)),
			check(t.first == offsetOf(want[tp]), "%s, C = %d: the first record copied is that at %s, want %s", tp, want[tp].c, t.first, offsetOf(want[tp])))
	}
	return repeated, sorted(errs)
}

// offsetOf is the source's offset of the first record that is due.
func offsetOf(d due) string {
	if len(d.records) == 0 {
		return "none"
	}
	id := idOf(d.records[0])
	return id[strings.LastIndex(id, "/")+1:]
}

func sorted(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func at(list []*kgo.Record, i int) string {
	if i < len(list) {
		return fmt.Sprintf("source record %s: %s", idOf(list[i]), text(list[i]))
	}
	return "nothing"
}

// partitions returns the keys, sorted.
func partitions[V any](of map[topicPartition]V) []topicPartition {
	return slices.SortedFunc(maps.Keys(of), topicPartition.Compare)
}
