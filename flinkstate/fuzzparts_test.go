package flinkstate

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/fstest"
)

// bounded runs do and holds what it took of memory to what doc.go promises of
// size bytes. What the runtime counts late, and each read takes, is let pass.
func bounded(t *testing.T, size int, do func()) {
	t.Helper()
	taken := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := taken()
	do()
	if n := taken() - before; n > uint64(48*size+1<<20) {
		t.Errorf("%d bytes of input took %d bytes of memory", size, n)
	}
}

// FuzzSnappyChunks reads a Snappy framing stream.
func FuzzSnappyChunks(f *testing.F) {
	compressed, err := filepath.Glob("testdata/savepoints/*-compressed*/savepoint/*")
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, name := range compressed {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if i := strings.Index(string(b), snappyStreamID); i > 0 {
			f.Add(b[i:min(len(b), i+1<<12)])
			seeds++
		}
	}
	if seeds < 3 {
		f.Fatalf("only %d compressed files in the fixtures", seeds)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newCursor("f", 0, b)
		var out []byte
		for c.err == nil && c.left() > 0 {
			out = c.snappyChunk(out)
		}
		known(t, c.err, len(b))
		if len(out) > snappyExpansion*len(b) {
			t.Errorf("%d bytes came out of %d", len(out), len(b))
		}
		if n := snappySize(b); c.err == nil && n != len(out) || n > snappyExpansion*len(b) {
			t.Errorf("%d bytes were foretold of %d that came", n, len(out))
		}
	})
}

// FuzzJavaStream reads the properties that end the metadata, and the class that
// an element of Beam's reader starts with.
func FuzzJavaStream(f *testing.F) {
	seeds := 0
	seedMetadata(f, func(b []byte) {
		if i := strings.Index(string(b), "\xac\xed\x00\x05"); i > 0 {
			f.Add(b[i:])
			seeds++
		}
	})
	if seeds < 20 {
		f.Fatalf("only %d streams in the fixtures", seeds)
	}
	f.Add([]byte("\xac\xed\x00\x05sr\x00\x31org.apache.beam.sdk.io.kafka.KafkaUnboundedSource"))
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, len(b), func() {
			p := metadataParser{cursor: newCursor("f", 0, b), version: newestMetadata}
			kind, reason := p.end()
			known(t, p.err, len(b))
			if p.err == nil && (kind == KindUnknown) != (reason != "") {
				t.Errorf("kind %q, reason %q", kind, reason)
			}
		})
		if class := javaClassOf(b); class != "" && !isJavaClass([]byte(class)) {
			t.Errorf("%q is no name of a class", class)
		}
	})
}

// FuzzDynamicEnumerator reads the coordinator's state of a DynamicKafkaSource, one
// partition of which a reader holds.
func FuzzDynamicEnumerator(f *testing.F) {
	seeds := 0
	seedOperators(f, func(op *operator) {
		r := newSourceReader(op)
		for i := range op.readers {
			if h := &op.readers[i]; h.stream.kind == streamBytes {
				_ = r.read(h, bytesAt{"f", 0, h.stream.inline})
			}
		}
		if op.coordinator != nil && r.dynamic > 0 {
			f.Add(op.coordinator)
			seeds++
		}
	})
	if seeds < 3 {
		f.Fatalf("only %d enumerators of a DynamicKafkaSource in the fixtures", seeds)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		op := operator{Operator: Operator{ID: "id", Parallelism: 1}, file: "f", coordinator: b, readers: []stateHandle{{}}}
		r := newSourceReader(&op)
		r.topics.in([]byte("cluster-a"))
		id, _ := r.topics.id([]byte("orders"))
		r.splits.add(&split{topic: id, start: 7, stop: noStop, state: splitHeld})
		r.dynamic = 1
		bounded(t, len(b), func() {
			switch src, _, err := r.source(&metadata{version: newestMetadata}); {
			case src != nil:
				checkPositions(t, src.Partitions)
				if src.Kind != DynamicKafkaSource || len(src.Partitions) != r.splits.len() {
					t.Errorf("%d partitions of %d in a %s", len(src.Partitions), r.splits.len(), src.Kind)
				}
			case err != nil:
				known(t, err, len(b))
			default:
				t.Error("a source that a reader holds is passed over: " + op.Skipped)
			}
		})
	})
}

// everyFile is a file system in which every file but one has the same content.
type everyFile struct {
	metadata, other []byte
	opened          *int
}

func (e everyFile) Open(name string) (fs.File, error) {
	if name == "." {
		return fstest.MapFS{}.Open(".")
	}
	*e.opened++
	content := e.other
	if name == metadataName {
		content = e.metadata
	}
	return fstest.MapFS{path.Base(name): {Data: content}}.Open(path.Base(name))
}

// FuzzStateFiles reads a savepoint with state in files, whatever they are called.
func FuzzStateFiles(f *testing.F) {
	seeds := 0
	all, err := filepath.Glob("testdata/savepoints/*/*/_metadata")
	if err != nil {
		f.Fatal(err)
	}
	for _, metadata := range all {
		b, err := os.ReadFile(metadata)
		if err != nil {
			f.Fatal(err)
		}
		others, err := filepath.Glob(filepath.Join(filepath.Dir(metadata), "*-*-*-*-*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range others {
			if other, err := os.ReadFile(name); err == nil && strings.Contains(string(other), "State") && len(other) < 1<<12 {
				f.Add(b, other)
				seeds++
			}
		}
	}
	if seeds < 10 {
		f.Fatalf("only %d state files in the fixtures", seeds)
	}
	f.Fuzz(func(t *testing.T, metadata, other []byte) {
		opened := 0
		bounded(t, len(metadata)+len(metadata)/16*len(other), func() {
			snap, err := Read(everyFile{metadata, other, &opened}, ".", WithSinkFiles(), WithReaders(1), WithPathMap(map[string]string{"file:/flink": "a", "s3://my-bucket": "b"}))
			if err == nil {
				for _, s := range snap.Sources {
					checkPositions(t, s.Partitions)
				}
				if len(snap.Files) > opened {
					t.Errorf("%d files of %d that were opened", len(snap.Files), opened)
				}
				return
			}
			known(t, err, max(len(metadata), len(other)))
		})
	})
}

// FuzzStateFileNames looks for a file of a name that a state gives it.
func FuzzStateFileNames(f *testing.F) {
	for _, name := range []string{"x", "../x", "a/./b//c", "file:/flink/x", "file:///flink/../x", "s3://b/a%20b/x", "s3://user:word@b/a", "/flink/a", "..", "a\x00b", "s3://b"} {
		f.Add(name)
	}
	in := func(d string) (place, error) { return place{fstest.MapFS{}, d, d}, nil }
	maps, err := newMappings(map[string]string{"file:/flink": "files", "s3://b": "bucket", "s3://b/a": "bucket/a"}, in)
	if err != nil {
		f.Fatal(err)
	}
	home, _ := in("home")
	s := &store{home: home, maps: maps}
	f.Fuzz(func(t *testing.T, name string) {
		for _, st := range []stream{{kind: streamRelative, path: name}, {kind: streamFile, path: withoutUser(name)}, {kind: streamSegment, path: withoutUser(name)}} {
			at, err := s.locate(&st)
			if err != nil {
				if missing := s.missing(&st, at, "id"); errors.Is(err, errUnmapped) && missing.From != "" {
					t.Errorf("%q is offered from an empty file system: %+v", name, missing)
				}
				continue
			}
			below := []string{"files/", "bucket/"}
			if st.kind == streamRelative {
				below = []string{"home/"}
			}
			inside := false
			for _, b := range below {
				inside = inside || strings.HasPrefix(at.name, b)
			}
			if !inside || !fs.ValidPath(at.name) || path.Clean(at.name) != at.name {
				t.Errorf("%q leads to %q", name, at.name)
			}
		}
	})
}
