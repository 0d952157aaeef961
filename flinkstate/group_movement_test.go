package flinkstate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A Flink group without members looks dead while the job runs: its state proves
// nothing, one look proves nothing, and two show the partition that moves.
func TestPC01AGroupThatLooksDeadWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	_, _, admin := groupBroker(t)
	const group = "flink-repl"
	commit(t, admin, group, map[offsetmap.TopicPartition]int64{orders(0): 1000})
	clock := newStepClock()
	reader := flinkstate.NewGroupReader(admin, clock.option())

	first, err := reader.Read(t.Context(), group, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if first.State != "Empty" || first.Type != flinkstate.ClassicGroup || first.ProtocolType != "" || len(first.Members) > 0 {
		t.Errorf("%s", first.GroupDescription)
	}
	once := flinkstate.MovementOver(time.Second, first)
	if once.Verdict != flinkstate.StillnessNotProven || !strings.Contains(once.String(), "not proven") || !strings.Contains(once.Reason, "once") {
		t.Errorf("one look: %s", once)
	}

	clock.nap = func() { commit(t, admin, group, map[offsetmap.TopicPartition]int64{orders(0): 1050}) }
	second, movement, err := reader.Watch(t.Context(), time.Second, group, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if second.State != "Empty" || second.Committed()[orders(0)].String() != "1050" {
		t.Errorf("the last look: %s, %v", second.GroupDescription, second.Committed())
	}
	if movement.Verdict != flinkstate.Moving || len(movement.Moved) != 1 || movement.Window != time.Second {
		t.Fatalf("%+v", movement)
	}
	want := flinkstate.Move{TopicPartition: orders(0), From: c(1000), To: c(1050), FromAt: first.At, ToAt: first.At.Add(time.Second)}
	if move := movement.Moved[0]; move != want {
		t.Errorf("got %+v, want %+v", move, want)
	}
	for _, part := range []string{"orders-0", "1000", "1050", want.FromAt.UTC().Format("15:04:05"), want.ToAt.UTC().Format("15:04:05")} {
		if !strings.Contains(movement.String(), part) {
			t.Errorf("%q does not say %q", movement, part)
		}
	}
}

func TestMovementOverNeedsTheWholeWindow(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_790_000_000, 0)
	look := func(after time.Duration, offsets map[int32]int64) *flinkstate.Group {
		g := &flinkstate.Group{At: began.Add(after)}
		for p, at := range offsets {
			g.Positions = append(g.Positions, offsetmap.Position{TopicPartition: orders(p), Next: c(at)})
		}
		return g
	}
	type offsets = map[int32]int64
	for name, x := range map[string]struct {
		looks   []*flinkstate.Group
		verdict flinkstate.Stillness
		moved   string
		gone    int
	}{
		"none":            {verdict: flinkstate.StillnessNotProven},
		"one":             {looks: []*flinkstate.Group{look(0, offsets{0: 5})}, verdict: flinkstate.StillnessNotProven},
		"too near":        {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(9*time.Second, offsets{0: 5})}, verdict: flinkstate.StillnessNotProven},
		"still":           {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(10*time.Second, offsets{0: 5})}, verdict: flinkstate.StoodStill},
		"moved and near":  {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(time.Second, offsets{0: 6})}, verdict: flinkstate.Moving, moved: "orders-0 5 6;"},
		"went back":       {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(time.Minute, offsets{0: 4})}, verdict: flinkstate.Moving, moved: "orders-0 5 4;"},
		"there and back":  {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(time.Second, offsets{0: 6}), look(time.Minute, offsets{0: 5})}, verdict: flinkstate.Moving, moved: "orders-0 5 6;orders-0 6 5;"},
		"first commit":    {looks: []*flinkstate.Group{look(0, offsets{0: 5}), look(time.Minute, offsets{0: 5, 1: 2})}, verdict: flinkstate.Moving, moved: "orders-1 none 2;"},
		"expired, no one": {looks: []*flinkstate.Group{look(0, offsets{0: 5, 1: 2}), look(time.Minute, offsets{0: 5})}, verdict: flinkstate.StoodStill, gone: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := flinkstate.MovementOver(10*time.Second, x.looks...)
			var moved strings.Builder
			for _, one := range m.Moved {
				fmt.Fprintf(&moved, "%s %s %s;", one.TopicPartition, one.From, one.To)
			}
			if diff := cmp.Diff(x.moved, moved.String()); diff != "" || m.Verdict != x.verdict || len(m.Gone) != x.gone || (m.Reason != "") != (m.Verdict == flinkstate.StillnessNotProven) {
				t.Errorf("%+v, want %s; moved (-want +got):\n%s", m, x.verdict, diff)
			}
		})
	}
	if m := flinkstate.MovementOver(0, look(0, offsets{0: 5}), look(time.Hour, offsets{0: 5})); m.Verdict != flinkstate.StillnessNotProven {
		t.Errorf("without a window: %s", m)
	}
}

func TestWatchThatCannotLookAgainProvesNothing(t *testing.T) {
	t.Parallel()
	cluster, _, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5})
	clock := newStepClock()
	reader := flinkstate.NewGroupReader(admin, clock.option())
	if got, m, err := reader.Watch(t.Context(), time.Minute, "copy"); err != nil || m.Verdict != flinkstate.StoodStill || got == nil {
		t.Errorf("undisturbed: %s, %v", m, err)
	}
	clock.nap = func() {
		cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "copy", Count: -1, Err: kerr.GroupAuthorizationFailed})
	}
	got, m, err := reader.Watch(t.Context(), time.Minute, "copy")
	if err == nil || !strings.Contains(err.Error(), "after 1m0s") || m.Verdict != flinkstate.StillnessNotProven || got == nil {
		t.Errorf("got %v, %s, %v", got, m, err)
	}
	if _, m, err := reader.Watch(t.Context(), time.Minute, "absent"); !errors.Is(err, flinkstate.ErrNoGroup) || m.Verdict != flinkstate.StillnessNotProven {
		t.Errorf("a group that is not there: %s, %v", m, err)
	}
}

// A job that was started a moment ago, or whose offsets have expired, has committed
// nothing at the first look; that is no reason not to look again.
func TestTheFirstCommitOfAJobIsAMove(t *testing.T) {
	t.Parallel()
	_, _, admin := groupBroker(t)
	commit(t, admin, "elsewhere", map[offsetmap.TopicPartition]int64{{Topic: "payments", Partition: 0}: 1})
	for group, was := range map[string]error{"fresh": flinkstate.ErrNoGroup, "elsewhere": flinkstate.ErrNoCommit} {
		clock := newStepClock()
		reader := flinkstate.NewGroupReader(admin, clock.option())
		naps := 0
		clock.nap = func() { naps++ }
		got, m, err := reader.Watch(t.Context(), time.Minute, group, "orders")
		if !errors.Is(err, was) || got != nil || m.Verdict != flinkstate.StillnessNotProven || !strings.Contains(m.Reason, "at either look") || naps != 1 {
			t.Errorf("%s, never committed: %v, %s, %v after %d waits", group, got, m, err, naps)
		}
		if _, _, err := reader.Watch(t.Context(), 0, group, "orders"); !errors.Is(err, was) || naps != 1 {
			t.Errorf("%s, without a window: %v after %d waits", group, err, naps)
		}
		clock.nap = func() { commit(t, admin, group, map[offsetmap.TopicPartition]int64{orders(0): 5}) }
		got, m, err = reader.Watch(t.Context(), time.Minute, group, "orders")
		if err != nil || got == nil || m.Verdict != flinkstate.Moving || len(m.Moved) != 1 || !m.Moved[0].From.IsNone() || m.Moved[0].To != c(5) {
			t.Errorf("%s, committed meanwhile: %v, %s, %v", group, got, m, err)
		}
	}
}
