package stores

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// resumes bounds how often a stream of one file that was cut is resumed.
const resumes = 3

// file is an open object. It is asked for when it is first read, from where that
// begins.
type file struct {
	object
	fs     objectFS
	at     int64
	stream io.ReadCloser // from at on, nil for none
	cuts   int
	closed bool
}

var (
	_ io.ReaderAt = (*file)(nil)
	_ io.Seeker   = (*file)(nil)
)

func (f *file) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: path.Join(f.fs.mount, f.key), Err: err}
}

func (f *file) Stat() (fs.FileInfo, error) {
	if f.closed {
		return nil, f.fail("stat", fs.ErrClosed)
	}
	return f.object, nil
}

func (f *file) Close() error {
	if f.closed {
		return f.fail("close", fs.ErrClosed)
	}
	f.closed = true
	f.drop()
	return nil
}

func (f *file) drop() {
	if f.stream != nil {
		_ = f.stream.Close()
		f.stream = nil
	}
}

func (f *file) Read(p []byte) (int, error) {
	switch {
	case f.closed:
		return 0, f.fail("read", fs.ErrClosed)
	case len(p) == 0:
		return 0, nil
	}
	for {
		if f.at >= f.size {
			return 0, io.EOF
		}
		if f.stream == nil {
			s, err := f.fs.in.open(f.fs.ctx, f.object, f.at, -1)
			if err != nil {
				return 0, f.fail("read", err)
			}
			f.stream = s
		}
		// Not past the size that Stat has said: more than that is another version.
		n, err := f.stream.Read(p[:min(int64(len(p)), f.size-f.at)])
		f.at += int64(n)
		if err != nil {
			f.drop()
		}
		switch {
		case n > 0 || err == nil:
			return n, nil
		case f.fs.ctx.Err() != nil:
			return 0, f.fail("read", f.fs.ctx.Err())
		case f.cuts == resumes:
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, f.fail("read", fmt.Errorf("byte %d of %d, after %d attempts: %w", f.at, f.size, resumes+1, err))
		}
		f.cuts++
	}
}

// ReadAt asks for the range alone.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case f.closed:
		return 0, f.fail("read", fs.ErrClosed)
	case off < 0:
		return 0, f.fail("read", fs.ErrInvalid)
	case off >= f.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	want := min(int64(len(p)), f.size-off)
	s, err := f.fs.in.open(f.fs.ctx, f.object, off, want)
	if err != nil {
		return 0, f.fail("read", err)
	}
	defer s.Close()
	n, err := io.ReadFull(s, p[:want])
	if err != nil {
		return n, f.fail("read", fmt.Errorf("byte %d of %d: %w", off+int64(n), f.size, err))
	}
	if int(want) < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Seek sets where Read goes on. Only that will ask for anything.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	if f.closed {
		return 0, f.fail("seek", fs.ErrClosed)
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	default:
		return 0, f.fail("seek", fs.ErrInvalid)
	}
	if offset < 0 {
		return 0, f.fail("seek", fs.ErrInvalid)
	}
	if offset != f.at {
		f.drop()
		f.at = offset
	}
	return offset, nil
}

func entries(all []object) []fs.DirEntry {
	out := make([]fs.DirEntry, 0, len(all))
	for _, o := range all {
		// A key such as "a//b" or "a/../b" has no name in an fs.FS.
		if name := o.Name(); fs.ValidPath(name) && name != "." {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(out, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() })
}
