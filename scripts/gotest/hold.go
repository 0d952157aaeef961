package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// whole is what a run is held against once all of its tests have ended. Packages have the names of the list.
type whole struct {
	selected []string // were to run
	existing []string // have tests, in any module
	verdicts map[string]map[string]string
	failing  map[string]bool
}

func newWhole(ctx context.Context, root string, selected, existing []string, rep *report) (whole, error) {
	module, err := modulePath(ctx, root)
	if err != nil {
		return whole{}, err
	}
	short := func(packages []string) []string {
		names := make([]string, len(packages))
		for i, pkg := range packages {
			names[i] = shortName(pkg, module)
		}
		slices.Sort(names)
		return names
	}
	w := whole{selected: short(selected), existing: short(existing), verdicts: map[string]map[string]string{}, failing: map[string]bool{}}
	for pkg, tests := range rep.verdicts {
		w.verdicts[shortName(pkg, module)] = tests
	}
	for pkg := range rep.failing {
		w.failing[shortName(pkg, module)] = true
	}
	return w, nil
}

// check prints where the run differs from the list, and returns the exit status.
func (w whole) check(root string, which selection, out io.Writer) (int, error) {
	list, err := readList(root)
	if err != nil {
		return 2, err
	}
	diffs := list.differences(w.selected, w.verdicts)
	for _, pkg := range slices.Sorted(maps.Keys(list)) {
		if !slices.Contains(w.existing, pkg) {
			diffs = append(diffs, pkg+": is on the list, and no module has tests there")
		}
	}
	if len(diffs) == 0 {
		return 0, nil
	}
	update := fmt.Sprintf("go run ./scripts/gotest -packages %s -update-list", which)
	if which != selectPlain {
		update = "make test-list"
	}
	fmt.Fprintf(out, "\nFAIL: these are not the tests of %s; where that is meant: %s\n", listFile, update)
	for _, d := range diffs {
		fmt.Fprintf(out, "    %s\n", d)
	}
	return 1, nil
}

// update writes the packages anew of which every test passed, and returns the exit status. One in which a test failed or
// skipped keeps its lines: the run knows too little of it.
func (w whole) update(root string, out io.Writer) (int, error) {
	list, err := readList(root)
	if err != nil {
		return 2, err
	}
	known := slices.DeleteFunc(slices.Clone(w.selected), func(pkg string) bool {
		return w.failing[pkg] || slices.Contains(slices.Collect(maps.Values(w.verdicts[pkg])), "skip")
	})
	list.replace(known, w.existing, w.verdicts)
	path := filepath.Join(root, filepath.FromSlash(listFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return 2, err
	}
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		return 2, err
	}
	code := 0
	for _, pkg := range w.selected {
		if !slices.Contains(known, pkg) {
			fmt.Fprintf(out, "\nFAIL: %s keeps its lines in %s: a test of it failed or skipped\n", pkg, listFile)
			code = 1
		}
	}
	return code, nil
}

// addLines adds the names of packages to a file, one a line.
func addLines(file string, packages []string) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, pkg := range packages {
		if _, err := fmt.Fprintln(f, pkg); err != nil {
			return fmt.Errorf("%w; close: %w", err, f.Close())
		}
	}
	return f.Close()
}

// noneLeft prints the packages of the list that no run has put into the file, and returns the exit status.
func noneLeft(root, file string, out io.Writer) (int, error) {
	list, err := readList(root)
	if err != nil {
		return 2, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 2, err
	}
	ran, code := strings.Split(string(text), "\n"), 0
	for _, pkg := range slices.Sorted(maps.Keys(list)) {
		if !slices.Contains(ran, pkg) {
			fmt.Fprintf(out, "FAIL: %s: no run has tested it, and %s has %d tests of it\n", pkg, listFile, len(list[pkg]))
			code = 1
		}
	}
	if len(list) == 0 {
		fmt.Fprintf(out, "FAIL: %s lists no test; make test-list writes it\n", listFile)
		code = 1
	}
	if code == 0 {
		fmt.Fprintf(out, "all %d packages of %s were tested\n", len(list), listFile)
	}
	return code, nil
}
