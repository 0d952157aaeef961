package flinkstate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// want is the state of one subtask and the reader that takes it.
type want struct {
	reader *sourceReader
	handle *stateHandle
}

// wantedFile is a file with everything that is wanted of it.
type wantedFile struct {
	file  file
	name  string // in the state
	wants []want
}

// fill hands every element of every subtask to its reader. Each file is opened
// once, also when it holds the state of several subtasks (file merging), and
// every missing one is found before the first is reported.
func (s *store) fill(metadata string, readers []*sourceReader) error {
	var (
		wanted  = map[string]*wantedFile{}
		missing = map[string]MissingFile{}
	)
	for _, r := range readers {
		for _, h := range r.op.wanted() {
			if h.count() == 0 {
				continue // nothing of it is needed, whatever it is
			}
			inFile, err := r.readInline(h, metadata)
			if err != nil {
				return err
			}
			if !inFile {
				continue
			}
			f, err := s.locate(&h.stream)
			switch {
			case errors.Is(err, errUnmapped):
				missing[h.stream.path] = s.missing(&h.stream, f, r.op.ID)
			case err != nil:
				return &CorruptError{File: metadata, Offset: h.stream.at, Structure: structure(r.op.ID, h.subtask, "", "state file "+h.stream.path), Reason: err.Error()}
			case wanted[f.path] == nil:
				wanted[f.path] = &wantedFile{file: f, name: h.stream.path, wants: []want{{r, h}}}
			default:
				wanted[f.path].wants = append(wanted[f.path].wants, want{r, h})
			}
		}
	}
	var first error
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		w := wanted[path]
		err := s.fillFrom(w)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			h := w.wants[0].handle
			missing[w.name] = s.missing(&h.stream, w.file, w.wants[0].reader.op.ID)
		case err != nil && first == nil:
			first = err
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

// wanted returns the states that may hold positions.
func (op *operator) wanted() []*stateHandle {
	hs := make([]*stateHandle, 0, len(op.readers)+len(op.legacy))
	for _, of := range [][]stateHandle{op.readers, op.legacy} {
		for i := range of {
			hs = append(hs, &of[i])
		}
	}
	return hs
}

// readInline reads elements that stand in the metadata itself, or reports that
// they are in a file.
func (r *sourceReader) readInline(h *stateHandle, metadata string) (inFile bool, err error) {
	switch h.stream.kind {
	case streamBytes:
		return false, r.read(h, bytesAt{metadata, h.stream.at, h.stream.inline})
	case streamFile, streamRelative, streamSegment:
		return true, nil
	case streamNull, streamEmptySegment:
		return false, &CorruptError{
			File: metadata, Offset: h.at, Structure: structure(r.op.ID, h.subtask, "", h.name),
			Reason: fmt.Sprintf("%d elements, but the stream that should hold them is empty", h.count()),
		}
	default:
		return false, &UnsupportedError{
			File: metadata, Offset: h.at, Structure: structure(r.op.ID, h.subtask, "", h.name),
			What: fmt.Sprintf("stream handle type %d for operator state", h.stream.kind),
		}
	}
}

// fillFrom reads one file and hands on what is wanted of it.
func (s *store) fillFrom(w *wantedFile) error {
	b, err := s.read(w.file, w.name)
	if err != nil {
		return fmt.Errorf("state file %s of operator %s: %w", w.file.path, w.wants[0].reader.op.ID, err)
	}
	for _, x := range w.wants {
		part, err := x.handle.stream.part(b)
		if err != nil {
			return &CorruptError{
				File: w.file.path, Offset: int64(len(b)),
				Structure: structure(x.reader.op.ID, x.handle.subtask, "", x.handle.name), Reason: err.Error(),
			}
		}
		if err := x.reader.read(x.handle, bytesAt{w.file.path, x.handle.stream.start, part}); err != nil {
			return err
		}
	}
	return nil
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
