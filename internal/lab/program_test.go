package lab

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProgramIsSpokenToByItsStandardInput(t *testing.T) {
	home := t.TempDir()
	program(t, filepath.Join(home, "bin"), "java", `case $1 in -version) echo 'openjdk version "17"' >&2; exit;; esac
echo "ready with $*"; while read -r line; do echo "heard $line"; done; echo over; exec sleep 600`)
	t.Setenv("JAVA_HOME", home)
	p := StartProgram(t, Program{Name: "copy", Args: []string{"-cp", "jars", "Main"}, Ready: func(log string) bool { return strings.Contains(log, "ready") }})
	if want := "-XX:TieredStopAtLevel=1 -cp jars Main\n"; !strings.Contains(p.Log(), want) {
		t.Errorf("log %q lacks %q", p.Log(), want)
	}
	p.Tell(t, "stop here")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.Log(), "heard stop here\n"); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("log: %s", p.Log())
		}
	}
	p.Kill(t)
	if got := judge(t, func(t testing.TB) { p.Tell(t, "again") }); got.outcome != "failed" || !strings.Contains(got.message, `copy: telling it "again"`) {
		t.Errorf("%s: %s", got.outcome, got.message)
	}
	quiet := shell(t, `echo READY; exec sleep 600`)
	if err := quiet.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := judge(t, func(t testing.TB) { quiet.Tell(t, "hello") }); got.outcome != "failed" || got.message != "shell: nobody reads its standard input" {
		t.Errorf("%s: %s", got.outcome, got.message)
	}
}

func TestStagesOfOthersAreNamedInRequire(t *testing.T) {
	for _, tc := range []struct {
		required, outcome, message string
		missing                    []string
	}{
		{"", "", "", nil},
		{"flink", "", "", nil},
		{"", "skipped", "stage flink cannot run here: mvn: gone; java: gone", []string{"mvn: gone", "java: gone"}},
		{"jvm", "skipped", "stage flink cannot run here: mvn: gone", []string{"mvn: gone"}},
		{"jvm,flink", "failed", "stage flink cannot run here and FLINKMM2_REQUIRE demands it: mvn: gone", []string{"mvn: gone"}},
		{"flunk", "failed", `FLINKMM2_REQUIRE names the unknown stage "flunk": want a comma-separated list of jvm, flink, browser`, nil},
	} {
		t.Setenv(RequireEnv, tc.required)
		got := judge(t, func(t testing.TB) { RequireParts(t, Flink, tc.missing...) })
		if got.outcome != tc.outcome || got.message != tc.message {
			t.Errorf("%q, %q: %s: %q, want %s: %q", tc.required, tc.missing, got.outcome, got.message, tc.outcome, tc.message)
		}
	}
	if got := judge(t, func(t testing.TB) { Require(t, Flink) }); got.outcome != "failed" || !strings.Contains(got.message, "flinklab") {
		t.Errorf("%s: %s", got.outcome, got.message)
	}
}
