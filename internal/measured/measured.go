// Package measured lets tests measure what a process takes though they run under
// the race detector, which keeps a shadow of all memory and slows everything.
package measured

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Binary returns a test binary of the package under test that has no race
// detector in it: this one, or one that is built for the purpose.
func Binary(t testing.TB) string {
	t.Helper()
	if !Race {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return exe
	}
	path := filepath.Join(t.TempDir(), "without-race.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-race=false", "-o", path, ".") //nolint:gosec // a folder of this test
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build without the race detector: %v\n%s", err, out)
	}
	return path
}
