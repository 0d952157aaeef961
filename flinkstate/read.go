package flinkstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// metadataName is the file that makes a folder a savepoint or checkpoint
// (AbstractFsCheckpointStorageAccess.METADATA_FILE_NAME).
const metadataName = "_metadata"

const defaultMaxFileSize = 1 << 30

// Option changes how a savepoint is read.
type Option func(*options)

type options struct {
	pathMap   map[string]string
	maxBytes  int64
	sinkFiles bool
	readers   int
	noHashes  bool
}

// WithPathMap says where the files are now that the state names by absolute
// URI: a prefix of such URIs, and the folder that stands for it. For Read the
// folder is one inside the fs.FS, for ReadDir a local one. The longest prefix
// that ends at a path segment wins; file:/a, file:///a and /a are one place.
// User-info in a URI is compared as present, whatever it is.
//
// By default, a file that the state names by absolute URI is an
// ErrMissingFiles: savepoints since Flink 1.11 have none, checkpoints with
// merged files or entropy in their path do.
func WithPathMap(m map[string]string) Option {
	return func(o *options) { o.pathMap = m }
}

// WithMaxFileSize bounds the size in bytes of each file that is read.
//
// By default, that is 1 GiB.
func WithMaxFileSize(bytes int64) Option {
	return func(o *options) { o.maxBytes = bytes }
}

// WithReaders bounds how many state files are open at once, and in memory. What is
// read does not depend on it. With 1 an fs.FS is never used by two goroutines.
//
// By default, that is 4, and for [ReadDir] no more than there are processors to run on
// (GOMAXPROCS). A local folder that lies behind a network may want more.
func WithReaders(n int) Option {
	return func(o *options) { o.readers = n }
}

// WithSinkFiles also opens the files in which sinks have their state, each of at
// most 1 MiB, for [Snapshot.Sinks], and those by which a reader of Apache Beam is
// known. One that cannot be read is no error: the [State] of a sink says why.
//
// By default, such state is read only where it stands in the metadata or in a file
// that is opened for positions.
func WithSinkFiles() Option {
	return func(o *options) { o.sinkFiles = true }
}

// WithoutHashes leaves out the SHA-256 of the files that are read, which takes about
// as long as all the rest: for who only looks. [File.SHA256] is empty then, and no
// plan can be made from such a snapshot, since a plan names the files that it was
// made from by their hashes.
//
// By default, every file is hashed.
func WithoutHashes() Option {
	return func(o *options) { o.noHashes = true }
}

// Read reads the savepoint or retained checkpoint whose metadata file lies in
// the folder dir of fsys. dir may also name the metadata file itself. State files
// are opened by several goroutines, unless [WithReaders] says 1.
//
// The error is an ErrNoMetadata, ErrNoPosition, ErrUnsupported, ErrCorrupt or
// ErrMissingFiles, or what fsys returned.
func Read(fsys fs.FS, dir string, opts ...Option) (snap *Snapshot, err error) {
	err = inFS(fsys, dir, opts, func(s *store, name string) (err error) {
		snap, _, err = read(s, name)
		return err
	})
	return snap, legible(err)
}

// inFS gives use the name of a metadata file and the store that it lies in.
func inFS(fsys fs.FS, dir string, opts []Option, use func(s *store, name string) error) error {
	dir = path.Clean(strings.TrimRight(dir, "/"))
	if !fs.ValidPath(dir) {
		return fmt.Errorf("%q is no path inside an fs.FS: it is absolute or leads out of it", dir)
	}
	in := func(d string) (place, error) {
		if d = path.Clean(d); !fs.ValidPath(d) {
			return place{}, fmt.Errorf("%q is no path inside the fs.FS", d)
		}
		return place{fsys, d, d}, nil
	}
	o, maps, err := newOptions(opts, defaultReaders, in)
	if err != nil {
		return err
	}
	from := func(dir, name string) error {
		s := &store{maps: maps, full: func(p string) string { return p }, options: o}
		s.home, _ = in(dir)
		s.near = []place{s.home}
		if dir != "." {
			parent, _ := in(path.Dir(dir))
			s.near = append(s.near, parent)
		}
		return use(s, name)
	}
	if path.Base(dir) == metadataName {
		return from(path.Dir(dir), metadataName)
	}
	if err = from(dir, metadataName); err != nil {
		// A metadata file may have been renamed. That is looked at last, so that
		// nothing but the files is opened when all is well.
		if info, err := fs.Stat(fsys, dir); err == nil && info.Mode().IsRegular() {
			return from(path.Dir(dir), path.Base(dir))
		}
	}
	return err
}

// ReadDir is Read for a local folder. dir is its path or its file: URI, with or
// without a slash or /_metadata at the end. Nothing outside of that folder and
// of the targets of WithPathMap is read, not even through symbolic links.
func ReadDir(dir string, opts ...Option) (snap *Snapshot, err error) {
	err = inDir(dir, opts, func(s *store, name string) (err error) {
		snap, _, err = read(s, name)
		return err
	})
	return snap, legible(err)
}

// inDir is inFS for a local folder, which is open while use runs.
func inDir(dir string, opts []Option, use func(s *store, name string) error) error {
	var dirs []localfs.Dir
	defer func() {
		for _, d := range dirs {
			_ = d.Close()
		}
	}()
	in := func(d string) (place, error) {
		d, err := localPath(d)
		if err != nil {
			return place{}, err
		}
		r, err := localfs.Open(d)
		if errors.Is(err, fs.ErrNotExist) {
			return place{}, fmt.Errorf("%w%s", err, doubt(d))
		}
		if err != nil {
			return place{}, err
		}
		dirs = append(dirs, r)
		return place{r.FS(), ".", d}, nil
	}
	o, maps, err := newOptions(opts, localReaders(), in)
	if err != nil {
		return err
	}
	if dir, err = localPath(dir); err != nil {
		return err
	}
	if !utf8.ValidString(dir) {
		return fmt.Errorf("the path %q is not UTF-8: no plan could name it (make a copy, or a link, of another name)", dir)
	}
	name := metadataName
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || filepath.Base(dir) == metadataName {
		dir, name = filepath.Dir(dir), filepath.Base(dir)
	}
	home, err := in(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s: the folder does not exist%s", ErrNoMetadata, fullPath(filepath.Join(dir, name)), doubt(dir))
	}
	if err != nil {
		return err
	}
	near := []place{home}
	// Only looked at to say where a missing file may be.
	if parent, err := in(filepath.Join(dir, "..")); err == nil {
		near = append(near, parent)
	}
	return use(&store{home: home, maps: maps, near: near, full: fullPath, options: o}, name)
}

// fullPath makes a local path absolute, as far as the system lets it.
func fullPath(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

func newOptions(opts []Option, readers int, open func(string) (place, error)) (options, []mapping, error) {
	o := options{maxBytes: defaultMaxFileSize, readers: readers}
	for _, opt := range opts {
		opt(&o)
	}
	if o.maxBytes <= 0 || o.maxBytes > maxInt-1 {
		return o, nil, fmt.Errorf("a file size limit of %d bytes is not between 1 and %d", o.maxBytes, maxInt-1)
	}
	if o.readers < 1 {
		return o, nil, fmt.Errorf("%d readers can read no file: at least 1 is needed (WithReaders)", o.readers)
	}
	maps, err := newMappings(o.pathMap, open)
	return o, maps, err
}

const maxInt = int64(^uint(0) >> 1)

// read does what Read and ReadDir have in common. It also returns what the metadata
// file holds.
func read(s *store, name string) (*Snapshot, []byte, error) {
	f, err := s.home.at(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	b, err := slurp(f, nil, s.maxBytes)
	if err != nil {
		return nil, nil, s.noMetadata(f, err)
	}
	meta := &File{Name: name, Size: int64(len(b))}
	s.files = append(s.files, meta)
	s.hashing.Go(func() { s.hash(meta, b) })
	snap, err := s.snapshot(f.path, b)
	files := s.done()
	if none := (*NoPositionError)(nil); errors.As(err, &none) {
		none.Snapshot.Files = files
	}
	if err != nil {
		return nil, nil, err
	}
	snap.Files = files
	return snap, b, nil
}

// snapshot makes the bytes of the metadata file, and the files that it names,
// into what callers see.
func (s *store) snapshot(file string, b []byte) (*Snapshot, error) {
	m, err := parseMetadata(file, b)
	if err != nil {
		return nil, err
	}
	readers := make([]*sourceReader, len(m.operators))
	var sinks []*sinkReader
	var beams []*beamReader
	var wants []want
	for i := range m.operators {
		op := &m.operators[i]
		r := newSourceReader(op)
		readers[i] = r
		wants = r.wants(wants)
		if len(op.sinks) > 0 {
			s := newSinkReader(op)
			sinks = append(sinks, s)
			wants = s.wants(wants)
		}
		if len(op.defaults) > 0 {
			beam := &beamReader{op: op}
			beams = append(beams, beam)
			wants = beam.wants(wants)
		}
	}
	if err := s.fill(file, wants); err != nil {
		return nil, err
	}
	var errs []error
	snap := &Snapshot{
		Location:        file,
		MetadataVersion: int(m.version),
		CheckpointID:    m.checkpointID,
		Kind:            m.kind,
		KindReason:      m.kindReason,
		Operators:       make([]Operator, 0, len(m.operators)),
		Warnings:        []Warning{},
	}
	for _, r := range sinks {
		if sink := r.done(); sink != nil {
			snap.Sinks = append(snap.Sinks, *sink)
		}
	}
	for _, r := range beams {
		r.done()
	}
	for _, r := range readers {
		src, ws, err := r.source(m)
		if err != nil {
			errs = append(errs, err)
		}
		if src != nil {
			snap.Sources = append(snap.Sources, *src)
		}
		snap.Warnings = append(snap.Warnings, ws...)
		r.op.beyondCopying(src)
		snap.add(r.op)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	snap.Warnings = append(snap.Warnings, amongSources(snap.Sources)...)
	sortWarnings(snap.Warnings)
	if len(snap.Sources) == 0 {
		return nil, &NoPositionError{Metadata: file, Operators: snap.Operators, Warnings: snap.Warnings, Snapshot: snap}
	}
	return snap, nil
}

// add lists an operator, and what was on its way to it.
func (s *Snapshot) add(op *operator) {
	s.Operators = append(s.Operators, op.Operator)
	if op.channels == 0 {
		return
	}
	s.InFlight = append(s.InFlight, InFlight{
		OperatorID: op.ID, UID: op.UID, Name: op.Name, Handles: op.channels, Bytes: op.Bytes.Channels,
	})
	s.Warnings = append(s.Warnings, op.warn(RecordsInFlight, fmt.Sprintf(
		"an unaligned checkpoint: %d bytes of records in flight are behind the positions of the sources and not in the target", op.Bytes.Channels)))
}
