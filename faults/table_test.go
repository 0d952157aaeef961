package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/faults"
)

// The records in the docs are those of the cells, and the table is made of them.
func TestTheRecordsStandForTheCells(t *testing.T) {
	cells := faults.Cells()
	records, err := faults.ReadRecords(filepath.Join("..", "docs", "faults"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range faults.Problems(cells, records) {
		t.Error(p)
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "fault-matrix.md"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := faults.Insert(string(text), faults.Table(cells, records))
	if err != nil {
		t.Fatal(err)
	}
	if document != string(text) {
		t.Error("the table of docs/fault-matrix.md is not that of the records: go run ./faults/cmd/faultmatrix writes it")
	}
}

func sound(t *testing.T, cells []faults.Cell) map[string]faults.Record {
	t.Helper()
	out := map[string]faults.Record{}
	for _, c := range cells {
		revision, err := c.Revision()
		if err != nil {
			t.Fatal(err)
		}
		out[c.ID()] = faults.Record{Cell: c.ID(), Revision: revision, Outcome: faults.Outcome{Ends: "finished", Repeated: 2, Allowed: 2}}
	}
	return out
}

func TestARecordThatDoesNotStandForItsCellIsNamed(t *testing.T) {
	t.Parallel()
	cells := faults.Cells()[:2]
	if got := faults.Problems(cells, sound(t, cells)); len(got) > 0 {
		t.Errorf("sound records: %v", got)
	}
	id := cells[0].ID()
	for want, change := range map[string]func(map[string]faults.Record){
		"is a record of no cell":  func(all map[string]faults.Record) { all["other"] = faults.Record{} },
		"is stale":                func(all map[string]faults.Record) { r := all[id]; r.Revision = "0"; all[id] = r },
		"1 lost":                  func(all map[string]faults.Record) { r := all[id]; r.Lost = 1; all[id] = r },
		"1 rewound":               func(all map[string]faults.Record) { r := all[id]; r.Rewound = 1; all[id] = r },
		"3 repeated of at most 2": func(all map[string]faults.Record) { r := all[id]; r.Repeated = 3; all[id] = r },
		"nothing says how":        func(all map[string]faults.Record) { r := all[id]; r.Ends = ""; all[id] = r },
	} {
		all := sound(t, cells)
		change(all)
		got := faults.Problems(cells, all)
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: %v", want, got)
		}
	}
	if got := faults.Problems(append(cells, cells[0]), sound(t, cells)); len(got) != 1 || !strings.Contains(got[0], "two cells") {
		t.Errorf("a cell that is there twice: %v", got)
	}
}

func TestARecordTakesThePlaceOfTheEarlierOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, r := range []faults.Record{{Cell: "b", Seconds: 1}, {Cell: "a"}, {Cell: "b", Seconds: 2, Log: []string{"<done>"}}} {
		if err := faults.Keep(dir, "kill", r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := faults.ReadRecords(dir)
	if err != nil || len(all) != 2 || all["b"].Seconds != 2 || all["b"].Log[0] != "<done>" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := faults.Keep(dir, "workers", faults.Record{Cell: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := faults.ReadRecords(dir); err == nil {
		t.Error("two records of one cell were taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "kill.jsonl"), []byte(`{"cell":"a","lots":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := faults.ReadRecords(dir); err == nil || !strings.Contains(err.Error(), "kill.jsonl, line 1") {
		t.Errorf("a field that no record has: %v", err)
	}
}

func TestCellsThatDifferInARequestAloneAreOneRow(t *testing.T) {
	t.Parallel()
	var cells []faults.Cell
	for _, c := range faults.Cells() {
		if c.Step == "create" && c.Fault == "program killed" && c.When == "before" {
			cells = append(cells, c)
		}
	}
	all := sound(t, cells)
	r := all[cells[0].ID()]
	r.Ends = "refused | why"
	all[r.Cell] = r
	rows := strings.Split(strings.TrimSpace(faults.Table(cells, all)), "\n")
	if len(rows) != 3 || !strings.Contains(rows[2], `| create | program killed | before a request | 9 | 8× finished; 1× refused \| why | 0 | 0 | 18 (18) |`) {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
	delete(all, cells[1].ID())
	if got := faults.Problems(cells, all); len(got) > 0 {
		t.Errorf("a cell that was not run: %v", got)
	}
	if table := faults.Table(cells, all); !strings.Contains(table, "7× finished; 1× not run yet; 1× refused") {
		t.Errorf("a cell that was not run stands in the table as\n%s", table)
	}
	if _, err := faults.Insert("no marks", ""); err == nil {
		t.Error("a document without marks was taken")
	}
}
