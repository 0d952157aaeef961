package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// maxRows is how many partitions a table names one by one.
const maxRows = 1000

// topicTotal is what the rows of a topic come to.
type topicTotal struct {
	partitions, sets, clears, undecided int

	left int64 // offsets from C to the log's end: records, and what stands between them
	lost int64
}

func (t *topicTotal) add(r offsetmap.Row) {
	t.partitions++
	switch {
	case r.Write.IsZero():
		t.undecided++
	case r.Write.IsClear():
		t.clears++
	default:
		t.sets++
	}
	if n, ok := r.LogEnd.Sub(r.Next); ok && n > 0 {
		t.left += n
	}
	t.lost += r.Lost
}

func (t *topicTotal) line(w io.Writer, name string) {
	line(w, name, t.partitions, t.sets, t.clears, t.undecided, t.left, t.lost)
}

// topicsTable shows what the rows, which are sorted, come to for each topic and all
// together.
func topicsTable(w io.Writer, rows []offsetmap.Row) {
	line(w, "TOPIC", "PARTITIONS", "SET", "CLEAR", "UNDECIDED", "C TO END", "LOST")
	var total, one topicTotal
	topics := 0
	for i, r := range rows {
		one.add(r)
		total.add(r)
		if i+1 == len(rows) || rows[i+1].Topic != r.Topic {
			one.line(w, r.Topic)
			one = topicTotal{}
			topics++
		}
	}
	total.line(w, "total of "+strconv.Itoa(topics)+" topics")
	fmt.Fprintf(w, "more than %d partitions are shown by topic; -o json has each of them\n", maxRows)
}
