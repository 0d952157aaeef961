package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Admin is what Run asks a cluster beside reading its records. *kadm.Client
// satisfies it.
type Admin interface {
	fresh.Admin
	DescribeTopicConfigs(ctx context.Context, topics ...string) (kadm.ResourceConfigs, error)
}

// Cluster is how one of the two clusters is reached.
type Cluster struct {
	// Options are the client's: seed brokers, TLS, SASL, and limits on what a
	// fetch may hold. Run adds what and from where it reads; it uses no group,
	// commits nothing, and never lets a client choose another offset.
	Options []kgo.Opt

	// Isolation says which records are readable. On the source it must be that
	// of the copier's consumer (source.consumer.isolation.level), on the target
	// that of whoever will read there.
	Isolation offsetmap.Isolation

	// Admin tells log bounds and topic configs.
	Admin Admin

	// Topics holds what the caller knows of topics. The others are described by
	// Admin, which needs the right to do so.
	Topics map[string]Topic
}

// Topic is what must be known of a topic to judge what is not there.
type Topic struct {
	// Compacted says that cleanup.policy has compact in it.
	Compacted bool
	// Timestamps is Stamped when message.timestamp.type is LogAppendTime. It
	// matters on the target.
	Timestamps Timestamps
}

// Partition is one source partition with what the target must have of it.
type Partition struct {
	Source offsetmap.TopicPartition
	// Next is C, where the copier was to start.
	Next offsetmap.NextOffset
	// End is fixed: the readable records from Next to here must be on the target.
	// It is the source's high watermark or, for read_committed, its last stable
	// offset, at a time after the start of the copier. An End that is not above
	// Next means that there is nothing to copy.
	End offsetmap.NextOffset

	Target offsetmap.TopicPartition
	// TargetEnd is the target's high watermark as recorded before the copier
	// started. Records from here on are looked at.
	TargetEnd offsetmap.NextOffset

	// From is where an earlier run stood, for this one to go on from; its source
	// and target must be the same logs. None begins at Next.
	From *Mark
}

// PartitionMark is where the comparison of a partition stands.
type PartitionMark struct {
	Source offsetmap.TopicPartition
	Mark   Mark
}

// Options is what Run needs. The zero value of a field that is not required is
// its default.
type Options struct {
	Source, Target Cluster
	Partitions     []Partition

	// Until says how far the run goes. Zero is each partition's End.
	Until Until

	// Bound is the longest time that Run may take. Required.
	Bound time.Duration

	// Round makes the run go on until Bound: about every Every the source's ends
	// are measured anew, and when the target has them, or the next round is due,
	// Round is called with what stands then. Between, nothing is read. An error
	// of Round ends the run, which returns it. Until must be zero.
	Round func(Report) error
	Every time.Duration

	// BytesPerSecond bounds what is read of both clusters together, as it comes
	// over the network, over some seconds. Zero does not bound it.
	BytesPerSecond int64

	// Quiet ends the wait early: for this long nothing of the source came to the
	// target, in any partition, and no more of the source was to be read. Zero
	// waits until Bound.
	Quiet time.Duration

	// Interval is the time between two measurements of log ends, which is when
	// partitions are decided. Zero is one second.
	Interval time.Duration

	// Lookback is how many offsets before Next are read from the source, to
	// know an early start for what it is. Zero is 1000, less than zero is none.
	Lookback int64

	// Window is how many source records are remembered, over all partitions, once
	// the target has them; a quarter as many are while it has not. A replay that
	// goes back further than a partition's share counts as older, not as repeated.
	// Zero is 2^21, which takes some 150 MB when that many were read; a partition
	// has 1024 at least.
	Window int

	// Examples is how many records of each fault a partition's report names.
	// Zero is ten, less than zero is none.
	Examples int

	// Marks is called about every MarkInterval and at the end, from one goroutine,
	// with where the partitions stand that have come so far, sorted. Zero is ten
	// seconds.
	Marks        func([]PartitionMark)
	MarkInterval time.Duration

	// Progress is called after each measurement, always from one goroutine.
	Progress func(Progress)
}

const (
	defaultInterval = time.Second
	defaultLookback = 1000
	defaultWindow   = 1 << 21
	defaultMarks    = 10 * time.Second

	// minBehind and minAhead are each partition's share of the window at least.
	minBehind = 1 << 10
	minAhead  = 1 << 8

	// minWaiting is how many target records of a partition may wait for the source
	// to be read, at least; otherwise as many as its window holds ahead.
	minWaiting = 1 << 10
)

func (o *Options) setDefaults() {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Lookback = max(0, cmp.Or(o.Lookback, defaultLookback))
	o.Window = cmp.Or(o.Window, defaultWindow)
	o.MarkInterval = cmp.Or(o.MarkInterval, defaultMarks)
	o.Examples = max(0, cmp.Or(o.Examples, defaultExamples))
	o.Partitions = slices.SortedFunc(slices.Values(o.Partitions), func(a, b Partition) int { return a.Source.Compare(b.Source) })
}

// share is the part of the window that each partition has.
func (o *Options) share() extent {
	behind := max(minBehind, o.Window/max(1, len(o.Partitions)))
	return extent{behind, max(minAhead, behind/4)}
}

// validate returns every reason why the options cannot be run.
func (o *Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, c := range []struct {
		name    string
		cluster Cluster
	}{{"source", o.Source}, {"target", o.Target}} {
		if len(c.cluster.Options) == 0 {
			bad("%s: no client options, so no seed brokers", c.name)
		}
		if c.cluster.Admin == nil {
			bad("%s: no admin client", c.name)
		}
		if i := c.cluster.Isolation; i != offsetmap.ReadCommitted && i != offsetmap.ReadUncommitted {
			bad("%s: isolation %q is neither %s nor %s", c.name, i, offsetmap.ReadCommitted, offsetmap.ReadUncommitted)
		}
	}
	if o.Bound <= 0 {
		bad("bound %s is not positive", o.Bound)
	}
	if o.Quiet < 0 || o.Interval < 0 || o.MarkInterval < 0 {
		bad("quiet %s, interval %s or mark interval %s is negative", o.Quiet, o.Interval, o.MarkInterval)
	}
	if err := o.Until.validate(); err != nil {
		errs = append(errs, err)
	}
	switch {
	case o.Round != nil && (o.Every <= 0 || o.Until != Until{}):
		bad("rounds every %s: want a time above zero, and no other end", o.Every)
	case o.Round == nil && o.Every != 0:
		bad("every %s without rounds", o.Every)
	}
	if o.BytesPerSecond < 0 {
		bad("%d bytes per second is negative", o.BytesPerSecond)
	}
	if o.Window < 0 {
		bad("window %d is negative", o.Window)
	}
	if len(o.Partitions) == 0 {
		bad("no partitions")
	}
	sources, targets := map[offsetmap.TopicPartition]bool{}, map[offsetmap.TopicPartition]bool{}
	for _, p := range o.Partitions {
		if err := p.Source.Validate(); err != nil {
			bad("source partition: %w", err)
		}
		if err := p.Target.Validate(); err != nil {
			bad("target partition of %s: %w", p.Source, err)
		}
		for _, place := range []struct {
			name  string
			place offsetmap.NextOffset
		}{{"next offset", p.Next}, {"end", p.End}, {"recorded target end", p.TargetEnd}} {
			if place.place.IsNone() {
				bad("%s: no %s", p.Source, place.name)
			}
		}
		if p.From != nil {
			if err := p.From.validate(p); err != nil {
				bad("%s: where an earlier run stood: %w", p.Source, err)
			}
		}
		if sources[p.Source] {
			bad("%s: the partition is given twice", p.Source)
		}
		if targets[p.Target] {
			bad("%s: two source partitions have the target %s", p.Source, p.Target)
		}
		sources[p.Source], targets[p.Target] = true, true
	}
	return errors.Join(errs...)
}
