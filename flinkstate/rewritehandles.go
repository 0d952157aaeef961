package flinkstate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// copiedFile is a file of the new savepoint.
type copiedFile struct {
	name     string // relative to the new metadata
	from     string // what the old state calls it
	operator string // one that needs it
	stream   stream
	content  []byte // where it is not that of the old file
}

// oldestRelative is the first metadata version whose handles can be relative, which
// those of Flink 1.11 are.
const oldestRelative = 3

// placeOf finds the operator state handle that a state is of.
func (w *rewriting) placeOf(h *stateHandle) *handlePlace {
	i := sort.Search(len(w.handles), func(i int) bool { return w.places[w.handles[i]].to > int(h.at) })
	return &w.places[w.handles[i]]
}

// streamOf reads the bytes that a state is in.
func (w *rewriting) streamOf(s *rewrittenState) (bytesAt, error) {
	st := &s.handle.stream
	if st.kind == streamBytes {
		return bytesAt{w.snapshot.Location, st.at, st.inline}, nil
	}
	f, err := w.store.locate(st)
	if err != nil {
		return bytesAt{}, fmt.Errorf("state file %s: %w", shown.Name(st.path), err)
	}
	b, err := slurp(f, nil, w.store.maxBytes)
	if err != nil {
		return bytesAt{}, fmt.Errorf("state file %s: %w", f.path, err)
	}
	part, err := st.part(b)
	return bytesAt{f.path, st.start, part}, err
}

// rewriteHandles makes every handle one of the new savepoint, and lists the files that
// they name.
func (w *rewriting) rewriteHandles() error {
	if len(w.problems) > 0 {
		return nil
	}
	changed := map[*handlePlace]*rewrittenState{}
	for _, s := range w.states {
		if s.changed {
			changed[s.place] = s
		}
	}
	handles := map[copyKey]int{}
	for i := range w.places {
		if key, ok := w.places[i].key(); ok {
			handles[key]++
		}
	}
	copied := map[copyKey]string{}
	for i := range w.places {
		p := &w.places[i]
		s := changed[p]
		if key, ok := p.key(); ok && s != nil && handles[key] > 1 { // the others lead into what it was
			w.problem(FormNotWritten, offsetmap.TopicPartition{}, "operator %s, subtask %d: state file %q is named by several handles", p.operator, p.subtask, p.stream.path)
			continue
		}
		switch {
		case s != nil && p.stream.kind == streamBytes:
			content, offsets := s.rewritten()
			w.offsets(p, offsets)
			at := int(p.stream.at)
			w.splices = append(w.splices, edit{at - 4, at + len(p.stream.inline), lengthAnd(content)})
		case p.stream.kind == streamRelative:
			w.relative(p, s, copied)
		case p.stream.kind == streamFile, p.stream.kind == streamSegment:
			w.movable(p, s, copied)
		}
	}
	return w.missing()
}

// missing looks whether what is to be copied is there, all at once.
func (w *rewriting) missing() error {
	e := &MissingFilesError{Metadata: w.snapshot.Location}
	for i := range w.files {
		f := &w.files[i]
		if f.content != nil {
			continue
		}
		at, err := w.store.locate(&f.stream)
		if err == nil {
			if _, err = fs.Stat(at.fsys, at.name); err == nil {
				continue // what it is shows when it is copied
			}
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errUnmapped) {
			return fmt.Errorf("state file %s: %w", shown.Name(f.from), err)
		}
		e.Files = append(e.Files, w.store.missing(&f.stream, at, f.operator))
	}
	if len(e.Files) == 0 {
		return nil
	}
	slices.SortFunc(e.Files, func(a, b MissingFile) int { return cmp.Compare(a.Name, b.Name) })
	return e
}

// copyKey tells apart what is copied: a file may hold several segments.
type copyKey struct {
	path        string
	start, size int64
}

// key is false where no file is named.
func (p *handlePlace) key() (copyKey, bool) {
	switch st := p.stream; st.kind {
	case streamRelative:
		return copyKey{path: path.Clean(st.path)}, true
	case streamFile:
		return copyKey{path: st.path}, true
	case streamSegment:
		return copyKey{st.path, st.start, st.size}, true
	default:
		return copyKey{}, false
	}
}

// relative copies a file that the old savepoint has in its own folder.
func (w *rewriting) relative(p *handlePlace, s *rewrittenState, copied map[copyKey]string) {
	st := p.stream
	key, _ := p.key()
	_, there := copied[key]
	switch {
	case !fs.ValidPath(key.path) || key.path == metadataName:
		w.problem(FormNotWritten, offsetmap.TopicPartition{}, "operator %s: state file %q is no file of the savepoint's folder", p.operator, st.path)
		return
	case !there:
		copied[key] = key.path
		w.files = append(w.files, copiedFile{name: key.path, from: st.path, operator: p.operator, stream: st})
	}
	if s == nil {
		return
	}
	content, offsets := s.rewritten()
	w.offsets(p, offsets)
	w.files[len(w.files)-1].content = content
	if int64(len(content)) != st.size { // the size ends the handle
		w.splices = append(w.splices, edit{p.to - 8, p.to, binary.BigEndian.AppendUint64(nil, uint64(len(content)))})
	}
}

// movable makes a file of the new folder out of one that the old savepoint names by
// absolute URI, or out of its part of one.
func (w *rewriting) movable(p *handlePlace, s *rewrittenState, copied map[copyKey]string) {
	st := p.stream
	whole := offsetmap.TopicPartition{}
	switch {
	case w.snapshot.MetadataVersion < oldestRelative:
		w.problem(HandleNotMovable, whole, "operator %s, subtask %d: %s is named by absolute URI, and metadata version %d (Flink 1.10 and older) has no other: hand C' over in another form", p.operator, p.subtask, shown.Name(st.path), w.snapshot.MetadataVersion)
		return
	case p.states == nil:
		w.problem(HandleNotMovable, whole, "operator %s: its %s is in a file that other checkpoints share, or is part of one: hand C' over in another form, or let Flink restore the checkpoint and make a savepoint in canonical format", p.operator, p.what)
		return
	}
	key, _ := p.key()
	name, there := copied[key]
	if !there {
		name = w.newName(path.Base(canonicalURI(st.path)))
		copied[key] = name
		w.files = append(w.files, copiedFile{name: name, from: st.path, operator: p.operator, stream: st})
	}
	size := st.size
	if s != nil {
		content, offsets := s.rewritten()
		w.offsets(p, offsets)
		w.files[len(w.files)-1].content, size = content, int64(len(content))
	}
	handle := appendUTF([]byte{streamRelative}, name)
	handle = binary.BigEndian.AppendUint64(handle, uint64(size))
	if st.kind == streamSegment { // no FileMergingOperatorStreamStateHandle any more
		w.splices = append(w.splices, edit{p.from, p.from + 1, []byte{operatorStream}}, edit{p.rest, p.to, handle})
		return
	}
	w.splices = append(w.splices, edit{int(st.at), p.to, handle})
}

// newName returns a name that no file of the new folder has.
func (w *rewriting) newName(base string) string {
	if !fs.ValidPath(base) || base == "." {
		base = "state"
	}
	name := base
	for i := 1; w.names[name]; i++ {
		name = strconv.Itoa(i) + "-" + base
	}
	w.names[name] = true
	return name
}

// offsets writes where the elements of each state of a handle stand now.
func (w *rewriting) offsets(p *handlePlace, offsets [][]int64) {
	for i, state := range p.states {
		if w.drops(p, state) {
			continue
		}
		list := binary.BigEndian.AppendUint32(nil, uint32(len(offsets[i])))
		for _, o := range offsets[i] {
			list = binary.BigEndian.AppendUint64(list, uint64(o))
		}
		w.splices = append(w.splices, w.offsetsOf(state, list))
	}
}

// offsetsOf is an edit of where the elements of a state stand, behind their number.
func (w *rewriting) offsetsOf(state opState, with []byte) edit {
	// Name and mode stand before them.
	at := state.at + 2 + int(binary.BigEndian.Uint16(w.metadata[state.at:])) + 1
	return edit{at, at + 4 + len(state.offsets), with}
}

func lengthAnd(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}
