package localfs_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

func opened(t *testing.T, dir string) fs.FS {
	t.Helper()
	d, err := localfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d.FS()
}

func TestItIsAFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "b c"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b c/d"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := fstest.TestFS(opened(t, dir), "a", "b c/d"); err != nil {
		t.Error(err)
	}
	if _, err := localfs.Open(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that does not exist is opened")
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(in, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := opened(t, in).Open("link"); err == nil || !strings.Contains(err.Error(), "it is a symbolic link that is not followed (path escapes from parent): put a copy") {
		t.Errorf("got %v", err)
	}
}

func TestASocketIsNotOpened(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a socket has to be short
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "s")
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer l.Close()
	if _, err := opened(t, ".").Open("s"); err == nil || !strings.Contains(err.Error(), "it is a socket, not a file") {
		t.Errorf("got %v", err)
	}
}
