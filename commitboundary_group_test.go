package flinkmm2_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// What a group shows against the attestation. Each case has a group of its own,
// is refused without a line in the journal, and passes once it is mended.
func TestTheGroupContradictsThatFlinkHasEnded(t *testing.T) { //nolint:tparallel // its cases share a stage, one after the other
	t.Parallel()
	w := rolledBack(t)
	for _, c := range []struct {
		name   string
		group  string
		breaks func(w *wayBack, group string) (mend func())
		accept []offsetmap.Acceptance // mends, where breaks returns nothing
		want   []string
		after  string // what the group holds in the end
	}{
		{
			name: "it has moved since the plan", group: oldGroup, want: []string{"rollback/group-moved orders-0:31"},
			breaks: func(w *wayBack, g string) func() { w.commit(g, 19, 32); return nil },
			accept: []offsetmap.Acceptance{accept("rollback/group-moved", "orders-0:31")}, after: "50/32/0",
		},
		{
			name: "it is beyond C'", group: oldGroup, want: []string{"rollback/group-ahead orders-0:1", "rollback/group-ahead orders-2:7"},
			breaks: func(w *wayBack, g string) func() { w.commit(g, 51, 32, 7); return nil },
			accept: []offsetmap.Acceptance{accept("rollback/group-ahead", "orders-0:1"), accept("rollback/group-ahead", "orders-2:7")}, after: "50/32/0",
		},
		{
			name: "the plan knows nothing of it", group: "another", want: []string{"rollback/group-moved orders-0:40", "rollback/group-moved orders-1:32"},
			breaks: func(w *wayBack, g string) func() { w.commit(g, 10, 0); return nil },
			accept: []offsetmap.Acceptance{accept("rollback/group-moved", "orders-0:40"), accept("rollback/group-moved", "orders-1:32")}, after: "50/32/0",
		},
		{
			name: "somebody brought it to C'", group: oldGroup, want: []string{"rollback/group-moved orders-0:0", "rollback/group-moved orders-2:0"},
			breaks: func(w *wayBack, g string) func() { w.commit(g, 50, 32, 0); return nil }, // orders-1 was there when the plan was made
			accept: []offsetmap.Acceptance{accept("rollback/group-moved", "orders-0:0"), accept("rollback/group-moved", "orders-2:0")}, after: "50/32/0",
		},
		{
			name: "it is at C', and the plan knows nothing of it", group: "at-the-boundary", want: []string{"rollback/group-moved orders-0:1", "rollback/group-moved orders-1:0"},
			breaks: func(w *wayBack, g string) func() { w.commit(g, 49, 32); return nil },
			accept: []offsetmap.Acceptance{accept("rollback/group-moved", "orders-0:1"), accept("rollback/group-moved", "orders-1:0")}, after: "50/32/0",
		},
		{
			name: "the old job's own group has moved", group: "beside-a-moved-one", want: []string{"rollback/group-moved copy-orders:orders-0:19"},
			breaks: func(w *wayBack, _ string) func() { w.commit(oldGroup, 19, 32); return nil },
			accept: []offsetmap.Acceptance{accept("rollback/group-moved", "copy-orders:orders-0:19")}, after: "50/32/0",
		},
		{
			name: "the old job's own group cannot be read", group: "beside-a-hidden-one", want: []string{"rollback/group-unknown copy-orders"},
			breaks: func(w *wayBack, _ string) func() {
				return w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: oldGroup, Count: -1, Err: kerr.GroupAuthorizationFailed}).Remove
			}, after: "50/32/0",
		},
		{
			name: "the old job's own group has a member", group: "beside-a-busy-one", want: []string{"rollback/group-active copy-orders"},
			breaks: func(w *wayBack, _ string) func() {
				leave := w.join(oldGroup, w.Context())
				return func() { leave(); w.forget(oldGroup) }
			}, after: "50/32/0",
		},
		{
			name: "it has a member", group: "with-a-member", want: []string{"rollback/group-active"},
			breaks: func(w *wayBack, g string) func() {
				leave := w.join(g, w.Context())
				return func() { leave(); w.forget(g) }
			}, after: "50/32/0",
		},
		{
			name: "it once had a member", group: "left", want: []string{"rollback/group-expiring"},
			breaks: func(w *wayBack, g string) func() {
				w.join(g, w.Context())()
				return func() { w.forget(g) }
			}, after: "50/32/0",
		},
		{
			name: "it has a member of the new protocol", group: "next-generation", want: []string{"rollback/group-active"},
			breaks: func(w *wayBack, g string) func() {
				// Real brokers describe groups of the classic protocol alone.
				w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Group: g, Count: -1, Err: kerr.GroupIDNotFound})
				return w.join(g, context.WithValue(w.Context(), "opt_in_kafka_next_gen_balancer_beta", true)) //nolint:revive,staticcheck // kgo's own key
			}, after: "50/32/0",
		},
		{
			name: "its offsets cannot be read", group: "hidden-offsets", want: []string{"rollback/group-unknown"},
			breaks: func(w *wayBack, g string) func() {
				return w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: g, Count: -1, Err: kerr.GroupAuthorizationFailed}).Remove
			}, after: "50/32/0",
		},
		{
			name: "its state cannot be read", group: "hidden-state", want: []string{"rollback/group-unknown"},
			breaks: func(w *wayBack, g string) func() {
				return w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Group: g, Count: -1, Err: kerr.GroupAuthorizationFailed}).Remove
			}, after: "50/32/0",
		},
		{
			name: "whether it is of another kind cannot be read", group: "hidden-kind", want: []string{"rollback/group-unknown"},
			breaks: func(w *wayBack, _ string) func() {
				return w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListGroups}, TopLevel: true, Count: -1, Err: kerr.ClusterAuthorizationFailed}).Remove
			}, after: "50/32/0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			mend := c.breaks(w, c.group)
			acts := len(w.acts())
			_, err := w.hand(c.group)
			w.refused(err, flinkmm2.ExitBlocked, c.want...)
			if len(c.accept) > 0 { // a count that is not the right one accepts nothing
				wrong := c.accept[0]
				wrong.Scope = "orders-0:999"
				_, err := w.hand(c.group, wrong)
				w.refused(err, flinkmm2.ExitBlocked, c.want...)
			}
			if len(w.acts()) != acts {
				t.Errorf("a refusal stands in the journal: %v", w.acts())
			}
			if mend != nil {
				mend()
			}
			got, err := w.hand(c.group, c.accept...)
			if err != nil {
				t.Fatalf("mended: %v", err)
			}
			if held, _ := w.holds(c.group); held != c.after || len(got.Findings) != len(c.want)*min(1, len(c.accept)) {
				t.Errorf("mended, the group holds %s, want %s; findings %v", held, c.after, got.Findings)
			}
		})
	}
}

// join lets a consumer join the group, with the context of its client, and
// returns how it leaves.
func (w *wayBack) join(group string, ctx context.Context) (leave func()) { //nolint:revive // the context is an option of the client
	w.Helper()
	c, err := kgo.NewClient(append(w.source.client.Opts(), kgo.WithContext(ctx), kgo.ConsumerGroup(group), kgo.ConsumeTopics("orders"),
		kgo.DisableAutoCommit(), kgo.HeartbeatInterval(50*time.Millisecond))...)
	if err != nil {
		w.Fatal(err)
	}
	within, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	if _, err := w.source.WaitGroupStable(within, group, 1); err != nil {
		c.Close()
		w.Fatal(err)
	}
	return func() {
		c.Close()
		within, cancel := context.WithTimeout(w.Context(), 20*time.Second)
		defer cancel()
		if _, err := w.source.WaitGroupInfo(within, group, func(g *kfake.GroupInfo) bool { return g == nil || g.State == "Empty" }); err != nil {
			w.Fatal(err)
		}
	}
}

// forget deletes a group, after which one of the same name has had no member.
func (w *wayBack) forget(group string) {
	w.Helper()
	if gone, err := w.source.admin.DeleteGroups(w.Context(), group); err != nil || gone.Error() != nil {
		w.Fatal(err, gone.Error())
	}
}

func TestFlinksEndMustBeAttestedAnew(t *testing.T) { //nolint:tparallel // its cases share a stage, one after the other
	t.Parallel()
	w := rolledBack(t)
	for name, a := range map[string]*offsetmap.Attestation[offsetmap.FlinkEnd]{
		"not at all":       nil,
		"by nobody":        offsetmap.Attest(offsetmap.Canceled, "", "it is gone"),
		"without a reason": offsetmap.Attest(offsetmap.Canceled, "ana", " "),
		"as another end":   offsetmap.Attest(offsetmap.FlinkEnd("asleep"), "ana", "it looks so"),
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			w.commit(oldGroup, 19)
			r := flinkmm2.GroupReturn{Group: oldGroup, FlinkStopped: a}
			if got := flinkmm2.ExitStatus(r.Check()); got != flinkmm2.ExitBlocked {
				t.Errorf("Check: exit status %d: %v", got, r.Check())
			}
			_, err := w.steps.CommitBoundary(t.Context(), w.plan, w.boundary, r)
			w.refused(err, flinkmm2.ExitBlocked, "rollback/flink-end", "rollback/group-moved orders-0:31") // all together
		})
	}
	if held, _ := w.holds(oldGroup); held != "19/32/-" || len(w.acts()) > 0 {
		t.Errorf("the group holds %s, journal %v", held, w.acts())
	}
	if err := (flinkmm2.GroupReturn{Group: oldGroup, FlinkStopped: offsetmap.Attest(offsetmap.Failed, "ana", "seen")}).Check(); err != nil {
		t.Errorf("attested: %v", err)
	}
}

// A job that nobody knew of commits while the step waits.
func TestWhoeverCommitsBetweenTwoLooksIsSeen(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	w.commit(oldGroup, 18, 32)
	// At C', where an earlier commit that was cut short may have put it, so that only
	// the move tells.
	w.writeJournal(flinkmm2.Entry{Act: "commit-boundary", Phase: flinkmm2.PhaseBegin, Plan: w.plan.Digest, Group: oldGroup})
	w.whenIdle = func() { w.commit(oldGroup, 50) }
	_, err := w.hand(oldGroup)
	w.refused(err, flinkmm2.ExitBlocked, "rollback/group-active")
	if held, _ := w.holds(oldGroup); held != "50/32/-" {
		t.Errorf("the group holds %s", held)
	}

	// A writer who commits nothing shows at the target's ends.
	var write func()
	write = func() { w.target.produce(t, 1, 1); w.whenIdle = write }
	w.whenIdle = write
	_, err = w.hand(oldGroup)
	w.refused(err, flinkmm2.ExitBlocked, "rollback/not-settled")
	w.whenIdle = nil
	_, err = w.hand(oldGroup)
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed orders-1") // the rollback has compared a target that ended before
	w.again()
	if _, err := w.hand(oldGroup); err != nil {
		t.Fatalf("once it is still: %v", err)
	}
	if held, _ := w.holds(oldGroup); held != "50/32/0" {
		t.Errorf("the group holds %s", held)
	}
}

var _ flinkmm2.Admin = (*kadm.Client)(nil)
