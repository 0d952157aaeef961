package localfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestALockIsHeldByOneOpenFileUntilThatIsClosed(t *testing.T) {
	if !Locks {
		t.Skip("no file locks on this system")
	}
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	try := func(f *os.File, want bool) {
		t.Helper()
		if got, err := TryLock(f); got != want || err != nil {
			t.Fatalf("%v, %v", got, err)
		}
	}
	first, second := open(), open()
	try(first, true)
	try(second, false)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	try(second, true)
	if _, err := TryLock(first); err == nil {
		t.Error("a closed file could be locked")
	}
}
