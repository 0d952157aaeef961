package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// Store is where a savepoint lies, as a file system: of a bucket or an HDFS all
// of it, of the local disk the folder alone. What was mounted beside it is in
// the same tree.
//
// A path in it reads as the location with one slash after the scheme, such as
// s3:/bucket/flink/savepoint-2b3ed0-f0c7ba51791f/_metadata.
type Store struct {
	//nolint:containedctx // the methods of fs.FS take none
	ctx    context.Context
	opts   *options
	mounts []mount
	closes []func()

	dir  string
	home location
}

type mount struct {
	prefix string
	fsys   fs.FS
}

var (
	_ fs.StatFS    = (*Store)(nil)
	_ fs.ReadDirFS = (*Store)(nil)
)

// Open opens the store of a location. ctx bounds every read of it, not only this
// call. The error is a flinkstate.ErrUnsupported for a scheme that is not read.
//
// Whether there is something at the location is seen when it is read, unless the
// location may be percent-encoded: then it is looked for.
func Open(ctx context.Context, at string, opts ...Option) (*Store, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("store of a savepoint: %w", err)
	}
	s := &Store{ctx: ctx, opts: o}
	if s.dir, s.home, err = s.mount(at); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Dir is the path of the location in the Store, for flinkstate.Read.
func (s *Store) Dir() string { return s.dir }

// Location makes a path in the Store a location again: a URI, or a local path.
func (s *Store) Location(name string) string { return uri(name) }

// Mount opens another location beside the first and returns its path in the
// Store, for the target of a path map. It must not be called while the Store is
// read.
func (s *Store) Mount(at string) (dir string, err error) {
	dir, _, err = s.mount(at)
	return dir, err
}

// Close lets go of folders and connections. What was opened must be closed before.
func (s *Store) Close() {
	for _, c := range s.closes {
		c()
	}
	s.closes = nil
}

func (s *Store) mount(at string) (string, location, error) {
	l, err := parseLocation(at)
	if err != nil {
		return "", l, err
	}
	if l.isLocal() {
		dir, err := s.mountLocal(l.path)
		return dir, l, err
	}
	if s.find(l.mount()) == nil {
		in, closeIt, err := s.connect(l)
		if err != nil {
			return "", l, fmt.Errorf("%s: %w", l, err)
		}
		s.closes = append(s.closes, closeIt)
		s.mounts = append(s.mounts, mount{l.mount(), objectFS{s.ctx, in, l.mount()}})
	}
	return s.decoded(l)
}

func (s *Store) connect(l location) (objects, func(), error) {
	switch l.scheme {
	case "s3":
		return newS3(s.opts, l.authority)
	case "gs":
		return newGCS(s.ctx, s.opts, l.authority)
	default:
		return newWebHDFS(s.opts, l)
	}
}

// decoded chooses between a location as it is written and percent-decoded.
func (s *Store) decoded(l location) (string, location, error) {
	readings := []location{l}
	if plain, err := url.PathUnescape(l.path); err == nil && plain != l.path {
		if other, err := parseLocation(l.scheme + "://" + l.authority + "/" + plain); err == nil {
			readings = append(readings, other)
		}
	}
	if len(readings) > 1 {
		for _, one := range readings {
			name := one.name()
			_, err := fs.Stat(s, name)
			if err == nil {
				return name, one, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return "", l, err
			}
		}
	}
	return l.name(), l, nil
}

// mountLocal opens a folder, and the folder of a file.
func (s *Store) mountLocal(at string) (string, error) {
	local, err := localPath(at)
	if err != nil {
		return "", err
	}
	dir, name := local, "."
	if info, err := os.Stat(local); err == nil && !info.IsDir() || filepath.Base(local) == "_metadata" {
		dir, name = filepath.Split(local)
	}
	root, err := localfs.Open(filepath.Clean(dir))
	if err != nil {
		return "", err
	}
	s.closes = append(s.closes, func() { _ = root.Close() })
	prefix := path.Join("file:", filepath.ToSlash(filepath.Clean(dir)))
	if s.find(prefix) == nil {
		s.mounts = append(s.mounts, mount{prefix, root.FS()})
	}
	return path.Join(prefix, name), nil
}

// localPath makes a local location absolute.
func localPath(at string) (string, error) {
	if localfs.IsURI(at) {
		p, ok := localfs.FromURI(at)
		if !ok {
			return "", fmt.Errorf("%w: %q is no file: URI of a local absolute path", flinkstate.ErrUnsupported, at)
		}
		at = p
	}
	return filepath.Abs(at)
}

// find returns the mount of exactly this prefix, nil for none.
func (s *Store) find(prefix string) fs.FS {
	for _, m := range s.mounts {
		if m.prefix == prefix {
			return m.fsys
		}
	}
	return nil
}

// at finds the mount of a path, the longest prefix first.
func (s *Store) at(op, name string) (fs.FS, string, error) {
	if !fs.ValidPath(name) {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	var best mount
	rest := ""
	for _, m := range s.mounts {
		if len(m.prefix) < len(best.prefix) {
			continue
		}
		if name == m.prefix {
			best, rest = m, "."
		} else if r, ok := strings.CutPrefix(name, m.prefix+"/"); ok {
			best, rest = m, r
		}
	}
	if best.fsys == nil {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return best.fsys, rest, nil
}

// renamed puts the path in the Store into an error.
func renamed(err error, name string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// Open is that of [fs.FS].
func (s *Store) Open(name string) (fs.File, error) {
	in, rest, err := s.at("open", name)
	if err != nil {
		return nil, err
	}
	f, err := in.Open(rest)
	if err != nil {
		return nil, renamed(err, name)
	}
	return f, nil
}

// Stat is that of [fs.StatFS].
func (s *Store) Stat(name string) (fs.FileInfo, error) {
	in, rest, err := s.at("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(in, rest)
	return info, renamed(err, name)
}

// ReadDir is that of [fs.ReadDirFS]. Of a bucket or an HDFS, folders of more
// than 10,000 entries are an error.
func (s *Store) ReadDir(name string) ([]fs.DirEntry, error) {
	in, rest, err := s.at("readdir", name)
	if err != nil {
		return nil, err
	}
	all, err := fs.ReadDir(in, rest)
	return all, renamed(err, name)
}

// ReadSavepoint reads the savepoint or checkpoint at a location, as
// flinkstate.ReadDir does for a local one. The path map says where files are now
// that the state names by absolute URI: a prefix of such URIs, and the location
// that stands for it, in any store. Files that the state names in the savepoint's
// own bucket, or below the same hdfs authority, need no entry; those that it names
// by hdfs need one where the location is a webhdfs one. Location of the result is
// the URI of the metadata file.
func ReadSavepoint(ctx context.Context, at string, pathMap map[string]string, opts ...Option) (*flinkstate.Snapshot, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("store of a savepoint: %w", err)
	}
	if allLocal(at, pathMap) {
		return flinkstate.ReadDir(at, append(o.read, flinkstate.WithPathMap(pathMap))...)
	}
	s, err := Open(ctx, at, opts...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	mapped := map[string]string{}
	if !s.home.isLocal() {
		for _, scheme := range s.home.aliases() {
			mapped[scheme+"://"+s.home.authority] = s.home.mount()
		}
	}
	for _, from := range slices.Sorted(maps.Keys(pathMap)) {
		dir, err := s.Mount(pathMap[from])
		if err != nil {
			return nil, fmt.Errorf("path map: target of %q: %w", from, err)
		}
		for own := range mapped {
			if strings.TrimRight(from, "/") == own {
				delete(mapped, own)
			}
		}
		mapped[from] = dir
	}
	snap, err := flinkstate.Read(s, s.Dir(), append(o.read, flinkstate.WithPathMap(mapped))...)
	if err != nil {
		s.locate(err)
		return nil, &shownError{err, s.mounts}
	}
	snap.Location = s.Location(path.Clean(snap.Location))
	return snap, nil
}

// locate makes the paths in the Store, in what errors.As finds in an error of
// flinkstate, locations again.
func (s *Store) locate(err error) {
	if e, ok := errors.AsType[*flinkstate.MissingFilesError](err); ok {
		e.Metadata = s.Location(e.Metadata)
		for i := range e.Files {
			e.Files[i].Path, e.Files[i].To = s.Location(e.Files[i].Path), s.Location(e.Files[i].To)
		}
	}
	if e, ok := errors.AsType[*flinkstate.NoPositionError](err); ok {
		e.Metadata = s.Location(e.Metadata)
		e.Snapshot.Location = s.Location(path.Clean(e.Snapshot.Location))
	}
	if e, ok := errors.AsType[*flinkstate.CorruptError](err); ok {
		e.File = s.Location(e.File)
	}
	if e, ok := errors.AsType[*flinkstate.UnsupportedError](err); ok {
		e.File = s.Location(e.File)
	}
}

func allLocal(at string, pathMap map[string]string) bool {
	for _, to := range pathMap {
		if l, err := parseLocation(to); err == nil && !l.isLocal() {
			return false
		}
	}
	l, err := parseLocation(at)
	return err == nil && l.isLocal()
}

// shownError shows the locations in the text of an error as a person writes them:
// a path in the tree has one slash after the scheme.
type shownError struct {
	err    error
	mounts []mount
}

func (e *shownError) Error() string {
	text := e.err.Error()
	for _, m := range e.mounts {
		text = strings.ReplaceAll(text, m.prefix, uri(m.prefix))
		text = strings.ReplaceAll(text, shown.Line(m.prefix), shown.Line(uri(m.prefix)))
	}
	return text
}

func (e *shownError) Unwrap() error { return e.err }
