package connecttest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func kafka(t testing.TB, brokers []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(-1),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// topic creates a topic.
func topic(t testing.TB, brokers []string, name string, partitions int32, configs ...string) {
	t.Helper()
	settings := make(map[string]*string)
	for i := 0; i < len(configs); i += 2 {
		settings[configs[i]] = &configs[i+1]
	}
	cl := kafka(t, brokers)
	resp, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, 1, settings, name)
	if err != nil || resp.Err != nil {
		t.Fatalf("create topic %s: %v %v", name, err, resp.Err)
	}
}

// produce writes records and returns when all are acknowledged.
func produce(t testing.TB, brokers []string, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := kafka(t, brokers).ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatalf("produce: %v", err)
	}
}

// epoch is the time of the first test record. A real broker deletes records by
// their own timestamps, so an old one may be gone before it is read.
var epoch = time.Now().Add(-time.Minute).Truncate(time.Millisecond)

// numbered are n records of one partition whose values are "topic/partition/i",
// counted from first.
func numbered(topic string, partition int32, first, n int) []*kgo.Record {
	var records []*kgo.Record
	for i := first; i < first+n; i++ {
		records = append(records, &kgo.Record{
			Topic: topic, Partition: partition,
			Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s/%d/%d", topic, partition, i),
			Timestamp: epoch.Add(time.Duration(i) * time.Millisecond),
		})
	}
	return records
}

// read returns everything that a partition holds.
func read(t testing.TB, brokers []string, topic string, partition int32) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	admin := kadm.NewClient(kafka(t, brokers))
	starts, ends := list(ctx, t, admin.ListStartOffsets, topic), list(ctx, t, admin.ListEndOffsets, topic)
	start, _ := starts.Lookup(topic, partition)
	end, ok := ends.Lookup(topic, partition)
	if !ok || end.Err != nil || start.Offset == end.Offset {
		return nil
	}
	cl := kafka(t, brokers, kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().AtStart()}}))
	var records []*kgo.Record
	for {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("read %s-%d up to %d: %v", topic, partition, end.Offset, err)
		}
		done := false
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
			done = done || r.Offset >= end.Offset-1
		})
		if done {
			return records
		}
	}
}

// list lists offsets, again while a partition that is new has no leader.
func list(ctx context.Context, t testing.TB, of func(context.Context, ...string) (kadm.ListedOffsets, error), topic string) (listed kadm.ListedOffsets) {
	t.Helper()
	await(t, "a leader of "+topic, func() (any, bool) {
		var err error
		if listed, err = of(ctx, topic); err == nil {
			return nil, true
		}
		var shards *kadm.ShardErrors
		if !errors.As(err, &shards) || !slices.ContainsFunc(shards.Errs, func(s kadm.ShardError) bool { return errors.Is(s.Err, kerr.LeaderNotAvailable) }) {
			t.Fatalf("list the offsets of %s: %v", topic, err)
		}
		return err, false
	})
	return listed
}

// values are the values of the records of a partition.
func values(t testing.TB, brokers []string, topic string, partition int32) []string {
	t.Helper()
	var all []string
	for _, r := range read(t, brokers, topic, partition) {
		all = append(all, string(r.Value))
	}
	return all
}

// expected are the values of numbered.
func expected(topic string, partition int32, first, n int) []string {
	var all []string
	for _, r := range numbered(topic, partition, first, n) {
		all = append(all, string(r.Value))
	}
	return all
}

// awaitValues waits until a partition of the target holds exactly want, in
// order.
func awaitValues(t testing.TB, brokers []string, topic string, partition int32, want []string) {
	t.Helper()
	await(t, fmt.Sprintf("%d records in %s-%d", len(want), topic, partition), func() (any, bool) {
		got := values(t, brokers, topic, partition)
		return abridged(got), slices.Equal(got, want)
	})
}

func abridged(v []string) string {
	if len(v) <= 6 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%d values %v ... %v", len(v), v[:3], v[len(v)-3:])
}

// ends are the end offsets of a topic's partitions.
func ends(t testing.TB, brokers []string, topic string) []int64 {
	t.Helper()
	listed, err := kadm.NewClient(kafka(t, brokers)).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, o := range listed.Offsets().Sorted() {
		all = append(all, o.At)
	}
	return all
}

// topics are the names of a cluster's topics.
func topics(t testing.TB, brokers []string) []string {
	t.Helper()
	cl := kafka(t, brokers)
	meta, err := kadm.NewClient(cl).Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := meta.Topics.Names()
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

func commitGroup(t testing.TB, brokers []string, group, topic string, offsets map[int32]int64) {
	t.Helper()
	var commit kadm.Offsets
	for p, o := range offsets {
		commit.AddOffset(topic, p, o, -1)
	}
	if err := kadm.NewClient(kafka(t, brokers)).CommitAllOffsets(t.Context(), group, commit); err != nil {
		t.Fatalf("commit offsets of %s: %v", group, err)
	}
}

func deleteTopics(t testing.TB, brokers []string, names ...string) {
	t.Helper()
	resp, err := kadm.NewClient(kafka(t, brokers)).DeleteTopics(t.Context(), names...)
	if err != nil || resp.Error() != nil {
		t.Fatalf("delete topics: %v %v", err, resp.Error())
	}
	await(t, "the topics to be gone", func() (any, bool) {
		have := topics(t, brokers)
		return have, !slices.ContainsFunc(have, func(n string) bool { return slices.Contains(names, n) })
	})
}

func addPartitions(t testing.TB, brokers []string, topic string, total int) {
	t.Helper()
	resp, err := kadm.NewClient(kafka(t, brokers)).UpdatePartitions(t.Context(), total, topic)
	if err != nil || resp.Error() != nil {
		t.Fatalf("add partitions to %s: %v %v", topic, err, resp.Error())
	}
	// A broker acknowledges before it tells of them.
	await(t, fmt.Sprintf("%d partitions of %s", total, topic), func() (any, bool) {
		details, err := kadm.NewClient(kafka(t, brokers)).ListTopics(t.Context(), topic)
		return details, err == nil && len(details[topic].Partitions) == total
	})
}
