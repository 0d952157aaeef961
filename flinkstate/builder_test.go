package flinkstate_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/snappy"
)

// This file writes savepoints as Flink does, for what no fixture holds: sizes,
// damage and forms that a running job seldom leaves.

// out writes as java.io.DataOutput does.
type out struct{ bytes.Buffer }

func (o *out) put(vs ...any) *out {
	for _, v := range vs {
		switch v := v.(type) {
		case string: // writeUTF, for ASCII
			binary.Write(o, binary.BigEndian, uint16(len(v)))
			o.WriteString(v)
		case []byte:
			o.Write(v)
		case int:
			binary.Write(o, binary.BigEndian, int32(v))
		default:
			if err := binary.Write(o, binary.BigEndian, v); err != nil {
				panic(err)
			}
		}
	}
	return o
}

func put(vs ...any) []byte { return new(out).put(vs...).Bytes() }

// sized puts an i32 length before the bytes.
func sized(vs ...any) []byte {
	b := put(vs...)
	return put(len(b), b)
}

// job is a metadata file.
type job struct {
	version    int
	operators  []jobOp
	properties []byte
}

type jobOp struct {
	id, uid, name string
	parallelism   int
	coordinator   []byte // of SourceCoordinator, nil for none
	fullyFinished bool
	subtasks      []jobSubtask
}

type jobSubtask struct {
	index    int
	finished bool
	managed  []byte // operator state handle
	keyed    []byte // keyed state handle
	channels [][]byte
}

const (
	testSource = "30198ea1e33432d6307d761dd131f28a" // the hash of the uid source-0
	otherID    = "f0bd8a29f4afd2e5cc43b41a168f6ab5"
)

func (j job) bytes() []byte {
	var o out
	o.put(0x4960672d, j.version, int64(7), 0, len(j.operators))
	for _, op := range j.operators {
		if j.version >= 5 {
			o.put(op.name, op.uid)
		}
		id, _ := hex.DecodeString(op.id)
		o.put(id, op.parallelism, 128)
		switch {
		case j.version == 2:
			o.put(1)
		case op.coordinator == nil:
			o.put(int8(0))
		default:
			o.put(inline(op.coordinator))
		}
		if op.fullyFinished {
			o.put(-1)
			continue
		}
		o.put(len(op.subtasks))
		for _, s := range op.subtasks {
			if s.finished {
				o.put(-(s.index + 1))
				continue
			}
			o.put(s.index)
			if j.version == 2 {
				o.put(int64(0), 0)
			}
			if s.managed == nil {
				o.put(0)
			} else {
				o.put(1, s.managed)
			}
			o.put(0)
			if s.keyed == nil {
				o.put(int8(0))
			} else {
				o.put(s.keyed)
			}
			o.put(int8(0))
			if j.version >= 3 {
				o.put(len(s.channels))
				for _, c := range s.channels {
					o.put(c)
				}
				o.put(0)
			}
		}
	}
	if j.version >= 4 {
		o.put(j.properties)
	}
	return o.Bytes()
}

// fsys is the job's metadata in a folder "sp", with state files by name.
func (j job) fsys(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{"sp/_metadata": {Data: j.bytes()}}
	for name, b := range files {
		m[name] = &fstest.MapFile{Data: b}
	}
	return m
}

// properties returns the CheckpointProperties that a fixture ends with.
func properties(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(path.Join(fixtureDir, "flink-1.20-stop-p2/savepoint/_metadata"))
	if err != nil {
		t.Fatal(err)
	}
	return b[bytes.Index(b, []byte("\xac\xed\x00\x05")):]
}

// Stream handles.
func inline(b []byte) []byte             { return put(int8(1), "file:/nowhere", len(b), b) }
func absolute(uri string, n int) []byte  { return put(int8(2), int64(n), uri) }
func relative(name string, n int) []byte { return put(int8(6), name, int64(n)) }
func segment(uri string, start, n int) []byte {
	return put(int8(15), int64(start), int64(n), 0, uri, "logical")
}

// listState is one state of an operator state handle.
type listState struct {
	name    string
	mode    int8
	offsets []int64
}

func handle(stream []byte, states ...listState) []byte {
	o := new(out).put(int8(4), len(states))
	for _, s := range states {
		o.put(s.name, s.mode, len(s.offsets), s.offsets)
	}
	return o.put(stream).Bytes()
}

const readerState = "SourceReaderState"

// reader is the SourceReaderState of a subtask, inline.
func reader(elements ...[]byte) []byte {
	stream, offsets := plainStream(elements...)
	return handle(inline(stream), listState{readerState, 0, offsets})
}

// header is that of an operator state stream up to the elements, with
// something in the place of the serializer snapshots.
func header(compressed bool, names ...string) []byte {
	o := new(out).put(6, compressed, int16(len(names)))
	for _, n := range names {
		o.put(n, 0, 1, "OPERATOR_STATE_DISTRIBUTION_MODE", "SPLIT_DISTRIBUTE", 1, "VALUE_SERIALIZER", []byte("snapshot"))
	}
	return o.put(int16(0)).Bytes()
}

// plainStream is an operator state stream without compression.
func plainStream(elements ...[]byte) (stream []byte, offsets []int64) {
	o := new(out).put(header(false, readerState))
	for _, e := range elements {
		offsets = append(offsets, int64(o.Len()))
		o.put(len(e), e)
	}
	return o.Bytes(), offsets
}

// chunk is one of the Snappy framing format.
func chunk(b []byte, compress bool) []byte {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	kind, data := byte(1), b
	if compress {
		kind, data = 0, snappy.Encode(nil, b)
	}
	n := len(data) + 4
	head := []byte{kind, byte(n), byte(n >> 8), byte(n >> 16)}
	sum := binary.LittleEndian.AppendUint32(nil, (crc>>15|crc<<17)+0xa282ead8)
	return bytes.Join([][]byte{head, sum, data}, nil)
}

const streamID = "\xff\x06\x00\x00sNaPpY"

// split is a KafkaPartitionSplit behind the version and length that
// SimpleVersionedSerialization writes.
func split(topic string, partition int, start, stop int64) []byte {
	return put(0, sized(topic, partition, start, stop))
}

const noStop = math.MinInt64

// enumerator is the coordinator's state around an enumerator's.
func enumerator(version int, body ...any) []byte {
	return put(1, version, sized(body...))
}

// assigned is an enumerator's state of version 2, its first discovery finished.
func assigned(topic string, partitions ...int) []byte {
	o := new(out).put(len(partitions))
	for _, p := range partitions {
		o.put(topic, p, 0)
	}
	return enumerator(2, o.Bytes(), int8(1))
}

// oneSource is a job with one KafkaSource, a subtask for each handle given.
func oneSource(t testing.TB, coordinator []byte, handles ...[]byte) job {
	op := jobOp{id: testSource, parallelism: len(handles), coordinator: coordinator}
	for i, h := range handles {
		op.subtasks = append(op.subtasks, jobSubtask{index: i, managed: h})
	}
	return job{version: 4, operators: []jobOp{op}, properties: properties(t)}
}

// bigJob is a source of n partitions over subtasks, as the generator of the
// fixtures makes it for its timings of Flink itself, and how many bytes its state has.
func bigJob(t testing.TB, n, subtasks int, inFiles bool, noise int) (fsys fstest.MapFS, size int64) {
	topics := max(1, n/100)
	parts := make([][][]byte, subtasks)
	named := make([][]byte, n)
	for i := range n {
		topic, partition := fmt.Sprintf("orders-region-%d", i%topics), i/topics
		start := int64(1_000_003*i + 17)
		if i%101 == 100 {
			start = -2
		}
		parts[i%subtasks] = append(parts[i%subtasks], split(topic, partition, start, noStop))
		named[i] = put(topic, partition, 0)
	}
	// The enumerator writes a hash set.
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { named[i], named[j] = named[j], named[i] })
	enum := new(out).put(n).put(bytes.Join(named, nil))
	files := map[string][]byte{}
	var handles [][]byte
	for i, p := range parts {
		stream, offsets := plainStream(p...)
		h := inline(stream)
		if inFiles {
			name := fmt.Sprintf("c0ffee00-0000-4000-8000-%012d", i)
			files["sp/"+name] = stream
			h = relative(name, len(stream))
		}
		handles = append(handles, handle(h, listState{readerState, 0, offsets}))
	}
	j := oneSource(t, enumerator(2, enum.Bytes(), int8(1)), handles...)
	for i := range noise {
		op := jobOp{id: fmt.Sprintf("%032x", i+1), parallelism: subtasks}
		for s := range subtasks {
			op.subtasks = append(op.subtasks, jobSubtask{index: s, keyed: put(int8(3), s, 1, int64(0), inline(make([]byte, 2000)))})
		}
		j.operators = append(j.operators, op)
	}
	fsys = j.fsys(files)
	for _, f := range fsys {
		size += int64(len(f.Data))
	}
	return fsys, size
}
