package preflight

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Of many transactions that are open some are described, and one that is not told leaves
// all unknown.
func TestOpenTransactionsAreDescribed(t *testing.T) {
	now := time.UnixMilli(10_000)
	open := func(n int) offsetmap.Fact[[]OpenTransaction] {
		var all []OpenTransaction
		for i := range n {
			all = append(all, OpenTransaction{TopicPartition: partition("a", 0), ProducerID: int64(i + 1), CoordinatorEpoch: -1, Start: offset(t, 3), LastTimestamp: now})
		}
		return offsetmap.Known(append(all, OpenTransaction{TopicPartition: partition("b", 0), ProducerID: 99}))
	}
	for n, want := range map[int]string{
		0: unlisted, 1: "producer id 1, epoch 0", 5: "producer id 5, epoch 0", 6: "; and 1 more", 8: "; and 3 more",
	} {
		got := heldBy(partition("a", 0), offset(t, 3), offset(t, 9), open(n), offsetmap.Absent[TransactionOwners](), now)
		if !strings.HasPrefix(got, "the last stable offset 3 is 6 below the end 9: ") || !strings.Contains(got, want) || strings.Contains(got, "more") != (n > 5) || strings.Contains(got, "99") {
			t.Errorf("%d open: %q, want %q", n, got, want)
		}
	}
	for epoch, want := range map[int32]string{-1: " ago", 0: "(coordinator epoch 0)", 4: "(coordinator epoch 4)"} {
		if got := (OpenTransaction{CoordinatorEpoch: epoch, LastTimestamp: now.Add(-time.Second)}).describe(now); !strings.HasSuffix(got, want) {
			t.Errorf("coordinator epoch %d: %q, want %q", epoch, got, want)
		}
	}
	for ms, want := range map[int64]string{-1: "no timestamp", 0: "a timestamp of 10s ago", 10_000: "a timestamp of 0s ago", 15_000: "a timestamp of 5s from now"} {
		if got := timestamp(time.UnixMilli(ms), now); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
	told := kadm.DescribedProducersTopics{"a": {Topic: "a", Partitions: kadm.DescribedProducersPartitions{0: {Topic: "a"}, 1: {Topic: "a", Partition: 1, Err: kerr.TopicAuthorizationFailed}}}}
	if _, ok := openTransactions(told, nil).Get(); ok {
		t.Error("a partition that was not told has no transaction")
	}
	delete(told["a"].Partitions, 1)
	if all, ok := openTransactions(told, nil).Get(); !ok || len(all) != 0 {
		t.Errorf("%v, %t", all, ok)
	}
}

// A transaction is taken for one that nobody ends only when its coordinator is late by
// more than clocks differ.
func TestAnOverdueTransactionIsOneThatNobodyEnds(t *testing.T) {
	start := time.UnixMilli(1_000_000)
	o := OpenTransaction{TopicPartition: partition("a", 0), ProducerID: 7}
	for late, want := range map[time.Duration]bool{-time.Minute: false, 0: false, overdueAfter: false, overdueAfter + time.Millisecond: true} {
		owner := TransactionOwner{TransactionalID: "sink", State: transactionOngoing, Timeout: time.Minute, Start: start}
		owner.Partitions.Add("a", 0)
		all := TransactionOwners{ByProducer: map[int64]TransactionOwner{7: owner}}
		why, err := all.neverEnds(o, start.Add(time.Minute+late))
		if err != nil || (why != "") != want {
			t.Errorf("late by %s: %q, %v, want %t", late, why, err, want)
		}
	}
}

// The versions are compared where both are known.
func TestPluginAndWorkerAreComparedWhereBothAreKnown(t *testing.T) {
	worker := func(version string) offsetmap.Fact[connectrest.WorkerInfo] {
		v, _ := connectrest.ParseVersion(version)
		return offsetmap.Known(connectrest.WorkerInfo{Version: v})
	}
	plugins := func(version string) offsetmap.Fact[[]connectrest.PluginInfo] {
		return offsetmap.Known([]connectrest.PluginInfo{{Class: mirrorSource, Version: version}, {Class: "x.Other", Version: "1"}})
	}
	for name, c := range map[string]struct {
		worker  offsetmap.Fact[connectrest.WorkerInfo]
		plugins offsetmap.Fact[[]connectrest.PluginInfo]
		want    []string
	}{
		"equal":             {worker("4.3.1"), plugins("4.3.1"), nil},
		"different":         {worker("4.3.1"), plugins("3.9.2"), []string{"warn  the plugin is 3.9.2, the worker 4.3.1"}},
		"no worker":         {offsetmap.NotKnown[connectrest.WorkerInfo](errNoAge), plugins("3.9.2"), nil},
		"no worker version": {worker("x"), plugins("3.9.2"), nil},
		"no plugin version": {worker("4.3.1"), plugins("x"), nil},
		"another plugin":    {worker("4.3.1"), offsetmap.Known([]connectrest.PluginInfo{{Class: "x.Other", Version: "1"}}), []string{"block  the worker has no plugin"}},
		"plugins not known": {worker("4.3.1"), offsetmap.NotKnown[[]connectrest.PluginInfo](errNoAge), []string{"block "}},
	} {
		kase := &Case{Facts: Facts{Worker: c.worker, Plugins: c.plugins}}
		got, _ := findings(func(r *Reporter) { workerPlugin(kase, r) })
		agree(t, name, got, c.want)
	}
	kase := &Case{Facts: Facts{Worker: worker("4.3.1"), Plugins: offsetmap.Known([]connectrest.PluginInfo{{Class: "x.Other", Version: "1"}})}}
	if got, _ := findings(func(r *Reporter) { workerVersion(kase, r) }); len(got) != 0 {
		t.Errorf("a plugin that is not there has a version: %q", got)
	}
}

// Where a partition is known not to be there, MirrorMaker 2 begins it at 0.
func TestTheEndOfATargetPartitionThatIsNotThereIsZero(t *testing.T) {
	at := partition("a", 1)
	cluster := func(topics map[string]Topic) offsetmap.Fact[Cluster] {
		return offsetmap.Known(Cluster{ClusterID: "t", Topics: topics})
	}
	for name, c := range map[string]struct {
		target offsetmap.Fact[Cluster]
		tail   int64
		want   int64
	}{
		"measured":                     {cluster(map[string]Topic{"a": {Name: "a", Partitions: []int32{0, 1}}}), 9, 9},
		"there, and not measured":      {cluster(map[string]Topic{"a": {Name: "a", Partitions: []int32{0, 1}}}), -2, -1},
		"measured as none":             {cluster(map[string]Topic{"a": {Name: "a", Partitions: []int32{0}}}), -1, -1},
		"the topic has fewer":          {cluster(map[string]Topic{"a": {Name: "a", Partitions: []int32{0}}}), -2, 0},
		"no such topic":                {cluster(map[string]Topic{"a": {Name: "a", Err: kerr.UnknownTopicOrPartition}}), -2, 0},
		"a topic that was not told":    {cluster(map[string]Topic{"a": {Name: "a", Err: kerr.TopicAuthorizationFailed}}), -2, -1},
		"a topic that nobody asked of": {cluster(map[string]Topic{}), -2, -1},
		"no target":                    {offsetmap.NotKnown[Cluster](errNoAge), -2, -1},
	} {
		f := Facts{Target: c.target, TargetTails: map[offsetmap.TopicPartition]Tail{}}
		if c.tail > -2 {
			f.TargetTails[at] = Tail{End: offset(t, c.tail)}
		}
		if got := f.targetEnd(at); got != offset(t, c.want) {
			t.Errorf("%s: %s, want %d", name, got, c.want)
		}
	}
}

func TestOneTaskIsTooFewForMoreThanAHundredPartitions(t *testing.T) {
	for _, c := range []struct {
		tasks      string
		partitions int
		want       []string
		saw        string
	}{
		{"1", 100, nil, "1 tasks for 100 partitions"},
		{"1", 101, []string{"warn tasks.max one task copies 101 partitions"}, "1 tasks for 101 partitions"},
		{"2", 101, nil, "2 tasks for 101 partitions"},
		{"2", 100, nil, "2 tasks for 100 partitions"},
		{"0", 101, nil, ""},
		{"x", 101, nil, ""},
	} {
		kase := &Case{measured: map[offsetmap.TopicPartition]offsetmap.Measured{}}
		for p := range c.partitions {
			kase.measured[partition("a", int32(p))] = offsetmap.Measured{}
		}
		got, saw := findings(func(r *Reporter) { tasksMax(kase, settings{connectrest.Config{"tasks.max": c.tasks}}, r) })
		agree(t, c.tasks, got, c.want)
		if strings.Join(saw, "; ") != c.saw {
			t.Errorf("%s tasks for %d: saw %q, want %q", c.tasks, c.partitions, saw, c.saw)
		}
	}
}

func TestRatesAreToldWhereTimeHasPassed(t *testing.T) {
	moved := map[offsetmap.TopicPartition]Moved{partition("a", 0): {offset(t, 5), offset(t, 25)}}
	for over, want := range map[time.Duration]string{0: "info a the ends moved by 20 offsets in 0s: a-0", 10 * time.Second: "info a the ends moved by 20 offsets in 10s, 2.0 a second: a-0"} {
		got, _ := findings(func(r *Reporter) { stillWritten(Movement{Over: over, Source: moved}, r) })
		if strings.Join(got, "; ") != want {
			t.Errorf("over %s: %q, want %q", over, got, want)
		}
	}
	if orAny(0) != "0s" || orAny(-1) != "any time" {
		t.Errorf("0 is %q, -1 is %q", orAny(0), orAny(-1))
	}
}

// Quoted text and classes of characters have no dot that would stand for any letter.
func TestWhatIsQuotedInARegexIsLeftOut(t *testing.T) {
	for entry, want := range map[string]string{
		"a.b": "a.b", `a\.b`: "ab", `\Qa.b\Ec.`: "c.", `\Qa.b`: "", `x\Qa.b`: "x", `a\Q\Eb`: "ab", "[a.]b": "b", `[\]]b`: "b", `a\\Qb`: "aQb", `a\`: "a", "[a": "",
	} {
		var got strings.Builder
		eachByte(entry, func(c byte, rest string) {
			got.WriteByte(c)
			if !strings.HasSuffix(entry, rest) {
				t.Errorf("%q: the rest behind %q is %q", entry, c, rest)
			}
		})
		if got.String() != want {
			t.Errorf("%q: %q, want %q", entry, got.String(), want)
		}
	}
}

// A rebalance that waits is seen in the later look where there is one, else in the first.
func TestAGroupThatWaitsForAWorkerIsNotCalm(t *testing.T) {
	group := func(delay time.Duration) ConnectGroup {
		return ConnectGroup{ID: "connect", State: groupStable, Members: []ConnectMember{{ID: "1", URL: "http://w1:8083/", Delay: delay}}}
	}
	const waits = "block  group connect waits for a worker that is gone"
	for name, c := range map[string]struct {
		looks ConnectLooks
		want  []string
	}{
		"calm":                {ConnectLooks{First: group(0), Later: group(0), Over: time.Second}, nil},
		"looked at once":      {ConnectLooks{First: group(0)}, []string{"warn  not proven: group connect was looked at once"}},
		"waits, at one look":  {ConnectLooks{First: group(time.Minute)}, []string{"warn  not proven", waits}},
		"waits at both looks": {ConnectLooks{First: group(time.Minute), Later: group(time.Second), Over: time.Second}, []string{waits + ": its tasks are given to others after 1s"}},
	} {
		got, _ := findings(func(r *Reporter) { reportGroup(c.looks, nil, r) })
		agree(t, name, got, c.want)
	}
}

// Brokers name a metric of a topic with a dot as that with an underscore, and so refuse
// one of the two.
func TestNamesThatCollideAreThoseThatAreThere(t *testing.T) {
	for name, c := range map[string]struct {
		other Topic
		want  int
	}{"there": {Topic{Name: "a_b"}, 1}, "not told": {Topic{Name: "a_b", Err: kerr.TopicAuthorizationFailed}, 0}} {
		cluster := func(topics map[string]Topic) offsetmap.Fact[Cluster] { return offsetmap.Known(Cluster{Topics: topics}) }
		kase := &Case{policy: offsetmap.Known(policy{identity: true}), Facts: Facts{
			Topics: []string{"a.b"}, Source: cluster(map[string]Topic{"a.b": {Name: "a.b"}}), Target: cluster(map[string]Topic{"a_b": c.other}),
		}}
		if got, _ := findings(func(r *Reporter) { nameCollision(kase, r) }); len(got) != c.want {
			t.Errorf("%s: %q, want %d", name, got, c.want)
		}
	}
}

// A command has the brokers that the config names, or says what a person must put there.
func TestACommandHasTheBrokersThatTheConfigNames(t *testing.T) {
	for value, want := range map[string]string{"a:9092,b:9092": "a:9092,b:9092", "": "TARGET", "${file:/a:b}": "TARGET", "a b;c": "TARGET"} {
		config := connectrest.Config{}
		if value != "" {
			config["target.cluster.bootstrap.servers"] = value
		}
		kase := &Case{Facts: Facts{Connector: offsetmap.Known(connectrest.ConnectorInfo{Config: config})}}
		if got := kase.bootstrap("TARGET", "target.cluster.bootstrap.servers"); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
