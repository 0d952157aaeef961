package flinkstate

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// seedMetadata hands the metadata file of every fixture to add.
func seedMetadata(f *testing.F, add func(b []byte)) {
	f.Helper()
	err := filepath.WalkDir("testdata/savepoints", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != metadataName {
			return err
		}
		b, err := os.ReadFile(path)
		add(b)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// seedOperators hands every operator of every fixture to add.
func seedOperators(f *testing.F, add func(op *operator)) {
	f.Helper()
	n := 0
	seedMetadata(f, func(b []byte) {
		m, err := parseMetadata("_metadata", b)
		if err != nil {
			f.Fatal(err)
		}
		for i := range m.operators {
			n++
			add(&m.operators[i])
		}
	})
	if n < 100 {
		f.Fatalf("only %d operators in the fixtures", n)
	}
}

// known reports errors that no reader of a damaged file should see.
func known(t *testing.T, err error, size int) {
	t.Helper()
	var c *CorruptError
	var u *UnsupportedError
	switch {
	case err == nil, errors.Is(err, ErrNoPosition), errors.Is(err, ErrMissingFiles):
	case errors.As(err, &c):
		if c.Offset < 0 || c.Offset > int64(size) || c.Structure == "" || c.Reason == "" {
			t.Errorf("byte %d of %d, %q, %q", c.Offset, size, c.Structure, c.Reason)
		}
	case errors.As(err, &u):
		if u.Offset < 0 || u.Offset > int64(size) || u.Structure == "" || u.What == "" {
			t.Errorf("byte %d of %d, %q, %q", u.Offset, size, u.Structure, u.What)
		}
	default:
		t.Errorf("an error of no kind: %v", err)
	}
}

// FuzzMetadata reads a whole savepoint of one file.
func FuzzMetadata(f *testing.F) {
	seedMetadata(f, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		snap, err := Read(fstest.MapFS{"_metadata": {Data: b}}, ".")
		known(t, err, len(b))
		if err != nil {
			return
		}
		for _, s := range snap.Sources {
			checkPositions(t, s.Partitions)
		}
	})
}

// checkPositions holds what is true of every list of positions.
func checkPositions(t *testing.T, ps []offsetmap.Position) {
	t.Helper()
	if len(ps) == 0 {
		t.Error("a source without partitions")
	}
	for i, p := range ps {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if i > 0 && cmp.Or(ps[i-1].Compare(p.TopicPartition), strings.Compare(ps[i-1].Cluster, p.Cluster)) >= 0 {
			t.Errorf("%s of %q is not behind %s of %q", p.TopicPartition, p.Cluster, ps[i-1].TopicPartition, ps[i-1].Cluster)
		}
		if held := p.State.IsNone(); held == p.Next.IsNone() && p.Unread.IsNone() || held && !p.Start.IsNone() || !held && !p.Next.IsNone() {
			t.Errorf("neither a position nor a reason for none: %+v", p)
		}
	}
}

// FuzzOperatorState reads elements out of a stream by offsets.
func FuzzOperatorState(f *testing.F) {
	seedOperators(f, func(op *operator) {
		for _, h := range op.readers {
			if h.stream.kind == streamBytes {
				f.Add(h.stream.inline, h.offsets, []byte(nil))
			}
		}
	})
	compressed, err := filepath.Glob("testdata/savepoints/*-compressed/savepoint/*-*")
	if err != nil || len(compressed) == 0 {
		f.Fatalf("no compressed state in the fixtures: %v", err)
	}
	for _, name := range compressed {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if i := strings.Index(string(b), snappyStreamID); i > 0 {
			at := byte(i + len(snappyStreamID))
			f.Add(b, []byte{0, 0, 0, 0, 0, 0, 0, at, 0, 0, 0, 0, 0, 0, 0, at}, []byte{0, 0, 0, 0, 0, 0, 0, at})
		}
	}
	f.Fuzz(func(t *testing.T, stream, offsets, others []byte) {
		h := stateHandle{offsets: offsets[:len(offsets)&^7]}
		if others = others[:len(others)&^7]; len(others) > 0 {
			h.others = [][]byte{others}
		}
		n, size := 0, 0
		err := h.elements("id", bytesAt{"f", 0, stream}, func(b []byte, at int64, i int) {
			if at < 0 || at > int64(len(stream)) || i != n {
				t.Fatalf("element %d at byte %d of %d, want number %d", i, at, len(stream), n)
			}
			n++
			size += len(b)
		})
		known(t, err, len(stream))
		if err == nil && n != h.count() {
			t.Errorf("%d elements of %d", n, h.count())
		}
		if size > snappyExpansion*len(stream) {
			t.Errorf("%d bytes came out of %d", size, len(stream))
		}
	})
}

// FuzzSplit reads the element of a source's reader.
func FuzzSplit(f *testing.F) {
	seedOperators(f, func(op *operator) {
		for i := range op.readers {
			h := &op.readers[i]
			if h.stream.kind == streamBytes {
				_ = h.elements(op.ID, bytesAt{"f", 0, h.stream.inline}, func(b []byte, _ int64, _ int) { f.Add(b) })
			}
		}
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		op := operator{Operator: Operator{ID: "id", Parallelism: 1}, file: "f", readers: []stateHandle{{}}}
		r := newSourceReader(&op)
		r.element(b, "f", 0, 0, 0)
		switch src, _, err := r.source(&metadata{version: newestMetadata}); {
		case src != nil:
			checkPositions(t, src.Partitions)
			var cluster []byte
			if src.Kind == DynamicKafkaSource {
				// As it is encoded; in the position it is decoded.
				cluster = append([]byte{}, r.topics.cluster...)
			}
			if got := encodeSplit(cluster, src.Partitions[0], r.splits.at(0)); got != string(b) {
				t.Errorf("a split that is %q when written again: %q", got, b)
			}
		case err != nil:
			known(t, err, 0)
		case op.Skipped == "":
			t.Error("neither a source nor a reason")
		}
	})
}

// encodeSplit writes what KafkaPartitionSplitSerializer would.
// With a cluster that is the DynamicKafkaSource's, behind which the former's is.
func encodeSplit(cluster []byte, p offsetmap.Position, s split) string {
	put := func(b []byte, n int, v uint64) []byte {
		for i := n - 1; i >= 0; i-- {
			b = append(b, byte(v>>(8*i)))
		}
		return b
	}
	start, stop := uint64(s.start), uint64(s.stop)
	if v, ok := p.Next.Value(); ok {
		start = uint64(v)
	}
	if v, ok := p.Stop.Value(); ok {
		stop = uint64(v)
	}
	b := append(put(nil, 2, uint64(len(p.Topic))), p.Topic...)
	b = put(put(put(b, 4, uint64(p.Partition)), 8, start), 8, stop)
	version := uint64(0)
	if cluster != nil {
		version = 1
		b = append(put(append(put(nil, 2, uint64(len(cluster))), cluster...), 4, 0), b...)
	}
	return string(append(put(put(nil, 4, version), 4, uint64(len(b))), b...))
}

// FuzzEnumerator reads the state of a source's coordinator, alone and beside a
// reader that holds a partition.
func FuzzEnumerator(f *testing.F) {
	seedOperators(f, func(op *operator) {
		if op.coordinator != nil {
			f.Add(op.coordinator, false)
			f.Add(op.coordinator, true)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, held bool) {
		op := operator{Operator: Operator{ID: "id", Parallelism: 1}, file: "f", coordinator: b, readers: []stateHandle{{}}}
		r := newSourceReader(&op)
		if held {
			id, _ := r.topics.id([]byte("orders"))
			r.splits.add(&split{topic: id, start: 7, stop: math.MinInt64, state: splitHeld})
		}
		switch src, _, err := r.source(&metadata{version: newestMetadata}); {
		case src != nil:
			checkPositions(t, src.Partitions)
			if held && len(src.Partitions) != r.splits.len() {
				t.Errorf("%d partitions of %d", len(src.Partitions), r.splits.len())
			}
		case err != nil:
			known(t, err, len(b))
		case op.Skipped == "":
			t.Error("neither a source nor a reason")
		}
	})
}

// FuzzLegacyElement reads the element of a FlinkKafkaConsumer's list.
func FuzzLegacyElement(f *testing.F) {
	n := 0
	seedOperators(f, func(op *operator) {
		for i := range op.legacy {
			h := &op.legacy[i]
			if h.stream.kind == streamBytes {
				_ = h.elements(op.ID, bytesAt{"f", 0, h.stream.inline}, func(b []byte, _ int64, _ int) { n++; f.Add(b) })
			}
		}
	})
	if n < 20 {
		f.Fatalf("only %d elements in the fixtures", n)
	}
	f.Add([]byte("\x01\x00\xc6\x01" + legacyClass + "\x01\x00\x00\x01\x82t\x00\x00\x00\x00\x00\x00\x00\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		op := operator{Operator: Operator{ID: "id", Parallelism: 1}, file: "f", legacy: []stateHandle{{name: legacyState}}}
		r := newSourceReader(&op)
		r.legacyElement(b, "f", 0, 0, 0)
		var e legacyElement
		if whole := e.parse(b); whole != (legacySize(b) == len(b)) || legacySize(b) > len(b) {
			t.Errorf("an element of %d bytes is %d long", len(b), legacySize(b))
		}
		switch src, _, err := r.source(&metadata{version: newestMetadata}); {
		case src != nil:
			checkPositions(t, src.Partitions)
			if v, ok := src.Partitions[0].Next.Value(); ok && v != e.last+1 {
				t.Errorf("C is %d behind a last offset of %d", v, e.last)
			}
		case err != nil:
			known(t, err, 0)
		case op.Skipped == "":
			t.Error("neither a source nor a reason")
		}
	})
}

// FuzzSinkState reads an element of each state that a sink of Kafka stores.
func FuzzSinkState(f *testing.F) {
	names := []string{writerState, committerState, producerState}
	n := 0
	seedOperators(f, func(op *operator) {
		for i := range op.sinks {
			h := &op.sinks[i]
			which := slices.Index(names, h.name)
			if h.stream.kind == streamBytes && which >= 0 {
				_ = h.elements(op.ID, bytesAt{"f", 0, h.stream.inline}, func(b []byte, _ int64, _ int) { n++; f.Add(byte(which), b) })
			}
		}
	})
	if n < 100 {
		f.Fatalf("only %d elements in the fixtures", n)
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		c := newCursor("f", 0, b)
		s := parseSink(names[int(which)%len(names)], c)
		if c.err != nil {
			known(t, c.err, len(b))
			return
		}
		for _, tx := range s.transactions {
			if tx.TransactionalID == "" || len(tx.TransactionalID) > 2*len(b) {
				t.Errorf("%+v out of %d bytes", tx, len(b))
			}
		}
		if n := len(s.transactions) + len(s.ids); n > len(b) {
			t.Errorf("%d transactions out of %d bytes", n, len(b))
		}
	})
}
