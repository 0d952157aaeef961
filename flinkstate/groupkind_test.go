package flinkstate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// listing answers for one group as brokers do that cannot describe it as a classic
// one: as if it were dead, and by what ListGroups says of it.
type listing struct {
	*kadm.Client
	listed kadm.ListedGroup // the zero value is not listed
	err    error            // of ListGroups
	next   kadm.DescribedConsumerGroup
}

func (l listing) DescribeGroups(_ context.Context, groups ...string) (kadm.DescribedGroups, error) {
	return kadm.DescribedGroups{groups[0]: {Group: groups[0], State: "Dead"}}, nil
}

func (l listing) ListGroups(context.Context, ...string) (kadm.ListedGroups, error) {
	if l.listed.Group == "" {
		return nil, l.err
	}
	return kadm.ListedGroups{l.listed.Group: l.listed}, l.err
}

func (l listing) DescribeConsumerGroups(_ context.Context, groups ...string) (kadm.DescribedConsumerGroups, error) {
	return kadm.DescribedConsumerGroups{groups[0]: l.next}, nil
}

func TestKindOfAGroupIsToldOrAnError(t *testing.T) {
	t.Parallel()
	_, _, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5})
	for name, c := range map[string]struct {
		group  string // copy when empty
		listed kadm.ListedGroup
		err    error
		next   kadm.DescribedConsumerGroup
		want   error  // of Read; nil is none
		text   string // of the error, or of the description
	}{
		"nowhere":       {group: "gone", want: flinkstate.ErrNoGroup, text: "gone"},
		"going":         {want: errAny, text: "ask again"},
		"not listed":    {err: kerr.ClusterAuthorizationFailed, want: kerr.ClusterAuthorizationFailed, text: "another kind"},
		"share":         {listed: kadm.ListedGroup{GroupType: "share", State: "Stable"}, want: flinkstate.ErrNotConsumerGroup, text: "a share group"},
		"streams":       {listed: kadm.ListedGroup{GroupType: "Streams", State: "NotReady"}, want: flinkstate.ErrNotConsumerGroup, text: "a streams group"},
		"of later days": {listed: kadm.ListedGroup{GroupType: "swarm", State: "Stable"}, want: flinkstate.ErrNotConsumerGroup, text: "a swarm group"},
		"old brokers":   {listed: kadm.ListedGroup{State: "Stable"}, text: "unknown", want: errAny},
		"contradicted":  {listed: kadm.ListedGroup{GroupType: "classic", State: "Stable"}, text: "ask again", want: errAny},
		"dying":         {group: "gone", listed: kadm.ListedGroup{GroupType: "classic", State: "Dead"}, want: flinkstate.ErrNoGroup},
		"KIP-848": {
			listed: kadm.ListedGroup{GroupType: "Consumer", State: "Assigning"},
			next:   kadm.DescribedConsumerGroup{State: "Reconciling", AssignorName: "uniform", Members: []kadm.ConsumerGroupMember{{ClientID: "b", ClientHost: "/10.0.0.2"}, {ClientID: "a", ClientHost: "/10.0.0.1"}}},
			text:   `consumer group copy is Reconciling, held by client "a" at /10.0.0.1, client "b" at /10.0.0.2`,
		},
		"KIP-848, denied": {
			listed: kadm.ListedGroup{GroupType: "consumer", State: "Stable"}, next: kadm.DescribedConsumerGroup{Err: kerr.GroupAuthorizationFailed},
			want: kerr.GroupAuthorizationFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := "copy"
			if c.group != "" {
				group = c.group
			}
			if c.listed.GroupType+c.listed.State != "" {
				c.listed.Group = group
			}
			got, err := flinkstate.ReadGroup(t.Context(), listing{admin, c.listed, c.err, c.next}, group, "orders")
			switch {
			case c.want == nil && (err != nil || got.String() != c.text || got.Committed()[orders(0)].String() != "5"):
				t.Errorf("got %v, error %v", got, err)
			case c.want != nil && (err == nil || !errors.Is(c.want, errAny) && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text)):
				t.Errorf("got %v, error %v, want %v", got, err, c.want)
			}
		})
	}
}

var errAny = errors.New("some error")

// TestGroupOfWorkersHoldsNoPosition: a Connect cluster's own group is classic too.
func TestGroupOfWorkersHoldsNoPosition(t *testing.T) {
	t.Parallel()
	c, _, admin := groupBroker(t)
	c.ControlKey(int16(kmsg.DescribeGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := r.ResponseKind().(*kmsg.DescribeGroupsResponse)
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State, g.ProtocolType = "connect-cluster", "Stable", "connect"
		resp.Groups = append(resp.Groups, g)
		return resp, nil, true
	})
	_, err := flinkstate.ReadGroup(t.Context(), admin, "connect-cluster", "orders")
	if !errors.Is(err, flinkstate.ErrNotConsumerGroup) || !strings.Contains(err.Error(), `"connect"`) {
		t.Error(err)
	}
}

// Whoever joins a group is named, and the group keeps the mark of it.
func TestMembersOfAGroupAreNamed(t *testing.T) {
	t.Parallel()
	c, _, admin := groupBroker(t)
	simple := commitAndDescribe(t, admin)
	if diff := cmp.Diff("classic group copy is Empty, without members or protocol", simple.String()); diff != "" || simple.Active() {
		t.Errorf("only committed to, active %t (-want +got):\n%s", simple.Active(), diff)
	}
	member, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumerGroup("joined"), kgo.ConsumeTopics("orders"), kgo.ClientID("billing"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.WaitGroupStable(ctx, "joined", 1); err != nil {
		t.Fatal(err)
	}
	read := func() flinkstate.GroupDescription {
		t.Helper()
		d, err := flinkstate.NewGroupReader(admin).Describe(t.Context(), "joined")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read()
	if d.State != "Stable" || !d.Active() || len(d.Members) != 1 || d.Members[0].ClientID != "billing" || d.Members[0].Host == "" || d.Protocol == "" || d.ProtocolType != "consumer" {
		t.Errorf("%+v", d)
	}
	member.Close()
	if _, err := c.WaitGroupInfo(ctx, "joined", func(g *kfake.GroupInfo) bool { return g != nil && len(g.Members) == 0 }); err != nil {
		t.Fatal(err)
	}
	if d := read(); d.Active() || d.String() != "classic group joined is Empty, without members now" {
		t.Errorf("%s, %+v", d, d)
	}
	commit(t, admin, "joined", map[offsetmap.TopicPartition]int64{orders(0): 5, orders(1): 5, orders(2): 5})
	g, err := flinkstate.ReadGroup(t.Context(), admin, "joined", "orders")
	if err != nil || len(g.Warnings) != 1 || g.Warnings[0].Code != flinkstate.GroupJoined {
		t.Errorf("%+v, %v", g, err)
	}
}

func commitAndDescribe(t *testing.T, admin *kadm.Client) flinkstate.GroupDescription {
	t.Helper()
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5})
	d, err := flinkstate.NewGroupReader(admin).Describe(t.Context(), "copy")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
