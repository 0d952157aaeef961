package flinkstate

import (
	"cmp"
	"fmt"
	"slices"
)

// disjoint makes sure that no byte of a file is the state of two subtasks: Flink
// never writes that, and a small file could be made to be parsed again and again.
// Several states of one subtask share their stream.
func (f *wantedFile) disjoint() error {
	if len(f.wants) < 2 {
		return nil
	}
	byStart := slices.Clone(f.wants)
	slices.SortStableFunc(byStart, func(a, b want) int {
		return cmp.Compare(a.handle.stream.start, b.handle.stream.start)
	})
	last := byStart[0]
	for _, w := range byStart[1:] {
		if w.op == last.op && w.handle.subtask == last.handle.subtask && w.handle.stream.sameAs(&last.handle.stream) {
			continue
		}
		if st := &w.handle.stream; st.start < last.handle.stream.end() {
			return &CorruptError{
				File: w.op.file, Offset: w.handle.at, Structure: structure(w.op.ID, w.handle.subtask, "", w.handle.name),
				Reason: fmt.Sprintf("its bytes %d to %d of %q are in the state of subtask %d of operator %s, too", st.start, st.end(), st.path, last.handle.subtask, last.op.ID),
			}
		}
		if w.handle.stream.end() > last.handle.stream.end() {
			last = w
		}
	}
	return nil
}

// end is the byte behind the stream in its file. Sums that do not fit are far
// behind every file.
func (st *stream) end() int64 { return saturate(st.start, st.size) }

func (st *stream) sameAs(o *stream) bool {
	return st.kind == o.kind && st.start == o.start && st.size == o.size
}
