package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// object is what a store says of one object, file or folder.
type object struct {
	key     string
	size    int64
	mod     time.Time
	folder  bool
	version string // changes with the content; "" where a store has none
}

// The methods of fs.FileInfo and fs.DirEntry.

func (o object) Name() string               { return path.Base(o.key) }
func (o object) Size() int64                { return o.size }
func (o object) ModTime() time.Time         { return o.mod }
func (o object) IsDir() bool                { return o.folder }
func (o object) Sys() any                   { return nil }
func (o object) Type() fs.FileMode          { return o.Mode().Type() }
func (o object) Info() (fs.FileInfo, error) { return o, nil }

func (o object) Mode() fs.FileMode {
	if o.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// objects is one bucket or file system. Keys have no slash at their ends; "" is
// its root. What is not there is an fs.ErrNotExist.
type objects interface {
	// stat may answer fs.ErrNotExist for a folder that exists only by what is in it.
	stat(ctx context.Context, key string) (object, error)
	// open streams the object from a byte on, to its end when length is negative.
	open(ctx context.Context, o object, offset, length int64) (io.ReadCloser, error)
	// list returns what lies directly in a folder, at most limit of it.
	list(ctx context.Context, key string, limit int) ([]object, error)
}

// errReplaced says that a file is no longer the one that was opened.
var errReplaced = errors.New("the object was replaced while it was read")

// maxEntries bounds what is listed of one folder.
const maxEntries = 10_000

// objectFS makes an fs.FS of objects.
type objectFS struct {
	//nolint:containedctx // the methods of fs.FS take none; it is that of Open
	ctx context.Context
	in  objects
	// mount is put before names in the errors of open files, which a Store does
	// not see.
	mount string
}

var (
	_ fs.StatFS    = objectFS{}
	_ fs.ReadDirFS = objectFS{}
)

func key(name string) string {
	if name == "." {
		return ""
	}
	return name
}

// find tells an object, a folder and nothing apart.
func (f objectFS) find(op, name string) (object, error) {
	if !fs.ValidPath(name) {
		return object{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	o, err := object{}, fs.ErrNotExist
	if name != "." {
		o, err = f.in.stat(f.ctx, key(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		// Buckets have no folders: one is there as long as something is in it.
		inside, listErr := f.in.list(f.ctx, key(name), 1)
		switch {
		case listErr == nil && (len(inside) > 0 || name == "."):
			return object{key: name, folder: true}, nil
		case listErr != nil && !errors.Is(listErr, fs.ErrNotExist):
			err = listErr
		}
	}
	if err != nil {
		return object{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	o.key = name
	return o, nil
}

func (f objectFS) Stat(name string) (fs.FileInfo, error) {
	o, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (f objectFS) Open(name string) (fs.File, error) {
	o, err := f.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case o.folder:
		return &folder{object: o, fs: f}, nil
	default:
		return &file{object: o, fs: f}, nil
	}
}

func (f objectFS) ReadDir(name string) ([]fs.DirEntry, error) {
	o, err := f.find("readdir", name)
	if err == nil && !o.folder {
		err = &fs.PathError{Op: "readdir", Path: name, Err: errors.New("it is no folder")}
	}
	if err != nil {
		return nil, err
	}
	all, err := f.in.list(f.ctx, key(name), maxEntries+1)
	if err == nil && len(all) > maxEntries {
		err = fmt.Errorf("it holds more than %d entries", maxEntries)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return entries(all), nil
}

// folder is an open folder.
type folder struct {
	object
	fs   objectFS
	rest []fs.DirEntry
	read bool
}

func (d *folder) Stat() (fs.FileInfo, error) { return d.object, nil }
func (d *folder) Close() error               { return nil }

func (d *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: path.Join(d.fs.mount, d.key), Err: errors.New("it is a folder")}
}

// ReadDir is that of fs.ReadDirFile.
func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		all, err := d.fs.ReadDir(d.key)
		if err != nil {
			return nil, err
		}
		d.rest, d.read = all, true
	}
	if n <= 0 {
		all := d.rest
		d.rest = nil
		return all, nil
	}
	if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	part := d.rest[:n]
	d.rest = d.rest[n:]
	return part, nil
}
