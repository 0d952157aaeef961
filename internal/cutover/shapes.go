package cutover

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// shapes are what can lie around C in a partition. Those of [record] recur with
// the last digit of the offset.
var shapes = []struct {
	name string
	log  sourceLog
	c    int
}{
	{"null key at C", sourceLog{{plain, 20}}, 13},
	{"tombstone at C", sourceLog{{plain, 20}}, 15},
	{"tombstone before C", sourceLog{{plain, 20}}, 16},
	{"binary and null headers at C", sourceLog{{plain, 20}}, 17},
	{"empty key and value at C", sourceLog{{plain, 20}}, 19},
	{"C = 0", sourceLog{{plain, 20}}, 0},
	{"C = end", sourceLog{{plain, 20}}, 20},
	{"never a record", nil, 0},
	{"C inside a committed transaction", sourceLog{{plain, 10}, {committed, 5}, {plain, 5}}, 12},
	{"C at a commit marker", sourceLog{{plain, 10}, {committed, 5}, {plain, 5}}, 15},
	{"C behind a commit marker", sourceLog{{plain, 10}, {committed, 5}, {plain, 5}}, 16},
	{"C before an aborted transaction", sourceLog{{plain, 10}, {aborted, 5}, {plain, 5}}, 10},
	{"C inside an aborted transaction", sourceLog{{plain, 10}, {aborted, 5}, {plain, 5}}, 12},
	{"C at an abort marker", sourceLog{{plain, 10}, {aborted, 5}, {plain, 5}}, 15},
	{"C behind an abort marker", sourceLog{{plain, 10}, {aborted, 5}, {plain, 5}}, 16},
	{"transactions in a row, the log ends with a marker", sourceLog{{committed, 3}, {aborted, 3}, {committed, 3}}, 3},
	{"nothing but a commit marker from C on", sourceLog{{plain, 10}, {committed, 5}}, 15},
	{"nothing but an aborted transaction from C on", sourceLog{{plain, 10}, {aborted, 5}}, 10},
}

// shapesAtTheBoundary is a topic with a partition for each shape, and a job and
// a connector that read with the isolation level. What its consumers see alone
// counts: neither a marker, nor for a reader of committed records what was
// aborted, is copied, missing, or in the way.
func shapesAtTheBoundary(level offsetmap.Isolation) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		w.isolation = level
		topic := w.topic("shapes")
		if err := w.create(ctx, int32(len(shapes)), topic); err != nil {
			return err
		}
		logs, want := map[topicPartition]sourceLog{}, map[topicPartition]due{}
		positions := make([]offsetmap.Position, 0, len(shapes))
		for i, s := range shapes {
			tp := topicPartition{Topic: topic, Partition: int32(i)}
			before := s.log.visible(level, 0, s.c)
			if err := errors.Join(w.writeLog(ctx, tp, s.log), w.produceEach(ctx, tp, before)); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			d := s.log.due(tp, level, s.c)
			d.what = s.name
			logs[tp], want[tp] = s.log, d
			if len(s.log) == 0 {
				positions = append(positions, unread(topic, tp.Partition, offsetmap.Earliest))
			} else {
				positions = append(positions, stood(topic, tp.Partition, int64(s.c)))
			}
		}
		if err := w.expectLogs(ctx, logs); err != nil {
			return err
		}
		before, m, plan, err := w.startedFrom(ctx, []string{topic}, request(snapshot(positions...)))
		if err != nil {
			return err
		}
		if err := w.watched(ctx, m, plan, want); err != nil {
			return err
		}
		// Where nothing was to be copied the connector stands at C all the same,
		// and what comes now shows it.
		for tp, d := range want {
			if len(d.records) > 0 {
				continue
			}
			end := logs[tp].end()
			if err := produce(ctx, w.source, tp, end, end+3); err != nil {
				return err
			}
			d.records = span(tp, end, end+3).records
			want[tp] = d
		}
		// Connect's offset never moves over a marker: C' is behind the last record.
		ends := make([]string, 0, len(shapes))
		for _, tp := range partitions(want) {
			last, err := strconv.Atoi(offsetOf(due{records: want[tp].records[len(want[tp].records)-1:]}))
			if err != nil {
				return err
			}
			ends = append(ends, strconv.Itoa(last+1))
		}
		return w.deliveredAndBack(ctx, before, m, plan, want, ends)
	}
}

// startedFrom plans, applies and starts, and returns where the target ended
// before.
func (w *world) startedFrom(ctx context.Context, topics []string, req flinkmm2.PlanRequest) (map[topicPartition]int64, *flinkmm2.Migration, *offsetmap.Plan, error) {
	req.Attestations.Isolation.Value = w.isolation
	m, err := w.created(ctx, topics)
	if err != nil {
		return nil, nil, nil, err
	}
	plan, err := m.MakePlan(ctx, req)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := m.Apply(ctx, plan); err != nil {
		return nil, nil, nil, err
	}
	before, err := w.ends(ctx, topics...)
	if err != nil {
		return nil, nil, nil, err
	}
	_, err = m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
	return before, m, plan, err
}

// deliveredAndBack holds the target, the proof and then the way back to what is
// due: ends are C', in the order of the partitions.
func (w *world) deliveredAndBack(ctx context.Context, before map[topicPartition]int64, m *flinkmm2.Migration, plan *offsetmap.Plan, want map[topicPartition]due, ends []string) error {
	if err := w.expectDelivered(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle: %w", err)
	}
	if err := w.watched(ctx, m, plan, want); err != nil {
		return err
	}
	back, err := m.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	return expectBoundary(back, ends...)
}

// watched holds the proof to what the oracle expects of each partition.
func (w *world) watched(ctx context.Context, m *flinkmm2.Migration, plan *offsetmap.Plan, want map[topicPartition]due) error {
	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	if err != nil {
		return err
	}
	return expectProof(proof, want, nil)
}

// expectProof holds a proof to what is due, and to how many records came twice.
func expectProof(proof *flinkmm2.Proof, want map[topicPartition]due, repeated map[topicPartition]int) error {
	if err := check(len(proof.Partitions) == len(want), "the proof has %d partitions, want %d", len(proof.Partitions), len(want)); err != nil {
		return err
	}
	errs := make([]error, 0, len(proof.Partitions))
	for _, p := range proof.Partitions {
		d := want[p.TopicPartition]
		outcome, first := "proven", offsetOf(d)
		if len(d.records) == 0 {
			outcome, first = "nothing-to-copy", "none"
		}
		got := fmt.Sprintf("%s, C = %s, first %s, %d records, %d copied, %d missing, %d repeated, %d foreign", p.Outcome, p.Next, p.First, p.Records, p.Copied, p.Missing, p.Repeated, p.Foreign)
		wants := fmt.Sprintf("%s, C = %d, first %s, %d records, %d copied, 0 missing, %d repeated, 0 foreign", outcome, d.c, first, len(d.records), len(d.records), repeated[p.TopicPartition])
		errs = append(errs, check(got == wants, "the proof says of %s: %s, want: %s (%s)", p.TopicPartition, got, wants, p.Reason))
	}
	return sorted(errs)
}

// produceEach writes the records of the offsets to the target, as the old job
// has.
func (w *world) produceEach(ctx context.Context, tp topicPartition, offsets []int) error {
	batch := make([]*kgo.Record, 0, len(offsets))
	for _, n := range offsets {
		batch = append(batch, record(tp, n))
	}
	return w.target.ProduceSync(ctx, batch...).FirstErr()
}
