package flinkmm2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const (
	storyConnector = "mm2"
	storyAlias     = "source"
)

var (
	storyBegins = time.Date(2026, 10, 15, 8, 0, 0, 0, time.UTC)
	storyConfig = "sha256:" + strings.Repeat("c0", 32)
	errStory    = errors.New("connection reset")
)

// newStoryWorld has the topic orders with three partitions of 1000 records each, of
// which the target has 70, and a worker without a connector.
func newStoryWorld() engine.Observed {
	measured := measuredByPartition{}
	for p := range int32(3) {
		measured[storyPartition(p)] = storyMeasured(p)
	}
	return engine.Observed{
		Now:      storyBegins,
		SourceID: offsetmap.Known("source-id"), TargetID: offsetmap.Known("target-id"), ProducerID: offsetmap.Known("target-id"),
		Worker:    offsetmap.Known(engine.Versions{Worker: "4.3.1", Plugin: "4.3.1"}),
		Connector: offsetmap.Absent[engine.Connector](),
		Config:    offsetmap.Absent[string](),
		Stored:    offsetmap.Absent[engine.Stored](),
		Measured:  offsetmap.Known(measured),
		Active:    offsetmap.Known([]string{}),
	}
}

func storyPartition(p int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: "orders", Partition: p}
}

func storyMeasured(p int32) offsetmap.Measured {
	return offsetmap.Measured{
		TopicPartition: storyPartition(p), TopicID: offsetmap.TopicID{1}, TargetTopic: "orders", TargetEnd: storyNext("70"),
		Range: offsetmap.Range{Start: storyNext("0"), End: storyNext("1000"), Stable: storyNext("1000")},
	}
}

// Numbers of a story are written by whoever writes the story, so one that is none is a
// mistake in it: a panic that the runner reports with the line.

func storyNumber(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is no number", s))
	}
	return n
}

func storyNext(s string) offsetmap.NextOffset {
	c, err := offsetmap.Next(storyNumber(s))
	if err != nil {
		panic(err.Error())
	}
	return c
}

func storySource(s string) offsetmap.SourceOffset {
	m, err := offsetmap.Source(storyNumber(s))
	if err != nil {
		panic(err.Error())
	}
	return m
}

func storyTP(s string) offsetmap.TopicPartition {
	topic, p, ok := cutLast(s, "-")
	if !ok {
		panic(fmt.Sprintf("%q is no partition", s))
	}
	return offsetmap.TopicPartition{Topic: topic, Partition: int32(storyNumber(p))}
}

// The maps of a world are never written in place, so that a copy of the struct is one
// of the world.

func measure(w *engine.Observed, tp offsetmap.TopicPartition, change func(*offsetmap.Measured)) {
	all, _ := w.Measured.Get()
	all = maps.Clone(all)
	m, there := all[tp]
	if !there {
		m = storyMeasured(tp.Partition)
		m.TopicPartition, m.TargetTopic = tp, tp.Topic
	}
	change(&m)
	all[tp] = m
	w.Measured = offsetmap.Known(all)
}

func storeAt(w *engine.Observed, tp offsetmap.TopicPartition, m offsetmap.SourceOffset) {
	s, _ := w.Stored.Get()
	s.Offsets = maps.Clone(s.Offsets)
	if s.Offsets == nil {
		s.Offsets = offsetsByPartition{}
	}
	if m.IsNone() {
		delete(s.Offsets, tp)
	} else {
		s.Offsets[tp] = m
	}
	w.Stored = offsetmap.Known(s)
}

// seenBy is the world without the topics that a program does not ask for.
func (s *story) seenBy(o *observer) engine.Observed {
	topics := map[string]bool{}
	if o.goal == engine.Continue {
		topics = engine.EarlierTopics(o.plan)
	}
	for _, r := range o.plan.Body.Rows {
		topics[r.Topic] = true
	}
	out := s.world
	if all, ok := out.Measured.Get(); ok {
		asked := measuredByPartition{}
		for tp, m := range all {
			if topics[tp.Topic] {
				asked[tp] = m
			}
		}
		out.Measured = offsetmap.Known(asked)
	}
	return out
}

func activate(w *engine.Observed, topic string) {
	active, known := w.Active.Get()
	if known && !slices.Contains(active, topic) {
		w.Active = offsetmap.Known(append(slices.Clone(active), topic))
	}
}

// storyWorker is the worker of a story's world. What a migration calls is one event
// before it and one after it.
type storyWorker struct {
	Connect // nil: what a story does not need is not there

	s *story
}

func (w storyWorker) call(name, show string, do func(*engine.Observed)) error {
	w.s.event("before " + name)
	w.s.say("%s", show)
	do(&w.s.world)
	w.s.event("after " + name)
	return nil
}

func (w storyWorker) AwaitStopped(context.Context, string) (connectrest.Status, error) {
	w.s.event("during await-tasks")
	c, _ := w.s.world.Connector.Get()
	w.s.world.Connector = offsetmap.Known(engine.Connector{State: c.State})
	return connectrest.Status{}, nil
}

func (w storyWorker) AlterOffsetsInParts(_ context.Context, _ string, entries []connectrest.Offset, _ ...connectrest.PartsOption) error {
	var texts []string
	writes := offsetsByPartition{}
	for _, e := range entries {
		var key struct {
			Topic     string
			Partition int32
		}
		var value struct{ Offset *int64 }
		if err := errors.Join(json.Unmarshal(e.Partition, &key), json.Unmarshal(e.Offset, &value)); err != nil {
			return err
		}
		tp := offsetmap.TopicPartition{Topic: key.Topic, Partition: key.Partition}
		writes[tp] = offsetmap.SourceOffset{}
		if value.Offset != nil {
			writes[tp] = storySource(strconv.FormatInt(*value.Offset, 10))
		}
		texts = append(texts, fmt.Sprintf("%s=%s", tp, writes[tp]))
	}
	if c, _ := w.s.world.Connector.Get(); c.State != "STOPPED" {
		return fmt.Errorf("409: the connector is %s", c.State)
	}
	return w.call("write", "PATCH offsets "+strings.Join(texts, " "), func(world *engine.Observed) {
		for i, tp := range slices.SortedFunc(maps.Keys(writes), offsetmap.TopicPartition.Compare) {
			if i > 0 {
				w.s.event("in write")
			}
			storeAt(world, tp, writes[tp])
		}
	})
}

func (w storyWorker) AwaitOffsets(_ context.Context, _ string, want func([]connectrest.Offset) error, _ time.Duration) ([]connectrest.Offset, error) {
	all, err := w.offsets()
	if err != nil {
		return nil, err
	}
	if err := want(all); err != nil {
		return nil, fmt.Errorf("%w: %w", connectrest.ErrReadBack, err)
	}
	return all, nil
}

func (w storyWorker) offsets() ([]connectrest.Offset, error) {
	stored, ok := w.s.world.Stored.Get()
	if !ok {
		return nil, w.s.world.Stored.Err()
	}
	writes := map[offsetmap.TopicPartition]offsetmap.Write{}
	for tp, m := range stored.Offsets {
		writes[tp] = m.Restore()
	}
	return connectrest.MirrorSourceWrites(storyAlias, writes)
}

func (w storyWorker) Stop(context.Context, string) error {
	return w.call("stop", "PUT stop", func(world *engine.Observed) {
		world.Connector = offsetmap.Known(engine.Connector{State: "STOPPED"})
	})
}

func (w storyWorker) Resume(context.Context, string) error {
	return w.call("resume", "PUT resume", func(world *engine.Observed) {
		world.Connector = offsetmap.Known(engine.Connector{State: "RUNNING", Tasks: 1})
	})
}

func (w storyWorker) Delete(context.Context, string) error {
	return w.call("delete", "DELETE connector", func(world *engine.Observed) {
		world.Connector = offsetmap.Absent[engine.Connector]()
		world.Config, world.Stored = offsetmap.Absent[string](), offsetmap.Absent[engine.Stored]()
	})
}

func (w storyWorker) Connector(context.Context, string) (connectrest.ConnectorInfo, error) {
	if w.s.world.Connector.IsAbsent() {
		return connectrest.ConnectorInfo{}, connectrest.ErrNotFound
	}
	return connectrest.ConnectorInfo{}, nil
}

func (w storyWorker) Status(context.Context, string) (connectrest.Status, error) {
	c, ok := w.s.world.Connector.Get()
	if !ok {
		return connectrest.Status{}, errors.Join(connectrest.ErrNotFound, w.s.world.Connector.Err())
	}
	status := connectrest.Status{}
	status.Connector.State = connectrest.State(c.State)
	for id := range c.Tasks {
		status.Tasks = append(status.Tasks, connectrest.TaskStatus{ID: id, State: connectrest.StateRunning})
	}
	return status, nil
}

// storyAdmin are brokers that do not answer: what a decision needs of them is in the
// story's world, and a start's baseline may be unknown.
type storyAdmin struct{ Admin }

func (storyAdmin) Metadata(context.Context, ...string) (kadm.Metadata, error) {
	return kadm.Metadata{}, errStory
}

func (storyAdmin) DescribeTopicConfigs(context.Context, ...string) (kadm.ResourceConfigs, error) {
	return nil, errStory
}

func (storyAdmin) DescribeACLs(context.Context, *kadm.ACLBuilder) (kadm.DescribeACLsResults, error) {
	return nil, errStory
}

func (storyAdmin) ListGroups(context.Context, ...string) (kadm.ListedGroups, error) {
	return nil, errStory
}

// storyDelivery knows what was copied since the resume.
type storyDelivery struct{ s *story }

func (d storyDelivery) Deliveries(_ context.Context, req preflight.DeliveryRequest) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	out := map[offsetmap.TopicPartition]preflight.Delivery{}
	for _, p := range req.Positions {
		up, _ := p.Next.Value()
		copied, ran := d.s.copied[p.TopicPartition]
		switch {
		case d.s.unreadableRecords:
			out[p.TopicPartition] = preflight.Delivery{Outcome: preflight.Unproven, Reason: "the bound of records was reached"}
		case ran && copied.from < up && copied.to >= up:
			out[p.TopicPartition] = preflight.Delivery{Outcome: preflight.Delivered, Looked: 5}
		default:
			out[p.TopicPartition] = preflight.Delivery{Outcome: preflight.NotDelivered, Looked: 5, Missing: 5}
		}
	}
	return out, nil
}

// storyJournal is a real journal; each line is one event before it and one after it.
type storyJournal struct {
	*FileJournal
	s *story
}

func (j storyJournal) Append(ctx context.Context, e Entry) error {
	name := fmt.Sprintf("journal %s %s", e.Act, e.Phase)
	j.s.event("before " + name)
	if err := j.FileJournal.Append(ctx, e); err != nil {
		return err
	}
	j.s.say("%s", name)
	j.s.event("after " + name)
	return nil
}

func (j storyJournal) Read(ctx context.Context) ([]Entry, error) {
	if j.s.unreadable {
		return nil, errStory
	}
	return j.FileJournal.Read(ctx)
}
