package main

import (
	"fmt"
	"maps"
	"strings"
)

// statements are blocks of statements, as a coverage profile names them.
type statements map[string]bool

// beyond reports whether s has a block that reached does not have.
func (s statements) beyond(reached statements) bool {
	for block := range s {
		if !reached[block] {
			return true
		}
	}
	return false
}

// choose returns the inputs that reach more than reached, to which it adds what
// they reach: those that come first are preferred. A group that reaches no more is
// passed over whole, since of thousands of inputs only a few do.
func choose(reached statements, group []input, cover func(group []input) (statements, error)) ([]input, error) {
	if len(group) == 0 {
		return nil, nil
	}
	got, err := cover(group)
	if err != nil {
		return nil, err
	}
	switch {
	case !got.beyond(reached):
		return nil, nil
	case len(group) == 1:
		maps.Copy(reached, got)
		return group, nil
	}
	half := len(group) / 2
	first, err := choose(reached, group[:half], cover)
	if err != nil {
		return nil, err
	}
	second, err := choose(reached, group[half:], cover)
	return append(first, second...), err
}

// parseProfile returns the blocks of a profile that ran.
func parseProfile(text string) (statements, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.HasPrefix(lines[0], "mode: ") {
		return nil, fmt.Errorf("no coverage profile: it begins with %.100q", lines[0])
	}
	ran := statements{}
	for i, line := range lines[1:] {
		fields := strings.Fields(line) // block, number of statements, count
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d of the coverage profile is %.100q", i+2, line)
		}
		if fields[2] != "0" {
			ran[fields[0]] = true
		}
	}
	return ran, nil
}
