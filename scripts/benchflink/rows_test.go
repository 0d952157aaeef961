//go:build unix

package main

import (
	"strings"
	"testing"
)

const (
	flinkPrinted = "30198ea1e33432d6307d761dd131f28a\torders\t0\t3\t17\t-\n" +
		"30198ea1e33432d6307d761dd131f28a\torders-eu\t1\t0\t-2\t-\n" +
		"30198ea1e33432d6307d761dd131f28a\torders\t1\t0\t5\t9\n"
	runbookPrinted = `savepoint /sp/_metadata, metadata version 4, checkpoint 1, written for a savepoint

KafkaSource 30198ea1e33432d6307d761dd131f28a, uid source-0, 3 partitions
PARTITION    NEXT (C)  WHY NOT                           STOPS AT
orders-0     17        -                                 -
orders-1     5         -                                 9
orders-eu-1  -         not read yet, starts at earliest  -

warning SPLITS_BOUNDED: splits with a stopping offset
`
)

func TestRowsOfBothSidesAreHeldAgainstEachOther(t *testing.T) {
	for name, tt := range map[string]struct{ flink, runbook, want string }{
		"the same":                       {flinkPrinted, runbookPrinted, ""},
		"another offset":                 {flinkPrinted, strings.Replace(runbookPrinted, " 17 ", " 18 ", 1), "17 -"},
		"another marker":                 {flinkPrinted, strings.Replace(runbookPrinted, "earliest", "latest  ", 1), "earliest"},
		"another stop":                   {flinkPrinted, strings.Replace(runbookPrinted, " 9\n", " 8\n", 1), "5 9"},
		"another operator":               {flinkPrinted, strings.Replace(runbookPrinted, "30198", "40198", 1), "30198"},
		"a marker for an offset":         {strings.Replace(flinkPrinted, "-2", "2", 1), runbookPrinted, "earliest"},
		"one missing":                    {flinkPrinted, strings.Replace(strings.Replace(runbookPrinted, "orders-1     5         -                                 9\n", "", 1), "3 partitions", "2 partitions", 1), "of Flink"},
		"one missing, and not confessed": {flinkPrinted, strings.Replace(runbookPrinted, "orders-1     5         -                                 9\n", "", 1), "has 2 rows, but says 3"},
		"one twice":                      {flinkPrinted + flinkPrinted[:strings.Index(flinkPrinted, "\n")+1], runbookPrinted, "of Flink"},
		"the last missing":               {flinkPrinted[:strings.LastIndex(strings.TrimSpace(flinkPrinted), "\n")+1] + "z\ta\t0\t0\t1\t-\n", runbookPrinted, "of Flink"},
		"none of ours":                   {flinkPrinted, "savepoint\n", "flink has 3 rows, this project 0"},
		"none of Flink's":                {"", runbookPrinted, "flink has 0 rows, this project 3"},
	} {
		t.Run(name, func(t *testing.T) {
			flink, err := flinkRows(strings.NewReader(tt.flink))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := runbookRows(strings.NewReader(tt.runbook))
			if err == nil {
				err = sameRows(flink, ours)
			}
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestLinesThatAreNoRowsAreRefused(t *testing.T) {
	if _, err := flinkRows(strings.NewReader("a\tb\n")); err == nil {
		t.Error("a line of two columns is taken for a row of Flink")
	}
	for _, text := range []string{
		"head\norders-0     17        -  -\n", // of no source
		"head\nKafkaSource 30198ea1e33432d6307d761dd131f28a, 1 partitions\norders-0  17\n",
		"head\nKafkaSource 30198ea1e33432d6307d761dd131f28a, 1 partitions\norders-0  -  unassigned  -\n",
	} {
		if _, err := runbookRows(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken for a table of one source", text)
		}
	}
}

func TestMedianIsTheUpperMiddle(t *testing.T) {
	if got := median([]int64{9, 1, 5}); got != 5 {
		t.Errorf("got %d", got)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 3 {
		t.Errorf("got %v", got)
	}
}
