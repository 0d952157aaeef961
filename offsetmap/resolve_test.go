package offsetmap_test

import (
	"math"
	"slices"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// one resolves a single partition, orders-0.
func one(r offsetmap.Range, iso offsetmap.Isolation, p *offsetmap.Position, acceptances ...offsetmap.Acceptance) ([]offsetmap.Row, []offsetmap.Finding) {
	in := offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: iso, Acceptances: acceptances,
		Measured: []offsetmap.Measured{measured("orders-0", r)},
	}
	if p != nil {
		in.Positions = []offsetmap.Position{*p}
	}
	return offsetmap.Resolve(in)
}

// decided is what a row says of C.
type decided struct {
	rule  offsetmap.Rule
	next  int64
	write string
	lost  int64
}

func TestRules(t *testing.T) {
	pos := func(c int64) *offsetmap.Position { p := at("orders-0", c); return &p }
	mark := func(m offsetmap.Marker) *offsetmap.Position { p := unread("orders-0", m); return &p }
	idle := func(s offsetmap.AssignmentState, start offsetmap.NextOffset) *offsetmap.Position {
		return &offsetmap.Position{TopicPartition: tp("orders-0"), State: s, Start: start}
	}
	const (
		unread     = offsetmap.ReadUncommitted
		committed  = offsetmap.ReadCommitted
		above      = "source/offset-above-stable"
		expired    = "source/offset-expired"
		earliest   = "source/unread-earliest"
		missing    = "source/position-missing"
		marker     = "source/unread"
		emptied    = "warn source/unread-expired orders-0 never"
		blockAbove = "block source/offset-above-stable orders-0 never"
	)
	for _, c := range []struct {
		name     string
		log      offsetmap.Range
		iso      offsetmap.Isolation
		position *offsetmap.Position
		accept   []offsetmap.Acceptance
		want     *decided // nil: blocked
		findings []string
	}{
		{"C at the log start", log(100, 200), unread, pos(100), nil, &decided{"stored", 100, "set 99", 0}, nil},
		{"C above the log start", log(100, 200), unread, pos(101), nil, &decided{"stored", 101, "set 100", 0}, nil},
		{"C below the log end", log(100, 200), unread, pos(199), nil, &decided{"stored", 199, "set 198", 0}, nil},
		{"C at the log end", log(100, 200), unread, pos(200), nil, &decided{"stored", 200, "set 199", 0}, nil},
		{"C beyond the log end", log(100, 200), unread, pos(201), nil, nil, []string{"block source/offset-beyond-end orders-0 never"}},
		{"C below the log start", log(100, 200), unread, pos(99), nil, nil, []string{"block source/offset-expired orders-0:1 exact"}},
		{"C at the end of an emptied log", log(200, 200), unread, pos(200), nil, &decided{"stored", 200, "set 199", 0}, nil},
		{"C below an emptied log", log(200, 200), unread, pos(150), nil, nil, []string{"block source/offset-expired orders-0:50 exact"}},
		{"C = 0 on an empty partition", log(0, 0), unread, pos(0), nil, &decided{"stored", 0, "clear", 0}, nil},
		{"C = 0 with records", log(0, 9), unread, pos(0), nil, &decided{"stored", 0, "clear", 0}, nil},
		{"C = 0 below the log start", log(1, 9), unread, pos(0), nil, nil, []string{"block source/offset-expired orders-0:1 exact"}},
		{"C = 1", log(0, 9), unread, pos(1), nil, &decided{"stored", 1, "set 0", 0}, nil},
		{"the largest C", log(0, math.MaxInt64), unread, pos(math.MaxInt64), nil, &decided{"stored", math.MaxInt64, "set 9223372036854775806", 0}, nil},

		{"expired, count accepted", log(100, 200), unread, pos(40), []offsetmap.Acceptance{accept(expired, "orders-0:60")}, &decided{"expired-accepted", 100, "set 99", 60}, []string{"warn source/offset-expired orders-0:60 exact accepted by ana"}},
		{"all expired from 0", log(100, 100), unread, pos(0), []offsetmap.Acceptance{accept(expired, "orders-0:100")}, &decided{"expired-accepted", 100, "set 99", 100}, []string{"warn source/offset-expired orders-0:100 exact accepted by ana"}},
		{"the largest loss", log(math.MaxInt64, math.MaxInt64), unread, pos(0), []offsetmap.Acceptance{accept(expired, "orders-0:9223372036854775807")}, &decided{"expired-accepted", math.MaxInt64, "set 9223372036854775806", math.MaxInt64}, []string{"warn source/offset-expired orders-0:9223372036854775807 exact accepted by ana"}},
		{"expired, another count accepted", log(100, 200), unread, pos(40), []offsetmap.Acceptance{accept(expired, "orders-0:59")}, nil, []string{"block source/offset-expired orders-0:60 exact", "warn plan/acceptance-unused orders-0:59 never"}},
		{"expired, accepted without a count", log(100, 200), unread, pos(40), []offsetmap.Acceptance{accept(expired, "orders-0")}, nil, []string{"block source/offset-expired orders-0:60 exact", "warn plan/acceptance-unused orders-0 never"}},
		{"expired, accepted for the topic", log(100, 200), unread, pos(40), []offsetmap.Acceptance{accept(expired, "orders")}, nil, []string{"block source/offset-expired orders-0:60 exact", "warn plan/acceptance-unused orders never"}},
		{"expired, accepted for all", log(100, 200), unread, pos(40), []offsetmap.Acceptance{accept(expired, "*")}, nil, []string{"block source/offset-expired orders-0:60 exact", "warn plan/acceptance-unused * never"}},

		{"C at the last stable offset", openLog(0, 9, 5), committed, pos(5), nil, &decided{"stored", 5, "set 4", 0}, nil},
		{"C above the last stable offset, committed", openLog(0, 9, 5), committed, pos(6), nil, nil, []string{blockAbove}},
		{"committed, accepted all the same", openLog(0, 9, 5), committed, pos(6), []offsetmap.Acceptance{accept(above, "orders-0")}, nil, []string{blockAbove, "warn plan/acceptance-unused orders-0 never"}},
		{"C at the last stable offset, uncommitted", openLog(0, 9, 5), unread, pos(5), nil, &decided{"stored", 5, "set 4", 0}, nil},
		{"C above the last stable offset, uncommitted", openLog(0, 9, 5), unread, pos(6), nil, nil, []string{"block source/offset-above-stable orders-0 scope"}},
		{"uncommitted, accepted", openLog(0, 9, 5), unread, pos(6), []offsetmap.Acceptance{accept(above, "orders")}, &decided{"stored", 6, "set 5", 0}, []string{"warn source/offset-above-stable orders-0 scope accepted by ana"}},
		{"stable measured after more was written", openLog(0, 9, 12), committed, pos(9), nil, &decided{"stored", 9, "set 8", 0}, nil},

		{"earliest, empty at 0", log(0, 0), unread, mark(offsetmap.Earliest), nil, &decided{"marked-empty", 0, "clear", 0}, nil},
		{"latest, empty at 0", log(0, 0), unread, mark(offsetmap.Latest), nil, &decided{"marked-empty", 0, "clear", 0}, nil},
		{"committed, emptied", log(70, 70), unread, mark(offsetmap.Committed), nil, &decided{"marked-empty", 70, "set 69", 0}, []string{emptied}},
		{"earliest, emptied to 1", log(1, 1), unread, mark(offsetmap.Earliest), nil, &decided{"marked-empty", 1, "set 0", 0}, []string{emptied}},
		{"unset, emptied", log(70, 70), unread, mark(offsetmap.Unset), nil, &decided{"marked-empty", 70, "set 69", 0}, []string{emptied}},
		{"unknown marker, empty", log(0, 0), unread, mark(offsetmap.Unknown), nil, nil, []string{"block source/marker-unknown orders-0 never"}},
		{"unknown marker, accepted", log(0, 9), unread, mark(offsetmap.Unknown), []offsetmap.Acceptance{accept("source/marker-unknown", "orders-0")}, nil, []string{"block source/marker-unknown orders-0 never", "warn plan/acceptance-unused orders-0 never"}},
		{"earliest with records", log(0, 9), unread, mark(offsetmap.Earliest), nil, nil, []string{"block source/unread-earliest orders-0 scope"}},
		{"earliest with one record", log(0, 1), unread, mark(offsetmap.Earliest), nil, nil, []string{"block source/unread-earliest orders-0 scope"}},
		{"earliest accepted from 0", log(0, 9), unread, mark(offsetmap.Earliest), []offsetmap.Acceptance{accept(earliest, "*")}, &decided{"earliest-accepted", 0, "clear", 0}, []string{"warn source/unread-earliest orders-0 scope accepted by ana"}},
		{"earliest accepted, records expired", log(5, 9), unread, mark(offsetmap.Earliest), []offsetmap.Acceptance{accept(earliest, "orders-0")}, &decided{"earliest-accepted", 5, "set 4", 0}, []string{"warn source/unread-earliest orders-0 scope accepted by ana", emptied}},
		{"latest with records", log(0, 9), unread, mark(offsetmap.Latest), []offsetmap.Acceptance{accept(marker, "*")}, nil, []string{"block source/unread orders-0 never", "warn plan/acceptance-unused * never"}},
		{"committed with records", log(0, 9), unread, mark(offsetmap.Committed), nil, nil, []string{"block source/unread orders-0 never"}},
		{"unset with records", log(0, 9), unread, mark(offsetmap.Unset), nil, nil, []string{"block source/unread orders-0 never"}},

		{"unnamed, empty at 0", log(0, 0), unread, nil, nil, &decided{"unnamed-empty", 0, "clear", 0}, nil},
		{"unnamed, emptied", log(7, 7), unread, nil, nil, nil, []string{"block source/position-missing orders-0 scope", emptied}},
		{"unnamed with records", log(0, 1), unread, nil, nil, nil, []string{"block source/position-missing orders-0 scope"}},
		{"unnamed, accepted from 0", log(0, 9), unread, nil, []offsetmap.Acceptance{accept(missing, "orders-0")}, &decided{"unnamed-accepted", 0, "clear", 0}, []string{"warn source/position-missing orders-0 scope accepted by ana"}},
		{"unnamed, accepted, records expired", log(4, 9), unread, nil, []offsetmap.Acceptance{accept(missing, "orders")}, &decided{"unnamed-accepted", 4, "set 3", 0}, []string{"warn source/position-missing orders-0 scope accepted by ana", emptied}},
		{"enumerator only, empty", log(0, 0), unread, idle(offsetmap.Unassigned, none), nil, &decided{"unnamed-empty", 0, "clear", 0}, nil},
		{"enumerator only with records", log(0, 9), unread, idle(offsetmap.FinishedOrUnassigned, none), nil, nil, []string{"block source/position-missing orders-0 scope"}},
		{"the enumerator's start is never C", log(0, 9), unread, idle(offsetmap.Unassigned, next(5)), []offsetmap.Acceptance{accept(missing, "*")}, &decided{"unnamed-accepted", 0, "clear", 0}, []string{"warn source/position-missing orders-0 scope accepted by ana"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, findings := one(c.log, c.iso, c.position, c.accept...)
			diff(t, c.findings, lines(findings))
			if (c.want == nil) != (rows == nil) || (c.want == nil) != (offsetmap.Blocked(findings) != nil) {
				t.Fatalf("got rows %v, blocked: %v", rows, offsetmap.Blocked(findings))
			}
			if c.want == nil {
				return
			}
			n, _ := rows[0].Next.Value()
			if got := (decided{rows[0].Rule, n, rows[0].Write.String(), rows[0].Lost}); len(rows) != 1 || got != *c.want {
				t.Errorf("got %+v, want %+v", got, *c.want)
			}
			if err := rows[0].Validate(); err != nil {
				t.Errorf("the row does not hold by itself: %v", err)
			}
		})
	}
}

func TestRowKeepsWhatWasFoundAsItWas(t *testing.T) {
	m := measured("orders-0", openLog(3, 90, 80))
	m.TargetTopic, m.TargetEnd, m.Group, m.Backup = "source.orders", next(12), next(38), source(5)
	p := at("orders-0", 40)
	p.Stop = next(1000)
	rows, _ := offsetmap.Resolve(offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadCommitted,
		Positions: []offsetmap.Position{p}, Measured: []offsetmap.Measured{m},
	})
	w, err := next(40).Write()
	if err != nil {
		t.Fatal(err)
	}
	diff(t, []offsetmap.Row{{
		TopicPartition: tp("orders-0"), TopicID: ordersID, Origin: offsetmap.FromSavepoint,
		Found: &offsetmap.Found{Next: next(40), Stop: next(1000)},
		Rule:  offsetmap.RuleStored, Next: next(40), Write: w,
		LogStart: next(3), LogEnd: next(90), LastStable: next(80),
		TargetTopic: "source.orders", TargetEnd: next(12), Group: next(38), Backup: source(5),
	}}, rows)

	rows, _ = offsetmap.Resolve(offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadCommitted,
		Positions: []offsetmap.Position{{TopicPartition: tp("orders-0"), State: offsetmap.Unassigned, Unread: offsetmap.Earliest, Start: next(9)}},
		Measured:  []offsetmap.Measured{measured("orders-0", log(0, 0))},
	})
	diff(t, &offsetmap.Found{State: offsetmap.Unassigned, Unread: offsetmap.Earliest, Start: next(9)}, rows[0].Found)
	if rows[0].Origin != offsetmap.FromNothing {
		t.Errorf("a partition that only the enumerator knows has the origin %q", rows[0].Origin)
	}
}

func TestRowsAreSortedAndInputIsNotChanged(t *testing.T) {
	in := offsetmap.Input{Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted}
	for _, name := range []string{"orders-10", "orders-2", "orders-0"} {
		in.Positions = append(in.Positions, at(name, 5))
		in.Measured = append(in.Measured, measured(name, log(0, 9)))
	}
	before := slices.Clone(in.Measured)
	rows, findings := offsetmap.Resolve(in)
	var names []string
	for _, r := range rows {
		names = append(names, r.String())
	}
	diff(t, []string{"orders-0", "orders-2", "orders-10"}, names)
	diff(t, before, in.Measured)
	if len(findings) != 0 {
		t.Errorf("findings: %v", findings)
	}
}

func TestEveryRuleDecidesSomethingInTheGoldenInput(t *testing.T) {
	rows, _ := offsetmap.Resolve(everyRule())
	seen := map[offsetmap.Rule]bool{}
	for _, r := range rows {
		seen[r.Rule] = true
	}
	for _, r := range []offsetmap.Rule{
		offsetmap.RuleStored, offsetmap.RuleMarkedEmpty, offsetmap.RuleUnnamedEmpty,
		offsetmap.RuleEarliestAccepted, offsetmap.RuleUnnamedAccepted, offsetmap.RuleExpiredAccepted,
	} {
		if !seen[r] {
			t.Errorf("no row by the rule %s", r)
		}
	}
}
