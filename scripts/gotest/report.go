package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

type testName struct{ pkg, test string }

// report prints what go test would print without -v, and keeps what was skipped and how each test ended.
type report struct {
	out      io.Writer
	pending  map[testName]*strings.Builder
	started  map[string][]string          // the tests of a package that have no verdict yet, in their order
	skips    map[string][]testName        // by reason
	verdicts map[string]map[string]string // the worst of each test by package: "pass", "skip" or "fail"
	passes   int
	failures int
	broken   int // packages that failed without a failed test, or did not build
	failing  map[string]bool
	unended  map[string][]string // the tests of a package that failed which have no verdict
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, pending: map[testName]*strings.Builder{}, started: map[string][]string{},
		skips: map[string][]testName{}, verdicts: map[string]map[string]string{}, failing: map[string]bool{}, unended: map[string][]string{},
	}
}

func (r *report) failed() bool { return r.failures+r.broken > 0 }

func (r *report) read(in io.Reader) error {
	for d := json.NewDecoder(in); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go test -json: %w", err)
		}
		r.handle(e)
	}
}

func (r *report) handle(e event) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "run":
		r.started[e.Package] = append(r.started[e.Package], e.Test)
	case "output":
		if r.pending[name] == nil {
			r.pending[name] = &strings.Builder{}
		}
		r.pending[name].WriteString(e.Output)
	case "pass", "fail", "skip":
		text := r.take(name)
		if e.Test == "" {
			r.packageEnded(e, text)
			return
		}
		r.started[e.Package] = slices.DeleteFunc(r.started[e.Package], func(t string) bool { return t == e.Test })
		r.judge(e)
		switch e.Action {
		case "pass":
			r.passes++
		case "skip":
			reason := skipReason(text)
			r.skips[reason] = append(r.skips[reason], name)
		case "fail":
			r.failures++
			r.failing[e.Package] = true
			fmt.Fprint(r.out, withoutFrame(text))
		}
	}
}

// judge keeps how a test ended. One that ran several times (-count, -cpu) passed if it always did.
func (r *report) judge(e event) {
	of := r.verdicts[e.Package]
	if of == nil {
		of = map[string]string{}
		r.verdicts[e.Package] = of
	}
	worse := []string{"", "pass", "skip", "fail"}
	if slices.Index(worse, e.Action) > slices.Index(worse, of[e.Test]) {
		of[e.Test] = e.Action
	}
}

// packageEnded prints the package's own lines; if it failed, also what its unfinished tests printed: a panic or a
// timeout is reported as the output of a test that never ends.
func (r *report) packageEnded(e event, text string) {
	if e.Action == "fail" {
		for _, test := range r.started[e.Package] {
			fmt.Fprint(r.out, r.take(testName{e.Package, test}))
		}
		r.unended[e.Package] = r.started[e.Package]
		if !r.failing[e.Package] {
			r.broken++
			r.failing[e.Package] = true
		}
		fmt.Fprint(r.out, text)
	} else {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "ok  \t") {
				fmt.Fprint(r.out, line)
			}
		}
	}
	delete(r.started, e.Package)
}

func (r *report) take(name testName) string {
	b := r.pending[name]
	delete(r.pending, name)
	if b == nil {
		return ""
	}
	return b.String()
}

// frame are the lines that only -v shows; go test -json implies it.
var frame = regexp.MustCompile(`(?m)^=== (RUN|PAUSE|CONT|NAME) .*\n`)

func withoutFrame(text string) string { return frame.ReplaceAllString(text, "") }

var (
	verdictLine = regexp.MustCompile(`(?m)^ *--- SKIP: .*\n?`)
	position    = regexp.MustCompile(`(?m)^ *[^ :]+\.go:\d+: `)
)

// skipReason returns what the test said last before it skipped.
func skipReason(text string) string {
	text = verdictLine.ReplaceAllString(withoutFrame(text), "")
	if at := position.FindAllStringIndex(text, -1); len(at) > 0 {
		text = text[at[len(at)-1][1]:]
	}
	reason := strings.Join(strings.Fields(text), " ")
	if reason == "" {
		return "(no reason given)"
	}
	return reason
}

// listFailed names what failed once more: what the tests printed may lie far above. A test whose subtest failed is not
// named beside it.
func (r *report) listFailed() {
	var names []string
	for pkg := range r.failing {
		failed := slices.Collect(maps.Keys(r.verdicts[pkg]))
		failed = slices.DeleteFunc(failed, func(test string) bool { return r.verdicts[pkg][test] != "fail" })
		all := slices.Concat(failed, r.unended[pkg])
		if len(all) == 0 {
			names = append(names, pkg+" (did not build, or ended outside a test)")
		}
		for i, test := range all {
			switch {
			case slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, test+"/") }):
			case i < len(failed):
				names = append(names, pkg+" "+test)
			default:
				names = append(names, pkg+" "+test+" (did not end)")
			}
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	fmt.Fprintf(r.out, "\nFAILED:\n")
	for _, name := range names {
		fmt.Fprintf(r.out, "    %s\n", name)
	}
}

// finish prints the skips and the closing line, and returns the exit status.
func (r *report) finish(noSkips bool) int {
	code, skipped := 0, 0
	for _, reason := range slices.Sorted(maps.Keys(r.skips)) {
		names := r.skips[reason]
		skipped += len(names)
		fmt.Fprintf(r.out, "\nSKIPPED: %s\n", reason)
		for _, n := range names {
			fmt.Fprintf(r.out, "    %s %s\n", n.pkg, n.test)
		}
	}
	r.listFailed()
	if skipped > 0 && noSkips {
		fmt.Fprintf(r.out, "\nFAIL: no test may skip here, and the ones above did\n")
		code = 1
	}
	if r.broken > 0 {
		fmt.Fprintf(r.out, "\nFAIL: %d packages did not build or ended outside a test\n", r.broken)
	}
	if r.failed() {
		code = 1
	}
	if r.passes+r.failures == 0 {
		fmt.Fprintf(r.out, "\nFAIL: no test ran\n")
		code = 1
	}
	closing := fmt.Sprintf("%d passed, %d failed", r.passes, r.failures+r.broken)
	if skipped > 0 {
		closing += fmt.Sprintf(", %d skipped", skipped)
	}
	fmt.Fprintf(r.out, "\n%s\n", closing)
	return code
}
