package main

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var positionHeads = []any{"PARTITION", "NEXT (C)", "WHY NOT", "STOPS AT"}

// positionRows writes positions in columns. It is not left to a tabwriter, which
// holds every cell of a table in memory: a savepoint may name hundreds of
// thousands of partitions, and the reading of it takes less time than that.
func positionRows(w io.Writer, rows []offsetmap.Position) {
	var t positionTable
	for i, head := range positionHeads[:len(t.widths)] {
		t.widths[i] = len(head.(string))
	}
	for i := range rows {
		t.fit(&rows[i])
	}
	for i, head := range positionHeads {
		t.line = append(t.line, head.(string)...)
		t.end(i, len(head.(string)))
	}
	for i := range rows {
		if t.row(&rows[i]); len(t.line) > 1<<15 {
			_, _ = w.Write(t.line) // an error stays with w
			t.line = t.line[:0]
		}
	}
	_, _ = w.Write(t.line)
}

// positionTable lays out the lines of positions, of which all columns but the last
// are filled up with spaces.
type positionTable struct {
	widths [3]int // in characters
	line   []byte // what is to be written
}

// fit makes the columns wide enough for a row.
func (t *positionTable) fit(r *offsetmap.Position) {
	partition := len(r.Topic) + len("-") + digits(int64(r.Partition))
	if r.Cluster != "" {
		partition = utf8.RuneCount(appendPartition(nil, r))
	}
	t.widths[0] = max(t.widths[0], partition)
	if v, ok := r.Next.Value(); ok {
		t.widths[1] = max(t.widths[1], digits(v))
	}
	if !r.Unread.IsNone() || !r.State.IsNone() {
		t.widths[2] = max(t.widths[2], len(whyNot(r)))
	}
}

// digits returns how many a number has that is not negative.
func digits(v int64) int {
	n := 1
	for ; v >= 1000; v /= 1000 {
		n += 3
	}
	switch {
	case v >= 100:
		return n + 2
	case v >= 10:
		return n + 1
	default:
		return n
	}
}

func (t *positionTable) row(r *offsetmap.Position) {
	from := len(t.line)
	t.line = appendPartition(t.line, r)
	wide := len(t.line) - from
	if r.Cluster != "" {
		wide = utf8.RuneCount(t.line[from:])
	}
	t.end(0, wide)
	from = len(t.line)
	t.line = appendOffset(t.line, r.Next)
	t.end(1, len(t.line)-from)
	from = len(t.line)
	if r.Unread.IsNone() && r.State.IsNone() {
		t.line = append(t.line, '-')
	} else {
		t.line = append(t.line, whyNot(r)...)
	}
	t.end(2, len(t.line)-from)
	t.line = appendOffset(t.line, r.Stop)
	t.end(3, 0)
}

// end ends the cell of a column, which has a number of characters.
func (t *positionTable) end(column, wide int) {
	const spaces = "                                                                "
	if column == len(t.widths) {
		t.line = append(t.line, '\n')
		return
	}
	for fill := t.widths[column] + 2 - wide; fill > 0; fill -= len(spaces) {
		t.line = append(t.line, spaces[:min(fill, len(spaces))]...)
	}
}

// appendPartition needs no care for the topic, which is a legal name wherever
// positions come from.
func appendPartition(b []byte, r *offsetmap.Position) []byte {
	b = append(b, r.Topic...)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(r.Partition), 10)
	if r.Cluster != "" {
		b = append(b, " of "...)
		b = append(b, shown.Name(r.Cluster)...)
	}
	return b
}

func appendOffset(b []byte, c offsetmap.NextOffset) []byte {
	if v, ok := c.Value(); ok {
		return strconv.AppendInt(b, v, 10)
	}
	return append(b, '-')
}

// whyNot says why a position has no C, and is empty when it has.
func whyNot(r *offsetmap.Position) string {
	switch {
	case r.Unread == offsetmap.Committed:
		return "not read yet, starts at what the group has committed"
	case r.Unread == offsetmap.Unset:
		return "not read yet, and where it starts is not stored"
	case r.Unread == offsetmap.Unknown:
		return "unknown: a negative number that Flink never writes"
	case !r.Unread.IsNone():
		return "not read yet, starts at " + r.Unread.String()
	case !r.State.IsNone() && !r.Start.IsNone():
		return heldByNone(r.State) + ", would have started at " + r.Start.String()
	default:
		return heldByNone(r.State)
	}
}

// heldByNone says in words what the enumerator knows of a partition that no reader
// holds, and nothing of one that a reader does.
func heldByNone(s offsetmap.AssignmentState) string {
	switch s {
	case offsetmap.Unassigned:
		return "not read yet, given to no reader"
	case offsetmap.FinishedOrUnassigned:
		return "no reader has it: finished, or given to none yet"
	default:
		return s.String()
	}
}

// positionCells are those of one row, for a table that has more of them.
func positionCells(r offsetmap.Position) []any {
	return []any{string(appendPartition(nil, &r)), orDash(r.Next), dash(whyNot(&r)), orDash(r.Stop)}
}

func orDash(c offsetmap.NextOffset) any {
	if c.IsNone() {
		return "-"
	}
	return c
}
