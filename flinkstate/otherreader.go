package flinkstate

import (
	"cmp"
	"fmt"
	"strings"
)

// beamReader looks at the elements of the state that operators have by default.
// Apache Beam's reader keeps its positions there, as a pair of the source, which
// is a serialized object of Java, and how far it was read
// (org.apache.beam.runners.flink UnboundedSourceWrapper.stateForCheckpoint). They
// are named, and not read: what follows the class is Beam's and the job's own.
type beamReader struct {
	op    *operator
	class string
}

// wants adds the states that may be a reader's. What cannot be read says nothing.
func (r *beamReader) wants(all []want) []want {
	for i := range r.op.defaults {
		h := &r.op.defaults[i]
		if h.stream.size <= maxSinkState {
			all = append(all, want{op: r.op, handle: h, reader: r, optional: true})
		}
	}
	return all
}

func (r *beamReader) read(h *stateHandle, src bytesAt) error {
	return h.elements(r.op.ID, src, func(b []byte, _ int64, _ int) {
		if class := javaClassOf(b); strings.HasPrefix(class, "org.apache.beam.") {
			r.class = class
		}
	})
}

func (r *beamReader) fail(*stateHandle, error) error { return nil }

func (r *beamReader) fork(int) stateReader { return &beamReader{op: r.op} }

func (r *beamReader) join(fork stateReader) { r.class = cmp.Or(fork.(*beamReader).class, r.class) }

// done says in the inventory what the state holds.
func (r *beamReader) done() {
	if r.op.beam = r.class; r.op.beam == "" {
		return
	}
	for i := range r.op.States {
		if s := &r.op.States[i]; s.Name == legacyOldState {
			s.Holds = fmt.Sprintf("positions of %s, a reader of Apache Beam", r.op.beam)
		}
	}
}

// isJavaClass reports whether a name can be that of a class as jobs have them.
func isJavaClass(name []byte) bool {
	for _, c := range name {
		if ('a' > c || c > 'z') && ('A' > c || c > 'Z') && ('0' > c || c > '9') && c != '_' && c != '.' && c != '$' {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 512
}

// javaClassOf returns the class of the object with which b starts, "" when it
// starts with none (ObjectStreamConstants: magic, version, TC_OBJECT,
// TC_CLASSDESC, then the name).
func javaClassOf(b []byte) string {
	rest, ok := strings.CutPrefix(string(b[:min(len(b), 1<<10)]), "\xac\xed\x00\x05sr")
	if !ok {
		return ""
	}
	name := newCursor("", 0, []byte(rest)).raw("class")
	if !isJavaClass(name) {
		return ""
	}
	return string(name)
}
