package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// stage is what a script runs against: two clusters and a Connect worker in
// memory, and a proxy before the worker that records what the program asks.
type stage struct {
	source, target *side
	worker         *connecttest.Worker
	proxy          *httptest.Server

	mu     sync.Mutex
	writes []string // requests of the program that change something

	blind, patched atomic.Bool // see answersLost
	lost           []func()    // what mends the answers that are lost
}

type side struct {
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
}

func newSide(id string) (*side, error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
	if err != nil {
		return nil, err
	}
	s := &side{Cluster: c}
	s.client, err = kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	s.admin = kadm.NewClient(s.client)
	return s, nil
}

func (c *side) close() {
	c.client.Close()
	c.Close()
}

// newStage starts a stage whose worker belongs to the target, or to the source
// when the script is about a worker at the wrong place.
func newStage(ctx context.Context, workerOnSource bool) (*stage, error) {
	s := &stage{}
	var err error
	if s.source, err = newSide("the-source"); err != nil {
		return nil, err
	}
	if s.target, err = newSide("the-target"); err != nil {
		return nil, err
	}
	at := s.target
	if workerOnSource {
		at = s.source
	}
	s.worker, err = connecttest.NewWorker(ctx, at.ListenAddrs(),
		connecttest.WithOffsetFlushInterval(500*time.Millisecond), connecttest.WithTopicRefreshInterval(time.Second))
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(s.worker.URL)
	if err != nil {
		return nil, err
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	s.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			s.mu.Lock()
			s.writes = append(s.writes, r.Method+" "+r.URL.Path)
			s.mu.Unlock()
		}
		if !s.answersLost(forward, w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	return s, nil
}

func (s *stage) close() {
	s.proxy.Close()
	s.worker.Close()
	s.target.close()
	s.source.close()
}

// inject lets one record go wrong on its way.
func (s *stage) inject(fault string, r connecttest.Record) error {
	switch fault {
	case "drop":
		s.worker.Inject(connecttest.DropRecord{Record: r})
	case "fail":
		s.worker.Inject(connecttest.FailTask{Record: r})
	default:
		return fmt.Errorf("no fault %q", fault)
	}
	return nil
}

// written returns the requests that change something since it was asked before.
func (s *stage) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.writes
	s.writes = nil
	return out
}

// createTopic makes a topic on both clusters.
func (s *stage) createTopic(ctx context.Context, topic string, partitions int32) error {
	forever := "-1" // brokers delete by the timestamps of records
	for _, c := range []*side{s.source, s.target} {
		r, err := c.admin.CreateTopics(ctx, partitions, 1, map[string]*string{"retention.ms": &forever}, topic)
		if err := errors.Join(err, r.Error()); err != nil {
			return err
		}
	}
	return nil
}

// recreateTopic deletes a topic of the source and makes it again.
func (s *stage) recreateTopic(ctx context.Context, topic string, partitions int32) error {
	gone, err := s.source.admin.DeleteTopics(ctx, topic)
	if err := errors.Join(err, gone.Error()); err != nil {
		return err
	}
	s.source.client.PurgeTopicsFromClient(topic) // it writes by topic id
	r, err := s.source.admin.CreateTopics(ctx, partitions, 1, nil, topic)
	return errors.Join(err, r.Error())
}

func (c *side) produce(ctx context.Context, topic string, partition int32, from, to int) error {
	var batch []*kgo.Record
	for n := from; n < to; n++ {
		batch = append(batch, &kgo.Record{
			Topic: topic, Partition: partition, Key: fmt.Appendf(nil, "key-%d", n), Value: fmt.Appendf(nil, "%s-%d/%d", topic, partition, n),
			Timestamp: time.UnixMilli(1_790_000_000_000 + int64(n)),
		})
	}
	return c.client.ProduceSync(ctx, batch...).FirstErr()
}

// deliver writes to the target what the old job reads of a source partition before C.
func (s *stage) deliver(ctx context.Context, topic string, partition int32, c int64) error {
	reader, err := kgo.NewClient(kgo.SeedBrokers(s.source.ListenAddrs()...), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(0)}}))
	if err != nil {
		return err
	}
	defer reader.Close()
	var read []*kgo.Record
	for next := int64(0); next < c; {
		fetched := reader.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetched.Err()); err != nil {
			return err
		}
		fetched.EachRecord(func(r *kgo.Record) {
			if next = r.Offset + 1; r.Offset < c && !r.Attrs.IsControl() {
				read = append(read, &kgo.Record{Topic: topic, Partition: partition, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp})
			}
		})
	}
	return s.target.client.ProduceSync(ctx, read...).FirstErr()
}

// open writes records in a transaction of the given transactional id, and leaves
// it open.
func (c *side) open(ctx context.Context, id, topic string, partition int32, records int) (*kgo.Client, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID(id))
	if err != nil {
		return nil, err
	}
	err = client.BeginTransaction()
	for range records {
		if err == nil {
			err = client.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: partition, Value: []byte("in a transaction")}).FirstErr()
		}
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// commit commits an offset of a consumer group.
func (c *side) commit(ctx context.Context, group, topic string, partition int32, at int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, at, -1)
	return c.admin.CommitAllOffsets(ctx, group, offsets)
}

func (c *side) end(ctx context.Context, topic string, partition int32) (int, error) {
	listed, err := c.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return 0, err
	}
	o, ok := listed.Lookup(topic, partition)
	if !ok || o.Err != nil {
		return 0, fmt.Errorf("%s-%d has no end: %w", topic, partition, o.Err)
	}
	return int(o.Offset), nil
}

// expire deletes the source's records before an offset, as retention does.
func (s *stage) expire(ctx context.Context, topic string, partition int32, before int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, before, -1)
	r, err := s.source.admin.DeleteRecords(ctx, offsets)
	return errors.Join(err, r.Error())
}

// configure sets one key of the connector's config, past the proxy.
func (s *stage) configure(ctx context.Context, connector, key, value string) error {
	client, err := connectrest.New(s.worker.URL)
	if err != nil {
		return err
	}
	config, err := client.Config(ctx, connector)
	if err != nil {
		return err
	}
	config[key] = value
	body, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return s.put(ctx, connector, "config", body)
}

func (s *stage) put(ctx context.Context, connector, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.worker.URL+"/connectors/"+connector+"/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s: %s", req.URL, resp.Status, text)
	}
	return nil
}

// set asks the worker for a state of the connector, past the proxy, and waits
// until it shows.
func (s *stage) set(ctx context.Context, connector, act string, want connectrest.State) error {
	for path := range strings.SplitSeq(act, ",") {
		if err := s.put(ctx, connector, path, nil); err != nil {
			return err
		}
	}
	client, err := connectrest.New(s.worker.URL)
	if err != nil {
		return err
	}
	for {
		status, err := client.Status(ctx, connector)
		if err == nil && status.Connector.State == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("connector %s is %s, want %s: %w", connector, status.Connector.State, want, errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
