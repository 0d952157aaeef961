package flinkstate_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func read(t *testing.T, j job) *flinkstate.Snapshot {
	t.Helper()
	snap, err := flinkstate.Read(j.fsys(nil), "sp")
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func position(topic string, partition int32) offsetmap.Position {
	return offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: topic, Partition: partition}}
}

// A split that has read nothing holds a marker, which never becomes a number
// (apache/flink#14239).
func TestMarkersAreNamedAndGiveNoOffset(t *testing.T) {
	for start, want := range map[int64]offsetmap.Marker{
		-1: offsetmap.Latest, -2: offsetmap.Earliest, -3: offsetmap.Committed,
		math.MinInt64: offsetmap.Unset, -7: offsetmap.Unknown, -915623761775: offsetmap.Unknown,
	} {
		j := oneSource(t, assigned("orders", 0, 1), reader(split("orders", 0, start, noStop), split("orders", 1, 9, noStop)))
		got := read(t, j).Sources[0].Partitions
		marked, known := position("orders", 0), position("orders", 1)
		marked.Unread, known.Next = want, next(t, 9)
		if d := gocmp.Diff([]offsetmap.Position{marked, known}, got, offsets); d != "" {
			t.Errorf("starting offset %d (-want +got):\n%s", start, d)
		}
	}
}

func TestBoundaryOffsetsAreRead(t *testing.T) {
	j := oneSource(t, assigned("orders", 0, 1), reader(split("orders", 0, 0, 0), split("orders", 1, math.MaxInt64, math.MaxInt64)))
	a, b := position("orders", 0), position("orders", 1)
	a.Next, a.Stop = next(t, 0), next(t, 0)
	b.Next, b.Stop = next(t, math.MaxInt64), next(t, math.MaxInt64)
	snap := read(t, j)
	if d := gocmp.Diff([]offsetmap.Position{a, b}, snap.Sources[0].Partitions, offsets); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if c := codes(snap.Warnings); !slices.Equal(c, []flinkstate.WarningCode{flinkstate.SplitsBounded}) {
		t.Errorf("warnings %v", c)
	}
}

// What no reader holds is reported, with the number that the enumerator has as
// a start and never as a next offset.
func TestPartitionsOfTheEnumeratorAlone(t *testing.T) {
	entry := func(partition int, start, stop int64, status int) []byte {
		return put(sized("orders", partition, start, stop), status)
	}
	perSubtask := func(subtask int, splits ...[]byte) []byte {
		o := new(out).put(subtask, len(splits))
		for _, s := range splits {
			o.put(s)
		}
		return o.Bytes()
	}
	held := position("orders", 0)
	held.Next = next(t, 50)
	gone, waiting := position("orders", 1), position("orders", 2)
	gone.State, waiting.State = offsetmap.FinishedOrUnassigned, offsetmap.Unassigned
	with := func(p offsetmap.Position, start, stop int64, unread offsetmap.Marker) offsetmap.Position {
		p.Unread = unread
		if start >= 0 {
			p.Start = next(t, start)
		}
		if stop >= 0 {
			p.Stop = next(t, stop)
		}
		return p
	}
	for _, tt := range []struct {
		name        string
		coordinator []byte
		want        []offsetmap.Position
		discovery   flinkstate.Discovery
	}{
		{
			"version 0, with the tracker's bytes behind it",
			append(put(0, 0, sized(2, 0,
				perSubtask(0, sized("orders", 0, int64(1), int64(noStop))),
				perSubtask(1, sized("orders", 1, int64(7), int64(9))),
			)), 0xff, 0xff),
			[]offsetmap.Position{held, with(gone, 7, 9, 0)},
			flinkstate.DiscoveryUnknown,
		},
		{
			"version 1", enumerator(1, 2, "orders", 0, "orders", 1),
			[]offsetmap.Position{held, gone},
			flinkstate.DiscoveryUnknown,
		},
		{
			"version 2", enumerator(2, 3, "orders", 2, 1, "orders", 1, 0, "orders", 0, 0, int8(1)),
			[]offsetmap.Position{held, gone, waiting},
			flinkstate.DiscoveryFinished,
		},
		{
			"version 3", enumerator(3, 3, 0, entry(2, 4, noStop, 1), entry(1, -2, 20, 0), entry(0, 3, noStop, 0), int8(0)),
			[]offsetmap.Position{held, with(gone, -1, 20, 0), with(waiting, 4, -1, 0)},
			flinkstate.DiscoveryUnfinished,
		},
		{
			"version 3, unassigned with a marker", enumerator(3, 2, 0, entry(2, -2, noStop, 1), entry(0, 3, noStop, 0), int8(1)),
			[]offsetmap.Position{held, with(waiting, -1, -1, offsetmap.Earliest)},
			flinkstate.DiscoveryFinished,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := read(t, oneSource(t, tt.coordinator, reader(split("orders", 0, 50, noStop)))).Sources[0]
			if d := gocmp.Diff(tt.want, src.Partitions, offsets); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if src.Discovery != tt.discovery {
				t.Errorf("discovery %s, want %s", src.Discovery, tt.discovery)
			}
		})
	}
}

// In the fixtures, a partition that reached its stopping offset says where.
func TestFixtureStoppingOffsetsOfTheEnumerator(t *testing.T) {
	for name, stop := range map[string]func(offsetmap.TopicPartition) int64{
		"flink-2.2-stopping-offsets": func(tp offsetmap.TopicPartition) int64 { return 20 + int64(tp.Partition) },
		"flink-2.2-finished-source":  func(offsetmap.TopicPartition) int64 { return 5 },
	} {
		snap, err := fixture(t, name).read()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, src := range snap.Sources {
			for _, p := range src.Partitions {
				if !p.State.IsNone() {
					n++
					if p.Stop != next(t, stop(p.TopicPartition)) {
						t.Errorf("%s: %s stops at %s", name, p.TopicPartition, p.Stop)
					}
				}
			}
		}
		if n == 0 {
			t.Errorf("%s: no partition is known to the enumerator alone", name)
		}
	}
}

// Two sources are two entries, each with its own number for a shared partition.
func TestSourcesThatShareAPartitionAreNotMerged(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	k := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 9, noStop)))
	k.operators[0].id = otherID
	j.operators = append(k.operators, j.operators...)
	snap := read(t, j)
	got := map[string]string{}
	for _, s := range snap.Sources {
		if len(s.Partitions) == 1 {
			got[s.OperatorID] = s.Partitions[0].Next.String()
		}
	}
	if d := gocmp.Diff(map[string]string{testSource: "5", otherID: "9"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := snap.Source(""); !errors.Is(err, flinkstate.ErrSelector) {
		t.Errorf("got %v, want an ErrSelector", err)
	}
}

func TestOtherSourcesArePassedOver(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	number := put(1, sized("17", int64(3), int64(99))) // NumberSequenceSource
	k := oneSource(t, enumerator(1, 0), reader(number, number))
	k.operators[0].id = otherID
	j.operators = append(j.operators, k.operators...)
	snap := read(t, j)
	if len(snap.Sources) != 1 || len(snap.Warnings) != 0 {
		t.Errorf("sources %v, warnings %v", snap.Sources, snap.Warnings)
	}
	i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
	if i < 0 || !strings.Contains(snap.Operators[i].Skipped, "another source's splits") || !slices.Equal(snap.Operators[i].States, []flinkstate.State{{Name: readerState, Kind: flinkstate.ListState, Elements: 2}}) {
		t.Errorf("operators: %+v", snap.Operators)
	}

	_, err := flinkstate.Read(k.fsys(nil), "sp")
	var none *flinkstate.NoPositionError
	if !errors.Is(err, flinkstate.ErrNoPosition) || !errors.As(err, &none) {
		t.Fatalf("alone: got %v, want an ErrNoPosition", err)
	}
	for _, want := range []string{otherID, readerState, "another source's splits", "KafkaSource"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

// Splits need not be the last state of their stream.
func TestSplitsBeforeAnotherState(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop), split("orders", 1, 6, noStop))
	end := int64(len(stream))
	stream = append(stream, "elements of another state"...)
	j := oneSource(t, nil, handle(inline(stream), listState{readerState, 0, at}, listState{"other", 0, []int64{end, end + 8}}))
	if got := listed(read(t, j).Sources[0].Partitions); !slices.Equal(got, []string{"orders-0@5", "orders-1@6"}) {
		t.Errorf("got %v", got)
	}
}

// The names that the runbook prints; those of a position are offsetmap's.
func TestSourceJSON(t *testing.T) {
	sources := read(t, oneSource(t, assigned("orders", 0), reader(split("orders", 0, 1000, 2000)))).Sources
	got, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	partitions, err := json.Marshal(sources[0].Partitions)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"operatorId":"30198ea1e33432d6307d761dd131f28a","kind":"KafkaSource","parallelism":1,"discovery":"finished","partitions":` + string(partitions) + `}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The same bytes always give the same snapshot, whatever order Java's maps had.
func TestSnapshotDoesNotDependOnTheOrderInTheFile(t *testing.T) {
	a := oneSource(t, assigned("orders", 0, 1), reader(split("orders", 0, 5, noStop)), reader(split("orders", 1, 6, noStop)))
	k := oneSource(t, assigned("b", 0, 1), reader(split("b", 1, 5, noStop), split("a", 0, 7, noStop)))
	k.operators[0].id = otherID
	a.operators = append(a.operators, k.operators...)
	b := a
	b.operators = slices.Clone(a.operators)
	slices.Reverse(b.operators)
	b.operators[1].subtasks = slices.Clone(b.operators[1].subtasks)
	slices.Reverse(b.operators[1].subtasks)
	if d := gocmp.Diff(read(t, a), read(t, b), offsets, cmpopts.IgnoreFields(flinkstate.Snapshot{}, "Files")); d != "" {
		t.Errorf("(-one order +other):\n%s", d)
	}
}
