package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
)

func TestTheInventoryHasTheMembersOfItsSchema(t *testing.T) {
	s := schematest.New(t, flinkmm2.InventorySchema())
	s.SameMembers(t, "inventory", reflect.TypeFor[inventory](), s.Root)
}

func TestTheSchemaOfTheInventoryListsTheConstants(t *testing.T) {
	s := schematest.New(t, flinkmm2.InventorySchema())
	enum := func(node schematest.Object, member string) []any {
		return s.Resolve(node["properties"].(schematest.Object)[member])["enum"].([]any)
	}
	for name, c := range map[string]struct{ got, want []any }{
		"written for": {enum(s.Root, "writtenFor"), []any{
			string(flinkstate.KindUnknown), string(flinkstate.KindCheckpoint), string(flinkstate.KindSavepoint), string(flinkstate.KindStopWithSavepoint), string(flinkstate.KindStopWithDrain),
		}},
		"source":    {enum(s.Def("source"), "kind"), []any{string(flinkstate.KafkaSource), string(flinkstate.DynamicKafkaSource), string(flinkstate.FlinkKafkaConsumer)}},
		"discovery": {enum(s.Def("source"), "discovery"), []any{string(flinkstate.DiscoveryUnknown), string(flinkstate.DiscoveryFinished), string(flinkstate.DiscoveryUnfinished)}},
		"sink":      {enum(s.Def("sink"), "kind"), []any{string(flinkstate.KafkaSink), string(flinkstate.FlinkKafkaProducer)}},
		"state":     {enum(s.Def("state"), "kind"), []any{string(flinkstate.ListState), string(flinkstate.UnionListState), string(flinkstate.BroadcastState)}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: the schema has %v, Go has %v", name, c.got, c.want)
		}
	}
}

// Of every fixture that can be read without a path map, with positions and without.
func TestInventoriesFollowTheirSchema(t *testing.T) {
	dirs, err := filepath.Glob("../../flinkstate/testdata/savepoints/*/*/_metadata")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, metadata := range dirs {
		var out, errs bytes.Buffer
		if run(t.Context(), []string{"inspect", "--savepoint", filepath.Dir(metadata), "-o", "json"}, &out, &errs) != 0 {
			continue // what must be read, and what not, is the matter of flinkstate's own tests
		}
		shown++
		if err := schematest.Check(flinkmm2.InventorySchema(), out.Bytes()); err != nil {
			t.Errorf("%s: %v", metadata, err)
		}
	}
	if shown < 60 {
		t.Errorf("only %d inventories were held against the schema", shown)
	}
}

// A line with the names of a thousand topics hides the one that is looked for.
func TestATableNamesManyTopicsInShort(t *testing.T) {
	var topics []string
	for i := range 1000 {
		topics = append(topics, fmt.Sprintf("orders-region-%04d", i))
	}
	i := inventory{Sources: []sourceSummary{{Kind: flinkstate.KafkaSource, Topics: topics, Partitions: 1000}, {Topics: topics[:10]}}}
	var out bytes.Buffer
	inventoryTable(&out, i)
	for _, want := range []string{"orders-region-0009 and 990 more topics (-o json names all), 0 without", "orders-region-0008, orders-region-0009, 0 without"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "orders-region-0010") {
		t.Error("the table names more than it says")
	}
}
