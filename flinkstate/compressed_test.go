package flinkstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// compressedStream is what Flink 1.18.2 and later write: a chunk for each
// element, to which its offset leads.
func compressedStream(states map[string][][]byte, order ...string) ([]byte, []listState) {
	o := new(out).put(header(true, order...), []byte(streamID))
	var all []listState
	for _, name := range order {
		s := listState{name: name}
		for i, e := range states[name] {
			s.offsets = append(s.offsets, int64(o.Len()))
			o.put(chunk(put(len(e), e), i%2 == 0))
		}
		all = append(all, s)
	}
	return o.Bytes(), all
}

// unflushedStream is what Flink 1.18.0 and 1.18.1 write (FLINK-34063): chunks
// of 64 KiB, and for each element the start of the chunk that was being filled.
func unflushedStream(states map[string][][]byte, order ...string) ([]byte, []listState) {
	o := new(out).put(header(true, order...), []byte(streamID))
	var all []listState
	var block []byte
	flush := func() {
		o.put(chunk(block, true))
		block = nil
	}
	for _, name := range order {
		s := listState{name: name}
		for _, e := range states[name] {
			s.offsets = append(s.offsets, int64(o.Len()))
			for _, b := range put(len(e), e) {
				if block = append(block, b); len(block) == 1<<16 {
					flush()
				}
			}
		}
		all = append(all, s)
	}
	flush()
	return o.Bytes(), all
}

func splits(n int) (elements [][]byte, want []string) {
	for i := range n {
		elements = append(elements, split("orders", i, int64(1000+i), noStop))
		want = append(want, fmt.Sprintf("orders-%d@%d", i, 1000+i))
	}
	return elements, want
}

func listed(ps []offsetmap.Position) []string {
	var l []string
	for _, p := range ps {
		l = append(l, p.String()+"@"+p.Next.String())
	}
	return l
}

func TestCompressedState(t *testing.T) {
	few, wantFew := splits(3)
	many, wantMany := splits(5000) // some 300 KB, several chunks
	const other = "writer_raw_states"
	for _, tt := range []struct {
		name   string
		make   func(map[string][][]byte, ...string) ([]byte, []listState)
		states map[string][][]byte
		order  []string
		want   []string
		err    error
	}{
		{"one state", compressedStream, map[string][][]byte{readerState: few}, []string{readerState}, wantFew, nil},
		{"one element", compressedStream, map[string][][]byte{readerState: few[:1]}, []string{readerState}, wantFew[:1], nil},
		{"splits behind another state", compressedStream, map[string][][]byte{readerState: few, other: {{1, 2, 3}, {}}}, []string{other, readerState}, wantFew, nil},
		{"splits before another state", compressedStream, map[string][][]byte{readerState: few, other: {{1, 2, 3}}}, []string{readerState, other}, wantFew, nil},
		{"1.18.1, one state", unflushedStream, map[string][][]byte{readerState: few}, []string{readerState}, wantFew, nil},
		{"1.18.1, one element", unflushedStream, map[string][][]byte{readerState: few[:1]}, []string{readerState}, wantFew[:1], nil},
		{"1.18.1, several chunks", unflushedStream, map[string][][]byte{readerState: many}, []string{readerState}, wantMany, nil},
		{"1.18.1, splits before another state", unflushedStream, map[string][][]byte{readerState: few, other: {{1, 2, 3}}}, []string{readerState, other}, wantFew, nil},
		{"1.18.1, one split before another state", unflushedStream, map[string][][]byte{readerState: few[:1], other: {{1, 2, 3}}}, []string{readerState, other}, wantFew[:1], nil},
		{"1.18.1, splits behind another state without elements", unflushedStream, map[string][][]byte{readerState: few}, []string{other, readerState}, wantFew, nil},
		{"1.18.1, splits behind another state", unflushedStream, map[string][][]byte{readerState: few, other: {{1, 2, 3}}}, []string{other, readerState}, nil, flinkstate.ErrUnsupported},
		{"1.18.1, one split behind another state", unflushedStream, map[string][][]byte{readerState: few[:1], other: {{1, 2, 3}}}, []string{other, readerState}, nil, flinkstate.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream, states := tt.make(tt.states, tt.order...)
			snap, err := flinkstate.Read(oneSource(t, nil, handle(inline(stream), states...)).fsys(nil), "sp")
			if tt.err != nil {
				if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), "FLINK-34063") {
					t.Fatalf("got %v, want %v", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := listed(snap.Sources[0].Partitions)
			if strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("got %d splits, want %d: %.200v", len(got), len(tt.want), got)
			}
		})
	}
}

// Compressed and empty: there is nothing to read, whatever the stream holds.
func TestCompressedStateWithoutElements(t *testing.T) {
	stream, states := compressedStream(nil, readerState)
	snap, err := flinkstate.Read(oneSource(t, assigned("orders", 0), handle(inline(stream), states...)).fsys(nil), "sp")
	if err != nil || len(snap.Sources[0].Partitions) != 1 {
		t.Errorf("got %v, %v", snap, err)
	}
}

func TestDamagedCompressedStateIsCorrupt(t *testing.T) {
	elements, _ := splits(2)
	good, states := compressedStream(map[string][][]byte{readerState: elements}, readerState)
	first := int(states[0].offsets[0])
	second := int(states[0].offsets[1])
	raw := func(kind byte, body ...byte) []byte {
		return append([]byte{kind, byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16)}, body...)
	}
	bomb := append([]byte{0, 0, 0, 0}, binary.AppendUvarint(nil, 1<<16)...)
	for _, tt := range []struct {
		name   string
		stream []byte
		want   string
	}{
		{"a bit of the content", flip(good, second+10), "checksum"},
		{"a bit of the checksum", flip(good, first+5), "checksum"},
		{"the stream identifier", flip(good, first-3), "no Snappy framing stream"},
		{"a chunk that may not be skipped", replace(good, first, 2), "type 0x02"},
		{"a chunk that is skipped, then nothing", replace(good, second, 0xfe), "bytes are needed"},
		{"a chunk longer than the stream", replace(good, second+2, 0xff), "bytes are needed"},
		{"a chunk too short for its checksum", append(good[:second:second], raw(1, 1, 2)...), "too few for the checksum"},
		{"a block that says to hold more than it can", append(good[:second:second], raw(0, bomb...)...), "hold at most"},
		{"an uncompressed chunk of more than 64 KiB", append(good[:second:second], chunk(make([]byte, 1<<16+1), false)...), "at most 65536"},
		{"no block", append(good[:second:second], raw(0, 0, 0, 0, 0, 40, 0xff, 0xff)...), "not a Snappy block"},
		{"another stream identifier that is none", append(good[:second:second], raw(0xff, 1, 2, 3)...), "identifier"},
		{"an element that ends within a chunk", append(good[:second:second], chunk(append(put(len(elements[1]), elements[1]), 0), false)...), "its chunks hold"},
		{"bytes behind the last element", append(bytes.Clone(good), chunk([]byte("more"), false)...), "follow the last element"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := flinkstate.Read(oneSource(t, assigned("orders", 0, 1), handle(inline(tt.stream), states...)).fsys(nil), "sp")
			if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an ErrCorrupt that says %q", err, tt.want)
			}
		})
	}

	for _, offset := range []int64{-1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, int64(len(good)) + 1, int64(first) - 1, int64(first) + 1} {
		s := listState{readerState, 0, []int64{offset}}
		_, err := flinkstate.Read(oneSource(t, assigned("orders", 0, 1), handle(inline(good), s)).fsys(nil), "sp")
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "no Snappy framing stream") {
			t.Errorf("offset %d: got %v, want an ErrCorrupt", offset, err)
		}
	}

	three, _ := splits(3)
	for name, write := range map[string]func(map[string][][]byte, ...string) ([]byte, []listState){
		"the one before ends at":              compressedStream,
		"bytes follow the last of 2 elements": unflushedStream,
	} {
		stream, states := write(map[string][][]byte{readerState: three}, readerState)
		s := states[0]
		s.offsets = []int64{s.offsets[0], s.offsets[2]} // one was lost
		_, err := flinkstate.Read(oneSource(t, nil, handle(inline(stream), s)).fsys(nil), "sp")
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("two offsets for three elements: got %v, want an ErrCorrupt that says %q", err, name)
		}
	}

	unflushed, states := unflushedStream(map[string][][]byte{readerState: elements}, readerState)
	for n, want := range map[int]string{1: "bytes follow the last of 1 elements", 3: "within element 2 of 3"} {
		s := states[0]
		s.offsets = []int64{s.offsets[0], s.offsets[0], s.offsets[0]}[:n]
		if n == 1 {
			want = "its chunks hold" // one offset cannot repeat
		}
		_, err := flinkstate.Read(oneSource(t, nil, handle(inline(unflushed), s)).fsys(nil), "sp")
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d offsets for two elements: got %v, want an ErrCorrupt that says %q", n, err, want)
		}
	}
}

// The decoder would take S2's repeats, by which three bytes become 64 KiB.
func TestCompressedStateDoesNotExplode(t *testing.T) {
	var stream out
	stream.put(header(true, readerState), []byte(streamID))
	at := int64(stream.Len())
	for range 100 {
		stream.put([]byte{0, 8, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x04, 0}) // says to hold 65536
	}
	before := allocated()
	_, err := flinkstate.Read(oneSource(t, nil, handle(inline(stream.Bytes()), listState{readerState, 0, []int64{at, at}})).fsys(nil), "sp")
	if !errors.Is(err, flinkstate.ErrCorrupt) {
		t.Fatalf("got %v, want an ErrCorrupt", err)
	}
	if n := allocated() - before; n > 1<<18 {
		t.Errorf("%d bytes of state took %d bytes of memory", stream.Len(), n)
	}
}

func flip(b []byte, i int) []byte { return replace(b, i, b[i]^1) }

func replace(b []byte, i int, v byte) []byte {
	b = bytes.Clone(b)
	b[i] = v
	return b
}
