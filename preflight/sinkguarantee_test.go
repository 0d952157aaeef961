package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// stores asks about the sinks and operators of the state of a real job.
func (l *lab) stores(dir string) *flinkstate.Snapshot {
	l.t.Helper()
	s := l.state(dir)
	l.question.Sinks, l.question.Operators = s.Sinks, s.Operators
	return s
}

func TestTheStateOfRealSinksIsHeldAgainstTheAttestedGuarantee(t *testing.T) {
	t.Parallel()
	const exactly, least, none = offsetmap.SinkExactlyOnce, offsetmap.SinkAtLeastOnce, offsetmap.SinkNone
	const (
		prepared = "flink-1.20-stop-p2/savepoint"
		idle     = "flink-1.20-table-upsert/savepoint"             // at least once, of a connector that stores a prefix all the same
		without  = "flink-2.2-unaligned-inflight/checkpoint/chk-1" // at least once, of one that does not
		pool     = "flink-1.12-stop-p2/savepoint"
		apart    = "flink-2.2-compressed/savepoint" // the sink's state is in files that were not opened
	)
	group := func(q *preflight.Question) { q.Origin = offsetmap.FromGroup }
	for name, c := range map[string]struct {
		attested offsetmap.SinkGuarantee
		dir      string
		change   func(*preflight.Question)
		want     string // the beginning of "severity scope: detail"
		says     string
	}{
		"prepared, as attested":              {attested: exactly, dir: prepared},
		"prepared by at-least-once":          {least, prepared, nil, "block " + sinkOf(t, prepared) + ": ", "the sink is attested as at-least-once by ann, and the state of operator "},
		"prepared without a guarantee":       {none, prepared, nil, "block " + sinkOf(t, prepared) + ": ", "has prepared transactions, such as tx-flink-1.20-stop-p2-target-"},
		"prepared, and planned from a group": {least, prepared, group, "block " + sinkOf(t, prepared) + ": ", "prepared transactions"},
		"a pool, as attested":                {attested: exactly, dir: pool},
		"a pool alone": {least, pool, func(q *preflight.Question) {
			for i := range q.Sinks {
				q.Sinks[i].Transactions = nil
			}
		}, "block " + sinkOf(t, pool) + ": ", "has a pool of transactional ids, such as "},
		"nothing prepared":                 {exactly, idle, nil, "warn : ", "not proven: the sink is attested as exactly-once by ann, and the state has no transaction that was prepared"},
		"nothing prepared, as attested":    {attested: least, dir: idle},
		"no sink":                          {exactly, without, nil, "block : ", "the sink is attested as exactly-once by ann, and none of the 5 operators of the state has what an exactly-once sink of Kafka stores"},
		"no sink, as attested":             {attested: least, dir: without},
		"no sink, and planned from groups": {exactly, without, group, "", ""},
		"no sink among what was read":      {exactly, apart, nil, "warn : ", "and state \"writer_raw_states\" of operator sink is not known: it is in a file of its own, which was not opened"},
		"no sink, and one that finished": {exactly, without, func(q *preflight.Question) {
			q.Warnings = append(q.Warnings, flinkstate.Warning{Code: flinkstate.SplitsBounded}, flinkstate.Warning{Code: flinkstate.OperatorFinished, OperatorID: "a1"})
		}, "warn : ", "an operator that had finished has left no state: a1"},
		"no sink, and a source that finished": {exactly, without, func(q *preflight.Question) {
			q.Warnings = append(q.Warnings, flinkstate.Warning{Code: flinkstate.SourceFinished, OperatorID: "a1"})
		}, "block : ", ""},
		"no operators": {exactly, without, func(q *preflight.Question) { q.Operators = nil }, "warn : ", "the operators of the state were not given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.stores(c.dir)
			l.question.Attestations.SinkGuarantee = attest(c.attested)
			if c.change != nil {
				l.question.Sinks, l.question.Warnings = slices.Clone(l.question.Sinks), slices.Clone(l.question.Warnings)
				c.change(&l.question)
			}
			var got []string
			for _, f := range found(l.whole(), "flink/sink-guarantee-contradicted") {
				got = append(got, fmt.Sprintf("%s %s: %s", f.Severity, f.Scope, f.Detail))
			}
			switch {
			case c.want == "" && len(got) == 0:
			case c.want == "" || len(got) != 1 || !strings.HasPrefix(got[0], c.want) || !strings.Contains(got[0], c.says):
				t.Errorf("found %q, want %q and %q in it", got, c.want, c.says)
			}
		})
	}
}

// sinkOf is the id of the operator whose state names transactions.
func sinkOf(t *testing.T, dir string) string {
	t.Helper()
	s := (&lab{t: t}).state(dir)
	i := slices.IndexFunc(s.Sinks, func(s flinkstate.Sink) bool { return len(s.Transactions)+len(s.TransactionalIDs) > 0 })
	return s.Sinks[i].OperatorID
}

// What is not filled in yet is attest/sink-guarantee's matter, and no word that the state contradicts.
func TestAGuaranteeThatIsNotFilledInContradictsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkGuarantee(""))
	l.question.Sinks = []flinkstate.Sink{{OperatorID: "1f", Transactions: []flinkstate.Transaction{{TransactionalID: "tx-0-1"}}}}
	r := l.whole()
	if f := found(r, "flink/sink-guarantee-contradicted"); len(f) != 0 {
		t.Errorf("found %v", f)
	}
	if len(found(r, "attest/sink-guarantee")) != 1 {
		t.Errorf("findings %v", r.Findings)
	}
	if d := r.LatestRollback; d.IsAbsent() {
		t.Error("that nothing ends the way back is said without knowing whether the sink is exactly-once")
	}
}
