package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersionHasToBeARelease(t *testing.T) {
	for _, version := range []string{"", "latest", "4", "4.3.1-SNAPSHOT", "../../etc", "4.3.1 "} {
		if _, _, err := jarsOf(version, stageJars); err == nil || !strings.Contains(err.Error(), "want numbers with dots") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// onlyBash leaves the script what it needs, and mvn as the test wants it.
func onlyBash(t *testing.T, mvn string) {
	t.Helper()
	bin := t.TempDir()
	program(t, bin, "mvn", mvn)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("FLINKMM2_CACHE", t.TempDir())
}

const putsAJar = `for a; do case $a in -Djars.dir=*) mkdir -p "${a#*=}" && echo x >"${a#*=}/x.jar";; esac; done; `

func TestFetchFillsTheCacheOnceAndWhole(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	t.Setenv("RUNS", runs)
	onlyBash(t, putsAJar+`echo "$*" >>"$RUNS"`)
	for range 2 {
		dir, err := fetchJars(t.Context(), "4.3.1", stageJars, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "x.jar")); err != nil {
			t.Error(err)
		}
	}
	for _, part := range []string{stageJars, tieredJars} {
		if _, err := fetchJars(t.Context(), "3.9.2", part, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	out, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "/pom.xml -Pkafka4 -Dkafka.version=4.3.1 ") || !strings.Contains(lines[1], "/pom.xml -Pkafka3 -Dkafka.version=3.9.2 ") ||
		!strings.Contains(lines[2], "/tiered.xml -Dkafka.version=3.9.2 ") {
		t.Errorf("Maven was run as\n%s", out)
	}
}

func TestFailedFetchLeavesNoJarsAndNamesNoRegistry(t *testing.T) {
	onlyBash(t, putsAJar+`echo 'Could not transfer artifact a:b from/to central (https://user:pw@registry.example/maven2): no route'; exit 1`)
	dir, err := fetchJars(t.Context(), "4.3.1", stageJars, t.TempDir())
	if err == nil {
		t.Fatalf("no error, and the folder %q", dir)
	}
	if s := err.Error(); !strings.Contains(s, "central (<registry>): no route") || !strings.Contains(s, "could not resolve the jars of Kafka 4.3.1") ||
		strings.Contains(s, "registry.example") {
		t.Errorf("error: %v", err)
	}
	if _, cached, err := jarsOf("4.3.1", stageJars); cached || err != nil {
		t.Errorf("cached: %t, %v", cached, err)
	}
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "jars", ".fetch.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestCacheFolderRule(t *testing.T) {
	t.Setenv("FLINKMM2_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "/home/u")
	for _, tc := range []struct{ key, value, want string }{
		{"HOME", "/home/u", "/home/u/.cache/flinkmm2"},
		{"XDG_CACHE_HOME", "/x", "/x/flinkmm2"},
		{"FLINKMM2_CACHE", "/f", "/f"},
	} {
		t.Setenv(tc.key, tc.value)
		if got, err := CacheDir(); err != nil || filepath.ToSlash(got) != tc.want {
			t.Errorf("with %s: %q, %v; want %q", tc.key, got, err, tc.want)
		}
	}
}
