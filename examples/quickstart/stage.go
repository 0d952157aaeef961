package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// stage is the embedded world: two clusters in memory and a worker.
type stage struct {
	source, target *cluster
	worker         *connecttest.Worker
	connect        *connectrest.Client
	dropped        *connecttest.Injected
	ends           map[int32]int // records of each source partition
	produced       int
}

type cluster struct {
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
}

func newCluster(ctx context.Context, id string) (*cluster, error) {
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
	if err != nil {
		return nil, err
	}
	// Its records always have the same timestamps, which are older than the default.
	if err := fake.CreateTopic(topic, partitions, map[string]string{"retention.ms": "-1"}); err != nil {
		fake.Close()
		return nil, err
	}
	c := &cluster{Cluster: fake}
	if c.client, err = kgo.NewClient(c.options()...); err != nil {
		fake.Close()
		return nil, err
	}
	c.admin = kadm.NewClient(c.client)
	return c, c.client.Ping(ctx)
}

func (c *cluster) options() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner())}
}

func (c *cluster) close() {
	c.client.Close()
	c.Close()
}

func newStage(ctx context.Context, drop string) (*stage, error) {
	s := &stage{ends: map[int32]int{}}
	var err error
	if s.source, err = newCluster(ctx, "source-cluster"); err != nil {
		return nil, err
	}
	if s.target, err = newCluster(ctx, "target-cluster"); err != nil {
		return nil, err
	}
	if s.worker, err = connecttest.NewWorker(ctx, s.target.ListenAddrs(), connecttest.WithOffsetFlushInterval(time.Second)); err != nil {
		return nil, err
	}
	if drop != "" {
		record, err := parseDrop(drop)
		if err != nil {
			return nil, err
		}
		s.dropped = s.worker.Inject(connecttest.DropRecord{Record: record})
	}
	s.connect, err = connectrest.New(s.worker.URL)
	return s, err
}

func (s *stage) close() {
	s.worker.Close()
	s.target.close()
	s.source.close()
}

// parseDrop reads TOPIC-PARTITION:OFFSET.
func parseDrop(v string) (connecttest.Record, error) {
	name, offset, ok := strings.Cut(v, ":")
	tp, err := offsetmap.ParseTopicPartition(name)
	n, errOffset := strconv.ParseInt(offset, 10, 64)
	if !ok || err != nil || errOffset != nil {
		return connecttest.Record{}, fmt.Errorf("FLINKMM2_QUICKSTART_DROP=%q: want TOPIC-PARTITION:OFFSET, such as orders-8:9", v)
	}
	return connecttest.Record{Topic: tp.Topic, Partition: tp.Partition, Offset: n}, nil
}

// fill makes the clusters look as they did when the job had stopped: the target
// holds the records before C, and the source has gone on.
func (s *stage) fill(ctx context.Context, positions []offsetmap.Position) error {
	for _, p := range positions {
		c, read := p.Next.Value()
		if !read {
			continue
		}
		if err := errors.Join(
			s.produce(ctx, s.source, p.Partition, int(c)),
			produce(ctx, s.target, p.Partition, 0, int(c)),
		); err != nil {
			return err
		}
		const stopped = 100
		if err := s.produce(ctx, s.source, p.Partition, stopped); err != nil {
			return err
		}
		s.produced += stopped
	}
	return nil
}

// since is how many records come to each partition after the start.
const since = 20

// produceMore writes to every partition, also to those that the job never read.
func (s *stage) produceMore(ctx context.Context) error {
	for p := range int32(partitions) {
		if err := s.produce(ctx, s.source, p, since); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) produce(ctx context.Context, c *cluster, partition int32, n int) error {
	from := s.ends[partition]
	s.ends[partition] += n
	return produce(ctx, c, partition, from, from+n)
}

func produce(ctx context.Context, c *cluster, partition int32, from, to int) error {
	batch := make([]*kgo.Record, 0, to-from)
	for n := from; n < to; n++ {
		batch = append(batch, &kgo.Record{
			Topic: topic, Partition: partition,
			Key: fmt.Appendf(nil, "customer-%d", n%5), Value: fmt.Appendf(nil, "order %d-%d", partition, n),
			Timestamp: time.UnixMilli(1_790_000_000_000 + int64(n)),
		})
	}
	return c.client.ProduceSync(ctx, batch...).FirstErr()
}

// expire deletes the source's records before an offset, as retention does.
func (s *stage) expire(ctx context.Context, partition int32, before int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, before, -1)
	r, err := s.source.admin.DeleteRecords(ctx, offsets)
	return errors.Join(err, r.Error())
}

func (s *stage) migration(journal string) (*flinkmm2.Migration, error) {
	return s.named(connector, journal)
}

func (s *stage) second(journal string) (*flinkmm2.Migration, error) {
	return s.named(connector+"-again", journal)
}

func (s *stage) named(name, journal string) (*flinkmm2.Migration, error) {
	return flinkmm2.New(flinkmm2.Config{
		Source:          flinkmm2.Cluster{Admin: s.source.admin, Options: s.source.options()},
		Target:          flinkmm2.Cluster{Admin: s.target.admin, Options: s.target.options()},
		Connect:         s.connect,
		Connector:       name,
		ConnectorConfig: s.config(),
		Journal:         flinkmm2.NewFileJournal(journal),
	}, flinkmm2.WithActor("quickstart"), flinkmm2.WithTool("quickstart", "1"), flinkmm2.WithFlushTimeout(2*time.Second))
}

func (s *stage) config() connectrest.Config {
	const bytes = "org.apache.kafka.connect.converters.ByteArrayConverter"
	return connectrest.Config{
		"connector.class":                   "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                         "4",
		"source.cluster.alias":              "source",
		"target.cluster.alias":              "target",
		"source.cluster.bootstrap.servers":  strings.Join(s.source.ListenAddrs(), ","),
		"target.cluster.bootstrap.servers":  strings.Join(s.target.ListenAddrs(), ","),
		"topics":                            topic,
		"replication.policy.class":          "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"emit.offset-syncs.enabled":         "false",
		"refresh.topics.enabled":            "true",
		"refresh.topics.interval.seconds":   "60",
		"sync.topic.configs.enabled":        "false",
		"sync.topic.acls.enabled":           "false",
		"source.consumer.auto.offset.reset": "earliest",
		"source.consumer.isolation.level":   "read_uncommitted",
		"key.converter":                     bytes,
		"value.converter":                   bytes,
		"header.converter":                  bytes,
	}
}

// attested is what a person states of the old job, since nothing can show it.
func attested() offsetmap.Attestations {
	const by, reason = "you", "the job that wrote the savepoint only copied, and was stopped"
	return offsetmap.Attestations{
		CopyOnly:       offsetmap.Attest(true, by, reason),
		FlinkStopped:   offsetmap.Attest(offsetmap.StoppedWithSavepoint, by, reason),
		AutoRestartOff: offsetmap.Attest(true, by, reason),
		SinkGuarantee:  offsetmap.Attest(offsetmap.SinkExactlyOnce, by, reason),
		Isolation:      offsetmap.Attest(offsetmap.ReadUncommitted, by, reason),
		RollbackWindow: offsetmap.Attest("1h", by, reason),
		MaxDuplicates:  offsetmap.Attest(int64(0), by, reason),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     offsetmap.Attest("Flink 1.20", by, reason),
			SinkEvidence:      offsetmap.Attest("the output of flink stop", by, reason),
			ClustersAndTopics: offsetmap.Attest("source-cluster to target-cluster: orders", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}
}
