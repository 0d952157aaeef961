package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// judge says what the search has shown of one partition. It is called once for each.
func (s *search) judge(p *part) preflight.Delivery {
	d := preflight.Delivery{Looked: int64(len(p.before)), Ahead: int64(len(p.after)), NotCarried: s.carried.notCarried()}
	repeated, unread, cut := 0, false, false
	for _, b := range p.before {
		found := s.copied(b.content)
		s.revealBefore(b, found)
		switch found {
		case preflight.NotDelivered:
			from := s.from(b.time)
			unread, cut, repeated = unread || !s.readSince(from), cut || s.places[from].cut, 0
			d.Missing++
			if b.withKey && b.time >= 0 && s.changed[keyAndTime(b.content)] {
				d.Changed++
			}
		case preflight.CannotTell:
			repeated++ // in a row: the last record decides
		default:
			repeated = 0
			s.keyOrder(p, b.content, &d)
		}
	}
	uncounted := s.beyond(p, &d)
	switch {
	case p.nothing != "":
		d.Outcome, d.Reason = p.nothing, p.reason
	case d.Missing > 0 && unread:
		d.Outcome, d.Reason = preflight.Unproven, "not everything on the target since then was read"
	case d.Missing > 0:
		d.Outcome, d.Reason = s.missing(&d, cut)
	case repeated > 0:
		d.Outcome, d.Reason = preflight.CannotTell, fmt.Sprintf("the last %d records before C equal others in all that the sink carries", repeated)
	default:
		d.Outcome = preflight.Delivered
	}
	if d.Outcome != preflight.Delivered && d.Outcome != preflight.NothingBefore || len(p.after) == 0 {
		return d
	}
	switch {
	case !s.readSince(s.homeOf(p.after)):
		d.Outcome, d.Reason = preflight.Unproven, "whether records from C on are there already: not everything on the target since then was read"
	case uncounted == len(p.after):
		d.Outcome, d.Reason = preflight.CannotTell, "each record that was read from C on equals one before C in all that the sink carries"
	}
	return d
}

// missing says what it means that records before C were not found, in all that was
// to be read.
func (s *search) missing(d *preflight.Delivery, cut bool) (preflight.DeliveryOutcome, string) {
	switch {
	case len(s.hidden) > 0:
		return preflight.Unproven, fmt.Sprintf("an open transaction hides what lies behind it in %s", few(s.hidden))
	case 2*d.Changed > d.Missing:
		return preflight.ContentChanged, fmt.Sprintf("%d of %d records that are not there have one with their key and timestamp there, with another value", d.Changed, d.Missing)
	case cut:
		return preflight.CannotTell, fmt.Sprintf("%d records are not there, and the target has deleted records of that time", d.Missing)
	case s.request.MayBeCompacted(s.target.name):
		return preflight.CannotTell, fmt.Sprintf("%d records are not there, and compaction may have taken them from the target", d.Missing)
	}
	return preflight.NotDelivered, ""
}

// copied says whether a record before C is on the target.
func (s *search) copied(c content) preflight.DeliveryOutcome {
	by := s.level(c)
	class := c.class(by)
	have, need := s.found[by][class], s.before[by][class]
	switch {
	case have == 0:
		return preflight.NotDelivered
	case need+s.after[by][class] == 1:
		return preflight.Delivered
	case !s.isCounted(class):
		return preflight.CannotTell
	case have < need:
		return preflight.NotDelivered
	}
	return preflight.Delivered
}

// beyond counts the records from C on that are on the target, and returns of how many
// that cannot be told.
func (s *search) beyond(p *part, d *preflight.Delivery) (uncounted int) {
	for i, a := range p.after {
		by := s.level(a.content)
		class := a.class(by)
		have, before := s.found[by][class], s.before[by][class]
		if before > 0 && have > 0 && !s.isCounted(class) {
			uncounted++
			s.reveal(a, preflight.SampleUnclear)
			continue
		}
		if s.taken[class] >= min(have-before, s.after[by][class]) {
			s.revealAbsent(p, a)
			continue
		}
		s.reveal(a, preflight.SampleThere)
		s.taken[class]++
		d.Beyond++
		d.BeyondBytes += a.size
		d.BeyondAtLeast = p.more && i == len(p.after)-1
	}
	return uncounted
}

// keyOrder notes where the copy of a record with a key lies.
func (s *search) keyOrder(p *part, c content, d *preflight.Delivery) {
	if !c.withKey {
		return
	}
	by := s.level(c)
	d.Keyed++
	key := c.key.String()
	if !slices.Contains(s.lies[by][c.class(by)], p.tp.Partition) && !slices.Contains(d.Moved, key) {
		d.Moved = append(d.Moved, key)
	}
}

// few lists the first of many.
func few(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
