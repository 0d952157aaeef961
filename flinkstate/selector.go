package flinkstate

import (
	"fmt"
	"strings"
)

// minPrefix is the fewest hex digits of an operator id that select a source.
const minPrefix = 4

// Source returns the one source that selector names, or the only one when
// selector is empty. A selector is an operator id, a uid or a name; failing
// those, the start of an operator id, of 4 digits or more, in either case. A uid
// also selects in files that do not hold uids, by its murmur3 hash, which is the
// operator id (before metadata version 5).
//
// The error is an ErrSelector that lists the choices: also where the uid of one
// source is the name of another, and where an operator that is no source has the id
// or uid. Sources are never merged into one: the same partition may stand at two
// places.
func (s *Snapshot) Source(selector string) (Source, error) {
	if selector == "" {
		if len(s.Sources) == 1 {
			return s.Sources[0], nil
		}
		return Source{}, s.selectorError("", fmt.Sprintf("the job has %d sources and none was named", len(s.Sources)))
	}
	hash, digits := uidHash(selector), strings.ToLower(selector)
	identifies := func(id, uid, _ string) bool { return id == digits || id == hash || uid == selector }
	for _, fits := range []func(id, uid, name string) bool{
		func(id, uid, name string) bool { return identifies(id, uid, name) || name == selector },
		func(id, _, _ string) bool { return len(digits) >= minPrefix && strings.HasPrefix(id, digits) },
	} {
		found := s.sources(fits)
		if len(found) > 1 {
			return Source{}, s.selectorError(selector, fmt.Sprintf("%q fits %d sources", selector, len(found)))
		}
		for _, op := range s.Operators {
			if op.Skipped != "" && (identifies(op.ID, op.UID, op.Name) || len(found) == 0 && fits(op.ID, op.UID, op.Name)) {
				return Source{}, s.selectorError(selector, fmt.Sprintf("%q is operator %s, which %s", selector, label(op.ID, op.UID, op.Name), op.Skipped))
			}
		}
		if len(found) == 1 {
			return *found[0], nil
		}
	}
	return Source{}, s.selectorError(selector, fmt.Sprintf("%q fits no source", selector))
}

func (s *Snapshot) sources(fits func(id, uid, name string) bool) []*Source {
	var found []*Source
	for i := range s.Sources {
		if src := &s.Sources[i]; fits(src.OperatorID, src.UID, src.Name) {
			found = append(found, src)
		}
	}
	return found
}

func (s *Snapshot) selectorError(selector, reason string) *SelectorError {
	e := &SelectorError{Selector: selector, Reason: reason}
	for _, src := range s.Sources {
		src.Partitions = nil
		e.Choices = append(e.Choices, src)
	}
	return e
}
