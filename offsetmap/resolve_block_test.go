package offsetmap_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// TestOneBlockedPartitionBlocksThePlan is PC02: nothing of the plan goes on,
// and every partition that blocks is listed, in the order of their numbers.
func TestOneBlockedPartitionBlocksThePlan(t *testing.T) {
	in := offsetmap.Input{Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadCommitted}
	for i := range 12 {
		in.Measured = append(in.Measured, measured(fmt.Sprintf("orders-%d", i), openLog(10, 100, 90)))
		in.Positions = append(in.Positions, at(fmt.Sprintf("orders-%d", i), 50))
	}
	in.Positions[2].Next = next(9)                                                // expired
	in.Positions[3].Next = next(101)                                              // beyond the end
	in.Positions[4].Next = next(95)                                               // above the last stable offset
	in.Positions[5] = unread("orders-5", offsetmap.Earliest)                      // unread, not accepted
	in.Positions[6] = unread("orders-6", offsetmap.Latest)                        // unread
	in.Positions[7].Topic = "gone"                                                // no such partition, and orders-7 unnamed
	in.Measured[8].Range.Stable = none                                            // not measured
	in.Measured[9].TargetEnd = none                                               // not measured
	in.Measured[10].Range = openLog(101, 100, 100)                                // contradicts itself
	in.Positions[11] = offsetmap.Position{TopicPartition: tp("orders-11")}        // says nothing
	in.Positions = append(in.Positions, at("orders-0", 51))                       // twice
	in.Measured = append(in.Measured, measured("orders-1", openLog(10, 100, 90))) // twice
	rows, findings := offsetmap.Resolve(in)
	if rows != nil {
		t.Errorf("got %d rows", len(rows))
	}
	want := []string{
		"block plan/duplicate-partition orders-1 never",
		"block plan/duplicate-position orders-0 never",
		"block plan/position-invalid orders-11 never",
		"block source/offset-above-stable orders-4 never",
		"block source/offset-beyond-end orders-3 never",
		"block source/offset-expired orders-2:1 exact",
		"block source/partition-missing gone-7 never",
		"block source/position-missing orders-7 scope",
		"block source/range-inconsistent orders-10 never unmade",
		"block source/range-unknown orders-8 never unmade",
		"block source/unread orders-6 never",
		"block source/unread-earliest orders-5 scope",
		"block target/end-unknown orders-9 never unmade",
		"warn source/unread-expired orders-5 never",
		"warn source/unread-expired orders-7 never",
	}
	diff(t, want, lines(findings))

	blocked, ok := errors.AsType[*offsetmap.BlockedError](offsetmap.Blocked(findings))
	if !ok {
		t.Fatalf("Blocked gives %v", offsetmap.Blocked(findings))
	}
	diff(t, want[:13], lines(blocked.Findings))
	text := blocked.Error()
	for _, f := range blocked.Findings {
		if !strings.Contains(text, "\n  "+f.Check+" "+f.Scope+": "+f.Detail) {
			t.Errorf("the error does not list %s %s:\n%s", f.Check, f.Scope, text)
		}
	}
	if !strings.HasPrefix(text, "blocked by 13 findings\n") || strings.Count(text, "\n") != 13 {
		t.Errorf("the error reads\n%s", text)
	}
}

func TestInputThatContradictsItself(t *testing.T) {
	good := func() offsetmap.Input {
		return offsetmap.Input{
			Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted,
			Positions: []offsetmap.Position{at("orders-0", 5), at("orders-1", 5), at("pay-0", 5)},
			Measured: []offsetmap.Measured{
				measured("orders-0", log(0, 9)), measured("orders-1", log(0, 9)), measured("pay-0", log(0, 9)),
			},
		}
	}
	if _, findings := offsetmap.Resolve(good()); len(findings) > 0 {
		t.Fatalf("the input that the cases change has %v", findings)
	}
	for name, c := range map[string]struct {
		change func(*offsetmap.Input)
		want   []string
	}{
		"no partition": {func(in *offsetmap.Input) { in.Measured, in.Positions = nil, nil }, []string{"block source/no-partition  never"}},
		"positions without partitions": {func(in *offsetmap.Input) { in.Measured = nil }, []string{
			"block source/no-partition  never", "block source/partition-missing orders-0 never",
			"block source/partition-missing orders-1 never", "block source/partition-missing pay-0 never",
		}},
		"the first partition twice": {func(in *offsetmap.Input) { in.Measured = append(in.Measured, in.Measured[0]) }, []string{
			"block plan/duplicate-partition orders-0 never",
		}},
		"no origin":         {func(in *offsetmap.Input) { in.Origin = "" }, []string{"block plan/origin-unknown  never"}},
		"origin nothing":    {func(in *offsetmap.Input) { in.Origin = offsetmap.FromNothing }, []string{"block plan/origin-unknown  never"}},
		"no isolation":      {func(in *offsetmap.Input) { in.Isolation = "" }, []string{"block plan/isolation-unknown  never"}},
		"another isolation": {func(in *offsetmap.Input) { in.Isolation = "serializable" }, []string{"block plan/isolation-unknown  never"}},
		"a marker in the same partition": {func(in *offsetmap.Input) { in.Positions[0].Unread = offsetmap.Latest }, []string{
			"block plan/position-invalid orders-0 never",
		}},
		"a negative partition": {func(in *offsetmap.Input) { in.Positions[2].Partition, in.Measured[2].Partition = -1, -1 }, []string{
			"block plan/partition-invalid pay--1 never", "block plan/position-invalid pay--1 never",
		}},
		"an illegal target topic": {func(in *offsetmap.Input) { in.Measured[2].TargetTopic = "a b" }, []string{"block plan/partition-invalid pay-0 never"}},
		"no target topic":         {func(in *offsetmap.Input) { in.Measured[2].TargetTopic = "" }, []string{"block plan/partition-invalid pay-0 never"}},
		"log start unknown":       {func(in *offsetmap.Input) { in.Measured[2].Range.Start = none }, []string{"block source/range-unknown pay-0 never unmade"}},
		"log end unknown":         {func(in *offsetmap.Input) { in.Measured[2].Range.End = none }, []string{"block source/range-unknown pay-0 never unmade"}},
		"start above the end":     {func(in *offsetmap.Input) { in.Measured[2].Range = openLog(10, 9, 10) }, []string{"block source/range-inconsistent pay-0 never unmade"}},
		"stable below the start":  {func(in *offsetmap.Input) { in.Measured[2].Range = openLog(5, 9, 4) }, []string{"block source/range-inconsistent pay-0 never unmade"}},
		"two ids of one topic":    {func(in *offsetmap.Input) { in.Measured[1].TopicID = offsetmap.TopicID{7} }, []string{"block plan/topic-ambiguous orders-1 never"}},
		"two targets of one topic": {func(in *offsetmap.Input) { in.Measured[1].TargetTopic = "others" }, []string{
			"block plan/topic-ambiguous orders-1 never",
		}},
		"one target of two topics": {func(in *offsetmap.Input) { in.Measured[2].TargetTopic = "orders" }, []string{
			"block plan/topic-ambiguous pay-0 never",
		}},
		"one target of two topics, apart": {func(in *offsetmap.Input) {
			in.Measured = append(in.Measured, measured("ozon-0", log(0, 0)))
			in.Measured[2].TargetTopic = "orders"
		}, []string{"block plan/topic-ambiguous pay-0 never"}},
		"an acceptance without a reason": {func(in *offsetmap.Input) {
			in.Positions = in.Positions[:2]
			in.Acceptances = []offsetmap.Acceptance{{Check: "source/position-missing", Scope: "pay-0", By: "ana"}}
		}, []string{"block plan/acceptance-incomplete pay-0 never", "block source/position-missing pay-0 scope"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := good()
			c.change(&in)
			rows, findings := offsetmap.Resolve(in)
			diff(t, c.want, lines(findings))
			if rows != nil {
				t.Errorf("got rows %v", rows)
			}
		})
	}
}

// TestTopicCreatedAgain is PC03, round one: the old C lies beyond the end of the
// new log.
func TestTopicCreatedAgain(t *testing.T) {
	p := at("orders-0", 5000)
	_, findings := one(log(0, 10), offsetmap.ReadUncommitted, &p, accept("source/offset-beyond-end", "*"))
	if err := offsetmap.Blocked(findings); err == nil || !strings.Contains(err.Error(), "created again") {
		t.Errorf("got %v", err)
	}
}

func TestPositionWithoutPartitionSaysWhereTheJobStood(t *testing.T) {
	in := offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted,
		Positions: []offsetmap.Position{
			at("a-0", 7), unread("b-0", offsetmap.Latest),
			{TopicPartition: tp("c-0"), State: offsetmap.Unassigned, Unread: offsetmap.Earliest},
		},
		Measured: []offsetmap.Measured{measured("orders-0", log(0, 0))},
	}
	_, findings := offsetmap.Resolve(in)
	for i, want := range []string{"the job stood at 7, but", `the job stood at the marker "latest", but`, "the job stood at unassigned, but"} {
		if f := findings[i]; f.Check != "source/partition-missing" || !strings.HasPrefix(f.Detail, want) {
			t.Errorf("got %s, want %q", f, want)
		}
	}
}

func TestBoundedSplitIsTold(t *testing.T) {
	p := at("orders-0", 5)
	p.Stop = next(20)
	rows, findings := one(log(0, 10), offsetmap.ReadUncommitted, &p)
	diff(t, []string{"warn source/split-bounded orders-0 never"}, lines(findings))
	if len(rows) != 1 {
		t.Errorf("got %d rows", len(rows))
	}
}

func TestPlanningFromAGroup(t *testing.T) {
	m := func(p int, r offsetmap.Range, group offsetmap.NextOffset) offsetmap.Measured {
		out := measured(fmt.Sprintf("orders-%d", p), r)
		out.Group = group
		return out
	}
	in := offsetmap.Input{
		Origin: offsetmap.FromGroup, Isolation: offsetmap.ReadUncommitted,
		Positions: []offsetmap.Position{at("orders-0", 5), at("orders-1", 5), at("orders-2", 5), unread("orders-3", offsetmap.Earliest)},
		Measured: []offsetmap.Measured{
			m(0, log(0, 9), next(5)), m(1, log(0, 9), next(6)), m(2, log(0, 9), none), m(3, log(0, 0), none), m(4, log(0, 9), none), m(5, log(0, 0), none),
		},
	}
	_, findings := offsetmap.Resolve(in)
	diff(t, []string{
		"block plan/position-invalid orders-3 never",
		"block source/group-moved orders-1 never",
		"block source/group-moved orders-2 never",
		"block source/position-missing orders-4 scope", // PC02: its offset expired
	}, lines(findings))

	in.Positions, in.Measured = in.Positions[:1], []offsetmap.Measured{in.Measured[0], in.Measured[5]}
	rows, findings := offsetmap.Resolve(in)
	if err := offsetmap.Blocked(findings); err != nil {
		t.Fatal(err)
	}
	if rows[0].Origin != offsetmap.FromGroup || rows[1].Origin != offsetmap.FromNothing {
		t.Errorf("origins %q and %q", rows[0].Origin, rows[1].Origin)
	}
}
