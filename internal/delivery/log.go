package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// atATime is how many partitions of a topic are read at once.
const atATime = 8

// errBound says that what may be read of a topic was read.
var errBound = errors.New("the bound was reached")

// cluster reads records of one cluster by hand: a consumer passes what is aborted or
// compacted without a word, so that nobody could say what was read.
type cluster struct {
	side      string
	client    *kgo.Client
	admin     *kadm.Client
	isolation kgo.IsolationLevel
	described map[string]description
	ranges    map[offsetmap.TopicPartition]offsetmap.Range
}

func open(side string, opts []kgo.Opt, isolation offsetmap.Isolation) (*cluster, error) {
	// Options of a consumer must not make this client one.
	client, err := kgo.NewClient(append(append([]kgo.Opt{}, opts...), kgo.ConsumeTopics())...)
	if err != nil {
		return nil, fmt.Errorf("%s client: %w", side, err)
	}
	c := &cluster{side: side, client: client, admin: kadm.NewClient(client), isolation: kgo.ReadUncommitted()}
	if isolation == offsetmap.ReadCommitted {
		c.isolation = kgo.ReadCommitted()
	}
	return c, nil
}

// readable is the end of what a reader of the isolation level sees.
func (c *cluster) readable(r offsetmap.Range) (int64, bool) {
	if c.isolation == kgo.ReadCommitted() {
		return r.Stable.Value()
	}
	return r.End.Value()
}

// topic is one topic of a cluster, as it was measured.
type topic struct {
	*cluster
	name    string
	leaders map[int32]fresh.Leader
	ranges  map[int32]offsetmap.Range
	budget  *budget
}

// budget bounds what is read of a topic, on both sides.
type budget struct {
	records, bytes int64
	until          time.Time

	usedRecords, usedBytes atomic.Int64
}

func (b *budget) left() bool {
	return b.usedRecords.Load() < b.records && b.usedBytes.Load() < b.bytes && time.Now().Before(b.until)
}

// leaves reports whether so much may be read yet.
func (b *budget) leaves(records, bytes int64) bool {
	return b.left() && b.usedRecords.Load()+records <= b.records && b.usedBytes.Load()+bytes <= b.bytes
}

// describe asks for the leaders of all the topics at once.
func (c *cluster) describe(ctx context.Context, names []string) error {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		one := kmsg.NewMetadataRequestTopic()
		one.Topic = new(name)
		req.Topics = append(req.Topics, one)
	}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return fmt.Errorf("%s: read metadata: %w", c.side, err)
	}
	c.described = map[string]description{}
	for _, t := range resp.Topics {
		d := description{err: kerr.ErrorForCode(t.ErrorCode), leaders: map[int32]fresh.Leader{}}
		for _, p := range t.Partitions {
			d.leaders[p.Partition] = fresh.Leader{Broker: p.Leader, Topic: t.TopicID}
		}
		if t.Topic != nil {
			c.described[*t.Topic] = d
		}
	}
	return nil
}

// description is what Metadata says of a topic.
type description struct {
	err     error
	leaders map[int32]fresh.Leader
}

func (c *cluster) topic(name string, b *budget) (*topic, error) {
	d, told := c.described[name]
	switch {
	case !told:
		return nil, fmt.Errorf("%s topic %s: the brokers did not answer for it", c.side, name)
	case d.err != nil:
		return nil, fmt.Errorf("%s topic %s: %w", c.side, name, d.err)
	}
	t := &topic{cluster: c, name: name, budget: b, leaders: d.leaders, ranges: map[int32]offsetmap.Range{}}
	for partition := range d.leaders {
		t.ranges[partition] = c.ranges[offsetmap.TopicPartition{Topic: name, Partition: partition}]
	}
	return t, nil
}

// mostBytes is asked of one fetch, which brings at least one batch.
const mostBytes = 1 << 20

// read calls each with the readable records of from..to-1, in order, and returns up
// to where everything was read: to, or less with the error that says why. Each may
// return false to stop.
func (t *topic) read(ctx context.Context, partition int32, from, to int64, most int32, compacted bool, each func(*kgo.Record) bool) (int64, error) {
	tp := offsetmap.TopicPartition{Topic: t.name, Partition: partition}
	leader, known := t.leaders[partition]
	if !known {
		return from, kerr.UnknownTopicOrPartition
	}
	reading := fresh.Reading{
		Isolation: t.isolation, Compacted: compacted, Bytes: most,
		Ahead: func() error {
			if !t.budget.left() {
				return errBound
			}
			return nil
		},
		Fetched: func(bytes int) { t.budget.usedBytes.Add(int64(bytes)) },
	}
	at, err := fresh.Read(ctx, t.client, leader, tp, from, to, reading, func(r *kgo.Record) bool {
		t.budget.usedRecords.Add(1)
		return each(r)
	})
	if err != nil && !errors.Is(err, errBound) {
		err = fmt.Errorf("%s %w", t.side, err)
	}
	return at, err
}

// inParallel calls do for each item, a few at a time, and returns when all are done.
func inParallel[T any](items []T, do func(T)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, atATime)
	for _, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(item)
		})
	}
	wg.Wait()
}
