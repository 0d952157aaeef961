//go:build unix

package flinkstate_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// To open a named pipe waits for somebody who writes to it.
func TestANamedPipeIsNotWaitedFor(t *testing.T) {
	dir, _ := onDisk(t, "x")
	if err := syscall.Mkfifo(filepath.Join(dir, "x"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := flinkstate.ReadDir(dir); err == nil || !strings.Contains(err.Error(), "it is a named pipe, not a file") {
		t.Errorf("as a state file: %v", err)
	}
	other := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(other, "_metadata"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{other, filepath.Join(other, "_metadata")} {
		if _, err := flinkstate.ReadDir(form); err == nil || !strings.Contains(err.Error(), "it is a named pipe, not a file") {
			t.Errorf("%s: %v", form, err)
		}
	}
}
