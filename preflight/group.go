package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// GroupLook says how the old job's group is looked at. The zero value looks once,
// and explains no difference.
type GroupLook struct {
	// Window is the time between two looks at the group's offsets, which is to be
	// longer than the interval of the job's checkpoints: only then does a job that
	// runs commit. Zero looks once, which proves nothing.
	Window time.Duration
	// Options connect to the source: seed brokers, TLS, SASL. With them the offsets
	// of partitions are asked for by name (flinkstate.WithRequestor), and the source
	// is read where the group differs from Positions by few offsets, to tell markers
	// of transactions from records. Nil does neither.
	Options []kgo.Opt
	// Positions say where the old job stood, and Isolation which records it was
	// shown. Without them no difference is explained.
	Positions []offsetmap.Position
	Isolation offsetmap.Isolation
	// Sleep waits, by default as the time package does.
	Sleep func(context.Context, time.Duration) error
}

// GroupFacts is what was seen of the group beside its offsets.
type GroupFacts struct {
	// GroupDescribed says of what kind the group is, and who holds it. Absent and
	// unknown go with Facts.Group.
	GroupDescribed offsetmap.Fact[flinkstate.GroupDescription]
	// GroupMovement is what two looks over GroupLook.Window showed.
	GroupMovement flinkstate.Movement

	explained   flinkstate.Comparison // with what lies between
	unexplained map[offsetmap.TopicPartition]error
}

var errNoTopic = errors.New("none of the migration's topics can be read")

func (p Probe) observeGroup(ctx context.Context, f *Facts) {
	source, ok := f.Source.Get()
	if p.Group == "" || !ok {
		return
	}
	group, err := p.watchGroup(ctx, f, source.existing(f.Topics))
	switch {
	case err == nil:
		f.Group, f.GroupDescribed = offsetmap.Known(group.Committed()), offsetmap.Known(group.GroupDescription)
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit), errors.Is(err, flinkstate.ErrNotConsumerGroup):
		f.Group, f.noGroup = offsetmap.Absent[map[offsetmap.TopicPartition]offsetmap.NextOffset](), err
		f.GroupDescribed = offsetmap.Absent[flinkstate.GroupDescription]()
	default:
		f.Group = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.NextOffset](err)
		f.GroupDescribed = offsetmap.NotKnown[flinkstate.GroupDescription](err)
	}
}

func (p Probe) watchGroup(ctx context.Context, f *Facts, topics []string) (*flinkstate.Group, error) {
	if len(topics) == 0 { // Read would read all
		return nil, errNoTopic
	}
	look := p.GroupLook
	opts := []flinkstate.GroupOption{flinkstate.WithGroupClock(p.Now, look.Sleep)}
	var client *kgo.Client
	if len(look.Options) > 0 {
		var err error
		if client, err = p.sameSource(ctx, f); err != nil {
			return nil, err
		}
		defer client.Close()
		opts = append(opts, flinkstate.WithRequestor(client))
	}
	group, movement, err := flinkstate.NewGroupReader(p.Source, opts...).Watch(ctx, look.Window, p.Group, topics...)
	f.GroupMovement = movement
	if err != nil || client == nil || look.Isolation == "" {
		return group, err
	}
	f.explained, err = flinkstate.Compare(look.Positions, group.Committed()).Explain(ctx, client, look.Isolation)
	if failed, ok := errors.AsType[*flinkstate.UnexplainedError](err); ok { // its only error
		f.unexplained = failed.Reasons
	}
	return group, nil
}

// sameSource returns a client for the look's options, which must lead to the
// cluster that everything else was read from.
func (p Probe) sameSource(ctx context.Context, f *Facts) (*kgo.Client, error) {
	source, _ := f.Source.Get()
	id, err := ClusterID(ctx, p.GroupLook.Options...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the options of the look at the group: %w", err)
	case id != source.ClusterID:
		return nil, fmt.Errorf("the options of the look at the group lead to cluster %s, and the source is %s", id, source.ClusterID)
	}
	return kgo.NewClient(p.GroupLook.Options...)
}

// noCommit says what is absent.
func (f Facts) noCommit() string {
	if f.noGroup == nil {
		return fmt.Sprintf("consumer group %s has committed nothing of the topics", f.GroupID)
	}
	return f.noGroup.Error()
}

// comparison returns the group against the savepoint, and false when no group
// was read. Where positions come from the group itself, source/group-moved is
// the rule.
func (c *Case) comparison() (flinkstate.Comparison, bool) {
	committed, known := c.Facts.Group.Get()
	if !known || c.Question.Origin != offsetmap.FromSavepoint {
		return nil, false
	}
	return flinkstate.Compare(c.Question.Positions, committed).WithBetween(c.Facts.explained), true
}
