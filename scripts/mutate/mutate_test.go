package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	weak  = "scripts/mutate/testdata/weak"
	bound = weak + "/weak.go Inside: v <= high => <"
	isNil = weak + "/weak.go Count: err != nil => =="
	count = weak + "/weak.go Count: n ++ => --"
)

func mutated(t *testing.T, args ...string) (int, string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out, errors bytes.Buffer
	code, err := run(t.Context(), root, args, &out, &errors)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errors.String())
	}
	return code, out.String()
}

func list(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mutants.txt")
	if err := os.WriteFile(path, []byte("# a comment\n\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the tests of a package do not know lives, and nothing else: the operators of
// Shapes are replaced wherever they stand, and its tests know each.
func TestWhatNoTestKnowsLives(t *testing.T) {
	t.Parallel()
	all := []string{bound + " # r", isNil + " # r", count + " # r"}
	for name, c := range map[string]struct {
		list []string
		want []string
	}{
		"none is listed": {nil, []string{"lived, and is not listed: " + bound, "not reached, and is not listed: " + isNil, "not reached, and is not listed: " + count}},
		"all are":        {all, nil},
		"one too many": {append(all, weak+"/weak.go Inside: v >= low => < # r", weak+"/gone.go f: a < b => >= # r", weak+"/deeper/x.go f: a < b => >= # r"), []string{
			"killed, and is listed as one that lives: " + weak + "/weak.go Inside: v >= low => <",
			"there is no such mutant, and it is listed: " + weak + "/gone.go f: a < b => >=",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(page, []byte("# Title\n"+begin+"what was there\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out := mutated(t, "-allowed", list(t, c.list...), "-table", page, "./"+weak+"/")
			var got []string
			for line := range strings.Lines(out) {
				if strings.Contains(line, "listed") {
					got = append(got, strings.TrimSpace(line))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" || (code != 0) != (c.want != nil) {
				t.Errorf("exit status %d (-want +got):\n%s", code, d)
			}
			written, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(written), "# Title\n"+begin) || !strings.Contains(string(written), "| `"+weak+"` | 28 | 25 | 0 | 1 | 2 |") || strings.Contains(string(written), "what was there") {
				t.Errorf("the page is\n%s", written)
			}
		})
	}
}

func TestOnlySomeMutants(t *testing.T) {
	t.Parallel()
	allowed := list(t, bound+" # r", isNil+" # r")
	if code, out := mutated(t, "-allowed", allowed, "-only", "Inside", weak); code != 0 || !strings.Contains(out, "4 killed, 0 timed out, 1 lived, 0 not reached") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
	if code, out := mutated(t, "-allowed", allowed, "-from", list(t, isNil, weak+"/weak.go Inside: v >= low => <"), weak); code != 0 || !strings.Contains(out, "1 killed, 0 timed out, 0 lived, 1 not reached") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
	if code, out := mutated(t, "-list", weak); code != 0 || strings.Count(out, "\n") != 28 || !strings.Contains(out, count+"\n") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}

func TestMutateRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no package":          {nil, "no package is given"},
		"no such package":     {[]string{"scripts/nothing"}, "scripts/nothing"},
		"a part in the table": {[]string{"-table", "x", "-only", "y", weak}, "-table with -only, -from"},
		"a part of the time":  {[]string{"-table", "x", "-budget", "1s", weak}, "-from or -budget"},
		"a negative time":     {[]string{"-budget", "-1s", weak}, "it is negative"},
		"no worker":           {[]string{"-workers", "0", weak}, "want 1 or more"},
		"no reason":           {[]string{"-allowed", list(t, bound), weak}, "want MUTANT # REASON"},
		"an empty reason":     {[]string{"-allowed", list(t, bound+" # "), weak}, "want MUTANT # REASON"},
		"listed twice":        {[]string{"-allowed", list(t, bound+" # a", bound+" # b"), weak}, "twice"},
		"no names":            {[]string{"-from", "/nonexistent", weak}, "/nonexistent"},
		"no page":             {[]string{"-table", "/nonexistent", weak}, "/nonexistent"},
		"a page without mark": {[]string{"-table", list(t), weak}, "lacks the line"},
		"no list":             {[]string{"-allowed", "/nonexistent", weak}, "/nonexistent"},
	} {
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		code, err := run(t.Context(), root, c.args, &out, &said)
		if code == 0 || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit status %d, %v, want %q in it", name, code, err, c.want)
		}
	}
}
