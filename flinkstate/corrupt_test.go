package flinkstate_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// One fixture of each metadata version and form of state.
var damaged = []string{
	"flink-1.12-canonical-p1", "flink-1.14-all-files-p2", "flink-1.15-unaligned-inflight",
	"flink-1.20-stop-p2", "flink-1.20-compressed", "flink-1.20-checkpoint-changelog",
	"flink-1.10-legacy-savepoint", "flink-1.20-legacy-checkpoint-files", "flink-2.2-dynamic-p2",
	"flink-2.0-checkpoint-file-merging", "flink-2.2-checkpoint-rocksdb-incr", "flink-2.2-compressed",
}

// opened returns the files of a fixture that reading opens, by name inside it.
func opened(t testing.TB, e expected) []string {
	t.Helper()
	c := counting(os.DirFS(path.Join(fixtureDir, e.Name)))
	if _, err := flinkstate.Read(c, e.Pointer, flinkstate.WithPathMap(e.PathMap)); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(c.opened))
}

// A file that was cut off at any byte is an error, never fewer partitions.
func TestTruncationAtEveryByteIsAnError(t *testing.T) {
	t.Parallel()
	for _, name := range damaged {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := fixture(t, name)
			m := memory(t, name)
			for _, file := range opened(t, e) {
				if strings.Contains(file, "taskowned") {
					continue // ends in other operators' state, see below
				}
				whole := m[file].Data
				for n := range whole {
					m[file].Data = whole[:n]
					_, err := flinkstate.Read(m, e.Pointer, flinkstate.WithPathMap(e.PathMap))
					if !errors.Is(err, flinkstate.ErrCorrupt) {
						t.Fatalf("%s cut to %d of %d bytes: got %v, want an ErrCorrupt", file, n, len(whole), err)
					}
				}
				m[file].Data = whole
			}
		})
	}
}

// A merged file may be cut off behind the splits, but not within them.
func TestTruncatedMergedFileIsAnErrorWithinTheSplits(t *testing.T) {
	e := fixture(t, "flink-2.0-checkpoint-file-merging")
	want, err := e.read()
	if err != nil {
		t.Fatal(err)
	}
	m := memory(t, e.Name)
	for _, file := range opened(t, e) {
		if !strings.Contains(file, "taskowned") {
			continue
		}
		whole := m[file].Data
		failed := 0
		for n := range whole {
			m[file].Data = whole[:n]
			snap, err := flinkstate.Read(m, e.Pointer, flinkstate.WithPathMap(e.PathMap))
			if err != nil {
				failed++
				if !errors.Is(err, flinkstate.ErrCorrupt) {
					t.Fatalf("%s cut to %d bytes: %v", file, n, err)
				}
				continue
			}
			if d := gocmp.Diff(want.Sources, snap.Sources, offsets); d != "" {
				t.Fatalf("%s cut to %d bytes (-want +got):\n%s", file, n, d)
			}
		}
		if failed < 300 {
			t.Errorf("%s: only %d cuts were noticed", file, failed)
		}
		m[file].Data = whole
	}
}

func TestCorruptErrorsSayWhere(t *testing.T) {
	good := split("orders", 0, 5, noStop)
	props := properties(t)
	one := func(h []byte) job { return oneSource(t, assigned("orders", 0), h) }
	plain, at := plainStream(good)
	with := func(stream []byte, offs ...int64) job {
		return one(handle(inline(stream), listState{readerState, 0, offs}))
	}
	enum := func(coordinator []byte) job { return oneSource(t, coordinator, reader(good)) }
	for _, tt := range []struct {
		name string
		meta []byte
		want []string // parts of the error
	}{
		{"empty", nil, []string{"byte 0", "magic number", "4 bytes are needed and 0 are left"}},
		{"another file", []byte("PK\x03\x04 something"), []string{"byte 0", "magic number", "0x504b0304"}},
		{"negative checkpoint id", put(0x4960672d, 4, int64(-1), 0, 0), []string{"byte 8", "checkpoint id", "-1"}},
		{"count of operators", put(0x4960672d, 4, int64(1), 0, 1<<30), []string{"byte 20", "operators", "1073741824", "0 bytes that are left"}},
		{"count of master states", put(0x4960672d, 4, int64(1), -5, 0), []string{"byte 16", "master states", "-5"}},
		{"master state", put(0x4960672d, 4, int64(1), 1, 99, 0), []string{"byte 20", "master state", "magic"}},
		{"bytes behind version 3", job{version: 3, operators: one(reader(good)).operators}.withTail(), []string{"end of the metadata", "1 bytes follow"}},
		{"bytes behind the properties", job{version: 4, operators: one(reader(good)).operators, properties: append(slices.Clone(props), 0)}.bytes(), []string{"end of the metadata", "1 bytes follow"}},
		{"no properties", job{version: 4, operators: one(reader(good)).operators}.bytes(), []string{"checkpoint properties", "4 bytes are needed"}},
		{"other bytes for properties", job{version: 4, operators: one(reader(good)).operators, properties: []byte("ABCDEFG")}.bytes(), []string{"checkpoint properties", "41424344"}},
		{"operator twice", func() []byte {
			j := one(reader(good))
			j.operators = append(j.operators, j.operators[0])
			return j.bytes()
		}(), []string{"operators", testSource, "twice"}},
		{"finished operator of Flink 1.10", func() []byte {
			j := job{version: 2, operators: []jobOp{{id: testSource, parallelism: 1, fullyFinished: true}}}
			return j.bytes()
		}(), []string{testSource, "number of subtasks", "-1"}},
		{"unknown split under a dynamic source's enumerator", func() []byte {
			clusters := put(1, "stream", 1, "cluster-0", 1, "orders", "broker:9092")
			return oneSource(t, enumerator(1, clusters, 1, 1, "cluster-0", sized(0)), reader(put(9, sized([]byte("?"))))).bytes()
		}(), []string{testSource, "element 0", "version 9"}},
		{"subtask twice", func() []byte {
			j := oneSource(t, nil, reader(good), nil)
			j.operators[0].subtasks[1].index = 0
			return j.bytes()
		}(), []string{testSource, "subtask 0 is there twice"}},
		{"subtask out of range", func() []byte {
			j := one(reader(good))
			j.operators[0].subtasks[0].index = 1
			return j.bytes()
		}(), []string{testSource, "subtask 1 is not one of the 1 subtasks"}},
		{"parallelism", func() []byte {
			j := one(reader(good))
			j.operators[0].parallelism = 1 << 20
			return j.bytes()
		}(), []string{testSource, "parallelism", "1048576"}},
		{"finished operator with coordinator", func() []byte {
			j := one(reader(good))
			j.operators[0].fullyFinished = true
			return j.bytes()
		}(), []string{testSource, "fully finished operator has coordinator"}},
		{"state twice in one handle", one(handle(inline(plain), listState{readerState, 0, at}, listState{readerState, 0, at})).bytes(), []string{testSource, "subtask 0", `"SourceReaderState" is there twice`}},
		{"splits as union state", one(handle(inline(plain), listState{readerState, 1, at})).bytes(), []string{testSource, readerState, "distribution mode 1"}},
		{"mode that is none", one(handle(inline(plain), listState{"x", 3, at})).bytes(), []string{"mode 3"}},
		{"no stream", one(handle(put(int8(0)), listState{readerState, 0, at})).bytes(), []string{testSource, "subtask 0", "1 elements", "empty"}},
		{"empty segment", one(handle(put(int8(16)), listState{readerState, 0, at})).bytes(), []string{testSource, "1 elements", "empty"}},
		{"negative size", one(handle(relative("x", -1), listState{readerState, 0, at})).bytes(), []string{"size -1"}},
		{"offset behind the stream", with(plain, int64(len(plain))).bytes(), []string{"subtask 0", "element 0", "outside"}},
		{"offset before the elements", with(plain, 3).bytes(), []string{"element 0 starts at 3"}},
		{"negative offset", with(plain, -8).bytes(), []string{"element 0 starts at -8"}},
		{"offset twice", with(plain, at[0], at[0]).bytes(), []string{"element 1", "the one before ends"}},
		{"bytes behind the elements", with(append(slices.Clone(plain), 1, 2, 3), at...).bytes(), []string{"3 bytes follow the last element"}},
		{"length of an element", with(append(slices.Clone(plain[:at[0]]), put(1<<20, good)...), at...).bytes(), []string{"a length of 1048576"}},
		{"header", with(append(put(-1), plain[4:]...), at...).bytes(), []string{"operator state header", "-1"}},
		{"compression flag", with(slices.Replace(slices.Clone(plain), 4, 5, 7), at...).bytes(), []string{"compression flag 7"}},
		{"bytes behind the coordinator's state", enum(append(assigned("orders", 0), 9)).bytes(), []string{testSource, "coordinator state", "1 bytes follow"}},
		{"bytes behind the enumerator's state", enum(enumerator(2, 0, int8(1), int8(1))).bytes(), []string{"enumerator state version 2", "1 bytes follow"}},
		{"status", enum(enumerator(2, 1, "orders", 0, 2, int8(1))).bytes(), []string{"status 2"}},
		{"discovery", enum(enumerator(2, 0, int8(2))).bytes(), []string{"initial discovery", "2"}},
		{"topic of the enumerator", enum(enumerator(1, 1, "or ders", 0)).bytes(), []string{"no legal topic name"}},
		{"partition of the enumerator", enum(enumerator(1, 1, "orders", -1)).bytes(), []string{"no legal topic name and partition"}},
		{"split of the enumerator", enum(enumerator(3, 1, 0, sized("orders", 0, int64(1), int64(1), int8(0)), 0, int8(1))).bytes(), []string{"not a split of a KafkaSource"}},
		{"held and unassigned", enum(enumerator(2, 1, "orders", 0, 1, int8(1))).bytes(), []string{"orders-0 is unassigned, yet a reader holds it"}},
		{"partition twice in the enumerator", enum(enumerator(1, 2, "orders", 7, "orders", 7)).bytes(), []string{"orders-7 is there twice", "in the enumerator"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap, err := flinkstate.Read(fstest.MapFS{"sp/_metadata": {Data: tt.meta}}, "sp")
			var c *flinkstate.CorruptError
			if snap != nil || !errors.Is(err, flinkstate.ErrCorrupt) || !errors.As(err, &c) {
				t.Fatalf("got %v, want an ErrCorrupt", err)
			}
			for _, want := range append(tt.want, "sp/_metadata") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
			if c.Offset < 0 || c.Offset > int64(len(tt.meta)) || c.Structure == "" {
				t.Errorf("offset %d of %d, structure %q", c.Offset, len(tt.meta), c.Structure)
			}
		})
	}
}

func (j job) withTail() []byte { return append(j.bytes(), 0) }

// A partition that two subtasks hold, or one holds twice, is refused: with
// different offsets neither can be trusted, and with the same one, too, since a
// source gives a split to one reader.
func TestDuplicatePartitionsAreCorrupt(t *testing.T) {
	a, b := split("orders", 3, 5, noStop), split("orders", 3, 6, noStop)
	other := split("orders", 1, 1, noStop)
	for name, handles := range map[string][][]byte{
		"in two subtasks, other offsets":  {reader(other, a), reader(b)},
		"in two subtasks, the same":       {reader(other, a), reader(a)},
		"in one subtask, other offsets":   {reader(a, other, b)},
		"in one subtask, the same":        {reader(a, a)},
		"with a marker in the other copy": {reader(a), reader(split("orders", 3, -2, noStop))},
	} {
		_, err := flinkstate.Read(oneSource(t, nil, handles...).fsys(nil), "sp")
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "orders-3 is there twice") || !strings.Contains(err.Error(), "subtask 0") {
			t.Errorf("%s: got %v, want an ErrCorrupt that names partition and subtasks", name, err)
		}
	}
}

// An operator is Kafka's only if every element is: one that is not, among
// others or under a Kafka source's enumerator, is damage and not another source.
func TestElementThatIsNoSplitToItsLastByte(t *testing.T) {
	good := split("orders", 0, 5, noStop)
	for name, bad := range map[string][]byte{
		"a byte more":              put(0, sized("orders", 1, int64(5), int64(noStop), int8(0))),
		"a byte less":              put(0, sized("orders", 1, int64(5), []byte("1234567"))),
		"a length too long":        put(0, 1000, "orders", 1, int64(5), int64(noStop)),
		"a topic that is none":     split("or/ders", 1, 5, noStop),
		"no topic":                 split("", 1, 5, noStop),
		"a negative partition":     split("orders", -1, 5, noStop),
		"a stop that is none":      split("orders", 1, 5, -2),
		"a topic of 250 bytes":     split(strings.Repeat("a", 250), 1, 5, noStop),
		"nothing":                  {},
		"a topic beyond the split": put(0, sized([]byte{0xff, 0xff}, 1, int64(5), int64(noStop))),
	} {
		t.Run(name, func(t *testing.T) {
			for _, j := range []job{
				oneSource(t, assigned("orders", 0, 1), reader(good, bad)),
				oneSource(t, nil, reader(good), reader(bad)),
				oneSource(t, assigned("orders", 1), reader(bad)),
			} {
				_, err := flinkstate.Read(j.fsys(nil), "sp")
				if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "SourceReaderState element") {
					t.Errorf("got %v, want an ErrCorrupt that names the element", err)
				}
			}
			// With nothing else that says Kafka it may be any source.
			_, err := flinkstate.Read(oneSource(t, nil, reader(bad)).fsys(nil), "sp")
			if !errors.Is(err, flinkstate.ErrNoPosition) {
				t.Errorf("alone: got %v, want an ErrNoPosition", err)
			}
		})
	}
}

// The byte of an error is that of the file, not of the segment in it.
func TestCorruptSegmentSaysWhereInTheFile(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop), []byte("bad"))
	const start = 1000
	file := append(make([]byte, start), stream...)
	j := oneSource(t, nil, handle(segment("file:/x/merged", start, len(stream)), listState{readerState, 0, at}))
	_, err := flinkstate.Read(j.fsys(map[string][]byte{"sp/merged": file}), "sp", flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
	c, ok := errors.AsType[*flinkstate.CorruptError](err)
	if !ok || c.File != "sp/merged" || c.Offset != start+at[1] {
		t.Errorf("got %v, want an ErrCorrupt at byte %d of sp/merged", err, start+at[1])
	}
	for name, h := range map[string][]byte{
		"longer than the file":  segment("file:/x/merged", start, len(stream)+1),
		"behind the file":       segment("file:/x/merged", len(file)+1, 0),
		"far longer":            segment("file:/x/merged", start, 1<<62),
		"far behind":            segment("file:/x/merged", 1<<62, 1<<62),
		"shorter than elements": segment("file:/x/merged", start, len(stream)-1),
	} {
		j := oneSource(t, nil, handle(h, listState{readerState, 0, at}))
		_, err := flinkstate.Read(j.fsys(map[string][]byte{"sp/merged": file}), "sp", flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
		if !errors.Is(err, flinkstate.ErrCorrupt) {
			t.Errorf("%s: got %v, want an ErrCorrupt", name, err)
		}
	}
}

// Permissions and the like are what they are, not a missing or corrupt file.
func TestOtherErrorsOfTheFileSystemAreKept(t *testing.T) {
	e := fixture(t, "flink-1.20-all-files-p2")
	for _, part := range []string{"_metadata", "-"} {
		f := failingFS{os.DirFS(path.Join(fixtureDir, e.Name)), part}
		_, err := flinkstate.Read(f, e.Pointer)
		if !errors.Is(err, fs.ErrPermission) || errors.Is(err, flinkstate.ErrNoMetadata) || errors.Is(err, flinkstate.ErrMissingFiles) {
			t.Errorf("%s: got %v, want the permission error", part, err)
		}
	}
}

type failingFS struct {
	fs.FS
	part string
}

func (f failingFS) Open(name string) (fs.File, error) {
	if strings.Contains(path.Base(name), f.part) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

// Nothing in the file of a subtask names its source: what was exchanged, or has a
// damaged name, shows by what the enumerators know.
func TestSplitsThatTheEnumeratorDoesNotKnowAreNamed(t *testing.T) {
	text := func(t *testing.T, j job) string {
		t.Helper()
		snap := read(t, j)
		i := slices.IndexFunc(snap.Warnings, func(w flinkstate.Warning) bool { return w.Code == flinkstate.SplitsFinished })
		if i < 0 {
			t.Fatalf("warnings %v", codes(snap.Warnings))
		}
		return snap.Warnings[i].Text
	}
	const doubt = "readers hold partitions that the enumerator does not know: 2, as when a state file is another source's or damaged"
	mine, others := reader(split("orders", 0, 5, noStop)), reader(split("payments", 0, 7, noStop), split("payments", 1, 8, noStop))
	for name, enumerator := range map[string][]byte{
		"version 1": enumerator(1, 3, "orders", 2, "orders", 1, "orders", 0),
		"version 2": assigned("orders", 0, 1, 2),
	} {
		if got := text(t, oneSource(t, enumerator, mine, others)); !strings.HasSuffix(got, doubt) {
			t.Errorf("%s: %s", name, got)
		}
		if got := text(t, oneSource(t, enumerator, mine, reader(split("orders", 1, 7, noStop)))); strings.Contains(got, "does not know") {
			t.Errorf("%s, of splits that it knows: %s", name, got)
		}
	}
}
