package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listFile names, below the root, every test that a whole run passes: a line for each package, below it one for each
// test. A test that vanishes from it, or comes to it, is a line of a diff that somebody reads.
const listFile = ".ci/tests.txt"

const listHead = `# Every test that a whole run passes, so that none can vanish unseen. Written by "make test-list"; compared by .ci/run.
# The inputs of fuzz targets are left out: their names are chance.
`

// testList holds the names of tests by package. Packages are named as the root module's folders are.
type testList map[string]map[string]bool

func (l testList) add(pkg, test string) {
	if l[pkg] == nil {
		l[pkg] = map[string]bool{}
	}
	l[pkg][test] = true
}

func (l testList) String() string {
	var b strings.Builder
	b.WriteString(listHead)
	for _, pkg := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&b, "\n%s\n", pkg)
		for _, test := range slices.Sorted(maps.Keys(l[pkg])) {
			fmt.Fprintf(&b, "\t%s\n", test)
		}
	}
	return b.String()
}

// parseList takes only what String writes: a list that a merge has left unsorted, or with a line twice, is one that
// nobody can read a difference from.
func parseList(text string) (testList, error) {
	l, pkg := testList{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		test, isTest := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"), line == "":
		case isTest:
			l.add(pkg, test)
		default:
			pkg = line
		}
	}
	got, want := strings.SplitAfter(text, "\n"), strings.SplitAfter(l.String(), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return nil, fmt.Errorf("line %d: want %q, and there is no more", i+1, want[i])
		case i >= len(want) || got[i] != want[i]:
			return nil, fmt.Errorf("line %d: %q does not stand there in a sorted list without repetitions", i+1, got[i])
		}
	}
	return l, nil
}

// readList reads the list of the module at root. One that is not there is empty: then every test is new.
func readList(root string) (testList, error) {
	text, err := os.ReadFile(filepath.Join(root, listFile))
	if errors.Is(err, fs.ErrNotExist) {
		return testList{}, nil
	} else if err != nil {
		return nil, err
	}
	l, err := parseList(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; mend it, or remove it and run make test-list", listFile, err)
	}
	return l, nil
}

// listed reports whether a test belongs on the list. The inputs of a fuzz target are tests of their own, with names
// made of numbers and hashes.
func listed(test string) bool {
	return !strings.HasPrefix(test, "Fuzz") || !strings.Contains(test, "/")
}

// differences says, sorted, where the packages that were to run differ from the list. verdicts holds how the tests of
// each package ended: "pass", "fail" or "skip".
func (l testList) differences(packages []string, verdicts map[string]map[string]string) []string {
	var all []string
	for _, pkg := range slices.Sorted(slices.Values(packages)) {
		ran := verdicts[pkg]
		if len(ran) == 0 {
			// One line says it: every line below would say the same.
			if n := len(l[pkg]); n > 0 {
				all = append(all, fmt.Sprintf("%s: none of its %d tests ran", pkg, n))
			}
			continue
		}
		names := maps.Clone(l[pkg])
		if names == nil {
			names = map[string]bool{}
		}
		for test := range ran {
			if listed(test) {
				names[test] = true
			}
		}
		for _, test := range slices.Sorted(maps.Keys(names)) {
			var what string
			switch verdict, onList := ran[test], l[pkg][test]; {
			case !onList && verdict == "pass":
				what = "is not on the list"
			case !onList:
				what = "is not on the list, and did not pass"
			case verdict == "":
				what = "did not run"
			case verdict == "skip":
				what = "was skipped"
			case verdict == "fail":
				what = "failed"
			default:
				continue
			}
			all = append(all, fmt.Sprintf("%s %s %s", pkg, test, what))
		}
	}
	return all
}

// replace puts what ran in place of what the list holds of these packages, and drops the packages that no module has
// any more.
func (l testList) replace(packages, existing []string, verdicts map[string]map[string]string) {
	for _, pkg := range packages {
		delete(l, pkg)
		for test := range verdicts[pkg] {
			if listed(test) {
				l.add(pkg, test)
			}
		}
	}
	maps.DeleteFunc(l, func(pkg string, _ map[string]bool) bool { return !slices.Contains(existing, pkg) })
}
