package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// restore decides for Restore: Connect holds what its backup holds, entry for entry,
// and nothing else of the alias. The plan is one that writes the backup: a row for
// each of its entries.
//
// It goes by what is stored alone. Whether the connector ran since would not help:
// what moves an offset back repeats records, whoever had moved it on.
func (d *decider) restore() Decision {
	_, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	d.clusters()
	tasks := d.stopped()
	stored, read := d.entries()
	if d.refused() || !journal || !read {
		return d.refusal()
	}
	writes := d.changesTo(stored)
	if len(writes) > 0 {
		if _, measured := known(d, d.seen.Measured, "source/range-unknown", "measurement of the source"); !measured {
			return d.refusal()
		}
	}
	switch {
	case tasks > 0:
		return Decision{Act: AwaitTasks}
	case d.refused():
		return d.refusal()
	case len(writes) == 0:
		return Decision{Act: Done}
	case !d.seen.Settled:
		return Decision{Act: Settle}
	default:
		return Decision{Act: Write, Writes: writes}
	}
}

// changesTo returns what has to be written over what is stored, sorted, with a finding
// for each change that must not be.
func (d *decider) changesTo(stored map[offsetmap.TopicPartition]offsetmap.SourceOffset) []Change {
	now, measured := d.seen.Measured.Get()
	rest := maps.Clone(stored)
	var writes []Change
	for _, r := range d.plan.Body.Rows {
		delete(rest, r.TopicPartition)
		was := stored[r.TopicPartition]
		if was == r.Write.Result() {
			continue
		}
		writes = append(writes, Change{r.TopicPartition, r.Write})
		d.backTo(r.TopicPartition, was, r.Write.Result())
		if measured {
			d.sameLog(r, now)
		}
	}
	var absent offsetmap.SourceOffset
	for tp, was := range rest {
		writes = append(writes, Change{tp, absent.Restore()})
		d.backTo(tp, was, absent)
	}
	slices.SortFunc(writes, func(a, b Change) int { return a.Compare(b.TopicPartition) })
	return writes
}

// entries returns what is stored, with a finding for what is none of the alias.
func (d *decider) entries() (map[offsetmap.TopicPartition]offsetmap.SourceOffset, bool) {
	s, ok := known(d, d.seen.Stored, "offsets/unknown", "Connect offsets of connector "+d.plan.Body.Connector.Name)
	for _, f := range s.Foreign {
		d.find(Moved, "offsets/foreign", "", "Connect holds an entry that is none of source alias %q: %s", d.plan.Body.Connector.SourceAlias, f)
	}
	return s.Offsets, ok
}

// backTo reports an offset that would be set back. One that becomes absent goes back
// to the first record.
func (d *decider) backTo(tp offsetmap.TopicPartition, from, to offsetmap.SourceOffset) {
	if from.Compare(to) <= 0 {
		return
	}
	m, _ := from.Value()
	by := uint64(m) + 1 // also for M = 2^63 - 1
	where := "absent, so that the connector begins at its first record"
	if v, there := to.Value(); there {
		by, where = uint64(m-v), fmt.Sprintf("M = %d", v)
	}
	f := offsetmap.Finding{
		Check: "restore/rewind", Severity: offsetmap.Block, Scope: fmt.Sprintf("%s:%d", tp, by), Acceptable: offsetmap.Exact,
		Detail: fmt.Sprintf("stored is M = %s, the backup has it %s: %d offsets would be copied again", from, where, by),
	}
	if !accepts(d.plan, f) {
		d.add(Blocked, f)
	}
}

// sameLog holds that an offset which is put back is one of the log that is there now.
func (d *decider) sameLog(r offsetmap.Row, now map[offsetmap.TopicPartition]offsetmap.Measured) {
	const check = "restore/other-log"
	m, there := now[r.TopicPartition]
	next := r.Write.Result().Next()
	switch {
	case !there:
		d.find(Moved, check, r.String(), "the source has no such partition any more, so M = %s is of no log", r.Write.Result())
	case m.TopicID != r.TopicID:
		d.find(Moved, check, r.String(), "the topic was created again since the backup: its id is %s, it was %s, and M = %s is of the log before", m.TopicID, r.TopicID, r.Write.Result())
	case m.Range.End.IsNone():
		d.find(Unknown, check, r.String(), "the end of the log could not be measured")
	case next.IsNone() || m.Range.End.Compare(next) < 0:
		d.find(Moved, check, r.String(), "the log ends at %s, so it never held M = %s: it was cut since", m.Range.End, r.Write.Result())
	}
}

// restored refuses to go by a plan that was made before a backup was restored, and
// reports whether one was.
func (d *decider) restored(h History) bool {
	if h.Restored {
		d.find(Moved, "journal/restored", "", "a backup of the connector's offsets was restored since the plan was made, or may have been in part: what the plan knows of them is old")
	}
	return h.Restored
}
