package connecttest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// A cutover by hand: the copy starts exactly at C = M + 1 of every partition,
// nothing is missing or copied twice, and after the stop M is the last record.
func TestCutoverStartsEveryPartitionAtC(t *testing.T) {
	s, _ := embedded(t)
	topic(t, s.source, "orders", 4)
	topic(t, s.target, "orders", 4)
	for p := range int32(4) {
		produce(t, s.source, numbered("orders", p, 0, 100)...)
	}

	s.create(t, "mm2", "STOPPED", s.config())
	s.awaitStates(t, "mm2", "STOPPED")
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(
		at("orders", 0, 39), // in the middle
		at("orders", 1, -1), // C = 0
		at("orders", 2, 99), // C = end
		at("orders", 3, 0),
	))
	s.awaitOffsets(t, "mm2", map[string]string{
		"source/orders/0": `{"offset":39}`, "source/orders/2": `{"offset":99}`, "source/orders/3": `{"offset":0}`,
	})
	s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
	s.awaitStates(t, "mm2", "RUNNING/RUNNING/RUNNING")
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 40, 60))
	awaitValues(t, s.target, "orders", 1, expected("orders", 1, 0, 100))
	awaitValues(t, s.target, "orders", 3, expected("orders", 3, 1, 99))
	produce(t, s.source, numbered("orders", 2, 100, 5)...)
	awaitValues(t, s.target, "orders", 2, expected("orders", 2, 100, 5))

	// The flush interval is 60 s, so these are still the offsets of the PATCH.
	if got := s.offsets(t, "mm2")["source/orders/0"]; got != `{"offset":39}` {
		t.Errorf("offset while running = %s, want the one from before the resume", got)
	}
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
	s.awaitOffsets(t, "mm2", map[string]string{
		"source/orders/0": `{"offset":99}`, "source/orders/1": `{"offset":99}`,
		"source/orders/2": `{"offset":104}`, "source/orders/3": `{"offset":99}`,
	})
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 40, 60))
}

// Offsets outlive their connector, and a new one of the same name goes on from
// them.
func TestOffsetsOutliveTheConnector(t *testing.T) {
	s, _ := embedded(t, connecttest.WithOffsetFlushInterval(time.Hour))
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	s.create(t, "mm2", "", s.config())
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 10))
	s.must(t, http.StatusNoContent, "DELETE", "/connectors/mm2", nil)
	if r := s.call(t, "GET", "/connectors/mm2/offsets", nil); r.status != http.StatusNotFound {
		t.Errorf("offsets of a deleted connector: %s", r)
	}
	produce(t, s.source, numbered("orders", 0, 10, 10)...)
	s.create(t, "mm2", "", s.config())
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 20))
}
