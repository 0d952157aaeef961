package flinkstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	legacyState = "topic-partition-offset-states"
	legacyClass = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"
)

// kryoVarint is an int of Kryo, the lowest seven bits first.
func kryoVarint(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

func kryoZigzag(v int32) []byte { return kryoVarint(uint32(v<<1) ^ uint32(v>>31)) }

// kryoString is a string of ASCII characters as Kryo writes it.
func kryoString(s string) []byte {
	if len(s) > 1 && len(s) < 64 {
		b := []byte(s)
		b[len(b)-1] |= 0x80
		return b
	}
	n := uint32(len(s) + 1)
	if n < 0x40 {
		return append([]byte{0x80 | byte(n)}, s...)
	}
	return slices.Concat([]byte{0xc0 | byte(n&0x3f)}, kryoVarint(n>>6), []byte(s))
}

// lastRead is an element of a FlinkKafkaConsumer's list, with the class id and
// the hash that the fixtures of Flink 1.20 have.
func lastRead(topic string, partition int32, last int64) []byte {
	return kryoElement([]byte{0x57}, -1137739524, topic, partition, last)
}

func kryoElement(class []byte, hash int32, topic string, partition int32, last int64) []byte {
	return put(class, int8(1), kryoZigzag(hash), kryoZigzag(partition), int8(1), kryoString(topic), last)
}

// unframed is an operator state stream of elements without a length.
func unframed(compressed bool, elements ...[]byte) (stream []byte, offsets []int64) {
	o := new(out).put(header(compressed, legacyState))
	if compressed {
		o.put([]byte(streamID))
	}
	for i, e := range elements {
		offsets = append(offsets, int64(o.Len()))
		if compressed {
			e = chunk(e, i%2 == 0)
		}
		o.put(e)
	}
	return o.Bytes(), offsets
}

// legacy is the union list of a subtask, inline.
func legacy(elements ...[]byte) []byte {
	stream, offsets := unframed(false, elements...)
	return handle(inline(stream), listState{legacyState, 1, offsets})
}

func readErr(t *testing.T, j job) error {
	t.Helper()
	snap, err := flinkstate.Read(j.fsys(nil), "sp")
	if err == nil {
		t.Fatalf("got %+v, want an error", snap)
	}
	return err
}

// The consumer stores the last offset that it read, so C is one more. Its
// negative numbers are its own, and -1 is an offset: nothing read, C = 0.
func TestLegacyOffsetsBecomeNextOffsets(t *testing.T) {
	for last, want := range map[int64]offsetmap.Position{
		-1:                {Next: next(t, 0)},
		0:                 {Next: next(t, 1)},
		41:                {Next: next(t, 42)},
		math.MaxInt64 - 1: {Next: next(t, math.MaxInt64)},
		-915623761776:     {Unread: offsetmap.Unset},
		-915623761775:     {Unread: offsetmap.Earliest},
		-915623761774:     {Unread: offsetmap.Latest},
		-915623761773:     {Unread: offsetmap.Committed},
		-2:                {Unread: offsetmap.Unknown}, // earliest of a KafkaSource, nothing here
		-3:                {Unread: offsetmap.Unknown},
		-915623761772:     {Unread: offsetmap.Unknown},
		math.MinInt64:     {Unread: offsetmap.Unknown},
	} {
		want.TopicPartition = offsetmap.TopicPartition{Topic: "orders", Partition: 3}
		snap := read(t, oneSource(t, nil, legacy(lastRead("orders", 3, last))))
		if d := gocmp.Diff([]offsetmap.Position{want}, snap.Sources[0].Partitions, offsets); d != "" {
			t.Errorf("%d (-want +got):\n%s", last, d)
		}
		if k := snap.Sources[0].Kind; k != flinkstate.FlinkKafkaConsumer {
			t.Errorf("kind %s", k)
		}
	}
}

// Kryo writes class, hash and topic in several forms.
func TestLegacyElementsOfEveryForm(t *testing.T) {
	for _, n := range []int{1, 2, 62, 63, 64, 65, 126, 127, 128, 248, 249} {
		topic := strings.Repeat("t", n)
		for _, class := range [][]byte{{2}, {0x57}, kryoVarint(300), put(int8(1), int8(0), kryoString(legacyClass))} {
			for _, hash := range []int32{0, 1, -1, 63, 64, math.MaxInt32, math.MinInt32} {
				for _, partition := range []int32{0, 63, 64, 1 << 20, math.MaxInt32} {
					snap := read(t, oneSource(t, nil, legacy(kryoElement(class, hash, topic, partition, 7))))
					got := snap.Sources[0].Partitions
					if len(got) != 1 || got[0].Topic != topic || got[0].Partition != partition || got[0].Next != next(t, 8) {
						t.Fatalf("class %x, hash %d, topic of %d characters, partition %d: %+v", class, hash, n, partition, got)
					}
				}
			}
		}
	}
}

// What is no element to its last byte gives no position. Alone in the state it
// may be another source's, whose kind cannot be told; beside others it is damage.
func TestLegacyElementsThatAreNone(t *testing.T) {
	good := lastRead("orders", 0, 41)
	for name, bad := range map[string][]byte{
		"a byte more":                   append(slices.Clone(good), 0),
		"a byte less":                   good[:len(good)-1],
		"no bytes but one":              {0x57},
		"null":                          put(int8(0)),
		"another class":                 kryoElement(put(int8(1), int8(0), kryoString("org.example.Other")), 1, "orders", 0, 41),
		"a class met before":            kryoElement(put(int8(1), int8(1)), 1, "orders", 0, 41),
		"an object met before":          put(int8(0x57), int8(2), kryoZigzag(1), kryoZigzag(0), int8(1), kryoString("orders"), int64(41)),
		"a topic that is null":          put(int8(0x57), int8(1), kryoZigzag(1), kryoZigzag(0), int8(1), []byte{0x80}, int64(41)),
		"an empty topic":                put(int8(0x57), int8(1), kryoZigzag(1), kryoZigzag(0), int8(1), []byte{0x81}, int64(41)),
		"a topic that is not ASCII":     put(int8(0x57), int8(1), kryoZigzag(1), kryoZigzag(0), int8(1), []byte{0x83, 'a', 0xc3}, int64(41)),
		"an illegal topic":              lastRead("or/ders", 0, 41),
		"a topic that is too long":      lastRead(strings.Repeat("t", 250), 0, 41),
		"a negative partition":          lastRead("orders", -1, 41),
		"a number of more than 32 bits": put(int8(0x57), int8(1), []byte{0xff, 0xff, 0xff, 0xff, 0x1f}, kryoZigzag(0), int8(1), kryoString("orders"), int64(41)),
		"a number without end":          put(int8(0x57), int8(1), bytes.Repeat([]byte{0xff}, 9), int64(41)),
		"no offset behind the last":     lastRead("orders", 0, math.MaxInt64),
	} {
		t.Run(name, func(t *testing.T) {
			err := readErr(t, oneSource(t, nil, legacy(bad)))
			if !errors.Is(err, flinkstate.ErrNoPosition) || !strings.Contains(err.Error(), "not those of a FlinkKafkaConsumer") || !strings.Contains(err.Error(), "byte ") {
				t.Errorf("alone: got %v", err)
			}
			err = readErr(t, oneSource(t, nil, legacy(lastRead("orders", 1, 5)), legacy(bad)))
			if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "subtask 1") {
				t.Errorf("beside another: got %v, want an ErrCorrupt", err)
			}
			j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: legacy(bad)}}})
			snap := read(t, j)
			if c := codes(snap.Warnings); !slices.Equal(c, []flinkstate.WarningCode{flinkstate.SourceUnidentified}) || len(snap.Sources) != 1 {
				t.Errorf("beside a KafkaSource: %d sources, warnings %v", len(snap.Sources), c)
			}
		})
	}
}

// The list is a union: what several subtasks hold is there once, and what they
// contradict each other in is refused, since the state does not say who is right.
func TestLegacyUnionCopiesAreMergedUnlessTheyDiffer(t *testing.T) {
	both := legacy(lastRead("orders", 0, 9), lastRead("orders", 1, -1))
	snap := read(t, oneSource(t, nil, both, both, legacy()))
	if got := listed(snap.Sources[0].Partitions); !slices.Equal(got, []string{"orders-0@10", "orders-1@0"}) {
		t.Errorf("got %v", got)
	}
	for name, other := range map[string]int64{"next offset 11": 10, "unread, earliest": -915623761775} {
		err := readErr(t, oneSource(t, nil, both, legacy(lastRead("orders", 0, other))))
		for _, want := range []string{testSource, "orders-0", "subtask 0 says next offset 10", "subtask 1 says " + name} {
			if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: the error does not say %q: %v", other, want, err)
			}
		}
	}
}

// A flipped bit in the number of a partition makes it another's, and two with
// nothing read have the same offset: one of them would be lost.
func TestLegacyPartitionTwiceInOneSubtaskIsCorrupt(t *testing.T) {
	for _, second := range []int64{9, 10} {
		err := readErr(t, oneSource(t, nil, legacy(lastRead("orders", 0, 9), lastRead("orders", 1, 3), lastRead("orders", 0, second))))
		for _, want := range []string{testSource, "orders-0 is there twice in subtask 0", "next offset 10"} {
			if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not say %q: %v", want, err)
			}
		}
	}
}

// An empty list is no start at offset 0: alone an error, beside another source a
// warning that keeps from planning.
func TestLegacyEmptyListIsRefused(t *testing.T) {
	err := readErr(t, oneSource(t, nil, legacy(), legacy()))
	var none *flinkstate.NoPositionError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "FlinkKafkaConsumer whose list of offsets is empty") {
		t.Fatalf("got %v", err)
	}
	if c := codes(none.Warnings); !slices.Equal(c, []flinkstate.WarningCode{flinkstate.OffsetsEmpty}) {
		t.Errorf("warnings %v", c)
	}
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: legacy()}}})
	snap := read(t, j)
	if c := codes(snap.Warnings); !slices.Equal(c, []flinkstate.WarningCode{flinkstate.OffsetsEmpty}) || !c[0].Unfit() {
		t.Errorf("beside a KafkaSource: %v", c)
	}
	if _, err := snap.Source(otherID); !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), "list of offsets is empty") {
		t.Errorf("chosen: got %v", err)
	}
}

// From Flink 1.15 on a stop cancels this source before its state is written. The
// version of the metadata and the kind say where that can be.
func TestLegacyOffsetsMayBeStaleAfterAStop(t *testing.T) {
	stop := properties(t)
	for _, tt := range []struct {
		name       string
		version    int
		properties []byte
		stale      bool
	}{
		{"Flink 1.10", 2, nil, false},
		{"Flink 1.11 to 1.15, which of them is not stored", 3, nil, true},
		{"stop", 4, stop, true},
		{"drain", 4, bytes.Replace(stop, put("SUSPEND"), put("TERMINATE"), 1), true},
		{"savepoint", 4, bytes.Replace(stop, put("SUSPEND"), put("NONE"), 1), false},
		{"unknown", 4, []byte("\xac\xed\x00\x05\x70"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := oneSource(t, nil, legacy(lastRead("orders", 0, 9)))
			j.version, j.properties = tt.version, tt.properties
			c := codes(read(t, j).Warnings)
			if stale := slices.Equal(c, []flinkstate.WarningCode{flinkstate.OffsetsMayBeStale}); stale != tt.stale || !stale && len(c) > 0 {
				t.Errorf("warnings %v, stale should be %v", c, tt.stale)
			}
		})
	}
}

// What the jobs that made the fixtures did, by what the target held afterwards:
// each list that is behind it has the warning.
func TestFixtureStaleListsAreWarnedOf(t *testing.T) {
	for name, want := range map[string]bool{
		"flink-1.20-legacy-stop-stale":           true,
		"flink-1.20-legacy-p2":                   false,
		"flink-1.20-legacy-checkpoint-files":     false,
		"flink-1.18-legacy-p2":                   false,
		"flink-1.10-legacy-stop":                 false,
		"flink-1.14-legacy-stop-loses-positions": true, // right, but 1.15 may have written it
		"flink-1.15-legacy-p2":                   true,
		"flink-1.14-legacy-checkpoint-files":     true,
		"flink-1.10-legacy-savepoint":            false,
		"flink-1.20-legacy-latest":               false,
		"flink-1.12-legacy-p2":                   true,
		"flink-1.12-legacy-checkpoint-files":     true,
	} {
		snap, err := fixture(t, name).read()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(codes(snap.Warnings), flinkstate.OffsetsMayBeStale); got != want {
			t.Errorf("%s: warned %v, want %v", name, got, want)
		}
	}
	if !flinkstate.OffsetsMayBeStale.Unfit() {
		t.Error("the warning does not keep from planning")
	}
}

func TestLegacyStateThatContradictsItself(t *testing.T) {
	stream, at := unframed(false, lastRead("orders", 0, 9), lastRead("orders", 1, 9))
	one := func(h []byte) job { return oneSource(t, nil, h) }
	over := []int64{at[0], int64(len(stream)) + 8}
	for _, tt := range []struct {
		name string
		job  job
		is   error
		want string
	}{
		{"not a union", one(handle(inline(stream), listState{legacyState, 0, at})), flinkstate.ErrCorrupt, "distribution mode 0"},
		{"offset behind the stream", one(handle(inline(stream), listState{legacyState, 1, over})), flinkstate.ErrCorrupt, "outside the"},
		{"first offset behind the stream", one(handle(inline(stream), listState{legacyState, 1, over[1:]})), flinkstate.ErrCorrupt, "outside the"},
		{"offset in the header", one(handle(inline(stream), listState{legacyState, 1, []int64{3, at[1]}})), flinkstate.ErrCorrupt, "outside the"},
		{"negative offset", one(handle(inline(stream), listState{legacyState, 1, []int64{math.MinInt64, at[1]}})), flinkstate.ErrCorrupt, "outside the"},
		{"offsets that fall", one(handle(inline(stream), listState{legacyState, 1, []int64{at[1], at[0]}})), flinkstate.ErrCorrupt, "element 1"},
		{"offsets twice", one(handle(inline(stream), listState{legacyState, 1, []int64{at[0], at[0]}})), flinkstate.ErrCorrupt, "element 1"},
		{"an element that another state cuts", one(handle(inline(stream), listState{legacyState, 1, at}, listState{"other", 0, []int64{at[0] + 3}})), flinkstate.ErrCorrupt, "to its last byte"},
		{"an element that the metadata lost", one(handle(inline(stream), listState{legacyState, 1, at[:1]})), flinkstate.ErrNoPosition, "not those of a FlinkKafkaConsumer"},
		{"state of Flink 1.2", one(handle(inline(stream), listState{"_default_", 0, at[:1]}, listState{legacyState, 1, at[1:]})), flinkstate.ErrUnsupported, "Flink 1.2"},
		{"splits in one operator with offsets", one(handle(inline(stream), listState{legacyState, 1, at}, listState{readerState, 0, nil})), flinkstate.ErrCorrupt, "another source"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := readErr(t, tt.job); !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error of %v with %q", err, tt.is, tt.want)
			}
		})
	}
}

// A subtask that stored nothing had partitions that nobody else names.
func TestLegacySubtasksWithoutStateAreWarnedOf(t *testing.T) {
	j := oneSource(t, nil, legacy(lastRead("orders", 0, 9)), nil, nil)
	j.version, j.properties = 2, nil
	j.operators[0].subtasks[1].finished = false
	ws := read(t, j).Warnings
	if len(ws) != 1 || ws[0].Code != flinkstate.SubtaskMissing || !strings.Contains(ws[0].Text, "2 of 3") {
		t.Errorf("warnings %+v", ws)
	}
}

// Compression leaves elements without a length to be told from their neighbours,
// and in Flink 1.18.0 and 1.18.1 from their own form (FLINK-34063).
func TestLegacyCompressedState(t *testing.T) {
	var elements [][]byte
	var want []string
	for i := range 5000 {
		elements = append(elements, lastRead("orders", int32(i), int64(i)))
		want = append(want, fmt.Sprintf("orders-%d@%d", i, i+1))
	}
	check := func(name string, stream []byte, offsets []int64) {
		t.Helper()
		snap := read(t, oneSource(t, nil, handle(inline(stream), listState{legacyState, 1, offsets})))
		if got := listed(snap.Sources[0].Partitions); !slices.Equal(got, want) {
			t.Errorf("%s: %d partitions, want %d", name, len(got), len(want))
		}
	}
	stream, offsets := unframed(true, elements...)
	check("flushed", stream, offsets)

	// Nothing is flushed before an offset is noted: it is that of the chunk that
	// is being filled.
	o := new(out).put(header(true, legacyState), []byte(streamID))
	var block []byte
	offsets = nil
	for _, e := range elements {
		offsets = append(offsets, int64(o.Len()))
		if block = append(block, e...); len(block) >= 1<<16 {
			o.put(chunk(block[:1<<16], true))
			block = block[1<<16:]
		}
	}
	o.put(chunk(block, true))
	check("not flushed", o.Bytes(), offsets)

	stream, offsets = unframed(true, elements[:3]...)
	err := readErr(t, oneSource(t, nil, handle(inline(stream), listState{legacyState, 1, []int64{offsets[0], offsets[1] + 1, offsets[2]}})))
	if !errors.Is(err, flinkstate.ErrCorrupt) {
		t.Errorf("an offset within a chunk: got %v", err)
	}
}
