package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"text/tabwriter"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The columns of positions are those that a tabwriter makes of the same cells, as
// the tables beside them are.
func TestColumnsOfPositionsAreThoseOfOtherTables(t *testing.T) {
	next := func(v int64) offsetmap.NextOffset {
		c, err := offsetmap.Next(v)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	at := func(topic string, partition int32) offsetmap.TopicPartition {
		return offsetmap.TopicPartition{Topic: topic, Partition: partition}
	}
	var many []offsetmap.Position
	for i := range 3000 { // more than is written at once
		many = append(many, offsetmap.Position{TopicPartition: at("orders-region", int32(i)), Next: next(int64(i) * 1_000_003)})
	}
	for name, rows := range map[string][]offsetmap.Position{
		"none":                       nil,
		"narrower than the heads":    {{TopicPartition: at("a", 0), Next: next(0)}},
		"every form":                 {{TopicPartition: at("orders", 0), Next: next(1 << 62), Stop: next(7)}, {TopicPartition: at("orders", 10), Unread: offsetmap.Committed}, {TopicPartition: at("p", 1), State: offsetmap.Unassigned}, {TopicPartition: at("p", 2), State: offsetmap.FinishedOrUnassigned, Start: next(1234)}},
		"clusters":                   {{TopicPartition: at("a", 0), Cluster: "东-é", Next: next(1)}, {TopicPartition: at("a", 0), Cluster: "west", Next: next(2)}},
		"a cluster that would act":   {{TopicPartition: at("a", 0), Cluster: "\x1b[2J\t\n", Next: next(1)}, {TopicPartition: at("a", 1), Cluster: "b", Next: next(1)}},
		"more than one write":        many,
		"one wide row behind others": append(many[:2:2], offsetmap.Position{TopicPartition: at(strings.Repeat("x", 249), 1), Unread: offsetmap.Latest}),
	} {
		var got, want bytes.Buffer
		positionRows(&got, rows)
		w := tabwriter.NewWriter(&want, 0, 0, 2, ' ', 0)
		line(w, positionHeads...)
		for _, r := range rows {
			line(w, positionCells(r)...)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want.String(), got.String()); d != "" {
			t.Errorf("%s (-tabwriter +columns):\n%s", name, d)
		}
	}
}

// A full disk is an error of the command, whichever table it was.
func TestTablesReportThatTheyCouldNotBeWritten(t *testing.T) {
	a := &app{out: fullDisk{}, output: "table"}
	rows := func(w io.Writer) { fmt.Fprint(w, "a\tb\n") }
	for name, table := range map[string]func([]byte, func(io.Writer)) error{"print": a.print, "printAligned": a.printAligned} {
		if err := table(nil, rows); err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s: got %v, want the error of the disk", name, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }
