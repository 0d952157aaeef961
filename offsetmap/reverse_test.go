package offsetmap_test

import (
	"math"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type logsOf = map[offsetmap.TopicPartition]offsetmap.Range

func TestReverse(t *testing.T) {
	logs := func(change func(logsOf)) logsOf {
		l := logsOf{
			tp("orders-0"): log(900, 5000), tp("orders-1"): log(0, 80), tp("orders-2"): log(0, 60), tp("orders-3"): log(0, 7),
		}
		if change != nil {
			change(l)
		}
		return l
	}
	stored := func(change func(offsetsOf)) offsetsOf {
		s := offsetsOf{tp("orders-0"): source(1999), tp("orders-1"): source(9), tp("orders-2"): source(0)}
		if change != nil {
			change(s)
		}
		return s
	}
	r := func(name string, c int64, m offsetmap.SourceOffset, copied, lost int64) offsetmap.Reverse {
		return offsetmap.Reverse{TopicPartition: tp(name), Next: next(c), Stored: m, Copied: copied, Lost: lost}
	}
	rest := []offsetmap.Reverse{r("orders-1", 10, source(9), 10, 0), r("orders-2", 1, source(0), 0, 0)}
	for _, c := range []struct {
		name     string
		stored   offsetsOf
		logs     logsOf
		accept   []offsetmap.Acceptance
		want     []offsetmap.Reverse
		findings []string
	}{
		{"C' = M + 1", stored(nil), logs(nil), nil, append([]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0)}, rest...), nil},
		{"nothing copied", stored(func(s offsetsOf) { s[tp("orders-0")] = source(999) }), logs(nil), nil, append([]offsetmap.Reverse{r("orders-0", 1000, source(999), 0, 0)}, rest...), nil},
		{
			"cleared and absent", stored(func(s offsetsOf) { delete(s, tp("orders-1")) }), logs(nil), nil,
			[]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0), r("orders-1", 0, noSource, 0, 0), rest[1]},
			nil,
		},
		{
			"cleared and a tombstone", stored(func(s offsetsOf) { s[tp("orders-1")] = noSource }), logs(nil), nil,
			[]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0), r("orders-1", 0, noSource, 0, 0), rest[1]},
			nil,
		},
		{
			"cleared, absent, expired", stored(func(s offsetsOf) { delete(s, tp("orders-1")) }), logs(func(l logsOf) { l[tp("orders-1")] = log(4, 80) }), nil,
			nil,
			[]string{"block rollback/offset-expired orders-1:4 exact"},
		},
		{
			"cleared, absent, expired, accepted", stored(func(s offsetsOf) { delete(s, tp("orders-1")) }), logs(func(l logsOf) { l[tp("orders-1")] = log(4, 80) }),
			[]offsetmap.Acceptance{accept("rollback/offset-expired", "orders-1:4")},
			[]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0), r("orders-1", 4, noSource, 0, 4), rest[1]},
			[]string{"warn rollback/offset-expired orders-1:4 exact accepted by ana"},
		},
		{"absent without a clear", stored(func(s offsetsOf) { delete(s, tp("orders-0")) }), logs(nil), nil, nil, []string{"block rollback/offset-absent orders-0 never"}},
		{"below the plan", stored(func(s offsetsOf) { s[tp("orders-0")] = source(998) }), logs(nil), nil, nil, []string{"block rollback/offset-below-plan orders-0 never"}},
		{"at the log start", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(2000, 5000) }), nil, append([]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0)}, rest...), nil},
		{"below the log start", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(2001, 5000) }), nil, nil, []string{"block rollback/offset-expired orders-0:1 exact"}},
		{
			"below the log start, another count", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(2300, 5000) }),
			[]offsetmap.Acceptance{accept("rollback/offset-expired", "orders-0:299")},
			nil,
			[]string{"block rollback/offset-expired orders-0:300 exact", "warn plan/acceptance-unused orders-0:299 never"},
		},
		{
			"below the log start, accepted", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(2300, 5000) }),
			[]offsetmap.Acceptance{accept("rollback/offset-expired", "orders-0:300")},
			append([]offsetmap.Reverse{r("orders-0", 2300, source(1999), 1000, 300)}, rest...),
			[]string{"warn rollback/offset-expired orders-0:300 exact accepted by ana"},
		},
		{"at the log end", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(900, 2000) }), nil, append([]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0)}, rest...), nil},
		{"beyond the log end", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = log(900, 1999) }), nil, nil, []string{"block rollback/offset-beyond-end orders-0 never"}},
		{"the largest number", stored(func(s offsetsOf) { s[tp("orders-0")] = source(math.MaxInt64) }), logs(nil), nil, nil, []string{"block rollback/offset-beyond-end orders-0 never"}},
		{"start not measured", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = offsetmap.Range{End: next(5000)} }), nil, nil, []string{"block source/range-unknown orders-0 never unmade"}},
		{"end not measured", stored(nil), logs(func(l logsOf) { l[tp("orders-0")] = offsetmap.Range{Start: next(900)} }), nil, nil, []string{"block source/range-unknown orders-0 never unmade"}},
		{"not measured", stored(nil), logs(func(l logsOf) { delete(l, tp("orders-2")) }), nil, nil, []string{"block source/range-unknown orders-2 never unmade"}},
		{"appeared after the start", stored(func(s offsetsOf) { s[tp("orders-3")] = source(6) }), logs(nil), nil, nil, []string{"block rollback/unplanned orders-3 scope"}},
		{
			"appeared after the start, accepted", stored(func(s offsetsOf) { s[tp("orders-3")] = source(6) }), logs(nil),
			[]offsetmap.Acceptance{accept("rollback/unplanned", "*")},
			append(append([]offsetmap.Reverse{r("orders-0", 2000, source(1999), 1000, 0)}, rest...), r("orders-3", 7, source(6), 7, 0)),
			[]string{"warn rollback/unplanned orders-3 scope accepted by ana"},
		},
		{
			"appeared after the start, accepted, beyond the end", stored(func(s offsetsOf) { s[tp("orders-3")] = source(7) }), logs(nil),
			[]offsetmap.Acceptance{accept("rollback/unplanned", "*")},
			nil,
			[]string{"block rollback/offset-beyond-end orders-3 never", "warn rollback/unplanned orders-3 scope accepted by ana"},
		},
		{
			"everything wrong is listed",
			offsetsOf{tp("orders-1"): source(100), tp("orders-2"): source(0), tp("a-0"): source(1)},
			logs(func(l logsOf) { delete(l, tp("orders-2")) }), nil, nil,
			[]string{
				"block rollback/offset-absent orders-0 never", "block rollback/offset-beyond-end orders-1 never",
				"block rollback/unplanned a-0 scope", "block source/range-unknown orders-2 never unmade",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, findings := planOf(t).Reverse(c.stored, c.logs, c.accept...)
			diff(t, c.want, rows)
			diff(t, c.findings, lines(findings))
			if (rows == nil) != (offsetmap.Blocked(findings) != nil) {
				t.Errorf("rows %v, blocked: %v", rows, offsetmap.Blocked(findings))
			}
		})
	}
}

func TestReverseKeepsTheOrderOfPartitions(t *testing.T) {
	rows, findings := planOf(t).Reverse(
		offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0), tp("a-0"): source(1)},
		logsOf{tp("orders-0"): log(0, 5000), tp("orders-1"): log(0, 1), tp("orders-2"): log(0, 9), tp("a-0"): log(0, 9)},
		accept("rollback/unplanned", "a-0"),
	)
	var got []string
	for _, r := range rows {
		got = append(got, r.TopicPartition.String())
	}
	diff(t, []string{"a-0", "orders-0", "orders-1", "orders-2"}, got)
	if !strings.Contains(findings[0].Detail, "no plan covers the partition: it appeared after the start") {
		t.Errorf("got %q", findings[0].Detail)
	}
}
