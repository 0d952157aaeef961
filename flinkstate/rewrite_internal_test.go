package flinkstate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// An element that is made out of a sibling is the one that Kryo has written, whatever
// the name of the topic is.
func TestLegacyElementsAreKryosOwn(t *testing.T) {
	n := 0
	eachOperator(t, func(op *operator) {
		for i := range op.legacy {
			h := &op.legacy[i]
			if h.stream.kind != streamBytes {
				continue
			}
			err := h.elements(op.ID, bytesAt{"_metadata", h.stream.at, h.stream.inline}, func(b []byte, _ int64, _ int) {
				var e legacyElement
				if !e.parse(b) {
					t.Fatal("not an element")
				}
				if e.last < -1 {
					return // a sentinel
				}
				c, err := offsetmap.Next(e.last + 1)
				if err != nil {
					t.Fatal(err)
				}
				n++
				if got := legacyBytes(b, offsetmap.TopicPartition{Topic: string(e.topic), Partition: e.partition}, c); !bytes.Equal(got, b) {
					t.Errorf("%s-%d: % x, want % x", e.topic, e.partition, got, b)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if n < 40 {
		t.Errorf("only %d elements", n)
	}
}

func eachOperator(t *testing.T, add func(op *operator)) {
	files, err := filepath.Glob("testdata/savepoints/*/*/_metadata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parseMetadata(f, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.operators {
			add(&m.operators[i])
		}
	}
}

// What was written is believed only as far as it is read back.
func TestWhatWasNotMeantIsNotKept(t *testing.T) {
	fsys := os.DirFS("testdata/savepoints/flink-1.20-stop-p2")
	old, err := Read(fsys, "savepoint")
	if err != nil {
		t.Fatal(err)
	}
	r := Rewrite{Next: map[offsetmap.TopicPartition]offsetmap.NextOffset{}}
	for _, p := range old.Sources[0].Partitions {
		if p.Next.IsNone() {
			r.Kept = append(r.Kept, p.TopicPartition)
			continue
		}
		r.Next[p.TopicPartition] = p.Next
	}
	p, err := PrepareRewrite(fsys, "savepoint", r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.compare(Read(fsys, "savepoint")); err != nil {
		t.Errorf("the same: %v", err)
	}
	one, _ := offsetmap.Next(1)
	for name, spoil := range map[string]func(s *Snapshot){
		"an offset":      func(s *Snapshot) { s.Sources[0].Partitions[0].Next = one },
		"a partition":    func(s *Snapshot) { s.Sources[0].Partitions = s.Sources[0].Partitions[1:] },
		"a lost element": func(s *Snapshot) { withState(s).States[0].Elements-- },
		"a state more":   func(s *Snapshot) { op := withState(s); op.States = append(op.States, State{Name: "other"}) },
		"a state less":   func(s *Snapshot) { withState(s).States = nil },
		"the operator":   func(s *Snapshot) { s.Sources[0].OperatorID = "other" },
		"the checkpoint": func(s *Snapshot) { s.CheckpointID++ },
		"a source more":  func(s *Snapshot) { s.Sources = append(s.Sources, Source{OperatorID: "other"}) },
	} {
		is, err := Read(fsys, "savepoint")
		if err != nil {
			t.Fatal(err)
		}
		spoil(is)
		if _, err := p.compare(is, nil); err == nil {
			t.Errorf("%s: nothing was noticed", name)
		}
	}
}

func withState(s *Snapshot) *Operator {
	return &s.Operators[slices.IndexFunc(s.Operators, func(o Operator) bool { return len(o.States) > 0 })]
}

// FuzzRewrite gives a savepoint of one file other offsets: what is written is read back
// as it was meant, or it is an error of a kind that is known.
func FuzzRewrite(f *testing.F) {
	seedMetadata(f, func(b []byte) { f.Add(b, int64(7), uint8(1)) })
	f.Fuzz(func(t *testing.T, b []byte, by int64, added uint8) {
		fsys := fstest.MapFS{"_metadata": {Data: b}}
		snap, err := Read(fsys, ".")
		if err != nil || len(snap.Sources) != 1 || len(snap.Sources[0].Partitions) > 1000 {
			return
		}
		r := Rewrite{Next: map[offsetmap.TopicPartition]offsetmap.NextOffset{}, Cluster: snap.Sources[0].Partitions[0].Cluster}
		for i, p := range snap.Sources[0].Partitions {
			v, _ := p.Next.Value()
			c, err := offsetmap.Next(v + by)
			if err != nil || int(added)&(1<<(i%8)) == 0 && i%3 == 0 {
				r.Kept = append(r.Kept, p.TopicPartition)
				continue
			}
			r.Next[p.TopicPartition] = c
		}
		if added&1 == 1 {
			tp := offsetmap.TopicPartition{Topic: "added", Partition: int32(added)}
			r.Next[tp], _ = offsetmap.Next(1)
			r.Added = append(r.Added, tp)
		}
		p, err := PrepareRewrite(fsys, ".", r)
		if refused, ok := errors.AsType[*RewriteError](err); ok {
			if len(refused.Problems) == 0 {
				t.Error("refused without a reason")
			}
			return
		}
		if err != nil {
			known(t, err, len(b))
			return
		}
		to := fstest.MapFS{"_metadata": {Data: p.metadata}}
		for _, file := range p.files {
			to[file.name] = &fstest.MapFile{Data: file.content}
		}
		if _, err := p.compare(Read(to, ".")); err != nil {
			t.Error(err)
		}
	})
}
