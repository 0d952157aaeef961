package offsetmap_test

import (
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ran is the world after MirrorMaker 2 has copied orders-0 from 1000 to 1999,
// orders-1 from 0 to 9, and nothing of orders-2, which stood at C = 1.
func ran() offsetmap.Return {
	now := offsetmap.Return{
		Stored:   offsetsOf{tp("orders-0"): source(1999), tp("orders-1"): source(9), tp("orders-2"): source(0)},
		Measured: map[offsetmap.TopicPartition]offsetmap.Measured{},
		Ends:     map[offsetmap.TopicPartition]offsetmap.NextOffset{},
	}
	for name, c := range map[string]struct {
		log         offsetmap.Range
		before, end int64
	}{
		"orders-0": {log(900, 5000), 100, 1100}, "orders-1": {log(0, 80), 0, 10}, "orders-2": {log(0, 60), 7, 7},
	} {
		m := measured(name, c.log)
		m.TargetEnd = next(c.end)
		now.Measured[m.TopicPartition], now.Ends[m.TopicPartition] = m, next(c.before)
	}
	return now
}

// set changes what was measured of one partition.
func set(now offsetmap.Return, name string, change func(*offsetmap.Measured)) {
	m := now.Measured[tp(name)]
	change(&m)
	now.Measured[tp(name)] = m
}

func back(name string, c int64, m offsetmap.SourceOffset, copied, lost int64) offsetmap.Reverse {
	return offsetmap.Reverse{TopicPartition: tp(name), TopicID: ordersID, Next: next(c), Stored: m, Copied: copied, Lost: lost}
}

func TestReverse(t *testing.T) {
	type now = *offsetmap.Return
	added := func(n now, name string, r offsetmap.Range, m offsetmap.SourceOffset) {
		n.Measured[tp(name)] = measured(name, r)
		n.Stored[tp(name)] = m
		if !m.IsNone() {
			set(*n, name, func(m *offsetmap.Measured) { m.TargetEnd = next(7) })
		}
	}
	atLog := func(name string, start, end int64) func(now) {
		return func(n now) { set(*n, name, func(m *offsetmap.Measured) { m.Range = log(start, end) }) }
	}
	addedRow := func(c int64, m offsetmap.SourceOffset, copied, lost int64) offsetmap.Reverse {
		r := back("orders-3", c, m, copied, lost)
		r.Added = true
		return r
	}
	zero, one, two := back("orders-0", 2000, source(1999), 1000, 0), back("orders-1", 10, source(9), 10, 0), back("orders-2", 1, source(0), 0, 0)
	for _, c := range []struct {
		name     string
		change   func(now)
		want     []offsetmap.Reverse // nil: blocked
		findings []string
	}{
		{"C' = M + 1", func(now) {}, []offsetmap.Reverse{zero, one, two}, nil},
		{"nothing copied", func(n now) {
			n.Stored[tp("orders-0")] = source(999)
			n.Ends[tp("orders-0")] = next(1100)
		}, []offsetmap.Reverse{back("orders-0", 1000, source(999), 0, 0), one, two}, nil},
		{"copied, but not committed", func(n now) { n.Stored[tp("orders-0")] = source(999) }, []offsetmap.Reverse{back("orders-0", 1000, source(999), 0, 0), one, two}, nil},
		{"cleared and absent", func(n now) { delete(n.Stored, tp("orders-1")) }, []offsetmap.Reverse{zero, back("orders-1", 0, noSource, 0, 0), two}, nil},
		{"cleared and a tombstone", func(n now) { n.Stored[tp("orders-1")] = noSource }, []offsetmap.Reverse{zero, back("orders-1", 0, noSource, 0, 0), two}, nil},
		{"cleared, absent, expired", func(n now) {
			delete(n.Stored, tp("orders-1"))
			set(*n, "orders-1", func(m *offsetmap.Measured) { m.Range = log(4, 80) })
		}, nil, []string{"block rollback/offset-expired orders-1:4 exact"}},
		{"cleared, absent, expired, accepted", func(n now) {
			delete(n.Stored, tp("orders-1"))
			set(*n, "orders-1", func(m *offsetmap.Measured) { m.Range = log(4, 80) })
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/offset-expired", "orders-1:4")}
		}, []offsetmap.Reverse{zero, back("orders-1", 4, noSource, 0, 4), two}, []string{"warn rollback/offset-expired orders-1:4 exact accepted by ana"}},
		{"absent without a clear", func(n now) { delete(n.Stored, tp("orders-0")) }, nil, []string{"block rollback/offset-absent orders-0 never"}},
		{"below the plan", func(n now) { n.Stored[tp("orders-0")] = source(998) }, nil, []string{"block rollback/offset-below-plan orders-0 never"}},

		{"above the plan, target untouched", func(n now) { n.Ends[tp("orders-0")] = next(1100) }, nil, []string{"block rollback/offset-without-records orders-0 never"}},
		{"above a clear, target untouched", func(n now) { n.Ends[tp("orders-1")] = next(10) }, nil, []string{"block rollback/offset-without-records orders-1 never"}},
		{"above the plan, target one higher", func(n now) { n.Ends[tp("orders-0")] = next(1099) }, []offsetmap.Reverse{zero, one, two}, nil},
		{"above the plan, target lower", func(n now) { n.Ends[tp("orders-0")] = next(1101) }, nil, []string{"block rollback/offset-without-records orders-0 never"}},
		{"as planned, target lower", func(n now) { n.Ends[tp("orders-2")] = next(8) }, []offsetmap.Reverse{zero, one, two}, nil},
		{"above the plan, end before unknown", func(n now) { delete(n.Ends, tp("orders-0")) }, nil, []string{"block rollback/target-unknown orders-0 never unmade"}},
		{"above the plan, end unknown", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.TargetEnd = none }) }, nil, []string{"block rollback/target-unknown orders-0 never unmade"}},
		{"as planned, ends unknown", func(n now) {
			delete(n.Ends, tp("orders-2"))
			set(*n, "orders-2", func(m *offsetmap.Measured) { m.TargetEnd = none })
		}, []offsetmap.Reverse{zero, one, two}, nil},

		{"at the log start", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(2000, 5000) }) }, []offsetmap.Reverse{zero, one, two}, nil},
		{"below the log start", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(2001, 5000) }) }, nil, []string{"block rollback/offset-expired orders-0:1 exact"}},
		{"below the log start, another count", func(n now) {
			set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(2300, 5000) })
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/offset-expired", "orders-0:299"), accept("rollback/offset-expired", "*")}
		}, nil, []string{"block rollback/offset-expired orders-0:300 exact", "warn plan/acceptance-unused * never", "warn plan/acceptance-unused orders-0:299 never"}},
		{"below the log start, accepted", func(n now) {
			set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(2300, 5000) })
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/offset-expired", "orders-0:300")}
		}, []offsetmap.Reverse{back("orders-0", 2300, source(1999), 1000, 300), one, two}, []string{"warn rollback/offset-expired orders-0:300 exact accepted by ana"}},
		{"at the log end", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(900, 2000) }) }, []offsetmap.Reverse{zero, one, two}, nil},
		{"at the log end, which grew", func(n now) { n.Stored[tp("orders-0")] = source(4999) }, []offsetmap.Reverse{back("orders-0", 5000, source(4999), 4000, 0), one, two}, nil},
		{"beyond the log end", func(n now) { n.Stored[tp("orders-0")] = source(5000) }, nil, []string{"block rollback/offset-beyond-end orders-0 never"}},
		{"the log was cut", atLog("orders-0", 900, 1999), nil, []string{"block source/log-truncated orders-0 never"}},
		{"the log was cut above M + 1", func(n now) {
			n.Stored[tp("orders-0")] = source(1500)
			set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range = log(900, 1999) })
		}, nil, []string{"block source/log-truncated orders-0 never"}},
		{"the largest number", func(n now) { n.Stored[tp("orders-0")] = source(math.MaxInt64) }, nil, []string{"block rollback/offset-beyond-end orders-0 never"}},

		{"another wrote before the resume", func(n now) { n.Overtaken = true }, nil, []string{"block rollback/overtaken orders-mirror exact"}},
		{"another wrote before the resume, accepted", func(n now) {
			n.Overtaken = true
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/overtaken", "orders-mirror")}
		}, []offsetmap.Reverse{zero, one, two}, []string{"warn rollback/overtaken orders-mirror exact accepted by ana"}},
		{"another wrote before the resume, not accepted by *", func(n now) {
			n.Overtaken = true
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/overtaken", "*")}
		}, nil, []string{"block rollback/overtaken orders-mirror exact", "warn plan/acceptance-unused * never"}},

		{"start not measured", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range.Start = none }) }, nil, []string{"block source/range-unknown orders-0 never unmade"}},
		{"end not measured", func(n now) { set(*n, "orders-0", func(m *offsetmap.Measured) { m.Range.End = none }) }, nil, []string{"block source/range-unknown orders-0 never unmade"}},
		{"log of no offset", atLog("orders-0", 5000, 5000), nil, []string{"block rollback/offset-expired orders-0:3000 exact"}},
		{"start above the end", atLog("orders-0", 5001, 5000), nil, []string{"block source/range-inconsistent orders-0 never unmade"}},
		{"partition gone", func(n now) { delete(n.Measured, tp("orders-2")) }, nil, []string{"block source/partition-missing orders-2 never"}},
		{"topic created again", func(n now) { set(*n, "orders-2", func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} }) }, nil, []string{"block source/topic-recreated orders-2 never"}},

		{"added, copied", func(n now) { added(n, "orders-3", log(0, 9), source(6)) }, []offsetmap.Reverse{zero, one, two, addedRow(7, source(6), 7, 0)}, nil},
		{"added, empty", func(n now) { added(n, "orders-3", log(0, 0), noSource) }, []offsetmap.Reverse{zero, one, two, addedRow(0, noSource, 0, 0)}, nil},
		{"added, not copied", func(n now) { added(n, "orders-3", log(0, 9), noSource) }, []offsetmap.Reverse{zero, one, two, addedRow(0, noSource, 0, 0)}, nil},
		{"added, copied, not committed", func(n now) {
			added(n, "orders-3", log(0, 9), noSource)
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TargetEnd = next(7) })
		}, []offsetmap.Reverse{zero, one, two, addedRow(0, noSource, 0, 0)}, nil},
		{"added, not copied, target unknown", func(n now) {
			added(n, "orders-3", log(0, 9), noSource)
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TargetEnd = none })
		}, []offsetmap.Reverse{zero, one, two, addedRow(0, noSource, 0, 0)}, nil},
		{"added, not copied, expired", func(n now) { added(n, "orders-3", log(1, 9), noSource) }, nil, []string{"block rollback/offset-expired orders-3:1 exact"}},
		{"added, not copied, expired, accepted", func(n now) {
			added(n, "orders-3", log(4, 9), noSource)
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/offset-expired", "orders-3:4")}
		}, []offsetmap.Reverse{zero, one, two, addedRow(4, noSource, 0, 4)}, []string{"warn rollback/offset-expired orders-3:4 exact accepted by ana"}},
		{"added, copied, expired", func(n now) { added(n, "orders-3", log(9, 9), source(6)) }, nil, []string{"block rollback/offset-expired orders-3:2 exact"}},
		{"added, beyond the end", func(n now) { added(n, "orders-3", log(0, 6), source(6)) }, nil, []string{"block rollback/offset-beyond-end orders-3 never"}},
		{"added, written by hand", func(n now) {
			added(n, "orders-3", log(0, 9), source(6))
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TargetEnd = next(0) })
		}, nil, []string{"block rollback/offset-without-records orders-3 never"}},
		{"added, one record copied", func(n now) {
			added(n, "orders-3", log(0, 9), source(0))
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TargetEnd = next(1) })
		}, []offsetmap.Reverse{zero, one, two, addedRow(1, source(0), 1, 0)}, nil},
		{"added, target unknown", func(n now) {
			added(n, "orders-3", log(0, 9), source(6))
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TargetEnd = none })
		}, nil, []string{"block rollback/target-unknown orders-3 never unmade"}},
		{"added, not measured", func(n now) { added(n, "orders-3", offsetmap.Range{}, noSource) }, nil, []string{"block source/range-unknown orders-3 never unmade"}},
		{"added to another topic of that name", func(n now) {
			added(n, "orders-3", log(0, 9), source(6))
			set(*n, "orders-3", func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} })
		}, nil, []string{"block source/topic-recreated orders-3 never"}},
		{"stored for a partition that is not there", func(n now) {
			n.Stored[tp("orders-3")] = source(6)
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/unplanned", "*")}
		}, nil, []string{"block source/partition-missing orders-3 never", "warn plan/acceptance-unused * never"}},
		{"a tombstone for a partition that is not there", func(n now) { n.Stored[tp("orders-3")] = noSource }, []offsetmap.Reverse{zero, one, two}, nil},
		{"another topic measured", func(n now) { n.Measured[tp("pay-0")] = measured("pay-0", log(0, 9)) }, []offsetmap.Reverse{zero, one, two}, nil},
		{"another topic stored", func(n now) { n.Stored[tp("pay-0")] = source(3) }, nil, []string{"block rollback/unplanned pay-0 scope"}},
		{"another topic stored and measured", func(n now) { added(n, "pay-0", log(0, 9), source(3)) }, nil, []string{"block rollback/unplanned pay-0 scope"}},
		{"another topic stored, accepted", func(n now) {
			n.Stored[tp("pay-0")] = source(3)
			n.Acceptances = []offsetmap.Acceptance{accept("rollback/unplanned", "pay")}
		}, []offsetmap.Reverse{zero, one, two}, []string{"warn rollback/unplanned pay-0 scope accepted by ana"}},

		{"everything wrong is listed", func(n now) {
			delete(n.Stored, tp("orders-0"))
			n.Stored[tp("orders-1")] = source(100)
			added(n, "orders-3", log(9, 9), source(6))
			delete(n.Measured, tp("orders-2"))
			n.Stored[tp("a-0")] = source(1)
		}, nil, []string{
			"block rollback/offset-absent orders-0 never", "block rollback/offset-beyond-end orders-1 never",
			"block rollback/offset-expired orders-3:2 exact",
			"block rollback/unplanned a-0 scope", "block source/partition-missing orders-2 never",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := ran()
			c.change(&n)
			before := maps.Clone(n.Stored)
			rows, findings := planOf(t).Reverse(n)
			diff(t, c.want, rows)
			diff(t, c.findings, lines(findings))
			if (rows == nil) != (offsetmap.Blocked(findings) != nil) {
				t.Errorf("rows %v, blocked: %v", rows, offsetmap.Blocked(findings))
			}
			diff(t, before, n.Stored)
		})
	}
}

// TestReverseLeavesEarlierWavesAlone: their partitions are another plan's way
// back.
func TestReverseLeavesEarlierWavesAlone(t *testing.T) {
	b := planOf(t).Body
	b.Earlier = []offsetmap.EarlierPlan{wave("pay-0")}
	n := ran()
	n.Stored[tp("pay-0")], n.Stored[tp("pay-1")] = source(50), source(3) // the latter was added since
	rows, findings := seal(t, b).Reverse(n)
	if len(rows) != 3 || len(findings) != 0 {
		t.Errorf("rows %v, findings %v", rows, findings)
	}
}

func TestReverseKeepsTheOrderOfPartitions(t *testing.T) {
	n := ran()
	for _, name := range []string{"orders-10", "orders-3"} {
		n.Measured[tp(name)] = measured(name, log(0, 0))
	}
	rows, _ := planOf(t).Reverse(n)
	var got []string
	for _, r := range rows {
		got = append(got, r.TopicPartition.String())
	}
	if want := "orders-0 orders-1 orders-2 orders-3 orders-10"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}
