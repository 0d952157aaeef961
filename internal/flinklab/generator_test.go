package flinklab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

func TestReleasesAreListed(t *testing.T) {
	t.Parallel()
	all, err := Releases()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Flink)
		if r.Connector == "" || strings.Contains(r.Profiles, "-") {
			t.Errorf("%+v", r)
		}
	}
	for _, want := range []string{newest1, newest2, "1.10.3", "1.14.6"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
	if !slices.IsSortedFunc(names, compareVersions) {
		t.Errorf("not in order: %q", names)
	}
}

func compareVersions(a, b string) int {
	pad := func(v string) string {
		var out strings.Builder
		for part := range strings.SplitSeq(v, ".") {
			out.WriteString(strings.Repeat("0", 4-len(part)) + part)
		}
		return out.String()
	}
	return strings.Compare(pad(a), pad(b))
}

func TestReleaseIsFoundByName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Release{
		"1.14.6":            {Flink: "1.14.6", Connector: "1.14.6"},
		"2.3.0":             {Flink: "2.3.0", Connector: "5.0.0-2.2", Profiles: "changelog,table"},
		"1.18.1/3.1.0-1.18": {Flink: "1.18.1", Connector: "3.1.0-1.18", Profiles: "changelog,table"},
	} {
		if got, err := FindRelease(name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := FindRelease("1.9.0"); err == nil || !strings.Contains(err.Error(), `flink version "1.9.0": generator/versions.tsv has 1.10.3, `) {
		t.Errorf("got %v", err)
	}
}

// putsPaths plays Maven: it names a jar and a compiler of its repository.
const putsPaths = `for a; do case $a in -Dto.dir=*) to=${a#*=}; esac; done; echo x >"$to/a.jar"; printf %s "$to/a.jar" >"$to/jars.txt"; printf %s "$to/ecj.jar" >"$to/compiler.txt"; `

// Sources that a connector does not have the classes for would not compile, and ones that are left out would make their
// scenarios vanish.
func TestGeneratorIsCompiledFromWhatTheReleaseHas(t *testing.T) {
	for name, tc := range map[string]struct {
		release  Release
		sources  []string
		profiles string
	}{
		"1.10": {Release{"1.10.3", "1.10.3", ""}, []string{"old"}, ""},
		"1.12": {Release{"1.12.7", "1.12.7", ""}, []string{"common", "legacy"}, "-P fixtures "},
		"1.14": {Release{"1.14.6", "1.14.6", ""}, []string{"common", "sink", "legacy"}, "-P fixtures "},
		"3.0":  {Release{"1.18.1", "3.0.2-1.18", ""}, []string{"common", "sink", "legacy"}, "-P fixtures "},
		"3.4":  {Release{"1.20.5", "3.4.0-1.20", "changelog"}, []string{"common", "sink", "legacy", "dynamic", "bench"}, "-P fixtures,changelog "},
		"5.0":  {Release{"2.3.0", "5.0.0-2.2", "changelog,table"}, []string{"common", "sink", "dynamic", "bench", "table"}, "-P fixtures,changelog,table "},
	} {
		t.Run(name, func(t *testing.T) {
			runs := t.TempDir()
			t.Setenv("RUNS", runs)
			tools(t, os.Getenv("PATH"), map[string]string{"mvn": `echo "$*" >>"$RUNS/mvn"; ` + putsPaths, "java": `echo "$*" >>"$RUNS/java"; ` + compiles})
			var dir string
			for range 2 {
				var err error
				if dir, err = runGeneratorScript(t.Context(), tc.release, t.TempDir()); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"jars/a.jar", "classes/META-INF/services/org.apache.flink.core.fs.FileSystemFactory"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Error(err)
				}
			}
			compiler, maven := read(t, filepath.Join(runs, "java")), read(t, filepath.Join(runs, "mvn"))
			var got []string
			for arg := range strings.FieldsSeq(compiler) {
				if rest, ok := strings.CutSuffix(arg, "/java"); ok {
					got = append(got, filepath.Base(rest))
				}
			}
			if !slices.Equal(got, tc.sources) {
				t.Errorf("compiled %q, want %q", got, tc.sources)
			}
			if !strings.Contains(maven, tc.profiles+"dependency:") || strings.Count(maven, "\n") != 1 || (tc.profiles == "") == strings.Contains(maven, "-P ") {
				t.Errorf("Maven was run as\n%s", maven)
			}
		})
	}
}

func TestFailedGeneratorLeavesNothingAndNamesNoRegistry(t *testing.T) {
	for name, tc := range map[string]struct {
		release Release
		scripts map[string]string
		want    []string
	}{
		"Maven": {
			Release{"2.3.0", "5.0.0-2.2", ""},
			map[string]string{"mvn": `echo 'Could not transfer a:b from/to central (https://user:pw@registry.example/maven2): no route'; exit 1`, "java": compiles},
			[]string{"making the generator for Flink 2.3.0", "central (<registry>): no route", "could not resolve the jars of Flink 2.3.0 with the connector 5.0.0-2.2"},
		},
		"the compiler": {
			Release{"2.3.0", "5.0.0-2.2", ""},
			map[string]string{"mvn": putsPaths, "java": `echo 'no such class' >&2; exit 1`},
			[]string{"no such class", "the generator does not compile against Flink 2.3.0"},
		},
		"a version that is none": {Release{"2.3.0; true", "5.0.0-2.2", ""}, nil, []string{"not a version: 2.3.0; true"}},
		"an unknown profile":     {Release{"2.3.0", "5.0.0-2.2", "hive"}, nil, []string{"not profiles: hive"}},
	} {
		t.Run(name, func(t *testing.T) {
			tools(t, os.Getenv("PATH"), tc.scripts)
			dir, err := runGeneratorScript(t.Context(), tc.release, t.TempDir())
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
			cache, err := lab.CacheDir()
			if err != nil {
				t.Fatal(err)
			}
			for _, pattern := range []string{"*", ".fetch.*"} {
				if left, err := filepath.Glob(filepath.Join(cache, "flink-generator", pattern)); err != nil || len(left) > 0 {
					t.Errorf("left behind: %q, %v", left, err)
				}
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
