package preflight

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// DeliveryReader looks for the records around each C on the target.
type DeliveryReader interface {
	// Deliveries looks for every position. What could not be found out of a
	// partition stands in its Delivery; an error says that nothing was learned.
	Deliveries(ctx context.Context, req DeliveryRequest) (map[offsetmap.TopicPartition]Delivery, error)
}

// DeliveryRequest says what a DeliveryReader is to look for.
type DeliveryRequest struct {
	// Positions say where the old job stood. One that begins at the earliest
	// record, or says nothing, is looked at as if C were the log start.
	Positions []offsetmap.Position
	// Ranges holds the bounds of each partition of Positions.
	Ranges map[offsetmap.TopicPartition]offsetmap.Range
	// TargetTopic gives each source topic its name on the target.
	TargetTopic func(topic string) string
	// Isolation is the level at which the old job read the source. The target is
	// read as committed, since what is not committed was not delivered.
	Isolation offsetmap.Isolation
	// MayBeCompacted reports whether compaction may take records from a topic of the
	// target. It is true of one that is not known to be otherwise.
	MayBeCompacted func(targetTopic string) bool
	// SourceMayBeCompacted is the same of a topic of the source.
	SourceMayBeCompacted func(topic string) bool
	// Sample, where it is not nil, is given records that were looked for, with their
	// contents: DeliveryBounds.Samples before each C and from it on. It is called from
	// one goroutine.
	Sample func(DeliverySample)
}

// DeliverySample is a record of the source that was looked for on the target, with what
// it holds. It goes to whoever has asked for it: no report, plan or journal has it.
type DeliverySample struct {
	offsetmap.TopicPartition
	Offset offsetmap.NextOffset // of the record itself
	Before bool                 // it lies before C
	Target SampleState
	// Key and Value are nil where the record has none, and cut to MostSampleBytes.
	// KeySize and ValueSize are their whole sizes.
	Key, Value         []byte
	KeySize, ValueSize int
}

// MostSampleBytes is how much of a key and of a value a DeliverySample holds at most.
const MostSampleBytes = 1024

// SampleState says whether a copy of a sample is on the target.
type SampleState string

// The states. Equal records count as a multiset: which of them is there is not told.
const (
	SampleThere    SampleState = "there"
	SampleNotThere SampleState = "not-there"
	SampleNotRead  SampleState = "not-read"    // not in what was read, which is not all
	SampleUnclear  SampleState = "cannot-tell" // it equals others that may be the ones
)

// DeliveryBounds bound a look. A field that is zero has its default.
type DeliveryBounds struct {
	// Samples is how many readable records before each C are looked for. By default, 5.
	Samples int
	// Records and Bytes (as they are on the wire) bound what is read of each topic, of
	// both sides together; one fetch may go beyond. How many records from C on are there
	// already is counted as far as that goes. By default, 100,000 and 256 MiB.
	Records, Bytes int64
	// Within bounds the whole look. By default, 5 minutes.
	Within time.Duration
}

// DeliveryOutcome says what was found of one partition.
type DeliveryOutcome string

// The outcomes.
const (
	// Delivered: the last records before C are on the target.
	Delivered DeliveryOutcome = "delivered"
	// NothingBefore: the old job has read nothing that it could have delivered.
	NothingBefore DeliveryOutcome = "nothing-before"
	// NotDelivered: a record before C is not on the target, on which everything
	// since its time was read.
	NotDelivered DeliveryOutcome = "not-delivered"
	// ContentChanged: most of the records that are not there have one with their key
	// and timestamp, and another value, on the target.
	ContentChanged DeliveryOutcome = "content-changed"
	// CannotTell: the records say nothing, however much is read.
	CannotTell DeliveryOutcome = "cannot-tell"
	// Unproven: not enough could be read.
	Unproven DeliveryOutcome = "unproven"
)

// Delivery is what was found of one partition.
type Delivery struct {
	Outcome DeliveryOutcome
	// Reason says why nothing can be told, or is proven.
	Reason string
	// Looked is how many records before C were looked for, Missing how many of them
	// are not on the target.
	Looked, Missing int64
	// Ahead is how many records from C on were looked for, and Beyond how many of
	// them are on the target already. BeyondAtLeast says that more may be: all of them
	// were there, and to look for more would have gone beyond the bounds.
	Ahead, Beyond int64
	BeyondAtLeast bool
	// BeyondBytes is the size of keys and values of those beyond.
	BeyondBytes int64
	// NotCarried lists what no copy in the topic has as its original: "timestamp",
	// "headers", "key".
	NotCarried []string
	// Changed is how many of the missing records have one with their key and
	// timestamp, and another value, on the target.
	Changed int64
	// Keyed is how many of the records that were found have a key. Moved lists, as
	// hashes under a key of the run, the keys of those that lie in another partition
	// of the target than MirrorMaker 2 will write them to.
	Keyed int64
	Moved []string
	// ReadRecords and ReadBytes are what was read of the partition's topic, on both
	// sides.
	ReadRecords, ReadBytes int64
}

// errNoNames says that nobody knows what a source topic is called on the target.
var errNoNames = errors.New("without the connector's config the target's names of the topics are not known")

// deliverySurvey looks for the records around each position that the source has, once
// everything is known that the search needs.
func (p Probe) deliverySurvey(ctx context.Context, f Facts, s *Surroundings) {
	s.Delivery = offsetmap.Absent[map[offsetmap.TopicPartition]Delivery]()
	if p.Delivery == nil {
		return
	}
	unknown := func(err error) { s.Delivery = offsetmap.NotKnown[map[offsetmap.TopicPartition]Delivery](err) }
	info, ok := f.Connector.Get()
	if !ok {
		unknown(cmp.Or(f.Connector.Err(), errNoNames))
		return
	}
	for _, known := range []error{f.Source.Err(), f.Target.Err()} {
		if known != nil {
			unknown(known)
			return
		}
	}
	names := map[string]string{}
	var there []offsetmap.Position
	for _, at := range f.toLookAt(p.Positions, p.Isolation) {
		name, err := TargetTopic(info.Config, at.Topic)
		if err != nil {
			unknown(err)
			return
		}
		names[at.Topic] = name
		there = append(there, at)
	}
	s.Delivery = fact(p.Delivery.Deliveries(ctx, DeliveryRequest{
		Positions: there, Ranges: f.Ranges, TargetTopic: func(topic string) string { return names[topic] }, Isolation: p.Isolation, Sample: p.Sample,
		MayBeCompacted: mayBeCompacted(s.TargetConfigs), SourceMayBeCompacted: mayBeCompacted(s.SourceConfigs),
	}))
}

// toLookAt are the positions that can be looked at, and one without C for each
// partition of the source that none names.
func (f Facts) toLookAt(positions []offsetmap.Position, level offsetmap.Isolation) []offsetmap.Position {
	named := map[offsetmap.TopicPartition]bool{}
	var out []offsetmap.Position
	for _, p := range positions {
		if !named[p.TopicPartition] && f.canLookAt(p, level) {
			out = append(out, p)
		}
		named[p.TopicPartition] = true
	}
	for tp := range f.Ranges {
		if !named[tp] {
			out = append(out, offsetmap.Position{TopicPartition: tp})
		}
	}
	slices.SortFunc(out, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	return out
}

// canLookAt reports whether the source has the records before a position, or had them.
// A rule that nothing accepts says what is wrong with any other.
func (f Facts) canLookAt(p offsetmap.Position, level offsetmap.Isolation) bool {
	r, exists := f.Ranges[p.TopicPartition]
	readable := r.End
	if level == offsetmap.ReadCommitted {
		readable = r.Stable
	}
	c, read := p.Next.Value()
	end, measured := readable.Value()
	return exists && (!read || measured && c <= end)
}

// mayBeCompacted is true of each topic whose cleanup.policy is not known.
func mayBeCompacted(settings offsetmap.Fact[map[string]Settings]) func(string) bool {
	topics, _ := settings.Get()
	return func(topic string) bool {
		policy, told := topics[topic]["cleanup.policy"]
		return !told || strings.Contains(policy, "compact")
	}
}
