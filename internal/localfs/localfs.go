// Package localfs gives a local folder as an fs.FS for files whose names come
// from a file that nobody vouches for: nothing outside of the folder is opened,
// not even through symbolic links, and nothing but regular files and folders.
package localfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Dir is an open folder.
type Dir struct{ root *os.Root }

// Open opens a local folder.
func Open(dir string) (Dir, error) {
	root, err := os.OpenRoot(dir)
	return Dir{root}, err
}

// Close lets go of the folder. What was opened in it stays open.
func (d Dir) Close() error { return d.root.Close() }

// FS returns what is in the folder. It is an [fs.StatFS] and an [fs.ReadDirFS].
func (d Dir) FS() fs.FS { return dirFS{d.root, d.root.FS()} }

type dirFS struct {
	root *os.Root
	in   fs.FS
}

var (
	_ fs.StatFS    = dirFS{}
	_ fs.ReadDirFS = dirFS{}
)

// Open refuses pipes, sockets and devices before they are opened: to open a named
// pipe that nobody writes to would never return. It does not block on one that takes
// the place of a file in between, either; and os then leaves out four system calls.
func (d dirFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(d.in, name)
	if err != nil && isLink(d.in, name) && !errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is a symbolic link that is not followed (%w): put a copy of the file in its place", reason(err))}
	}
	if err != nil {
		return nil, err
	}
	if m := info.Mode(); !m.IsRegular() && !m.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is %s, not a file", kind(m))}
	}
	return d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

func (d dirFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.in, name) }

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.in, name) }

func isLink(in fs.FS, name string) bool {
	info, err := fs.Lstat(in, name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// reason is an error without the system call and the path.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	default:
		return "of mode " + m.String()
	}
}
