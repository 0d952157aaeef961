package flinklab

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// The newest release of each line whose artifacts are published together with a Kafka connector built for it.
const (
	Flink1 = "1.20.5"
	Flink2 = "2.2.1"
)

// Versions returns the releases that a job can run on, the oldest first.
func Versions() []string { return []string{Flink1, Flink2} }

// connector returns the release of flink-connector-kafka that goes with a Flink release.
func connector(version string) (string, error) {
	switch version {
	case Flink1:
		return "3.4.0-1.20", nil
	case Flink2:
		return "5.0.0-2.2", nil
	default:
		return "", fmt.Errorf("flink version %q: want one of %q", version, Versions())
	}
}

// The script is embedded, because a test binary may run far away from the source tree.
//
//go:embed jars/fetch.sh jars/pom.xml jars/CopyJob.java
var jarsFS embed.FS

// Require returns if jobs of all [Versions] can run on this machine: it looks for Java and, unless the jars are cached,
// for what fetches them. Otherwise it skips t with the reason, or fails t if FLINKMM2_REQUIRE lists flink.
func Require(t testing.TB) {
	t.Helper()
	lab.RequireParts(t, lab.Flink, missing()...)
}

func missing() []string {
	var out, absent []string
	if _, err := lab.FindJava(); err != nil {
		out = append(out, err.Error())
	}
	for _, version := range Versions() {
		if _, cached, err := folder(version); err != nil {
			return append(out, err.Error()) // the same for every version
		} else if !cached {
			absent = append(absent, version)
		}
	}
	if len(absent) == 0 {
		return out
	}
	for _, tool := range []string{"mvn", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			out = append(out, fmt.Sprintf("%s: not found in PATH (it fetches the jars of Flink %s, which are not cached yet)", tool, strings.Join(absent, " and ")))
		}
	}
	return out
}

// folder returns where the jars and classes of a release are, and whether they are there. Its name is the one that
// jars/fetch.sh gives.
func folder(version string) (dir string, cached bool, err error) {
	connector, err := connector(version)
	if err != nil {
		return "", false, err
	}
	cache, err := lab.CacheDir()
	if err != nil {
		return "", false, err
	}
	digest := sha256.New()
	for _, name := range []string{"jars/pom.xml", "jars/CopyJob.java"} {
		text, err := jarsFS.ReadFile(name)
		if err != nil {
			return "", false, err
		}
		digest.Write(text)
	}
	dir = filepath.Join(cache, "flink", version+"-"+connector+"-"+hex.EncodeToString(digest.Sum(nil))[:12])
	switch _, err := os.Stat(dir); {
	case err == nil:
		return dir, true, nil
	case os.IsNotExist(err):
		return dir, false, nil
	default:
		return "", false, err
	}
}

// fetch returns the folder of a release, which jars/fetch.sh fills first if it is not there. scratch is a folder that
// the caller removes.
func fetch(ctx context.Context, version, scratch string) (string, error) {
	dir, cached, err := folder(version)
	if err != nil || cached {
		return dir, err
	}
	connector, err := connector(version)
	if err != nil {
		return "", err
	}
	scripts, err := fs.Sub(jarsFS, "jars")
	if err != nil {
		return "", err
	}
	got, err := lab.RunScript(ctx, scripts, scratch, version, connector)
	if err != nil {
		return "", fmt.Errorf("making the job for Flink %s: %w", version, err)
	}
	if got != dir {
		return "", fmt.Errorf("making the job for Flink %s: the script filled %q, and %q was expected", version, got, dir)
	}
	return dir, nil
}
