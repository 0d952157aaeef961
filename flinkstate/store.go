package flinkstate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// store finds and reads the files that a state names.
type store struct {
	home place                    // the folder of the metadata file
	maps []mapping                // longest prefix first
	near []place                  // where a missing file may lie, home first
	full func(path string) string // for a file that a person looks for
	options
	files   []*File
	hashing sync.WaitGroup
}

// errUnmapped says that no entry of the path map fits.
var errUnmapped = errors.New("no path map entry fits")

// locate finds the place of a stream that is in a file.
func (s *store) locate(st *stream) (file, error) {
	if st.kind == streamRelative {
		if isAbsolute(st.path) {
			return file{}, errors.New("a relative path is wanted")
		}
		return s.home.at(st.path)
	}
	uri := canonicalURI(st.path)
	for _, m := range s.maps {
		if rest, ok := m.rest(uri); ok {
			return m.to.at(rest)
		}
	}
	return file{}, errUnmapped
}

// hash fills in the hash of a file's bytes, where hashes are wanted.
func (s *store) hash(f *File, b []byte) {
	if s.noHashes {
		return
	}
	sum := sha256.Sum256(b)
	f.SHA256 = hex.EncodeToString(sum[:])
}

// done returns the list of all files, when their hashes are complete.
func (s *store) done() []File {
	s.hashing.Wait()
	files := make([]File, 0, len(s.files))
	for _, f := range s.files {
		files = append(files, *f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// slurp reads a whole file into buf, or into a new slice when that is too small.
func slurp(f file, buf []byte, most int64) (b []byte, err error) {
	in, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no file, but of mode %v", info.Mode())
	case info.Size() < 0:
		return nil, fmt.Errorf("its size is %d", info.Size())
	case info.Size() > most:
		return nil, fmt.Errorf("%d bytes are more than the limit of %d (WithMaxFileSize)", info.Size(), most)
	}
	n := int(info.Size())
	// One byte more than there should be, to see that there is none.
	switch b, err = readUpTo(in, n+1, buf); {
	case err != nil:
		return nil, err
	case len(b) > n:
		return nil, fmt.Errorf("its size is %d, but more bytes could be read", n)
	case len(b) < n:
		return nil, fmt.Errorf("its size is %d, but %d bytes could be read", n, len(b))
	}
	return b, nil
}

// Memory for firstRead bytes is taken on a file's word for its size, and for growth
// times as many as could be read so far.
const (
	firstRead = 16 << 20
	growth    = 8
)

// readUpTo reads until the end of a file, but no more than most bytes.
func readUpTo(in io.Reader, most int, buf []byte) ([]byte, error) {
	b := buf[:min(cap(buf), most)]
	if len(b) < most {
		b = make([]byte, min(most, firstRead))
	}
	read := 0
	for {
		n, err := io.ReadFull(in, b[read:])
		read += n
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return b[:read], nil
		case err != nil:
			return nil, err
		case read == most:
			return b, nil
		}
		more := make([]byte, min(most, growth*len(b)))
		copy(more, b)
		b = more
	}
}

// missing describes a file that is not there.
func (s *store) missing(st *stream, f file, operator string) MissingFile {
	m := MissingFile{Name: st.path, Path: f.path, OperatorID: operator}
	if st.kind == streamRelative {
		return m
	}
	// The longest end of the path that leads to a file from a folder nearby.
	prefix, rest := strings.TrimRight(canonicalURI(st.path), "/"), ""
	for range maxDepth {
		i := strings.LastIndexByte(prefix, '/')
		if i <= 0 || prefix[i-1] == '/' || prefix[i-1] == ':' {
			break
		}
		rest = path.Join(prefix[i+1:], rest)
		prefix = prefix[:i]
		for _, p := range s.near {
			at, err := p.at(rest)
			if err != nil {
				continue
			}
			if info, err := fs.Stat(p.fsys, at.name); err == nil && info.Mode().IsRegular() {
				m.From, m.To = prefix, p.shown
				break
			}
		}
	}
	return m
}

// noMetadata explains why the metadata file could not be read.
func (s *store) noMetadata(f file, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", shown.Name(f.path), err)
	}
	entries, err := fs.ReadDir(s.home.fsys, s.home.dir)
	if err != nil {
		return fmt.Errorf("%w: %s: the folder cannot be listed: %w", ErrNoMetadata, shown.Name(s.full(f.path)), err)
	}
	if hold := s.foldersWithMetadata(entries); len(hold) > 0 {
		return fmt.Errorf("%w: %s does not exist; in the folder there is one in %s", ErrNoMetadata, shown.Name(s.full(f.path)), strings.Join(shown.Names(hold), ", "))
	}
	var names []string
	for _, e := range entries[:min(len(entries), mostListed)] {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, shown.Name(name))
	}
	if len(entries) > mostListed {
		names = append(names, fmt.Sprintf("and %d more", len(entries)-mostListed))
	}
	if len(names) == 0 {
		names = []string{"nothing"}
	}
	return fmt.Errorf("%w: %s does not exist%s; in the folder there is %s", ErrNoMetadata, shown.Name(s.full(f.path)), uncompleted(s.full(f.path)), strings.Join(names, ", "))
}

// uncompleted says what a checkpoint's own folder is without its metadata, which
// Flink writes last and deletes first.
func uncompleted(metadata string) string {
	if number, ok := strings.CutPrefix(path.Base(path.Dir(metadata)), "chk-"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		return ", so this checkpoint was not completed, or is not retained"
	}
	return ""
}

// mostListed bounds what an error lists of a folder, and what it looks into: of a
// bucket each look is a request.
const mostListed = 20

// foldersWithMetadata are the folders among the entries that are a savepoint or
// checkpoint: the one that is meant is most often among them.
func (s *store) foldersWithMetadata(entries []fs.DirEntry) []string {
	var hold []string
	looked := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if looked++; looked > mostListed {
			break
		}
		if _, err := fs.Stat(s.home.fsys, path.Join(s.home.dir, e.Name(), metadataName)); err == nil {
			hold = append(hold, e.Name()+"/")
		}
	}
	return hold
}
