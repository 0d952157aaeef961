package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Record is what a cell's run came to: one line of docs/faults/FAMILY.jsonl.
type Record struct {
	Cell     string `json:"cell"`
	Revision string `json:"revision"`
	// Seed decided what the cell left to chance.
	Seed uint64 `json:"seed"`
	// Kafka is the release of brokers and worker, Tool the commit of the program.
	Kafka string `json:"kafka"`
	Tool  string `json:"tool"`
	// Began is a moment of RFC 3339.
	Began   string  `json:"began"`
	Seconds float64 `json:"seconds"`
	Outcome
	// Log tells what was done and seen, with the seconds since the cell began.
	Log []string `json:"log"`
}

// ReadRecords reads all records below a folder, by cell.
func ReadRecords(dir string) (map[string]Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	all := map[string]Record{}
	for _, file := range files {
		of, err := readFamily(file)
		if err != nil {
			return nil, err
		}
		for _, r := range of {
			if _, twice := all[r.Cell]; twice {
				return nil, fmt.Errorf("%s: cell %q has two records", file, r.Cell)
			}
			all[r.Cell] = r
		}
	}
	return all, nil
}

func readFamily(file string) ([]Record, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []Record
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var r Record
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, n, err)
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// Keep writes the record in the place of an earlier one of its cell.
func Keep(dir, family string, r Record) error {
	file := filepath.Join(dir, family+".jsonl")
	all, err := readFamily(file)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Record) bool { return o.Cell == r.Cell })
	all = append(all, r)
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Cell, b.Cell) })
	var b bytes.Buffer
	encode := json.NewEncoder(&b)
	encode.SetEscapeHTML(false)
	for _, one := range all {
		if err := encode.Encode(one); err != nil {
			return err
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
}
