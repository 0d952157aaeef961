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
	t.begin()
	for i, head := range positionHeads {
		t.text(head.(string))
		t.end(i)
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
	widths  [3]int // in characters
	line    []byte // what is to be written
	from    int    // where the cell starts
	scratch []byte
}

// fit makes the columns wide enough for a row.
func (t *positionTable) fit(r *offsetmap.Position) {
	t.scratch = appendPartition(t.scratch[:0], r)
	t.widths[0] = max(t.widths[0], utf8.RuneCount(t.scratch))
	if !r.Next.IsNone() {
		t.scratch = appendOffset(t.scratch[:0], r.Next)
		t.widths[1] = max(t.widths[1], len(t.scratch))
	}
	t.widths[2] = max(t.widths[2], len(whyNot(r)))
}

func (t *positionTable) row(r *offsetmap.Position) {
	t.begin()
	t.line = appendPartition(t.line, r)
	t.end(0)
	t.line = appendOffset(t.line, r.Next)
	t.end(1)
	if why := whyNot(r); why != "" {
		t.text(why)
	} else {
		t.text("-")
	}
	t.end(2)
	t.line = appendOffset(t.line, r.Stop)
	t.end(3)
}

func (t *positionTable) begin() { t.from = len(t.line) }

func (t *positionTable) text(s string) { t.line = append(t.line, s...) }

// end ends the cell of a column.
func (t *positionTable) end(column int) {
	if column == len(t.widths) {
		t.text("\n")
		return
	}
	const gap = 2
	for n := utf8.RuneCount(t.line[t.from:]); n < t.widths[column]+gap; n++ {
		t.line = append(t.line, ' ')
	}
	t.from = len(t.line)
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
	case r.Unread != "":
		return "not read yet, starts at " + string(r.Unread)
	case r.State != "" && !r.Start.IsNone():
		return string(r.State) + ", would have started at " + r.Start.String()
	default:
		return string(r.State)
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
