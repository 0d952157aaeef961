package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// verdict is how a function that was given a testing.TB ended.
type verdict struct {
	testing.TB
	outcome string // skipped, failed, or empty if it returned
	message string
	cleanup []func()
	failed  bool
}

func (v *verdict) Helper()                       {}
func (v *verdict) Cleanup(f func())              { v.cleanup = append(v.cleanup, f) }
func (v *verdict) Failed() bool                  { return v.failed }
func (v *verdict) Logf(format string, a ...any)  { v.message += fmt.Sprintf(format, a...) }
func (v *verdict) Skipf(format string, a ...any) { v.end("skipped", fmt.Sprintf(format, a...)) }
func (v *verdict) Fatalf(format string, a ...any) {
	v.end("failed", fmt.Sprintf(format, a...))
}
func (v *verdict) Fatal(a ...any) { v.end("failed", fmt.Sprint(a...)) }

func (v *verdict) end(outcome, message string) {
	v.outcome, v.message = outcome, message
	runtime.Goexit()
}

func judge(t *testing.T, f func(testing.TB)) *verdict {
	t.Helper()
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(v)
	}()
	<-done
	return v
}

// program puts an executable shell script into dir.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this system to write a program in")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+sh+"\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestRequireSaysWhatIsMissing(t *testing.T) {
	const java17 = `echo 'openjdk version "17.0.15" 2025-04-15' >&2`
	for _, tc := range []struct {
		name     string
		prepare  func(t *testing.T, bin string)
		required string
		outcome  string
		want     []string
	}{
		{
			name:    "no tool at all",
			outcome: "skipped",
			want: []string{
				"stage jvm cannot run here: ", "java: not found in PATH (Java 17 or newer is needed)",
				"mvn: not found in PATH (it fetches the jars of Kafka " + DefaultVersion, "bash: not found in PATH",
			},
		},
		{
			name:     "the same where the stage is required",
			required: "jvm",
			outcome:  "failed",
			want:     []string{"stage jvm cannot run here and FLINKMM2_REQUIRE demands it: ", "java: not found", "mvn: not found"},
		},
		{
			name:    "a Java that is too old",
			prepare: func(t *testing.T, bin string) { program(t, bin, "java", `echo 'openjdk version "11.0.2"' >&2`) },
			outcome: "skipped",
			want:    []string{"is version 11, and Java 17 or newer is needed"},
		},
		{
			name:    "a Java of the old numbering",
			prepare: func(t *testing.T, bin string) { program(t, bin, "java", `echo 'java version "1.8.0_402"' >&2`) },
			outcome: "skipped",
			want:    []string{"is version 8, and Java 17 or newer is needed"},
		},
		{
			name:    "a launcher without a Java",
			prepare: func(t *testing.T, bin string) { program(t, bin, "java", `echo 'No Java runtime present' >&2; exit 1`) },
			outcome: "skipped",
			want:    []string{"java -version: exit status 1"},
		},
		{
			name:    "a launcher that says something else",
			prepare: func(t *testing.T, bin string) { program(t, bin, "java", `echo hello`) },
			outcome: "skipped",
			want:    []string{`-version names no version: "hello"`},
		},
		{
			name: "JAVA_HOME that is none",
			prepare: func(t *testing.T, bin string) {
				program(t, bin, "java", java17)
				t.Setenv("JAVA_HOME", t.TempDir())
			},
			outcome: "skipped",
			want:    []string{"java: JAVA_HOME holds no bin/java"},
		},
		{
			name: "Maven alone, and no jars",
			prepare: func(t *testing.T, bin string) {
				program(t, bin, "java", java17)
				program(t, bin, "bash", "")
			},
			required: " other , jvm",
			outcome:  "failed",
			want:     []string{`FLINKMM2_REQUIRE names the unknown stage "other": want a comma-separated list of jvm`},
		},
		{
			name: "nothing: jars can be fetched",
			prepare: func(t *testing.T, bin string) {
				program(t, bin, "java", java17)
				program(t, bin, "mvn", "")
				program(t, bin, "bash", "")
			},
			required: "jvm,",
		},
		{
			name: "nothing: jars are cached",
			prepare: func(t *testing.T, bin string) {
				program(t, bin, "java", java17)
				dir, _, err := jarsOf(DefaultVersion, stageJars)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bin := t.TempDir()
			t.Setenv("FLINKMM2_CACHE", t.TempDir())
			t.Setenv("JAVA_HOME", "")
			t.Setenv(RequireEnv, tc.required)
			if tc.prepare != nil {
				tc.prepare(t, bin)
			}
			t.Setenv("PATH", bin)
			got := judge(t, func(t testing.TB) { Require(t, JVM) })
			if got.outcome != tc.outcome {
				t.Fatalf("outcome %q with message %q, want outcome %q", got.outcome, got.message, tc.outcome)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.message, want) {
					t.Errorf("message %q lacks %q", got.message, want)
				}
			}
		})
	}
}

func TestRequireRefusesAnUnknownStage(t *testing.T) {
	got := judge(t, func(t testing.TB) { Require(t, "jmv") })
	if want := `unknown stage "jmv": want one of jvm, flink, browser`; got.outcome != "failed" || got.message != want {
		t.Errorf("%s: %q, want failed: %q", got.outcome, got.message, want)
	}
}

func TestSharedStageThatCannotRunSkipsEveryTest(t *testing.T) {
	t.Setenv("FLINKMM2_CACHE", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	t.Setenv(RequireEnv, "")
	bin := t.TempDir()
	program(t, bin, "java", `echo 'openjdk version "17"' >&2`)
	program(t, bin, "bash", `echo 'no route to host' >&2; exit 1`)
	program(t, bin, "mvn", "")
	t.Setenv("PATH", bin)
	var s Shared
	code := s.Main(runner(func() int {
		for range 2 {
			got := judge(t, func(t testing.TB) { s.Get(t) })
			if got.outcome != "skipped" || !strings.Contains(got.message, "fetching the jars of Kafka "+DefaultVersion) ||
				!strings.Contains(got.message, "no route to host") {
				t.Errorf("%s: %s", got.outcome, got.message)
			}
		}
		return 7
	})).Run()
	if code != 7 {
		t.Errorf("exit code %d, want that of the tests", code)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the folder of the stage is still there: %v", err)
	}
}

func TestSharedStageRefusesAPackageThatWouldNotStopIt(t *testing.T) {
	var s Shared
	if got := judge(t, func(t testing.TB) { s.Get(t) }); got.outcome != "failed" || !strings.Contains(got.message, "does not run Shared.Main") {
		t.Errorf("%s: %s", got.outcome, got.message)
	}
}
