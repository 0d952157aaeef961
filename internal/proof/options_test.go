package proof

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var _ Admin = (*kadm.Client)(nil)

func TestOptionsThatCannotBeRunAreRefusedWithEveryReason(t *testing.T) {
	good := func() Options {
		cluster := Cluster{Options: []kgo.Opt{kgo.SeedBrokers("127.0.0.1:1")}, Admin: (*kadm.Client)(nil), Isolation: offsetmap.ReadUncommitted}
		tp := offsetmap.TopicPartition{Topic: "orders"}
		return Options{
			Source: cluster, Target: cluster, Bound: time.Second,
			Partitions: []Partition{{Source: tp, Target: tp, Next: place(0), End: place(0), TargetEnd: place(0)}},
		}
	}
	if err := func() error { o := good(); return o.validate() }(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(o *Options)
		want   []string
	}{
		{"nothing given", func(o *Options) { *o = Options{} }, []string{
			"source: no client options", "source: no admin client", `source: isolation ""`,
			"target: no client options", "target: no admin client", `target: isolation ""`,
			"bound 0s is not positive", "no partitions",
		}},
		{"isolation of another kind", func(o *Options) { o.Target.Isolation = "serializable" }, []string{`target: isolation "serializable" is neither`}},
		{"negative times", func(o *Options) { o.Bound, o.Quiet, o.Interval = -1, -1, -1 }, []string{"bound -1ns", "quiet -1ns, interval -1ns or mark interval 0s"}},
		{"a negative window", func(o *Options) { o.Window = -1 }, []string{"window -1 is negative"}},
		{"where no run stood", func(o *Options) { o.Partitions[0].From = &Mark{Source: 9} }, []string{"orders-0: where an earlier run stood: it stands at 9, above the end 0"}},
		{"no place", func(o *Options) {
			o.Partitions[0].Next, o.Partitions[0].End, o.Partitions[0].TargetEnd = offsetmap.NextOffset{}, offsetmap.NextOffset{}, offsetmap.NextOffset{}
		}, []string{"orders-0: no next offset", "orders-0: no end", "orders-0: no recorded target end"}},
		{"no topic", func(o *Options) { o.Partitions[0].Source.Topic, o.Partitions[0].Target.Topic = "", "a b" }, []string{"source partition: not a legal topic name", "target partition of -0: not a legal topic name"}},
		{"a partition twice", func(o *Options) { o.Partitions = append(o.Partitions, o.Partitions[0]) }, []string{"orders-0: the partition is given twice", "orders-0: two source partitions have the target orders-0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := good()
			tt.change(&o)
			r, err := Run(t.Context(), o)
			if err == nil || len(r.Partitions) > 0 {
				t.Fatalf("report %+v, error %v", r, err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d reasons, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("reason %q, want %q", lines[i], want)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	o := Options{}
	o.setDefaults()
	if o.Interval != time.Second || o.Lookback != 1000 || o.Examples != 10 {
		t.Errorf("%v, %d, %d", o.Interval, o.Lookback, o.Examples)
	}
	o = Options{Interval: 1, Lookback: -1, Examples: -1}
	o.setDefaults()
	if o.Interval != 1 || o.Lookback != 0 || o.Examples != 0 {
		t.Errorf("%v, %d, %d", o.Interval, o.Lookback, o.Examples)
	}
}

// describing answers DescribeTopicConfigs and nothing else.
type describing struct {
	Admin
	configs kadm.ResourceConfigs
	err     error
}

func (d describing) DescribeTopicConfigs(context.Context, ...string) (kadm.ResourceConfigs, error) {
	return d.configs, d.err
}

func TestTopicsAreDescribed(t *testing.T) {
	config := func(kv ...string) (cs []kadm.Config) {
		for i := 0; i < len(kv); i += 2 {
			cs = append(cs, kadm.Config{Key: kv[i], Value: &kv[i+1]})
		}
		return cs
	}
	for _, tt := range []struct {
		name string
		got  kadm.ResourceConfigs
		err  error
		want Topic
		say  string
	}{
		{name: "delete", got: kadm.ResourceConfigs{{Name: "t", Configs: config("cleanup.policy", "delete", "message.timestamp.type", "CreateTime")}}},
		{name: "compact", got: kadm.ResourceConfigs{{Name: "t", Configs: config("cleanup.policy", "compact", "message.timestamp.type", "CreateTime")}}, want: Topic{Compacted: true}},
		{name: "both", got: kadm.ResourceConfigs{{Name: "t", Configs: config("cleanup.policy", "delete, compact", "message.timestamp.type", "LogAppendTime")}}, want: Topic{Compacted: true, Timestamps: Stamped}},
		{name: "no right", got: kadm.ResourceConfigs{{Name: "t", Err: kerr.TopicAuthorizationFailed}}, say: "source topic t: describe configs: TOPIC_AUTHORIZATION_FAILED"},
		{name: "no answer", err: errors.New("cut off"), say: "cut off"},
		{name: "no policy", got: kadm.ResourceConfigs{{Name: "t", Configs: config("message.timestamp.type", "CreateTime")}}, say: "do not tell cleanup.policy"},
		{name: "no timestamp type", got: kadm.ResourceConfigs{{Name: "t", Configs: config("cleanup.policy", "delete")}}, say: "do not tell message.timestamp.type"},
		{name: "another timestamp type", got: kadm.ResourceConfigs{{Name: "t", Configs: config("cleanup.policy", "delete", "message.timestamp.type", "NoTime")}}, say: `message.timestamp.type is "NoTime"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topics, err := describe(t.Context(), sourceSide, Cluster{Admin: describing{configs: tt.got, err: tt.err}}, []string{"t"})
			if tt.say != "" {
				if err == nil || !strings.Contains(err.Error(), tt.say) {
					t.Fatalf("error %v, want %q", err, tt.say)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(map[string]Topic{"t": tt.want}, topics); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("what the caller knows is not asked for", func(t *testing.T) {
		known := map[string]Topic{"t": {Compacted: true}}
		topics, err := describe(t.Context(), targetSide, Cluster{Topics: known}, []string{"t"})
		if err != nil || topics["t"] != known["t"] {
			t.Errorf("%+v, %v", topics, err)
		}
	})
}

func TestAClusterThatCannotBeReachedIsAnError(t *testing.T) {
	c := startClusters(t)
	c.topic("orders", 1, nil)
	away, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"), kgo.RetryTimeout(200*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	for _, w := range []which{sourceSide, targetSide} {
		o := c.proof(c.from("orders", 0, 0, 0, 0))
		o.Bound = 5 * time.Second
		o.Source.Topics = map[string]Topic{"orders": {}}
		o.Target.Topics = o.Source.Topics
		if w == sourceSide {
			o.Source.Admin = kadm.NewClient(away)
		} else {
			o.Target.Admin = kadm.NewClient(away)
		}
		r, err := Run(t.Context(), o)
		if err == nil || !strings.HasPrefix(err.Error(), w.String()) || r.Outcome != "" {
			t.Errorf("%s away: outcome %q, error %v", w, r.Outcome, err)
		}
	}
}

func TestATopicThatDoesNotExistIsAnError(t *testing.T) {
	c := startClusters(t)
	c.topic("orders", 1, nil)
	p := c.from("orders", 0, 0, 0, 0)
	p.Target.Topic = "other"
	if _, err := Run(t.Context(), c.proof(p)); !errors.Is(err, kerr.UnknownTopicOrPartition) || !strings.Contains(err.Error(), "target topic other") {
		t.Errorf("error %v", err)
	}
	p = c.from("orders", 3, 0, 0, 0)
	o := c.proof(p)
	o.Quiet = 500 * time.Millisecond
	if _, r := onlyPartition(t, o); r.Outcome != PartitionPending || !strings.Contains(r.Reason, "does not exist") {
		t.Errorf("a partition that does not exist: %s (%s)", r.Outcome, r.Reason)
	}
}

func TestAClientThatCannotBeMadeLeavesNothingBehind(t *testing.T) {
	c := startClusters(t)
	c.topic("orders", 1, nil)
	for _, w := range []which{sourceSide, targetSide} {
		o := c.proof(c.from("orders", 0, 0, 0, 0))
		bad := []kgo.Opt{kgo.SeedBrokers("127.0.0.1:1"), kgo.ConsumerGroup("of-somebody")}
		if w == sourceSide {
			o.Source.Options = bad
		} else {
			o.Target.Options = bad
		}
		if _, err := Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), w.String()+" client: ") {
			t.Errorf("%s: error %v", w, err)
		}
	}
}
