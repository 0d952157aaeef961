package preflight_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/delivery"
	jvm "github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// whatTieredBrokersShow holds what is said of records in remote storage, which embedded
// brokers do not have, to brokers that move them there and delete them from their disks.
func (l *lab) whatTieredBrokersShow(t *testing.T, stage *jvm.Lab) {
	t.Run("what tiered brokers show", func(t *testing.T) {
		probe, question := l.probe, l.question
		defer func() { l.probe, l.question = probe, question }()
		l.probe.Calm = time.Millisecond
		topic := stage.TopicName(t, "tiered")
		l.tier(topic)
		first, second := topic+"-0", topic+"-1"
		l.probe.Topics, l.question.Positions = []string{topic}, []offsetmap.Position{at(topic, 0, 3), at(topic, 1, 2)}

		// Remote storage is slow, and nothing is lost.
		r := l.whole()
		l.told(r, "source/tiered", "info "+topic, "by 20 offsets in all, which are read from remote storage: "+first+", "+second)
		if lost := found(r, "source/offset-expired"); len(lost) > 0 {
			t.Errorf("said to be expired: %v", lost)
		}
		// An hour on the disk, a week in all, of which the first has half a day.
		l.told(r, "source/retention", "warn "+topic, "within 1 d the first records from C on reach the age of retention.ms = 7 d: "+first)
		if d, left := deadline(t, r.LatestStart); left < 11*time.Hour || left > 12*time.Hour || d.Scope != first || d.Estimated || d.Unknown != "" {
			t.Errorf("%s left by %+v", left, d)
		}

		l.question.Positions = []offsetmap.Position{at(topic, 0, 20), at(topic, 1, 5)}
		l.eventually(func() bool { // a broker may time out over its remote index, which is "could not be checked"
			r = l.whole()
			return len(found(r, "source/tiered"))+len(found(r, "source/retention")) == 0
		}, "all from C on is on the disk, and young")

		// What is on the disk alone tells how large a record is.
		l.question.Positions = []offsetmap.Position{at(topic, 0, 3), at(topic, 1, 2)}
		l.alter(l.probe.Source, topic, "retention.bytes", "1000000")
		l.eventually(func() bool { return len(found(l.whole(), "source/retention")) == 2 }, "the brokers tell the setting")
		r = l.whole()
		l.told(r, "source/retention", "block "+topic+":size", "how soon retention.bytes = 1000000 takes what lies from C on: all its records are in remote storage, and no broker tells how large they are there")
		each := l.sizeOf(topic, 0) / 5
		if of := regexp.MustCompile(`the 22 offsets from C = 3 on take about (\d+) bytes`).FindStringSubmatch(fmt.Sprint(r.Results)); of == nil {
			t.Errorf("no estimate of what is from C on: %v", r.Results)
		} else if bytes, err := strconv.ParseInt(of[1], 10, 64); err != nil || bytes < 22*each || bytes > 22*(each+1) {
			t.Errorf("22 records of %d bytes take %s", each, of[1])
		}
		l.alter(l.probe.Source, topic, "retention.bytes", "-1")

		l.readsRemoteStorage(stage, topic)

		// Retention deletes from remote storage too.
		l.alter(l.probe.Source, topic, "retention.ms", strconv.FormatInt((144*time.Hour).Milliseconds(), 10))
		l.eventually(func() bool { return len(found(l.whole(), "source/offset-expired")) > 0 }, "the oldest segment is gone")
		l.told(l.whole(), "source/offset-expired", "block "+first+":2", "C = 3 is below the log start 5")
	})
}

// readsRemoteStorage holds that what the old job delivered is found, and that MirrorMaker 2
// copies from C on, where both read what is in remote storage alone.
func (l *lab) readsRemoteStorage(stage *jvm.Lab, topic string) {
	l.t.Helper()
	ctx := l.t.Context()
	l.probe.Delivery = delivery.New(l.from.Opts(), l.to.Opts(), preflight.DeliveryBounds{})
	defer func() { l.probe.Delivery = nil }()
	l.deliver(topic, 0, 0, 2)
	l.deliver(topic, 1, 0, 2)
	l.told(l.whole(), "boundary/not-delivered", "block "+topic+"-0:1", "of the last 3 records before C in "+topic+"-0, 1 are not on the target")
	l.deliver(topic, 0, 2, 3)
	if r := l.whole(); len(found(r, "boundary/not-delivered")) > 0 || len(found(r, "boundary/delivered-evidence")) != 1 {
		l.t.Errorf("all before C is delivered, and %v", r.Findings)
	}

	generated, err := preflight.GenerateConfig(preflight.Template{
		Version: connectrest.KafkaVersion(4, 3), SourceAlias: "source", SourceBootstrap: []string{stage.Source.Bootstrap}, TargetBootstrap: []string{stage.Target.Bootstrap},
		Topics: []string{topic}, Naming: preflight.KeepNames, Isolation: offsetmap.ReadUncommitted, Tasks: 1, TargetBrokers: 1,
	})
	l.must(err)
	client, name := l.probe.Connect.(*connectrest.Client), stage.ConnectorName(l.t, "tiered")
	_, err = client.Create(ctx, connectrest.CreateRequest{Name: name, Config: generated.Config, InitialState: connectrest.StateStopped})
	l.must(err)
	_, err = client.AwaitStopped(ctx, name)
	l.must(err)
	stored := func(partition int32, m int64) connectrest.Offset {
		return connectrest.Offset{
			Partition: fmt.Appendf(nil, `{"cluster":"source","topic":%q,"partition":%d}`, topic, partition),
			Offset:    fmt.Appendf(nil, `{"offset":%d}`, m),
		}
	}
	l.must(client.AlterOffsets(ctx, name, []connectrest.Offset{stored(0, 2), stored(1, 1)}))
	l.must(client.Resume(ctx, name))
	l.eventually(func() bool {
		ends, err := l.probe.Target.ListEndOffsets(ctx, topic)
		l.must(err)
		return places(ends) == "25 5"
	}, "MirrorMaker 2 has copied")
	l.must(client.Delete(ctx, name))

	reader := l.dial(stage.Target.Bootstrap, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	got := map[offsetmap.TopicPartition][]*kgo.Record{}
	for n := 0; n < 30; {
		fetched := reader.PollFetches(ctx)
		l.must(fetched.Err())
		fetched.EachRecord(func(r *kgo.Record) {
			got[tp(r.Topic, r.Partition)] = append(got[tp(r.Topic, r.Partition)], r)
			n++
		})
	}
	for _, p := range []offsetmap.TopicPartition{tp(topic, 0), tp(topic, 1)} {
		if d := cmp.Diff(contents(l.records[p]), contents(got[p])); d != "" {
			l.t.Errorf("%s (-source +target):\n%s", p, d)
		}
	}
}

func contents(records []*kgo.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, fmt.Sprintf("%d %s", r.Timestamp.UnixMilli(), r.Value))
	}
	return all
}

// tier creates a topic with a partition of 25 records, of which the last 5 are on the
// disk, and one of 5 that are in remote storage alone.
func (l *lab) tier(topic string) {
	l.t.Helper()
	ms := func(d time.Duration) *string { return new(strconv.FormatInt(d.Milliseconds(), 10)) }
	source := l.probe.Source.(*kadm.Client)
	_, err := source.CreateTopic(l.t.Context(), 2, 1, map[string]*string{
		"remote.storage.enable": new("true"), "local.retention.ms": ms(time.Hour), "retention.ms": ms(7 * 24 * time.Hour),
		"segment.ms": ms(time.Hour), // it ends with the first record that is an hour later than its own first
	}, topic)
	l.must(err)
	l.topic(l.probe.Target.(*kadm.Client), topic, 2)
	now := time.Now()
	of := func(age time.Duration) func(*kgo.Record) {
		return func(r *kgo.Record) { r.Timestamp = now.Add(-age) }
	}
	for _, age := range []time.Duration{156 * time.Hour, 120 * time.Hour, 96 * time.Hour, 48 * time.Hour, 0} {
		l.produce(topic, 0, 5, of(age))
	}
	l.produce(topic, 1, 5, of(12*time.Hour))
	l.eventually(func() bool {
		starts, err := source.ListStartOffsets(l.t.Context(), topic)
		l.must(err)
		onDisk, err := source.ListLocalLogStartOffsets(l.t.Context(), topic)
		l.must(err)
		remote, err := source.ListLatestRemoteOffsets(l.t.Context(), topic)
		l.must(err)
		return places(starts) == "0 0" && places(onDisk) == "20 5" && places(remote) == "19 4"
	}, "all but the last segment are in remote storage alone")
}

// places are the offsets of partitions 0 and 1.
func places(of kadm.ListedOffsets) string {
	var all []string
	for _, o := range of.Offsets().Sorted() {
		all = append(all, strconv.FormatInt(o.At, 10))
	}
	return strings.Join(all, " ")
}

// told holds that a report has one finding with the id, with the severity and the scope,
// and that it says the parts.
func (l *lab) told(r preflight.Report, id, severityAndScope string, parts ...string) {
	l.t.Helper()
	var of []string
	for _, f := range found(r, id) {
		of = append(of, string(f.Severity)+" "+f.Scope)
		if of[len(of)-1] == severityAndScope {
			l.says(f, parts...)
			return
		}
	}
	l.t.Errorf("%s is found as %q, not as %q: %v", id, of, severityAndScope, r.Findings)
}
