package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a small repository of two modules, whose tests really run.
type tree struct {
	t    *testing.T
	root string
}

const (
	rootTests = `package m

import "testing"

func TestStages(t *testing.T) {
	for _, stage := range []string{"embedded", "jvm 3.9"} {
		t.Run(stage, func(t *testing.T) {
			t.Run("no record lost", func(t *testing.T) {})
		})
	}
}

func FuzzPlan(f *testing.F) {
	f.Add("seed")
	f.Fuzz(func(t *testing.T, s string) {})
}
`
	innerTests = `package inner

import "testing"

func TestInner(t *testing.T) {}
`
	realTests = `package real

import (
	"testing"

	_ "github.com/flinkmm2/flinkmm2/internal/lab"
)

func TestReal(t *testing.T) {}
`
	wholeList = listHead + `
.
	FuzzPlan
	TestStages
	TestStages/embedded
	TestStages/embedded/no_record_lost
	TestStages/jvm_3.9
	TestStages/jvm_3.9/no_record_lost

inner
	TestInner

internal/real
	TestReal
`
)

func newTree(t *testing.T) tree {
	t.Helper()
	tr := tree{t, t.TempDir()}
	// Its lab has the path by which gotest knows the real one.
	tr.write("go.mod", "module github.com/flinkmm2/flinkmm2\n\ngo 1.26\n")
	tr.write("m_test.go", rootTests)
	tr.write("internal/lab/lab.go", "package lab\n")
	tr.write("internal/real/real_test.go", realTests)
	tr.write("inner/go.mod", "module github.com/flinkmm2/flinkmm2/inner\n\ngo 1.26\n")
	tr.write("inner/inner_test.go", innerTests)
	return tr
}

func (tr tree) write(name, text string) {
	tr.t.Helper()
	path := filepath.Join(tr.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr tree) list() string {
	tr.t.Helper()
	text, err := os.ReadFile(filepath.Join(tr.root, listFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tr.t.Fatal(err)
	}
	return string(text)
}

var seconds = regexp.MustCompile(`(?m)^(ok  |FAIL)\t.*\n`)

// run returns the exit status and what is printed, without the lines of packages that hold seconds.
func (tr tree) run(args ...string) (int, string) {
	tr.t.Helper()
	var out strings.Builder
	code, err := run(tr.t.Context(), tr.root, args, &out, &out)
	if err != nil {
		tr.t.Fatalf("%v\n%s", err, out.String())
	}
	return code, seconds.ReplaceAllString(out.String(), "")
}

func TestListIsOfTheTestsThatRan(t *testing.T) {
	tr := newTree(t)
	if code, out := tr.run("-check-list"); code != 1 || !strings.Contains(out, ". TestStages/jvm_3.9 is not on the list\n") {
		t.Errorf("without a list: exit status %d\n%s", code, out)
	}
	if code, out := tr.run("-update-list"); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	if diff := cmp.Diff(wholeList, tr.list()); diff != "" {
		t.Error(diff)
	}
	if code, out := tr.run("-check-list"); code != 0 {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

// Each case is a way in which a test, a stage, a version or a scenario vanishes. In most of them every test that is left
// passes, and so nothing but the list says it.
func TestNoTestVanishesUnseen(t *testing.T) {
	t.Parallel()
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(rootTests) }
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"stage left out": {"m_test.go", replaced(`, "jvm 3.9"`, ""), []string{
			". TestStages/jvm_3.9 did not run", ". TestStages/jvm_3.9/no_record_lost did not run",
		}},
		"version renamed": {"m_test.go", replaced("jvm 3.9", "jvm 4.3"), []string{
			". TestStages/jvm_3.9 did not run", ". TestStages/jvm_3.9/no_record_lost did not run",
			". TestStages/jvm_4.3 is not on the list", ". TestStages/jvm_4.3/no_record_lost is not on the list",
		}},
		"stage skipped": {"m_test.go", replaced(`t.Run("no record`, `if stage != "embedded" { t.Skip("no Java") }; t.Run("no record`), []string{
			". TestStages/jvm_3.9 was skipped", ". TestStages/jvm_3.9/no_record_lost did not run",
		}},
		"scenario failed": {"m_test.go", replaced(`func(t *testing.T) {})
		})`, `func(t *testing.T) { if stage != "embedded" { t.Error("lost") } })
		})`), []string{
			". TestStages failed", ". TestStages/jvm_3.9 failed", ". TestStages/jvm_3.9/no_record_lost failed",
		}},
		"test renamed": {"m_test.go", replaced("TestStages", "testStages", "FuzzPlan", "FuzzPlans"), []string{
			". FuzzPlan did not run", ". FuzzPlans is not on the list", ". TestStages did not run", ". TestStages/embedded did not run",
			". TestStages/embedded/no_record_lost did not run", ". TestStages/jvm_3.9 did not run", ". TestStages/jvm_3.9/no_record_lost did not run",
		}},
		"nothing run by TestMain":     {"inner/inner_test.go", innerTests + "func TestMain(*testing.M) {}\n", []string{"inner: none of its 1 tests ran"}},
		"package that does not build": {"inner/inner_test.go", innerTests + "var x int = nil\n", []string{"inner: none of its 1 tests ran"}},
		"package behind a tag":        {"internal/real/real_test.go", "//go:build never\n\n" + realTests, []string{"internal/real: is on the list, and no module has tests there"}},
		"more inputs to fuzz":         {"m_test.go", replaced(`f.Add("seed")`, `f.Add("seed"); f.Add("more")`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t)
			tr.write(listFile, wholeList)
			tr.write(c.file, c.text)
			code, out := tr.run("-check-list")
			_, found, differs := strings.Cut(out, "FAIL: these are not the tests of .ci/tests.txt; where that is meant: make test-list\n")
			found, _, _ = strings.Cut(found, "\n\n")
			want := ""
			if c.want != nil {
				want = "    " + strings.Join(c.want, "\n    ")
			}
			if diff := cmp.Diff(want, strings.TrimSuffix(found, "\n")); diff != "" || differs != (c.want != nil) || (code == 1) != differs {
				t.Errorf("exit status %d\n%s\n%s", code, diff, out)
			}
		})
	}
}

func TestPackageOfWhichTooLittleIsKnownKeepsItsLines(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"skipped":        strings.Replace(innerTests, "{}", `{ t.Skip("no Java") }`, 1),
		"failed":         strings.Replace(innerTests, "{}", `{ t.Error("lost") }`, 1),
		"does not build": innerTests + "var x int = nil\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t)
			tr.write(listFile, strings.Replace(wholeList, "TestReal", "TestOther", 1))
			tr.write("inner/inner_test.go", text)
			code, out := tr.run("-update-list")
			if code != 1 || strings.Count(out, "keeps its lines") != 1 || !strings.Contains(out, "FAIL: inner keeps its lines in .ci/tests.txt") {
				t.Errorf("exit status %d\n%s", code, out)
			}
			if diff := cmp.Diff(wholeList, tr.list()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachPartChecksItsOwnPackagesAndTogetherNoneIsLeft(t *testing.T) {
	tr := newTree(t)
	tr.write(listFile, wholeList)
	ran := filepath.Join(t.TempDir(), "ran")
	if code, out := tr.run("-packages", "plain", "-check-list", "-ran", ran); code != 0 {
		t.Errorf("plain: exit status %d\n%s", code, out)
	}
	if code, out := tr.run("-none-left", ran); code != 1 || out != "FAIL: internal/real: no run has tested it, and .ci/tests.txt has 1 tests of it\n" {
		t.Errorf("without the lab: exit status %d\n%s", code, out)
	}
	tr.write("internal/real/real_test.go", strings.Replace(realTests, "TestReal", "TestOther", 1))
	if code, out := tr.run("-packages", "lab", "-check-list", "-ran", ran); code != 1 || !strings.Contains(out, "internal/real TestReal did not run\n") {
		t.Errorf("lab, renamed: exit status %d\n%s", code, out)
	}
	tr.write("internal/real/real_test.go", realTests)
	if code, out := tr.run("-packages", "lab", "-check-list", "-ran", ran); code != 0 {
		t.Errorf("lab: exit status %d\n%s", code, out)
	}
	if code, out := tr.run("-none-left", ran); code != 0 || out != "all 3 packages of .ci/tests.txt were tested\n" {
		t.Errorf("both: exit status %d\n%s", code, out)
	}
}

func TestEachPartWritesItsOwnPackages(t *testing.T) {
	tr := newTree(t)
	for _, part := range []string{"plain", "lab"} {
		if code, out := tr.run("-packages", part, "-update-list"); code != 0 {
			t.Errorf("%s: exit status %d\n%s", part, code, out)
		}
	}
	if diff := cmp.Diff(wholeList, tr.list()); diff != "" {
		t.Error(diff)
	}
}

func TestPackagesThatAreGoneLeaveTheList(t *testing.T) {
	tr := newTree(t)
	tr.write(listFile, wholeList+"\nzzz\n\tTestGone\n")
	if code, out := tr.run("-packages", "plain", "-update-list"); code != 0 || tr.list() != wholeList {
		t.Errorf("exit status %d\n%s\n%s", code, out, tr.list())
	}
}

func TestNothingIsLeftOfNoList(t *testing.T) {
	tr := newTree(t)
	ran := filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(ran, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := tr.run("-none-left", ran); code != 1 || !strings.Contains(out, "lists no test") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}
