package preflight

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Admin is what is asked of a Kafka cluster. *kadm.Client satisfies it.
type Admin interface {
	flinkstate.GroupAdmin
	ListStartOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	ListOffsetsAfterMilli(ctx context.Context, millisecond int64, topics ...string) (kadm.ListedOffsets, error)
	// ListLocalLogStartOffsets lists where the logs on the leaders' disks begin.
	ListLocalLogStartOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	// ListCommittedOffsets lists the last stable offsets.
	ListCommittedOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	DescribeAllLogDirs(ctx context.Context, of kadm.TopicsSet) (kadm.DescribedAllLogDirs, error)
	DescribeTopicConfigs(ctx context.Context, topics ...string) (kadm.ResourceConfigs, error)
	DescribeBrokerConfigs(ctx context.Context, brokers ...int32) (kadm.ResourceConfigs, error)
	DescribeProducers(ctx context.Context, partitions kadm.TopicsSet) (kadm.DescribedProducersTopics, error)
	DescribeTransactions(ctx context.Context, ids ...string) (kadm.DescribedTransactions, error)
	// DescribeACLs is asked for all.
	DescribeACLs(ctx context.Context, b *kadm.ACLBuilder) (kadm.DescribeACLsResults, error)
	ListTransactions(ctx context.Context, producerIDs []int64, states []string) (kadm.ListedTransactions, error)
}

// Connect is what is asked of the Connect worker. *connectrest.Client
// satisfies it.
type Connect interface {
	Info(ctx context.Context) (connectrest.WorkerInfo, error)
	Plugins(ctx context.Context) ([]connectrest.PluginInfo, error)
	Connector(ctx context.Context, name string) (connectrest.ConnectorInfo, error)
	Status(ctx context.Context, name string) (connectrest.Status, error)
	ActiveTopics(ctx context.Context, name string) ([]string, error)
	PluginConfig(ctx context.Context, class string) ([]connectrest.ConfigKey, error)
	AwaitStableOffsets(ctx context.Context, name string, quiet, within time.Duration) ([]connectrest.Offset, error)
	Probe(ctx context.Context) (connectrest.ProbeReport, error)
	ProbeForwarding(ctx context.Context) (connectrest.ProbeReport, error)
}

// Resolver returns the id of the Kafka cluster that a client of the connector
// reaches, by the connector's config. [ReachedBy] makes one.
type Resolver func(ctx context.Context, config connectrest.Config) (clusterID string, err error)

// Probe says where to look. All fields but Config, Group, Flink, the resolvers,
// Window, Calm, Principals, ConnectTopics, Sinks, Spans, Delivery, Sample, Positions,
// Isolation, Now and Sleep are required.
type Probe struct {
	Source, Target Admin
	Connect        Connect
	// Connector is the connector's name.
	Connector string
	// Config is the Question's. It names the target's topics while there is no connector.
	Config connectrest.Config
	// Topics are the source topics of the migration.
	Topics []string
	// Group is the old job's consumer group on the source. Without one no group
	// is read.
	Group string
	// GroupLook says how it is looked at.
	GroupLook GroupLook
	// Flink knows the old job, if anybody does, as FlinkJob. Without it
	// flink/rest-not-asked warns that its end is not proven.
	Flink    Flink
	FlinkJob flinkrest.Job
	// ResolveProducer finds the cluster of the data producer. It is asked only
	// when the config has producer.override.bootstrap.servers; the producer
	// follows the worker otherwise. Without it such a config blocks.
	ResolveProducer Resolver
	// ResolveSource finds the cluster that the connector reads from
	// (source.cluster.bootstrap.servers). Without it a check is not made.
	ResolveSource Resolver
	// Calm is for how long the workers must have had no rebalance. Zero looks once,
	// and worker/rebalancing warns that this proves nothing.
	Calm time.Duration
	// Principals say as whom the brokers know the clients of connector and worker, where
	// a person states it, for the checks of their rights in a Survey.
	Principals Principals
	// ConnectTopics are the worker's three topics, which no API names.
	ConnectTopics ConnectTopics
	// Sinks are the Question's: a Survey asks the target for their transactions.
	Sinks []flinkstate.Sink
	// Window is the time between the two looks of [Probe.Survey] at what should not
	// move, such as the ends of the target's logs. It includes GroupLook.Window, so that
	// there is one wait. Zero is GroupLook.Window; where that is zero too there is one
	// look.
	Window time.Duration
	// Spans are how far ahead a Survey is to tell exactly which records of the source are
	// still there, such as the life of a plan and the window in which it can be gone back.
	// It always tells some between now and a week.
	Spans []time.Duration
	// Delivery looks for the records around each C on the target, in a Survey.
	// Without it boundary/not-looked-at warns that they were not looked for.
	Delivery DeliveryReader
	// Sample is DeliveryRequest.Sample.
	Sample func(DeliverySample)
	// Positions and Isolation are the Question's. Delivery needs them, and by Positions a
	// Survey tells more closely when the first record from C on goes.
	Positions []offsetmap.Position
	Isolation offsetmap.Isolation
	// Now tells the time, by default time.Now, and Sleep waits, by default as the time
	// package does.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// How the stored offsets are read: a worker's first answer may be short, and
// was complete within 10 s for 100,000 partitions on every version measured.
const (
	stableQuiet  = 250 * time.Millisecond
	stableWithin = time.Minute
)

var errNoResolver = errors.New("no resolver was given that could tell")

// Observe reads every fact once, freshly. It never fails as a whole.
func (p Probe) Observe(ctx context.Context) Facts {
	now := p.clock()
	f := Facts{Name: p.Connector, Topics: sortedUnique(p.Topics), GroupID: p.Group, given: p.Config}
	// First: it may wait for a minute until Flink's answers are fresh, and what the
	// clusters and the worker show would be as old.
	p.observeFlink(ctx, &f)
	f.At = now()
	p.observeConnect(ctx, &f)
	p.observeSource(ctx, &f)
	p.observeTarget(ctx, &f)
	f.measuredAt = now()
	// Last, since it may wait for the second look at the group.
	p.observeGroup(ctx, &f)
	return f
}

func (p Probe) observeConnect(ctx context.Context, f *Facts) {
	f.Worker = fact(p.Connect.Info(ctx))
	if err := f.Worker.Err(); errors.Is(err, connectrest.ErrUnreachable) {
		// Each further call would try for as long again, to learn the same.
		f.Plugins, f.Stored = offsetmap.NotKnown[[]connectrest.PluginInfo](err), offsetmap.NotKnown[[]connectrest.Offset](err)
		f.Connector, f.Status = offsetmap.NotKnown[connectrest.ConnectorInfo](err), offsetmap.NotKnown[connectrest.Status](err)
		f.Active = offsetmap.NotKnown[[]string](err)
		return
	}
	f.Plugins = fact(p.Connect.Plugins(ctx))
	f.Connector = connectorFact(p.Connect.Connector(ctx, p.Connector))
	if f.Connector.IsAbsent() {
		f.Status = offsetmap.Absent[connectrest.Status]()
		f.Active = offsetmap.Absent[[]string]()
	} else {
		f.Status = connectorFact(p.Connect.Status(ctx, p.Connector))
		active, err := p.Connect.ActiveTopics(ctx, p.Connector)
		f.Active = connectorFact(active, err)
		if errors.Is(err, connectrest.ErrUnsupported) { // topic.tracking.enable=false
			f.Active = offsetmap.Absent[[]string]()
		}
	}
	// Offsets survive their connector, but a worker shows them under an existing
	// name only.
	f.Stored = connectorFact(p.Connect.AwaitStableOffsets(ctx, p.Connector, stableQuiet, stableWithin))
	c, ok := f.Connector.Get()
	if !ok {
		// Which clusters its config leads to is not known for the same reason.
		if err := f.Connector.Err(); err != nil {
			f.SourceReached, f.ProducerReached = offsetmap.NotKnown[string](err), offsetmap.NotKnown[string](err)
		}
		return
	}
	f.SourceReached = p.resolve(ctx, p.ResolveSource, c.Config)
	if c.Config[keyProducerBootstrap] != "" {
		f.ProducerReached = p.resolve(ctx, p.ResolveProducer, c.Config)
		return
	}
	w, ok := f.Worker.Get()
	switch {
	case !ok:
		f.ProducerReached = offsetmap.NotKnown[string](f.Worker.Err())
	case w.KafkaClusterID == "":
		f.ProducerReached = offsetmap.NotKnown[string](errors.New("the worker does not tell its cluster id"))
	default:
		f.ProducerReached = offsetmap.Known(w.KafkaClusterID)
	}
}

func (p Probe) resolve(ctx context.Context, r Resolver, config connectrest.Config) offsetmap.Fact[string] {
	if r == nil {
		return offsetmap.NotKnown[string](errNoResolver)
	}
	id, err := r(ctx, config)
	if err == nil && id == "" {
		err = fresh.ErrNoClusterID
	}
	return fact(id, err)
}

func (p Probe) observeSource(ctx context.Context, f *Facts) {
	f.Source = fact(readCluster(ctx, p.Source, f.Topics))
	source, ok := f.Source.Get()
	if !ok {
		return
	}
	f.Ranges, f.unmeasured = measured(fresh.Ranges(ctx, p.Source, source.existing(f.Topics)...))
	held := kadm.TopicsSet{}
	for tp, r := range f.Ranges {
		if isHeld(r.Stable, r.End) {
			held.Add(tp.Topic, tp.Partition)
		}
	}
	f.Open = describeHeld(ctx, p.Source, held)
}

func (p Probe) observeTarget(ctx context.Context, f *Facts) {
	var names []string
	if config := f.config(); config != nil {
		for _, t := range f.Topics {
			if name, err := TargetTopic(config, t); err == nil {
				names = append(names, name)
			}
		}
	}
	f.Target = fact(readCluster(ctx, p.Target, names))
	target, ok := f.Target.Get()
	if !ok {
		return
	}
	var tails map[offsetmap.TopicPartition]fresh.Tail
	tails, f.unended = measured(fresh.Tails(ctx, p.Target, target.existing(names)...))
	f.TargetTails = make(map[offsetmap.TopicPartition]Tail, len(tails))
	held := kadm.TopicsSet{}
	for tp, t := range tails {
		f.TargetTails[tp] = Tail(t)
		if isHeld(t.Stable, t.End) {
			held.Add(tp.Topic, tp.Partition)
		}
	}
	f.TargetOpen = describeHeld(ctx, p.Target, held)
}
