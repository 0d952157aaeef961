package preflight_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestTheWorkersTopicsKeepTheirState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks func(l *lab)
		want   []string
	}{
		"sound": {func(*lab) {}, nil},
		"not named": {
			func(l *lab) { l.probe.ConnectTopics = preflight.ConnectTopics{} },
			[]string{"warn : not proven: nobody says which topics the workers keep their state in, and no API shows it"},
		},
		"named as what is not there": {
			func(l *lab) { l.probe.ConnectTopics.Offset = "offsets" },
			[]string{"block offsets: there is no such topic on the cluster that the worker belongs to: connect.topics says that it is its offset.storage.topic"},
		},
		"deleted by time": {
			func(l *lab) { l.alter(l.probe.Target, "connect-status", "cleanup.policy", "delete") },
			[]string{`block connect-status: cleanup.policy is "delete", and has to be compact alone for status.storage.topic: what is older than the topic keeps is forgotten`},
		},
		"a config topic of two partitions": {
			func(l *lab) {
				l.must(l.target.CreateTopic("configs", 2, map[string]string{"cleanup.policy": "compact"}))
				l.probe.ConnectTopics.Config = "configs"
			},
			[]string{"block configs: config.storage.topic has 2 partitions, and must have one"},
		},
		"more replicas in sync demanded than there are": {
			func(l *lab) { l.alter(l.probe.Target, "connect-configs", "min.insync.replicas", "2") },
			[]string{"block connect-configs: min.insync.replicas is 2, and of 1 partitions 1 have fewer replicas, so that they can never be written to with acks=all: connect-configs-0, with the replicas [0]"},
		},
		"two named alike": {
			func(l *lab) { l.probe.ConnectTopics.Offset = "connect-configs" },
			[]string{"block : could not be checked: the worker's config.storage.topic and offset.storage.topic cannot both be connect-configs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			c.breaks(l)
			l.finds("worker/internal-topics", c.want...)
		})
	}
	t.Run("on one broker of three", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{brokers: 3})
		l.must(l.target.CreateTopic("one", 1, map[string]string{"cleanup.policy": "compact"}))
		l.finds("worker/internal-topics")
	})
	for replicas, want := range map[int16][]string{
		1: {"block few: config.storage.topic has one replica on a cluster of 3 brokers: it is lost with one of them"},
		2: {"warn few: config.storage.topic has 2 replicas on a cluster of 3 brokers"},
		3: nil,
	} {
		t.Run(fmt.Sprintf("of %d replicas on three brokers", replicas), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{brokers: 3})
			_, err := l.probe.Target.(*kadm.Client).CreateTopic(t.Context(), 1, replicas, map[string]*string{"cleanup.policy": new("compact")}, "few")
			l.must(err)
			l.probe.ConnectTopics.Config = "few"
			l.finds("worker/internal-topics", want...)
		})
	}
	t.Run("of a worker elsewhere", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "third"})
		l.finds("worker/internal-topics", `warn : not proven: the workers' group cannot be seen: the worker belongs to cluster "third-1", which is neither the source nor the target`)
	})
	t.Run("of a worker of the source", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "source"})
		l.alter(l.probe.Source, "connect-offsets", "cleanup.policy", "delete")
		if f := found(l.whole(), "worker/internal-topics"); len(f) != 1 {
			t.Errorf("findings %v", f)
		}
	})
}

func TestAllOfTheWorkersTopicsAreNamedOrNone(t *testing.T) {
	t.Parallel()
	all := map[preflight.ConnectTopics]string{
		{}:                                      "",
		{Config: "c", Offset: "o", Status: "s"}: "",
		{Config: "c", Status: "s"}:              "the worker's offset.storage.topic is not named, and others of its topics are",
		{Config: "c", Offset: "o", Status: "c"}: "the worker's config.storage.topic and status.storage.topic cannot both be c",

		{Config: "c", Offset: "o", Status: "a b"}: `the worker's status.storage.topic: not a legal topic name: "a b" has ' ' at byte 1`,
	}
	for _, topics := range slices.Collect(maps.Keys(all)) {
		got := ""
		if err := topics.Check(); err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(all[topics], got); d != "" {
			t.Errorf("%+v: %s", topics, d)
		}
	}
}
