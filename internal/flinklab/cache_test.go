package flinklab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// tools puts programs, each a shell script, before the folders of path into PATH, and gives the test an empty cache.
func tools(t *testing.T, path string, scripts map[string]string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this system to write a program in")
	}
	bin := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+sh+"\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FLINKMM2_CACHE", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	if path != "" {
		bin += string(filepath.ListSeparator) + path
	}
	t.Setenv("PATH", bin)
}

const java17 = `echo 'openjdk version "17.0.15" 2025-04-15' >&2`

func TestMissingNamesEachTool(t *testing.T) {
	for _, tc := range []struct {
		name    string
		scripts map[string]string
		cached  []string
		want    []string
	}{
		{"everything", nil, nil, []string{
			"java: not found in PATH", "mvn: not found in PATH (it fetches the jars of Flink " + Flink1 + " and " + Flink2 + ", which are not cached yet)", "bash: not found in PATH",
		}},
		{"Maven for one release", map[string]string{"java": java17, "bash": ""}, []string{Flink1}, []string{"the jars of Flink " + Flink2 + ","}},
		{"nothing: jars can be fetched", map[string]string{"java": java17, "bash": "", "mvn": ""}, nil, nil},
		{"nothing: all is cached", map[string]string{"java": java17}, Versions(), nil},
		{"Java alone", nil, Versions(), []string{"java: not found in PATH"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tools(t, "", tc.scripts)
			for _, version := range tc.cached {
				dir, _, err := folder(version)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			got := missing()
			if len(got) != len(tc.want) {
				t.Fatalf("%q, want %d reasons", got, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%q lacks %q", got[i], want)
				}
			}
		})
	}
}

func TestVersionHasToBeOneWithAConnector(t *testing.T) {
	if _, _, err := folder("1.19.3"); err == nil || !strings.Contains(err.Error(), `flink version "1.19.3": want one of ["1.20.5" "2.2.1"]`) {
		t.Error(err)
	}
}

// putsJars plays Maven: it leaves a jar and a compiler.
const putsJars = `for a; do case $a in -Dto.dir=*) to=${a#*=}; esac; done; mkdir -p "$to/jars" "$to/compiler"; echo x >"$to/jars/a.jar"; echo x >"$to/compiler/ecj-1.jar"; `

// compiles plays the compiler.
const compiles = `while [ $# -gt 0 ]; do [ "$1" != -d ] || mkdir -p "$2"; shift; done`

func TestFetchFillsTheCacheOnceAndWhole(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	t.Setenv("RUNS", runs)
	tools(t, os.Getenv("PATH"), map[string]string{"mvn": putsJars + `echo "$*" >>"$RUNS"`, "java": compiles})
	for _, version := range []string{Flink1, Flink1, Flink2} {
		dir, err := fetch(t.Context(), version, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"jars/a.jar", "classes"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	out, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "-Dflink.version=1.20.5 -Dconnector.version=3.4.0-1.20 ") ||
		!strings.Contains(lines[1], "-Dflink.version=2.2.1 -Dconnector.version=5.0.0-2.2 ") {
		t.Errorf("Maven was run as\n%s", out)
	}
}

func TestFailedFetchLeavesNothingAndNamesNoRegistry(t *testing.T) {
	for name, tc := range map[string]struct {
		scripts map[string]string
		want    []string
	}{
		"Maven": {
			map[string]string{"mvn": putsJars + `echo 'Could not transfer a:b from/to central (https://user:pw@registry.example/maven2): no route'; exit 1`, "java": compiles},
			[]string{"making the job for Flink 2.2.1", "central (<registry>): no route", "could not resolve the jars of Flink 2.2.1 with the connector 5.0.0-2.2"},
		},
		"the compiler": {
			map[string]string{"mvn": putsJars, "java": `echo 'no such class' >&2; exit 1`},
			[]string{"no such class", "CopyJob.java does not compile against Flink 2.2.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tools(t, os.Getenv("PATH"), tc.scripts)
			dir, err := fetch(t.Context(), Flink2, t.TempDir())
			if err == nil {
				t.Fatalf("no error, and the folder %q", dir)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "registry.example") {
				t.Errorf("error: %v", err)
			}
			if _, cached, err := folder(Flink2); cached || err != nil {
				t.Errorf("cached: %t, %v", cached, err)
			}
			cache, err := lab.CacheDir()
			if err != nil {
				t.Fatal(err)
			}
			if left, err := filepath.Glob(filepath.Join(cache, "flink", ".fetch.*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}
