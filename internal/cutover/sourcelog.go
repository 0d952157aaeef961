package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// stretch is a run of records in a source log, the record of each offset being
// that of [record].
type stretch struct {
	kind kind
	n    int
}

type kind int

const (
	plain     kind = iota
	committed      // in a transaction, whose marker follows
	aborted        // likewise
)

// sourceLog is what a partition holds from offset 0 on.
type sourceLog []stretch

// visible returns the offsets from..to-1 that a consumer of the isolation level
// gets to see.
func (l sourceLog) visible(level offsetmap.Isolation, from, to int) []int {
	var out []int
	next := 0
	for _, s := range l {
		for n := next; n < next+s.n; n++ {
			if n >= from && n < to && (s.kind != aborted || level == offsetmap.ReadUncommitted) {
				out = append(out, n)
			}
		}
		next += s.length()
	}
	return out
}

// length counts the marker too.
func (s stretch) length() int {
	if s.kind == plain {
		return s.n
	}
	return s.n + 1
}

func (l sourceLog) end() int {
	n := 0
	for _, s := range l {
		n += s.length()
	}
	return n
}

// layout is the log as a reader of everything sees it: "0 1 2m 3", a marker
// being m.
func (l sourceLog) layout() []string {
	var out []string
	next := 0
	for _, s := range l {
		for range s.n {
			out = append(out, strconv.Itoa(next))
			next++
		}
		if s.kind != plain {
			out = append(out, strconv.Itoa(next)+"m")
			next++
		}
	}
	return out
}

// due is what has to be copied of the log from c on.
func (l sourceLog) due(tp topicPartition, level offsetmap.Isolation, c int) due {
	d := due{c: c}
	for _, n := range l.visible(level, c, l.end()) {
		d.records = append(d.records, record(tp, n))
	}
	return d
}

// writeLog writes the log to a source partition.
func (w *world) writeLog(ctx context.Context, tp topicPartition, l sourceLog) error {
	next := 0
	for i, s := range l {
		if s.kind == plain {
			if err := produce(ctx, w.source, tp, next, next+s.n); err != nil {
				return err
			}
		} else {
			end, err := w.openTransaction(ctx, tp, next, next+s.n)
			if err != nil {
				return err
			}
			if err := end(kgo.TransactionEndTry(s.kind == committed)); err != nil {
				return fmt.Errorf("%s: ending transaction %d: %w", tp, i, err)
			}
		}
		next += s.length()
		// A broker answers before the marker is written.
		if err := w.awaitSourceEnd(ctx, tp, next); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) awaitSourceEnd(ctx context.Context, tp topicPartition, end int) error {
	var last int64
	if err := w.until(ctx, func() (bool, error) {
		listed, err := w.admin.source.ListEndOffsets(ctx, tp.Topic)
		if err := errors.Join(err, listed.Error()); err != nil {
			return false, err
		}
		o, _ := listed.Lookup(tp.Topic, tp.Partition)
		last = o.Offset
		return last >= int64(end), nil
	}); err != nil {
		return fmt.Errorf("%s ends at %d, want %d: %w", tp, last, end, err)
	}
	return nil
}

// openTransaction writes the records from..to-1 in a transaction that stays open
// until the function that it returns is called. A second call of that does
// nothing.
func (w *world) openTransaction(ctx context.Context, tp topicPartition, from, to int) (end func(kgo.TransactionEndTry) error, err error) {
	c, err := kgo.NewClient(append(clientOptions(w.Source), kgo.TransactionalID(fmt.Sprintf("%s-%d", tp, from)))...)
	if err != nil {
		return nil, err
	}
	if err := c.BeginTransaction(); err != nil {
		c.Close()
		return nil, err
	}
	var once sync.Once
	end = func(how kgo.TransactionEndTry) (err error) {
		once.Do(func() {
			err = c.EndTransaction(context.WithoutCancel(ctx), how)
			c.Close()
		})
		return err
	}
	if err := produce(ctx, c, tp, from, to); err != nil {
		return nil, errors.Join(err, end(kgo.TryAbort))
	}
	return end, nil
}

// expectLogs holds the brokers to the layouts that a scenario is about: without
// markers where it says so it would show nothing.
func (w *world) expectLogs(ctx context.Context, logs map[topicPartition]sourceLog) error {
	from, n := map[topicPartition]int64{}, 0
	for tp, l := range logs {
		from[tp] = 0
		n += len(l.layout())
	}
	all, err := w.read(ctx, w.Source, from, func(got map[topicPartition][]*kgo.Record) bool {
		come := 0
		for _, rs := range got {
			come += len(rs)
		}
		return come >= n
	}, kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	for _, tp := range partitions(logs) {
		var got []string
		for _, r := range all[tp] {
			at := strconv.FormatInt(r.Offset, 10)
			if r.Attrs.IsControl() {
				at += "m"
			}
			got = append(got, at)
		}
		if want := logs[tp].layout(); !slices.Equal(got, want) {
			return fmt.Errorf("the log of %s is %v, want %v", tp, got, want)
		}
	}
	return nil
}
