package preflight_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func same(topic string) string { return topic }

func TestMeasuredJoinsBothClusters(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.remove(l.target, "payments")
	l.create(l.target, "source.orders", 1)
	l.set("replication.policy.class", "")
	f := l.observe()
	source, _ := f.Source.Get()
	got, err := f.Measured(func(topic string) string { return "source." + topic })
	l.must(err)
	range0, range10 := offsetmap.Range{Start: next(0), End: next(0), Stable: next(0)}, offsetmap.Range{Start: next(0), End: next(10), Stable: next(10)}
	want := map[offsetmap.TopicPartition]offsetmap.Measured{}
	for _, m := range []offsetmap.Measured{
		{TopicPartition: tp("orders", 0), Range: range10, TargetEnd: next(0)},
		{TopicPartition: tp("orders", 1), Range: range10, TargetEnd: next(0)}, // the target has one partition only
		{TopicPartition: tp("payments", 0), Range: range0, TargetEnd: next(0)},
	} {
		m.TopicID, m.TargetTopic = source.Topics[m.Topic].ID, "source."+m.Topic
		want[m.TopicPartition] = m
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b }), cmp.Comparer(func(a, b offsetmap.SourceOffset) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

func TestAnEndIsTakenForZeroOnlyWhereNoPartitionIs(t *testing.T) {
	t.Parallel()
	denied := preflight.Topic{Name: "orders", Err: kerr.TopicAuthorizationFailed}
	missing := preflight.Topic{Name: "orders", Err: kerr.UnknownTopicOrPartition}
	one := preflight.Topic{Name: "orders", Partitions: []int32{0}}
	two := preflight.Topic{Name: "orders", Partitions: []int32{0, 1}}
	target := func(t ...preflight.Topic) offsetmap.Fact[preflight.Cluster] {
		c := preflight.Cluster{ClusterID: "target-1", Topics: map[string]preflight.Topic{}}
		for _, t := range t {
			c.Topics[t.Name] = t
		}
		return offsetmap.Known(c)
	}
	end := func(v offsetmap.NextOffset) map[offsetmap.TopicPartition]preflight.Tail {
		return map[offsetmap.TopicPartition]preflight.Tail{tp("orders", 1): {End: v, Stable: v}}
	}
	none := offsetmap.NextOffset{}
	for name, c := range map[string]struct {
		target offsetmap.Fact[preflight.Cluster]
		ends   map[offsetmap.TopicPartition]preflight.Tail
		want   offsetmap.NextOffset
	}{
		"measured":                        {target(two), end(next(7)), next(7)},
		"not measured":                    {target(two), end(none), none},
		"not measured, in no answer":      {target(two), nil, none},
		"no such topic":                   {target(missing), nil, next(0)},
		"no such partition":               {target(one), nil, next(0)},
		"a partition that came since":     {target(one), end(next(3)), next(3)},
		"one that came since, unmeasured": {target(one), end(none), none},
		"denied":                          {target(denied), nil, none},
		"never asked for":                 {target(), nil, none},
		"the target is unknown":           {offsetmap.NotKnown[preflight.Cluster](errors.New("no route")), nil, none},
	} {
		f := preflight.Facts{
			Topics: []string{"orders"}, Source: offsetmap.Known(preflight.Cluster{Topics: map[string]preflight.Topic{"orders": two}}),
			Target: c.target, TargetTails: c.ends,
		}
		got, err := f.Measured(same)
		if err != nil || len(got) != 2 || got[tp("orders", 1)].TargetEnd != c.want {
			t.Errorf("%s: %d partitions, end %s, error %v; want %s", name, len(got), got[tp("orders", 1)].TargetEnd, err, c.want)
		}
	}
}

func TestMeasuredKeepsPartitionsWithoutARange(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	// The Metadata answer names both partitions; then the topic is gone.
	f := l.observe()
	delete(f.Ranges, tp("orders", 1))
	f.Ranges[tp("orders", 2)] = offsetmap.Range{Start: next(0), End: next(1), Stable: next(1)} // came into being since
	got, err := f.Measured(same)
	l.must(err)
	if len(got) != 4 || got[tp("orders", 1)].Range != (offsetmap.Range{}) || got[tp("orders", 2)].Range.End != next(1) || got[tp("orders", 2)].TopicID == (offsetmap.TopicID{}) {
		t.Errorf("measured %v", got)
	}
	r := preflight.Judge(f, l.question)
	for _, id := range []string{"source/range-unknown", "source/position-missing"} {
		if len(found(r, id)) != 1 {
			t.Errorf("%s is not reported: %v", id, r.Findings)
		}
	}
}

func TestMeasuredSaysWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Topics = append(l.probe.Topics, "gone")
	got, err := l.observe().Measured(same)
	if len(got) != 3 || err != nil {
		t.Errorf("a topic that does not exist: %d partitions, %v", len(got), err)
	}
	f := l.observe()
	source, _ := f.Source.Get()
	source.Topics["orders"] = preflight.Topic{Name: "orders", Err: kerr.TopicAuthorizationFailed}
	f.Ranges = map[offsetmap.TopicPartition]offsetmap.Range{tp("payments", 0): f.Ranges[tp("payments", 0)]}
	got, err = f.Measured(same)
	if len(got) != 1 || !errors.Is(err, kerr.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "orders") {
		t.Errorf("a denied topic: %d partitions, %v", len(got), err)
	}
	cut(l.source, kmsg.Metadata)
	if got, err := l.observe().Measured(same); got != nil || err == nil {
		t.Errorf("without metadata: %v, %v", got, err)
	}
	if got, err := (preflight.Facts{}).Measured(same); got != nil || err == nil {
		t.Errorf("nothing was looked for: %v, %v", got, err)
	}
}
