package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// feed returns what is printed for the events of go test -json, and the exit status.
func feed(t *testing.T, events string, noSkips bool) (string, int) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	code := r.finish(noSkips)
	return out.String(), code
}

const skipped = `
{"Action":"start","Package":"m/p"}
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"    a_test.go:7: a note\n"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"    a_test.go:9: stage jvm cannot run here:\n"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"        java: not found\n"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"m/p","Test":"TestA"}
{"Action":"run","Package":"m/p","Test":"TestB"}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"--- PASS: TestB (0.00s)\n"}
{"Action":"pass","Package":"m/p","Test":"TestB"}
{"Action":"output","Package":"m/p","Output":"PASS\n"}
{"Action":"output","Package":"m/p","Output":"ok  \tm/p\t0.01s\n"}
{"Action":"pass","Package":"m/p"}
{"Action":"output","Package":"m/none","Output":"?   \tm/none\t[no test files]\n"}
{"Action":"skip","Package":"m/none"}
`

func TestSkipsAreShownAtTheEndWithTheirReason(t *testing.T) {
	const list = "ok  \tm/p\t0.01s\n" +
		"\nSKIPPED: stage jvm cannot run here: java: not found\n    m/p TestA\n"
	out, code := feed(t, skipped, false)
	if diff := cmp.Diff(list+"\n1 passed, 0 failed, 1 skipped\n", out); diff != "" || code != 0 {
		t.Errorf("exit status %d\n%s", code, diff)
	}
	out, code = feed(t, skipped, true)
	if diff := cmp.Diff(list+"\nFAIL: no test may skip here, and the ones above did\n\n1 passed, 0 failed, 1 skipped\n", out); diff != "" || code != 1 {
		t.Errorf("with -no-skips: exit status %d\n%s", code, diff)
	}
}

func TestFailureShowsWhatTheTestSaidAndNothingOfTheOthers(t *testing.T) {
	out, code := feed(t, `
{"Action":"run","Package":"m/p","Test":"TestGood"}
{"Action":"output","Package":"m/p","Test":"TestGood","Output":"    chatter\n"}
{"Action":"pass","Package":"m/p","Test":"TestGood"}
{"Action":"run","Package":"m/p","Test":"TestBad"}
{"Action":"run","Package":"m/p","Test":"TestBad/one"}
{"Action":"output","Package":"m/p","Test":"TestBad/one","Output":"=== RUN   TestBad/one\n"}
{"Action":"output","Package":"m/p","Test":"TestBad/one","Output":"    a_test.go:3: got 1\n"}
{"Action":"output","Package":"m/p","Test":"TestBad/one","Output":"    --- FAIL: TestBad/one (0.00s)\n"}
{"Action":"fail","Package":"m/p","Test":"TestBad/one"}
{"Action":"output","Package":"m/p","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"m/p","Test":"TestBad"}
{"Action":"output","Package":"m/p","Output":"FAIL\n"}
{"Action":"output","Package":"m/p","Output":"FAIL\tm/p\t0.01s\n"}
{"Action":"fail","Package":"m/p"}
`, false)
	want := "    a_test.go:3: got 1\n    --- FAIL: TestBad/one (0.00s)\n--- FAIL: TestBad (0.00s)\n" +
		"FAIL\n" + "FAIL\tm/p\t0.01s\n\nFAILED:\n    m/p TestBad/one\n\n1 passed, 2 failed\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 1 {
		t.Errorf("exit status %d\n%s", code, diff)
	}
}

func TestPanicIsShownAlthoughItsTestNeverEnds(t *testing.T) {
	out, code := feed(t, `
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"output","Package":"m/p","Output":"FAIL\tm/p\t0.01s\n"}
{"Action":"fail","Package":"m/p"}
`, false)
	if code != 1 || !strings.Contains(out, "panic: boom\nFAIL\tm/p") || !strings.HasSuffix(out, "\nFAILED:\n    m/p TestA (did not end)\n\nFAIL: 1 packages did not build or ended outside a test\n\nFAIL: no test ran\n\n0 passed, 1 failed\n") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

func TestPackageThatDoesNotBuildFails(t *testing.T) {
	out, code := feed(t, `
{"ImportPath":"m/q","Action":"build-output","Output":"q.go:1:1: syntax error\n"}
{"ImportPath":"m/q","Action":"build-fail"}
{"Action":"start","Package":"m/q"}
{"Action":"output","Package":"m/q","Output":"FAIL\tm/q [build failed]\n"}
{"Action":"fail","Package":"m/q","FailedBuild":"m/q"}
`+skipped, false)
	if code != 1 || !strings.HasPrefix(out, "q.go:1:1: syntax error\nFAIL\tm/q [build failed]\n") ||
		!strings.HasSuffix(out, "\nFAILED:\n    m/q (did not build, or ended outside a test)\n\nFAIL: 1 packages did not build or ended outside a test\n\n1 passed, 1 failed, 1 skipped\n") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

func TestNoTestIsAFailure(t *testing.T) {
	if out, code := feed(t, "", false); code != 1 || out != "\nFAIL: no test ran\n\n0 passed, 0 failed\n" {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

func TestSkipReason(t *testing.T) {
	for text, want := range map[string]string{
		"=== RUN   TestA\n--- SKIP: TestA (0.00s)\n":                              "(no reason given)",
		"    a_test.go:7: why\n        and more\n    --- SKIP: TestA/b (0.00s)\n": "why and more",
	} {
		if got := skipReason(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
