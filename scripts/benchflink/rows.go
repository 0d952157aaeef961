//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A row is "operator partition start stop", start being a next offset or the name
// of a marker, stop a dash where there is none.

// markers are the names of KafkaPartitionSplit's numbers.
var markers = map[string]string{"-1": "latest", "-2": "earliest", "-3": "committed"}

// flinkRows reads what generator.Bench prints: operator, topic, partition,
// subtask, start and stop, behind tabs. The subtask is left out, since positions
// are not of one.
func flinkRows(r io.Reader) (rows []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) != 6 {
			return nil, fmt.Errorf("line %d has %d columns, want 6: %q", len(rows)+1, len(c), lines.Text())
		}
		start := c[4]
		if name, ok := markers[start]; ok {
			start = name
		}
		rows = append(rows, fmt.Sprintf("%s %s-%s %s %s", c[0], c[1], c[2], start, c[5]))
	}
	return rows, lines.Err()
}

var (
	sourceLine = regexp.MustCompile(`^KafkaSource ([0-9a-f]{32}).*, (\d+) partitions$`)
	gap        = regexp.MustCompile(` {2,}`)
)

// runbookRows reads the table that runbook offsets prints.
func runbookRows(r io.Reader) (rows []string, err error) {
	lines := bufio.NewScanner(r)
	operator, want, got := "", 0, 0
	end := func() error {
		if got != want {
			return fmt.Errorf("operator %s has %d rows, but says %d", operator, got, want)
		}
		return nil
	}
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if m := sourceLine.FindStringSubmatch(text); m != nil {
			if err := end(); err != nil {
				return nil, err
			}
			operator, got = m[1], 0
			if _, err := fmt.Sscan(m[2], &want); err != nil {
				return nil, err
			}
			continue
		}
		if n == 1 || text == "" || strings.HasPrefix(text, "PARTITION ") || strings.HasPrefix(text, "warning ") {
			continue
		}
		c := gap.Split(text, -1)
		if operator == "" || len(c) != 4 {
			return nil, fmt.Errorf("line %d is no row of a source: %q", n, text)
		}
		start := c[1]
		if marker, ok := strings.CutPrefix(c[2], "not read yet, starts at "); ok && start == "-" {
			start = marker
		} else if c[2] != "-" {
			return nil, fmt.Errorf("line %d holds what no reader has: %q", n, text)
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %s", operator, c[0], start, c[3]))
		got++
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return rows, end()
}

// sameRows reports how two sets of rows differ, whatever their order.
func sameRows(flink, ours []string) error {
	slices.Sort(flink)
	slices.Sort(ours)
	for i := range max(len(flink), len(ours)) {
		switch {
		case i >= len(flink):
			return fmt.Errorf("flink has %d rows, this project %d; the first more is %q", len(flink), len(ours), ours[i])
		case i >= len(ours):
			return fmt.Errorf("flink has %d rows, this project %d; the first missing is %q", len(flink), len(ours), flink[i])
		case flink[i] != ours[i]:
			return fmt.Errorf("sorted row %d is %q of Flink and %q of this project", i+1, flink[i], ours[i])
		}
	}
	return nil
}
