package mirrordef_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
)

// TestNamesAreThoseOfTheClasses asks the classes of the releases whose jars are
// there: 3.9.2 and 4.3.1 where the JVM stage is prepared.
func TestNamesAreThoseOfTheClasses(t *testing.T) {
	lab.Require(t, lab.JVM)
	java, err := lab.FindJava()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	names, err := mirrordef.Names()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, v := range []mirrordef.Version{{3, 9, 2}, {4, 3, 1}} {
		jars, err := filepath.Glob(filepath.Join(cache, "jars", v.String()+"-*"))
		if err != nil || len(jars) == 0 {
			continue
		}
		asked++
		cmd := exec.CommandContext(t.Context(), java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars[len(jars)-1], "*"), "testdata/Keys.java")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", v, err, stderr.Bytes())
		}
		var want []string
		for of, keys := range names {
			for name, span := range keys {
				if span.Holds(v) {
					want = append(want, string(of)+"\t"+name)
				}
			}
		}
		slices.Sort(want)
		got := slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(out)), "\n"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: keys.tsv against the classes (-table +classes):\n%s", v, diff)
		}
	}
	if asked == 0 {
		lab.RequireParts(t, lab.JVM, "the jars of neither 3.9.2 nor 4.3.1 are cached; tests of package lab fetch them")
	}
}
