package flinkstate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// want is the state of one subtask and what reads it.
type want struct {
	op     *operator
	handle *stateHandle
	reader stateReader
	// optional says that the rest can do without the state.
	optional bool
}

// read hands the elements of the state, whose stream is src, to a reader.
func (w want) read(r stateReader, src bytesAt) error {
	if err := r.read(w.handle, src); err != nil {
		return r.fail(w.handle, err)
	}
	return nil
}

// wants adds the states that may hold positions.
func (r *sourceReader) wants(all []want) []want {
	for _, of := range [][]stateHandle{r.op.readers, r.op.legacy} {
		for i := range of {
			all = append(all, want{op: r.op, handle: &of[i], reader: r})
		}
	}
	return all
}

// wants adds the states of a sink that are small enough to be read.
func (r *sinkReader) wants(all []want) []want {
	for i := range r.op.sinks {
		h := &r.op.sinks[i]
		if size := h.stream.size; size > maxSinkState {
			_ = r.fail(h, tooLarge(size))
			continue
		}
		all = append(all, want{op: r.op, handle: h, reader: r, optional: true})
	}
	return all
}

// wantedFile is a file with everything that is wanted of it.
type wantedFile struct {
	file  file
	name  string // in the state
	wants []want
}

// optional reports whether nothing in the file must be read.
func (f *wantedFile) optional() bool {
	return !slices.ContainsFunc(f.wants, func(w want) bool { return !w.optional })
}

// most is the most bytes that are read of the file, of at most limit.
func (f *wantedFile) most(limit int64) int64 {
	if f.optional() {
		return min(limit, maxSinkState)
	}
	return limit
}

func (f *wantedFile) miss(err error) {
	for _, w := range f.wants {
		_ = w.reader.fail(w.handle, err)
	}
}

// fill hands every element of every state to what takes it. Each file is opened
// once, also when it holds the state of several subtasks (file merging), and
// every missing one is found before the first is reported.
func (s *store) fill(metadata string, wants []want) error {
	var (
		wanted  = map[string]*wantedFile{}
		missing = map[string]MissingFile{}
	)
	for _, w := range wants {
		h := w.handle
		if h.count() == 0 {
			continue // nothing of it is needed, whatever it is
		}
		inFile, err := w.readInline(metadata)
		if err != nil {
			return err
		}
		if !inFile {
			continue
		}
		f, err := s.locate(&h.stream)
		switch {
		case err != nil && w.optional:
			_ = w.reader.fail(h, fmt.Errorf("state file %s: %w", shown.Name(h.stream.path), err))
		case errors.Is(err, errUnmapped):
			missing[h.stream.path] = s.missing(&h.stream, f, w.op.ID)
		case err != nil:
			return &CorruptError{File: metadata, Offset: h.stream.at, Structure: structure(w.op.ID, h.subtask, "", "state file "+shown.Name(h.stream.path)), Reason: err.Error()}
		case wanted[f.path] == nil:
			wanted[f.path] = &wantedFile{file: f, name: h.stream.path, wants: []want{w}}
		default:
			wanted[f.path].wants = append(wanted[f.path].wants, w)
		}
	}
	var files []*wantedFile
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		f := wanted[path]
		err := f.disjoint()
		switch {
		case f.optional() && !s.sinkFiles:
			f.miss(errNotOpened)
		case f.optional() && err != nil:
			f.miss(err)
		case err != nil:
			return err
		default:
			files = append(files, f)
		}
	}
	var first error
	for i, o := range s.readAll(files) {
		if o.file != nil {
			s.files = append(s.files, o.file)
		}
		switch {
		case errors.Is(o.err, fs.ErrNotExist):
			missing[files[i].name] = s.missing(&o.want.handle.stream, files[i].file, o.want.op.ID)
		case o.err != nil && first == nil:
			first = o.err
		}
	}
	if len(missing) > 0 {
		e := &MissingFilesError{Metadata: metadata}
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			e.Files = append(e.Files, missing[name])
		}
		return e
	}
	return first
}

// readInline reads elements that stand in the metadata itself, or reports that
// they are in a file.
func (w want) readInline(metadata string) (inFile bool, err error) {
	h := w.handle
	switch h.stream.kind {
	case streamBytes:
		return false, w.read(w.reader, bytesAt{metadata, h.stream.at, h.stream.inline})
	case streamFile, streamRelative, streamSegment:
		return true, nil
	case streamNull, streamEmptySegment:
		return false, w.reader.fail(h, &CorruptError{
			File: metadata, Offset: h.at, Structure: structure(w.op.ID, h.subtask, "", h.name),
			Reason: fmt.Sprintf("%d elements, but the stream that should hold them is empty", h.count()),
		})
	default:
		return false, w.reader.fail(h, &UnsupportedError{
			File: metadata, Offset: h.at, Structure: structure(w.op.ID, h.subtask, "", h.name),
			What: fmt.Sprintf("stream handle type %d for operator state", h.stream.kind),
		})
	}
}

// part returns the bytes of the stream out of its whole file.
func (st *stream) part(b []byte) ([]byte, error) {
	n := int64(len(b))
	switch {
	case st.kind != streamSegment && st.size != n:
		return nil, fmt.Errorf("the file has %d bytes, the metadata says %d", n, st.size)
	case st.kind != streamSegment:
		return b, nil
	case st.size > n-st.start: // also when it starts behind the end
		return nil, fmt.Errorf("the file has %d bytes, the metadata names %d from byte %d on", n, st.size, st.start)
	default:
		return b[st.start : st.start+st.size : st.start+st.size], nil
	}
}
