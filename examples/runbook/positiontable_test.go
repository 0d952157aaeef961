package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
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

func TestDigitsAreThoseOfTheNumber(t *testing.T) {
	for v := int64(1); v > 0 && v < 1<<62; v *= 10 {
		for _, n := range []int64{v - 1, v, v + 1} {
			if got, want := digits(n), len(strconv.FormatInt(n, 10)); got != want {
				t.Errorf("%d has %d digits, got %d", n, want, got)
			}
		}
	}
	if got := digits(math.MaxInt64); got != 19 {
		t.Errorf("the largest number has 19 digits, got %d", got)
	}
}

// What is taken to be plain is not looked at again: each byte, at each place of
// the eight that are looked at together, has to be seen.
func TestNothingThatActsIsTakenForPlain(t *testing.T) {
	for c := range 256 {
		want := c == '\n' || c >= ' ' && c <= '~'
		for at := range 19 {
			text := []byte("a line of 19 bytes\n")
			text[at] = byte(c)
			if got := plain(text); got != want {
				t.Fatalf("byte %#02x at %d: plain is %v", c, at, got)
			}
		}
	}
}

func BenchmarkPositionRows(b *testing.B) {
	rows := make([]offsetmap.Position, 100_000)
	for i := range rows {
		next, err := offsetmap.Next(int64(i) * 1_000_003)
		if err != nil {
			b.Fatal(err)
		}
		rows[i] = offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: "orders-region-1", Partition: int32(i)}, Next: next}
	}
	rows[7] = offsetmap.Position{TopicPartition: rows[7].TopicPartition, Unread: offsetmap.Earliest}
	a := &app{out: io.Discard, output: "table"}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.printAligned(nil, func(w io.Writer) { positionRows(w, rows) }); err != nil {
			b.Fatal(err)
		}
	}
}
