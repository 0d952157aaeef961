package connecttest_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

func without(v []string, i int) []string { return slices.Delete(slices.Clone(v), i, i+1) }

// Every planted bug shows on the target, and only there: the connector says
// RUNNING and commits its offsets.
func TestCopyFaults(t *testing.T) {
	all := expected("orders", 0, 0, 20)
	from10 := all[10:]
	record := connecttest.Record{Topic: "orders", Partition: 0, Offset: 13}
	swapped := slices.Clone(from10)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	altered := slices.Clone(from10)
	altered[3] += "~"
	changed := slices.Clone(from10)
	changed[3] = "changed"
	for _, c := range []struct {
		name  string
		fault connecttest.Fault
		want  []string
	}{
		{"seek to M", connecttest.WrongSeek{By: -1}, all[9:]},
		{"seek to M + 2", connecttest.WrongSeek{By: 1}, all[11:]},
		{"alias ignored", connecttest.IgnoreAlias{}, all[16:]},
		{"record dropped", connecttest.DropRecord{Record: record}, without(from10, 3)},
		{"record repeated", connecttest.RepeatRecord{Record: record}, slices.Insert(slices.Clone(from10), 3, from10[3])},
		{"record altered", connecttest.AlterRecord{Record: record}, altered},
		{"record changed", connecttest.AlterRecord{Record: record, Change: func(r *kgo.Record) { r.Value = []byte("changed") }}, changed},
		{"records swapped", connecttest.SwapRecords{Record: record}, swapped},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, w := embedded(t)
			topic(t, s.source, "orders", 1)
			produce(t, s.source, numbered("orders", 0, 0, 20)...)
			s.create(t, "mm2", "STOPPED", s.config())
			s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(
				at("orders", 0, 9),
				entry{map[string]any{"cluster": "other", "topic": "orders", "partition": 0}, []byte(`{"offset":15}`)},
			))
			injected := w.Inject(c.fault)
			s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
			awaitValues(t, s.target, "orders", 0, c.want)
			s.awaitStates(t, "mm2", "RUNNING/RUNNING")
			s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
			s.awaitStates(t, "mm2", "STOPPED")
			if got := s.offsets(t, "mm2")["source/orders/0"]; got != `{"offset":19}` {
				t.Errorf("offset = %s, want that of the last record", got)
			}
			awaitValues(t, s.target, "orders", 0, c.want)
			if injected.Hits() == 0 {
				t.Error("the fault never took effect")
			}
		})
	}
}

// A silenced partition stands still while everything is RUNNING, and goes on
// where it was.
func TestSilencePartition(t *testing.T) {
	s, w := embedded(t, connecttest.WithOffsetFlushInterval(50*time.Millisecond))
	topic(t, s.source, "orders", 2)
	injected := w.Inject(connecttest.SilencePartition{Topic: "orders", Partition: 1})
	for p := range int32(2) {
		produce(t, s.source, numbered("orders", p, 0, 10)...)
	}
	s.create(t, "mm2", "", s.config(conf{"tasks.max": "1"}))
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 10))
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	await(t, "records to be held back", func() (any, bool) { return injected.Hits(), injected.Hits() > 0 })
	if got := values(t, s.target, "orders", 1); len(got) > 0 {
		t.Errorf("copied %v of the silenced partition", got)
	}
	injected.Remove()
	produce(t, s.source, numbered("orders", 1, 10, 5)...)
	awaitValues(t, s.target, "orders", 1, expected("orders", 1, 0, 15))
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`, "source/orders/1": `{"offset":14}`})
}

// A task that fails shows a trace, has committed what it wrote, and goes on
// there when it is restarted.
func TestFailTask(t *testing.T) {
	s, w := embedded(t)
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	injected := w.Inject(connecttest.FailTask{Record: connecttest.Record{Topic: "orders", Offset: 6}})
	s.create(t, "mm2", "", s.config())
	s.awaitStates(t, "mm2", "RUNNING/FAILED")
	if trace := s.status(t, "mm2").Tasks[0].Trace; trace == "" {
		t.Error("a FAILED task has no trace")
	}
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 6))
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":5}`})
	injected.Remove()
	r := s.must(t, http.StatusAccepted, "POST", "/connectors/mm2/restart?includeTasks=true&onlyFailed=true", nil)
	if st := decode[status](t, r); st.states() != "RUNNING/RESTARTING" {
		t.Errorf("restart of what failed: %s", r)
	}
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 10))
}

// running starts a worker whose connector has copied ten records of orders-0
// and committed none.
func running(t *testing.T, opts ...connecttest.Option) (*stage, *connecttest.Worker) {
	t.Helper()
	s, w := embedded(t, opts...)
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	s.create(t, "mm2", "", s.config())
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 10))
	return s, w
}

// STOPPED is not yet "no task": tasks that linger are shown, and a change of
// offsets waits for them, so that their last commit does not overwrite it.
func TestSlowStop(t *testing.T) {
	s, w := running(t)
	w.Inject(connecttest.SlowStop{Connector: "mm2", For: 300 * time.Millisecond})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED/RUNNING")
	s.check(t, "mm2", row{method: "GET", path: "/connectors/NAME/tasks", status: 200, is: `[]`})
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 3)))
	s.awaitStates(t, "mm2", "STOPPED")
	diff(t, "offsets", map[string]string{"source/orders/0": `{"offset":3}`}, s.offsets(t, "mm2"))
}

// A task that outlives the graceful timeout is abandoned, and its last commit
// overwrites what was written meanwhile.
func TestAbandonedTaskCommitsLater(t *testing.T) {
	s, w := running(t, connecttest.WithGracefulTimeout(50*time.Millisecond))
	w.Inject(connecttest.SlowStop{For: 600 * time.Millisecond})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 3)))
	diff(t, "offsets", map[string]string{"source/orders/0": `{"offset":3}`}, s.offsets(t, "mm2"))
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
}

func TestStragglingCommit(t *testing.T) {
	s, w := running(t)
	injected := w.Inject(connecttest.StragglingCommit{Connector: "mm2", After: 400 * time.Millisecond})
	other := w.Inject(connecttest.StragglingCommit{Connector: "another", After: time.Hour})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 3)))
	diff(t, "offsets", map[string]string{"source/orders/0": `{"offset":3}`}, s.offsets(t, "mm2"))
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
	if injected.Hits() != 1 || other.Hits() != 0 {
		t.Errorf("hits %d and %d, want 1 and 0", injected.Hits(), other.Hits())
	}
}

// A stop ends the tasks also when the connector is resumed before the worker
// acted, so nothing of the old tasks is shown or goes on.
func TestResumeDirectlyAfterStopStartsNewTasks(t *testing.T) {
	s, w := running(t, connecttest.WithSettleTime(200*time.Millisecond), connecttest.WithOffsetFlushInterval(time.Hour))
	injected := w.Inject(connecttest.WrongSeek{By: -1})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
	// New tasks read the offset that the old ones committed.
	awaitValues(t, s.target, "orders", 0, append(expected("orders", 0, 0, 10), "orders/0/9"))
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	if tasks := decode[[]any](t, s.must(t, http.StatusOK, "GET", "/connectors/mm2/tasks", nil)); len(tasks) != 1 {
		t.Errorf("tasks = %v, want one", tasks)
	}
	if injected.Hits() != 1 {
		t.Errorf("%d tasks were started, want 1", injected.Hits())
	}
}
