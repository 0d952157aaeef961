package preflight_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// What moves between the two looks, and what a look shows by itself.
func TestWorkersThatAreNotCalm(t *testing.T) {
	t.Parallel()
	const blocks, warns = offsetmap.Block, offsetmap.Warn
	for name, c := range map[string]struct {
		broken   func(l *lab)
		severity offsetmap.Severity
		say      string
	}{
		"looked at once": {func(l *lab) { l.probe.Calm = 0 }, warns, "not proven: group connect-cluster was looked at once, and was Stable"},
		"a worker came":  {func(l *lab) { l.during(func() { l.grow("http://10.0.0.8:8083/") }) }, blocks, "has moved within 30s: its members were"},
		"tasks moved": {func(l *lab) {
			l.during(func() { l.workerMember.assigned.Assignment[0].Tasks = []int16{-1, 0}; l.grow() })
		}, blocks, `had ["mm2"] and has ["mm2" "mm2-0"]`},
		"the leader moved": {func(l *lab) {
			l.during(func() { l.workerMember.assigned.LeaderURL = "http://10.0.0.8:8083/"; l.grow() })
		}, blocks, "its leader was"},
		"a rebalance is under way":  {func(l *lab) { l.during(l.leftInRebalance) }, blocks, "has moved within 30s: it was Stable and is PreparingRebalance"},
		"a rebalance was under way": {func(l *lab) { l.leftInRebalance() }, blocks, "group connect-cluster is PreparingRebalance"},
		"a rebalance is scheduled": {func(l *lab) {
			l.workerMember.assigned.ScheduledDelay = 290_000
			l.grow()
		}, blocks, "its tasks are given to others after 4m50s"},
		"groups of other workers alone": {func(l *lab) {
			l.workerMember.url = "http://10.9.9.9:8083/"
			l.grow()
		}, warns, "not proven: the workers' group cannot be seen"},
		"nobody may look": {func(l *lab) {
			l.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Err: kerr.GroupAuthorizationFailed, Count: -1})
		}, blocks, "could not be checked: GROUP_AUTHORIZATION_FAILED"},
		"the wait is cut short": {func(l *lab) {
			l.probe.Sleep = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
		}, blocks, "could not be checked: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			c.broken(l)
			f := l.one("worker/rebalancing")
			if f.Severity != c.severity || !strings.Contains(f.Detail, c.say) {
				t.Errorf("got %s, want %s: ...%s", f, c.severity, c.say)
			}
		})
	}
}

// grow lets the worker's group take in others, or only join anew.
func (l *lab) grow(urls ...string) {
	members := []*member{l.workerMember}
	for _, u := range urls {
		members = append(members, l.member(l.target, "connect-cluster", u))
	}
	l.together(members...)
}

// leftInRebalance lets a worker join that the others do not follow.
func (l *lab) leftInRebalance() {
	m := l.member(l.target, "connect-cluster", "http://10.0.0.8:8083/")
	ctx, stop := context.WithCancel(l.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _, _ = m.enter(ctx) }()
	l.t.Cleanup(func() { stop(); <-done })
	l.eventually(func() bool { return l.groupState() == "PreparingRebalance" }, "a rebalance")
}

func TestAConnectorThatNobodyRunsIsNotCalm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.lists("lost", "org.example.Source", "source", connectrest.StateRunning, connectrest.TaskStatus{State: connectrest.StateUnassigned})()
	if f := l.one("worker/rebalancing"); f.Scope != "lost" || f.Severity != offsetmap.Block {
		t.Errorf("got %s", f)
	}
}

// One that is just being given to a worker is looked at again.
func TestAConnectorThatIsGivenToAWorkerMeanwhileIsCalm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.during(l.lists("new", "org.example.Source", "source", connectrest.StateUnassigned))
	if got := found(l.judge(), "worker/rebalancing"); len(got) > 0 && got[0].Severity == offsetmap.Block {
		t.Errorf("got %v", got)
	}
}

// Before it writes, a step looks again.
func TestAStepCanLookForItself(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	if got := l.probe.Rebalancing(t.Context()); len(got) > 0 {
		t.Errorf("calm workers: %v", got)
	}
	l.during(func() { l.grow("http://10.0.0.8:8083/") })
	if got := l.probe.Rebalancing(t.Context()); len(got) != 1 || got[0].Severity != offsetmap.Block || got[0].Acceptable != offsetmap.Exact {
		t.Errorf("a worker came: %v", got)
	}
	l.probe.Calm = 0
	if got := l.probe.Rebalancing(t.Context()); got != nil {
		t.Errorf("nobody asked: %v", got)
	}
	l.probe.Calm = time.Second
	l.worker.Close()
	if got := l.probe.Rebalancing(t.Context()); len(got) != 1 || !got[0].Unmade {
		t.Errorf("no worker: %v", got)
	}
}
