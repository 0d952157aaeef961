package main

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A table of 100,000 lines is one that nobody reads: it has a line for each topic,
// and what they come to.
func TestPC18TableOfVeryManyPartitionsIsByTopic(t *testing.T) {
	next := func(v int64) offsetmap.NextOffset {
		o, err := offsetmap.Next(v)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	rows := func(topics int) []offsetmap.Row {
		var rows []offsetmap.Row
		for topic := range topics {
			for p := range 50 {
				r := offsetmap.Row{
					TopicPartition: offsetmap.TopicPartition{Topic: fmt.Sprintf("orders-%04d", topic), Partition: int32(p)},
					Next:           next(int64(10 * (p % 2))), LogStart: next(0), LogEnd: next(25), Lost: int64(p / 49),
				}
				if p > 0 {
					var err error
					if r.Write, err = r.Next.Write(); err != nil {
						t.Fatal(err)
					}
				}
				rows = append(rows, r)
			}
		}
		return rows
	}
	shown := func(topics int) string {
		var out strings.Builder
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		rowsTable(w, rows(topics), false)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const want = `TOPIC                 PARTITIONS  SET    CLEAR  UNDECIDED  C TO END  LOST
orders-0000           50          25     24     1          1000      1
`
	got := shown(2000)
	const end = `
orders-1999           50          25     24     1          1000      1
total of 2000 topics  100000      50000  48000  2000       2000000   2000
more than 1000 partitions are shown by topic; -o json has each of them
`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, end) || strings.Count(got, "\n") != 2003 {
		t.Errorf("got %d lines, %.400s\n...\n%s", strings.Count(got, "\n"), got, got[len(got)-400:])
	}
	if few := shown(20); strings.Count(few, "\n") != 1001 || !strings.Contains(few, "orders-0019-49") {
		t.Errorf("1,000 partitions are shown one by one, got %d lines", strings.Count(few, "\n"))
	}
}
