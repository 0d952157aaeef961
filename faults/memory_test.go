package faults_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/faults"
	"github.com/flinkmm2/flinkmm2/internal/cutover"
)

// inMemory is a stage of brokers and a worker in memory.
func inMemory(t *testing.T) (*faults.Stage, *connecttest.Worker) {
	t.Helper()
	brokers := func(id string) string {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return strings.Join(c.ListenAddrs(), ",")
	}
	source, target := brokers("embedded-source"), brokers("embedded-target")
	w, err := connecttest.NewWorker(t.Context(), strings.Split(target, ","), connecttest.WithOffsetFlushInterval(time.Second), connecttest.WithTopicRefreshInterval(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &faults.Stage{
		Stage: cutover.Stage{
			Version: connectrest.KafkaVersion(4, 3), Source: source, Target: target, Connect: w.URL,
			FlushTimeout: 300 * time.Millisecond, Patience: 10 * time.Second,
		},
		Clusters: "embedded-source to embedded-target",
	}, w
}

// TestInMemory runs cells that need no JVM on brokers and a worker in memory, so that
// the matrix itself is tested everywhere.
func TestInMemory(t *testing.T) {
	var cells []faults.Cell
	for _, c := range faults.Cells() {
		if c.InMemory() {
			cells = append(cells, c)
		}
	}
	s, _ := inMemory(t)
	run(t, picked(t, cells), s)
}

// A matrix that does not notice these has shown nothing.
func TestPlantedBugsAreNoticed(t *testing.T) {
	s, w := inMemory(t)
	s.Patience = 3 * time.Second
	equip(t, s)
	var start faults.Cell
	for _, c := range faults.Cells() {
		if c.Step == "start" && c.Fault == "no fault" {
			start = c
		}
	}
	for name, planted := range map[string]connecttest.Fault{"seek to M+2": connecttest.WrongSeek{By: 1}, "seek to M": connecttest.WrongSeek{By: -1}} {
		t.Run(name, func(t *testing.T) {
			fault := w.Inject(planted)
			defer fault.Remove()
			_, err := start.Run(t.Context(), t, s)
			if err == nil || !strings.Contains(err.Error(), "is not due") { // an end that is passed lets it begin anew
				t.Errorf("a planted bug is not noticed: %v", err)
			}
			if fault.Hits() == 0 {
				t.Error("the planted bug never took effect")
			}
		})
	}
}
