package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Of 10,000 partitions each may have a finding: the table shows a few, and says so.
func TestPreflightTableFoldsFindingsOfOneCheck(t *testing.T) {
	d := findingsDocument{Results: []preflight.Result{
		{Check: "own/thing", State: preflight.Passed},
		{Check: "source/offset-expired", State: preflight.Found},
		{Check: "source/compacted", State: preflight.NotAsked},
		{Check: "target/unknown", State: preflight.NotMade},
	}}
	for p := range 10_000 {
		d.Findings = append(d.Findings, offsetmap.Finding{Check: "source/offset-expired", Severity: offsetmap.Block, Scope: fmt.Sprintf("orders-%d:1", p), Detail: "expired"})
	}
	d.Findings = append(d.Findings, offsetmap.Finding{Check: "flink/state-evidence", Severity: offsetmap.Info, Detail: "checkpoint 1"})
	d.Remedies = remedies(d.Findings, preflight.Names{Topics: map[string]string{"orders": "orders"}})
	var b bytes.Buffer
	preflightTable(&b, d, false)
	text := b.String()
	for _, want := range []string{
		"AREA\tBLOCK\tWARN\tINFO\tPASSED\tNOT MADE\tNOT ASKED\nsource\t10000\t0\t0\t0\t0\t1\ntarget\t0\t0\t0\t0\t1\t0\nflink\t0\t0\t1\t0\t0\t0\nown\t0\t0\t0\t1\t0\t0\n",
		"block\tsource/offset-expired\torders-9:1\texpired\n",
		"and 9990 more of block source/offset-expired: -o json lists all\n",
		"CHECK\tABOUT\tTO MEND IT\nsource/offset-expired\torders-0:1\tFetch the records from elsewhere, or make a plan that accepts orders-0:1:",
		"and 9999 more to mend source/offset-expired likewise: -o json lists all\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"orders-10:1", "flink/state-evidence\tA"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 30 {
		t.Errorf("%d lines", n)
	}
}
