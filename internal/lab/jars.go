package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The script is embedded, because a test binary may run far away from the source tree.
//
//go:embed jars/fetch.sh jars/pom.xml jars/tiered.xml
var jarsFS embed.FS

// fetchWithin is long for 55 MB, and short of the time limit of a test binary.
const fetchWithin = 5 * time.Minute

// The parts of a release, each by the file that has Maven resolve it.
const (
	stageJars  = "pom.xml"
	tieredJars = "tiered.xml"
)

var versionForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)+$`)

// majorOf returns the first number of a Kafka version, e.g. 4 of 4.3.1.
func majorOf(version string) (int, error) {
	if !versionForm.MatchString(version) {
		return 0, fmt.Errorf("kafka version %q: want numbers with dots, such as %s", version, DefaultVersion)
	}
	first, _, _ := strings.Cut(version, ".")
	return strconv.Atoi(first)
}

// jarsOf returns the folder of a part of a release's jars and whether it is there. Its name is the one that jars/fetch.sh
// gives.
func jarsOf(version, part string) (dir string, cached bool, err error) {
	if _, err := majorOf(version); err != nil {
		return "", false, err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", false, err
	}
	pom, err := jarsFS.ReadFile("jars/" + part)
	if err != nil {
		return "", false, err
	}
	digest := sha256.Sum256(pom)
	dir = filepath.Join(cache, "jars", version+"-"+hex.EncodeToString(digest[:])[:12])
	switch _, err := os.Stat(dir); {
	case err == nil:
		return dir, true, nil
	case os.IsNotExist(err):
		return dir, false, nil
	default:
		return "", false, err
	}
}

// CacheDir returns the folder that outlives the tests: FLINKMM2_CACHE, or else flinkmm2 in the user's folder of caches.
// The scripts that fill it follow the same rule.
func CacheDir() (string, error) {
	if dir := os.Getenv("FLINKMM2_CACHE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "flinkmm2"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: neither FLINKMM2_CACHE nor XDG_CACHE_HOME is set: %w", err)
	}
	return filepath.Join(home, ".cache", "flinkmm2"), nil
}

// fetchJars returns the folder of a part of a release's jars, which jars/fetch.sh fills first if it is not there. scratch
// is a folder that the caller removes.
func fetchJars(ctx context.Context, version, part, scratch string) (string, error) {
	dir, cached, err := jarsOf(version, part)
	if err != nil || cached {
		return dir, err
	}
	scripts, err := fs.Sub(jarsFS, "jars")
	if err != nil {
		return "", err
	}
	got, err := RunScript(ctx, scripts, scratch, version, part)
	if err != nil {
		return "", fmt.Errorf("fetching the jars of Kafka %s: %w", version, err)
	}
	if got != dir {
		return "", fmt.Errorf("fetching the jars of Kafka %s: the script filled %q, and %q was expected", version, got, dir)
	}
	return dir, nil
}

// RunScript runs the fetch.sh of scripts, which fills a part of the cache, and returns what it printed. Its errors hold
// what it printed to standard error. scratch is a folder that the caller removes.
func RunScript(ctx context.Context, scripts fs.FS, scratch string, args ...string) (string, error) {
	at, err := os.MkdirTemp(scratch, "fetch-")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(at, scripts); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{filepath.Join(at, "fetch.sh")}, args...)...)
	// Maven outlives a script that is killed, and keeps its output open.
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
