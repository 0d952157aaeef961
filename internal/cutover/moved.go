package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// move is one thing that happens to the world behind a plan's back.
type move struct {
	name   string
	check  string // the id of the finding that must name it
	happen func(ctx context.Context, w *world, topic string) error
}

// moves are tried between plan and apply, and between apply and start.
var moves = []move{
	{"records deleted", "source/offset-expired", func(ctx context.Context, w *world, topic string) error {
		return w.expire(ctx, topicPartition{Topic: topic}, 60)
	}},
	{"topic created again, C out of range", "source/topic-recreated", func(ctx context.Context, w *world, topic string) error {
		return w.recreate(ctx, topic, 10)
	}},
	{"topic created again, C in range", "source/topic-recreated", func(ctx context.Context, w *world, topic string) error {
		return w.recreate(ctx, topic, 200)
	}},
	{"topic deleted", "source/partition-missing", func(ctx context.Context, w *world, topic string) error {
		return w.remove(ctx, topic)
	}},
	{"partition added", "source/partition-added", func(ctx context.Context, w *world, topic string) error {
		r, err := w.admin.source.UpdatePartitions(ctx, 3, topic)
		return errors.Join(err, r.Error())
	}},
	{"config changed", "connector/config", func(ctx context.Context, w *world, topic string) error {
		return w.put(ctx, "/connectors/"+w.connector+"/config", w.configWith(topic, "tasks.max", "1"))
	}},
	{"offset altered by hand", "offsets/changed", func(ctx context.Context, w *world, topic string) error {
		return w.alter(ctx, topicPartition{Topic: topic}, 70)
	}},
	{"offset of a stranger", "offsets/unplanned", func(ctx context.Context, w *world, topic string) error {
		return w.alter(ctx, topicPartition{Topic: topic + "-x"}, 1)
	}},
	{"connector paused", "connector/state", func(ctx context.Context, w *world, _ string) error {
		if err := w.put(ctx, "/connectors/"+w.connector+"/pause", nil); err != nil {
			return err
		}
		return w.until(ctx, func() (bool, error) {
			s, err := w.connect.Status(ctx, w.connector)
			return s.Connector.State == connectrest.StatePaused, err
		})
	}},
}

// movedBefore makes a plan, lets the move happen before the step, and expects
// the step to refuse, to name the finding, and to write nothing.
func movedBefore(step string, m move) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		topic, mig, plan, err := w.planned(ctx)
		if err != nil {
			return err
		}
		if step == "start" {
			if _, err := mig.Apply(ctx, plan); err != nil {
				return err
			}
		}
		if err := m.happen(ctx, w, topic); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		return w.expectNothingHappens(ctx, []string{topic}, func() error {
			if step == "start" {
				_, err = mig.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
			} else {
				_, err = mig.Apply(ctx, plan)
			}
			return refusedFor(err, m.check)
		})
	}
}

// refusedFor expects a refusal because the world moved, one of whose findings
// has the id.
func refusedFor(err error, id string) error {
	var r *flinkmm2.RefusedError
	if !errors.As(err, &r) || !errors.Is(err, flinkmm2.ErrMoved) || flinkmm2.ExitStatus(err) != flinkmm2.ExitMoved {
		return fmt.Errorf("want a refusal for %s, got %w", id, err)
	}
	named := slices.ContainsFunc(r.Findings, func(f offsetmap.Finding) bool { return f.Check == id })
	return check(named, "the refusal does not name %s: %v", id, err)
}

func (w *world) remove(ctx context.Context, topic string) error {
	r, err := w.admin.source.DeleteTopics(ctx, topic)
	if err := errors.Join(err, r.Error()); err != nil {
		return err
	}
	return w.until(ctx, func() (bool, error) {
		listed, err := w.admin.source.ListTopics(kadm.WithAuthorizedOps(ctx), topic)
		return err == nil && !listed.Has(topic), err
	})
}

// recreate makes the topic anew, with n records in each partition.
func (w *world) recreate(ctx context.Context, topic string, n int) error {
	if err := w.remove(ctx, topic); err != nil {
		return err
	}
	r, err := w.admin.source.CreateTopics(ctx, 2, 1, forever(), topic)
	if err := errors.Join(err, r.Error()); err != nil {
		return err
	}
	// The shared client still knows the old topic's id, and would produce to it.
	return w.withClient(w.Source, func(c producer) error {
		return errors.Join(
			produce(ctx, c, topicPartition{Topic: topic}, 0, n),
			produce(ctx, c, topicPartition{Topic: topic, Partition: 1}, 0, n),
		)
	})
}

// alter sets a stored offset as somebody with curl would.
func (w *world) alter(ctx context.Context, tp topicPartition, m int64) error {
	return w.patch(ctx, "/connectors/"+w.connector+"/offsets", strings.NewReader(fmt.Sprintf(
		`{"offsets":[{"partition":{"cluster":"source","topic":%q,"partition":%d},"offset":{"offset":%d}}]}`, tp.Topic, tp.Partition, m)))
}
