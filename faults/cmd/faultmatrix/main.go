// Faultmatrix makes the table of docs/fault-matrix.md from the records of docs/faults.
// With -check it changes nothing, and fails where a cell has a record of another revision,
// where a record shows a loss, and where the table is not that of the records.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flinkmm2/flinkmm2/faults"
)

func main() {
	check := flag.Bool("check", false, "only say whether records and table are those of the cells")
	docs := flag.String("docs", "docs", "the folder of the documents")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "faultmatrix: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*docs, *check); err != nil {
		fmt.Fprintln(os.Stderr, "faultmatrix:", err)
		os.Exit(1)
	}
}

func run(docs string, check bool) error {
	cells := faults.Cells()
	records, err := faults.ReadRecords(filepath.Join(docs, "faults"))
	if err != nil {
		return err
	}
	path := filepath.Join(docs, "fault-matrix.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	document, err := faults.Insert(string(text), faults.Table(cells, records))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	problems := faults.Problems(cells, records)
	if document != string(text) {
		if check {
			problems = append(problems, path+": the table is not that of the records: go run ./faults/cmd/faultmatrix writes it")
		} else if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
			return err
		}
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d problems with %d cells and %d records", len(problems), len(cells), len(records))
	}
	fmt.Printf("%d cells, %d of them as they were recorded, %d not run yet\n", len(cells), len(records), len(cells)-len(records))
	return nil
}
