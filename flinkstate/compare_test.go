package flinkstate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func c(v int64) offsetmap.NextOffset {
	next, err := offsetmap.Next(v)
	if err != nil {
		panic(err)
	}
	return next
}

func TestCompareNamesEveryRelation(t *testing.T) {
	t.Parallel()
	at := func(n int32, next int64) offsetmap.Position {
		return offsetmap.Position{TopicPartition: orders(n), Next: c(next)}
	}
	positions := []offsetmap.Position{
		at(3, 10), at(0, 5), at(1, 20), at(2, 0),
		{TopicPartition: orders(4), Unread: offsetmap.Earliest},
		{TopicPartition: orders(5), Unread: offsetmap.Committed},
		{TopicPartition: orders(6), State: offsetmap.Unassigned, Start: c(9)}, // 9 is no C
	}
	committed := map[offsetmap.TopicPartition]offsetmap.NextOffset{
		orders(0): c(5), orders(1): c(8), orders(2): c(3), orders(5): c(7), orders(6): c(9), orders(7): c(1),
	}
	got := map[string]string{}
	compared := flinkstate.Compare(positions, committed)
	for i, p := range compared {
		if p.Partition != int32(i) {
			t.Errorf("not sorted: %v", compared)
		}
		got[p.TopicPartition.String()] = p.String()
	}
	want := map[string]string{
		"orders-0": "equal", "orders-1": "behind 12", "orders-2": "ahead 3", "orders-3": "missing",
		"orders-4": "missing", "orders-5": "unread", "orders-6": "unread", "orders-7": "unread",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, want := compared.String(), "1 equal, 1 behind by at most 12, 1 ahead by at most 3, 2 missing, 3 unread"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := flinkstate.Compare(nil, nil).String(); got != "no partition" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestComparedLeavesOutOfItsJSONWhatIsNone(t *testing.T) {
	t.Parallel()
	compared := flinkstate.Compare([]offsetmap.Position{
		{TopicPartition: orders(0), Next: c(20)}, {TopicPartition: orders(1), Unread: offsetmap.Earliest}, {TopicPartition: orders(2), Next: c(0)},
	}, map[offsetmap.TopicPartition]offsetmap.NextOffset{orders(0): c(8), orders(2): c(0)})
	text, err := json.Marshal(compared)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"topic":"orders","partition":0,"next":20,"committed":8,"relation":"behind","by":12},` +
		`{"topic":"orders","partition":1,"relation":"missing"},` +
		`{"topic":"orders","partition":2,"next":0,"committed":0,"relation":"equal"}]`
	if d := cmp.Diff(want, string(text)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What is compared adds up: each partition once, and C and By give back what was
// committed.
func TestCompareLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offsets := rapid.MapOf(rapid.Int32Range(0, 9), rapid.Int64Range(0, 1<<62))
		committed := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
		for n, at := range offsets.Draw(t, "committed") {
			committed[orders(n)] = c(at)
		}
		named := map[offsetmap.TopicPartition]bool{}
		for tp := range committed {
			named[tp] = true
		}
		var positions []offsetmap.Position
		for n, at := range offsets.Draw(t, "positions") {
			positions = append(positions, offsetmap.Position{TopicPartition: orders(n), Next: c(at)})
			named[orders(n)] = true
		}
		compared := flinkstate.Compare(positions, committed)
		if len(compared) != len(named) {
			t.Fatalf("%d compared, %d named", len(compared), len(named))
		}
		total := 0
		for _, r := range []flinkstate.Relation{flinkstate.Equal, flinkstate.Behind, flinkstate.Ahead, flinkstate.Missing, flinkstate.Unread} {
			n, _ := compared.Count(r)
			total += n
		}
		if total != len(compared) {
			t.Fatalf("%d in a relation, of %d", total, len(compared))
		}
		for _, p := range compared {
			if p.Committed != committed[p.TopicPartition] {
				t.Fatalf("%s: committed %s, want %s", p.TopicPartition, p.Committed, committed[p.TopicPartition])
			}
			sign := map[flinkstate.Relation]int64{flinkstate.Behind: -1, flinkstate.Ahead: 1}[p.Relation]
			if n, both := p.Committed.Sub(p.Next); both && n != sign*p.By || sign != 0 && p.By <= 0 {
				t.Fatalf("%s is %s: C = %s, committed %s", p.TopicPartition, p, p.Next, p.Committed)
			}
		}
	})
}

func ExampleCompare() {
	position := func(partition int32, next int64) offsetmap.Position {
		return offsetmap.Position{TopicPartition: orders(partition), Next: c(next)}
	}
	saved := []offsetmap.Position{position(0, 1000), position(1, 40)}
	committed := map[offsetmap.TopicPartition]offsetmap.NextOffset{orders(0): c(940), orders(1): c(40)}
	compared := flinkstate.Compare(saved, committed)
	for _, p := range compared {
		fmt.Println(p.TopicPartition, p)
	}
	fmt.Println(compared)
	// Output:
	// orders-0 behind 60
	// orders-1 equal
	// 1 equal, 1 behind by at most 60
}
