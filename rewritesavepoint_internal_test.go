package flinkmm2

import (
	"slices"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A partition of the savepoint that the boundary lacks would be copied again from where
// it stood; one that the savepoint lacks would be read from its first record.
func TestWhatSavepointAndBoundaryDoNotShareIsNamed(t *testing.T) {
	t.Parallel()
	const from = "flinkstate/testdata/savepoints/flink-1.20-stop-p2/savepoint"
	snap, err := flinkstate.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	plan := &offsetmap.Plan{Body: offsetmap.Body{Savepoint: &offsetmap.Savepoint{Location: from, OperatorID: snap.Sources[0].OperatorID}}}
	for _, f := range snap.Files {
		plan.Body.Savepoint.Files = append(plan.Body.Savepoint.Files, offsetmap.File{Name: f.Name, SHA256: f.SHA256})
	}
	next, err := offsetmap.Next(50)
	if err != nil {
		t.Fatal(err)
	}
	b := &Boundary{}
	for _, partition := range []int32{0, 1, 2, 3, 9} {
		b.Partitions = append(b.Partitions, offsetmap.Reverse{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: partition}, Next: next})
	}
	p, kept, err := prepareSavepoint(plan, b, SavepointReturn{})
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 1 || kept[0].Check != "rollback/partition-kept" || kept[0].Scope != "orders-4" || kept[0].Acceptable != offsetmap.Exact {
		t.Errorf("kept: %+v", kept)
	}
	var how []string
	for _, c := range p.Changes() {
		how = append(how, c.String()+" "+string(c.How))
	}
	if want := []string{"orders-0 moved", "orders-1 moved", "orders-2 from-marker", "orders-3 from-marker", "orders-4 kept", "orders-9 added"}; !slices.Equal(how, want) {
		t.Errorf("splits: %v", how)
	}
	b.Partitions = slices.Insert(b.Partitions, 4, offsetmap.Reverse{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 4}, Next: next})
	if _, kept, err := prepareSavepoint(plan, b, SavepointReturn{}); err != nil || len(kept) > 0 {
		t.Errorf("all of them: %+v, %v", kept, err)
	}
}
