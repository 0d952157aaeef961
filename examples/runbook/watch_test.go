package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

// A log gets a line now and then, a terminal one line that is written over.
func TestProgressOfAWatch(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		live                 bool
		lines, returns, ends int
	}{
		"log":      {false, 3, 0, 3},
		"terminal": {true, 0, 31, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			now := at
			p := progress{to: &out, live: c.live, now: func() time.Time { return now }}
			for n := range 31 { // once a second
				now = at.Add(time.Duration(n) * time.Second)
				p.show(flinkmm2.WatchProgress{Partitions: 5, Decided: n % 5, ProofCounts: flinkmm2.ProofCounts{Records: 100, Copied: int64(n)}})
			}
			if got := strings.Count(out.String(), "\n"); got != c.lines {
				t.Errorf("%d lines, want %d: %q", got, c.lines, out.String())
			}
			if got := strings.Count(out.String(), "\r"); got != c.returns {
				t.Errorf("%d returns, want %d", got, c.returns)
			}
			p.end()
			if got := strings.Count(out.String(), "\n"); got != c.ends {
				t.Errorf("%d lines in the end, want %d", got, c.ends)
			}
			if !strings.Contains(out.String(), "of 5 partitions decided, 30 of 100 records copied, missing 0") {
				t.Errorf("the last count is not shown: %q", out.String())
			}
		})
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || isTerminal(&bytes.Buffer{}) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}
