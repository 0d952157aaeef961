package preflight_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// Between two looks a group may have become another.
func TestAStableGroupOfAnotherProtocolIsNotTheWorkers(t *testing.T) {
	t.Parallel()
	for state, says := range map[string]string{
		"Stable":             "group connect-cluster: member m-1: what it joined with is not as Kafka Connect writes it",
		"PreparingRebalance": "",
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			resp := kmsg.NewPtrDescribeGroupsResponse()
			group := kmsg.NewDescribeGroupsResponseGroup()
			group.Group, group.State, group.ProtocolType, group.Protocol = "connect-cluster", state, "another", "a"
			member := kmsg.NewDescribeGroupsResponseGroupMember()
			member.MemberID = "m-1"
			group.Members = append(group.Members, member)
			resp.Groups = append(resp.Groups, group)
			answers(l.target, resp)
			got, err := preflight.FindConnectGroup(t.Context(), l.probe.Target, "127.0.0.1:8083")
			switch {
			case says == "" && (err != nil || len(got.Members) != 1):
				t.Errorf("%+v, %v", got, err)
			case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
				t.Errorf("%v, want %q", err, says)
			}
		})
	}
}

func TestTheWorkersAreLookedAtAgainOnceTheyWereCalmForLong(t *testing.T) {
	t.Parallel()
	for name, window := range map[string]time.Duration{"what is left": 20 * time.Second, "nothing is left": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			clock := &fastClock{}
			var waits []time.Duration
			l.probe.Now, l.probe.Calm, l.probe.Window = clock.Now, 30*time.Second, window
			l.probe.Sleep = func(ctx context.Context, d time.Duration) error {
				waits = append(waits, d.Round(5*time.Second))
				return clock.Sleep(ctx, d)
			}
			l.observe()
			if whole := max(30*time.Second, window); len(waits) == 0 || waits[0] != window || sum(waits) != whole {
				t.Errorf("waited for %v, want %s in all", waits, whole)
			}
		})
	}
}

func sum(all []time.Duration) (whole time.Duration) {
	for _, d := range all {
		whole += d
	}
	return whole
}

// What the looks themselves take counts.
func TestNoLookWaitsLongerThanIsLeft(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*preflight.Probe){
		"the brokers": func(p *preflight.Probe) { p.Calm, p.Window = 0, 10*time.Minute },
		"the workers": func(p *preflight.Probe) { p.Calm, p.Window = 10*time.Minute, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			set(&l.probe)
			var ahead, first time.Duration
			l.probe.Now = func() time.Time {
				ahead += time.Second
				return time.Now().Add(ahead)
			}
			l.probe.Sleep = func(_ context.Context, d time.Duration) error {
				if first == 0 {
					first = d
				}
				ahead += d
				return nil
			}
			l.observe()
			if first < 9*time.Minute || first > 10*time.Minute-time.Second {
				t.Errorf("waited for %s of 10m", first)
			}
		})
	}
}
