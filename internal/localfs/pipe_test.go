//go:build unix

package localfs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// To open a named pipe waits for somebody who writes to it.
func TestANamedPipeIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := opened(t, dir).Open("pipe"); err == nil || !strings.Contains(err.Error(), "it is a named pipe, not a file") {
		t.Errorf("got %v", err)
	}
}
