package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// compactedTopics keep the last record of each key and every tombstone. The
// segment of a log ends where a record is an hour younger than its first.
func compactedTopics() map[string]*string {
	return map[string]*string{
		"cleanup.policy": new("compact"), "min.cleanable.dirty.ratio": new("0.001"),
		"segment.ms": new("3600000"), "retention.ms": new("-1"), "delete.retention.ms": new(strconv.FormatInt((10 * 365 * 24 * time.Hour).Milliseconds(), 10)),
	}
}

// compaction says which key the record of each offset has, a capital letter
// being a tombstone of the small one, and where the old job stood. One more
// record, which ends the segment, follows them.
type compaction struct {
	keys string
	c    int
	what string
}

var compactions = []compaction{
	{"zabcabcdd", 3, "C is gone, and those before and behind it"},
	{"zabcccccc", 3, "C is gone, and everything up to the last"},
	{"zabcdabCd", 6, "C is there, and a tombstone behind it"},
	{"zaabBcdcd", 3, "C is gone, and what took it is a tombstone"},
	{"zabcdefgh", 4, "nothing is gone"},
	{"zabababab", 0, "C = 0, and what is behind it is gone"},
	{"abababab", 0, "C = 0 is gone"},
	{"abababab", 2, "C is gone, and the log start"},
	{"zababab", 7, "C is the last record, which is never cleaned"},
	{"zababab", 8, "C = end"},
}

// compactedTopic is compacted after the old job read it, so that C may be an
// offset that is no more. The connector goes on with the first record behind it.
func compactedTopic(ctx context.Context, w *world) error {
	topic := w.topic("t")
	logs := compactions
	if w.Compact != nil {
		// kfake moves the log start to the first record that is left; brokers do not.
		logs = slices.DeleteFunc(slices.Clone(logs), func(l compaction) bool { return l.keys[0] != 'z' })
	}
	if err := w.createWith(ctx, int32(len(logs)), compactedTopics(), topic); err != nil {
		return err
	}
	positions := make([]offsetmap.Position, 0, len(logs))
	want, left, ends := map[topicPartition]due{}, map[topicPartition][]*kgo.Record{}, make([]string, 0, len(logs))
	for i, s := range logs {
		tp := topicPartition{Topic: topic, Partition: int32(i)}
		all := keyed(tp, s.keys)
		left[tp] = survivors(all)
		want[tp] = due{c: s.c, what: s.what, records: slices.DeleteFunc(survivors(all), func(r *kgo.Record) bool { return number(r) < s.c })}
		positions = append(positions, stood(topic, tp.Partition, int64(s.c)))
		ends = append(ends, strconv.Itoa(len(all)))
		// What ends the segment comes alone: a batch lies in one segment.
		if err := errors.Join(
			w.source.ProduceSync(ctx, all[:len(s.keys)]...).FirstErr(),
			w.source.ProduceSync(ctx, all[len(s.keys)]).FirstErr(),
			w.target.ProduceSync(ctx, keyed(tp, s.keys)[:s.c]...).FirstErr(),
		); err != nil {
			return err
		}
	}
	if err := w.awaitCompaction(ctx, left); err != nil {
		return err
	}
	// Where nothing is left before C, the source cannot tell what was delivered.
	var accepted []offsetmap.Acceptance
	for tp, d := range want {
		if d.c > 0 && !slices.ContainsFunc(left[tp], func(r *kgo.Record) bool { return number(r) < d.c }) {
			accepted = append(accepted, offsetmap.Acceptance{Check: "boundary/cannot-tell", Scope: tp.String(), Reason: "compaction took what was before C", By: "suite"})
		}
	}
	slices.SortFunc(accepted, func(a, b offsetmap.Acceptance) int { return strings.Compare(a.Scope, b.Scope) })
	before, m, plan, err := w.startedFrom(ctx, []string{topic}, request(snapshot(positions...), accepted...))
	if err != nil {
		return err
	}
	return w.deliveredAndBack(ctx, before, m, plan, want, ends)
}

// keyed is one record for each letter, and the one that ends the segment.
func keyed(tp topicPartition, keys string) []*kgo.Record {
	all := make([]*kgo.Record, 0, len(keys)+1)
	for n, key := range keys {
		r := record(tp, n)
		r.Key, r.Value = []byte{byte(key) | 0x20}, []byte(strconv.Itoa(n))
		if key < 'a' {
			r.Value = nil
		}
		all = append(all, r)
	}
	last := record(tp, len(keys))
	last.Key, last.Value, last.Timestamp = []byte("last"), []byte("last"), last.Timestamp.Add(2*time.Hour)
	return append(all, last)
}

// survivors are the records that compaction leaves.
func survivors(all []*kgo.Record) []*kgo.Record {
	newest := map[string]int{}
	for n, r := range all {
		newest[string(r.Key)] = n
	}
	var out []*kgo.Record
	for n, r := range all {
		if newest[string(r.Key)] == n {
			out = append(out, r)
		}
	}
	return out
}

// number is the source's offset of a record, of which its id tells.
func number(r *kgo.Record) int {
	n, err := strconv.Atoi(offsetOf(due{records: []*kgo.Record{r}}))
	if err != nil {
		return -1
	}
	return n
}

// awaitCompaction waits until the source holds nothing but what is left.
func (w *world) awaitCompaction(ctx context.Context, left map[topicPartition][]*kgo.Record) error {
	from, want := map[topicPartition]int64{}, map[topicPartition][]int{}
	for tp, rs := range left {
		from[tp] = 0
		for _, r := range rs {
			want[tp] = append(want[tp], number(r))
		}
	}
	var differ error
	if err := w.until(ctx, func() (bool, error) {
		if w.Compact != nil {
			w.Compact()
		}
		lasts := func(got map[topicPartition][]*kgo.Record) bool {
			for tp, rs := range left {
				if n := len(got[tp]); n == 0 || idOf(got[tp][n-1]) != idOf(rs[len(rs)-1]) {
					return false
				}
			}
			return true
		}
		got, err := w.read(ctx, w.Source, from, lasts)
		if err != nil {
			return false, err
		}
		differ = nil
		for _, tp := range partitions(left) {
			var have []int
			for _, r := range got[tp] {
				have = append(have, int(r.Offset))
			}
			if !slices.Equal(have, want[tp]) {
				differ = fmt.Errorf("%s holds the offsets %v, want %v", tp, have, want[tp])
			}
		}
		return differ == nil, nil
	}); err != nil {
		return fmt.Errorf("compaction: %w: %w", err, differ)
	}
	return nil
}
