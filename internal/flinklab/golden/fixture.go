package golden

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Fixture is a folder with state and what Flink's and the connector's own classes read in it.
type Fixture struct {
	// Dir is the folder, Name its last element.
	Dir  string `json:"-"`
	Name string `json:"-"`

	Note                           string
	FlinkVersion, ConnectorVersion string
	// Kind is checkpoint, savepoint, stop-with-savepoint or stop-with-savepoint (drain).
	Kind string
	// Source is kafka, legacy, dynamic, table or upsert.
	Source string
	// Pointer is the folder of _metadata in Dir.
	Pointer string
	// PathMap has the prefixes of the absolute paths in the state, and the folders of Dir that they are now.
	PathMap         map[string]string
	MetadataVersion int
	CheckpointID    int64
	// Synthetic fixtures were written with Flink's serializers, not by a job.
	Synthetic bool
	Operators []Operator
	Positions []Position
	// CrossCheck is what the brokers held afterwards.
	CrossCheck struct {
		Verdict struct{ All []string }
	}
}

// Operator is an operator of the job. Some fixtures have the fields that sum up its subtasks, the others the subtasks.
type Operator struct {
	OperatorID                  string
	UID, Name                   string
	Parallelism, MaxParallelism int
	FullyFinished               bool
	Coordinator                 *Coordinator

	Keyed               bool
	States              []string
	ChannelStateHandles int
	ChannelStateBytes   int64

	Subtasks []Subtask
}

// Coordinator is the state of a source's enumerator.
type Coordinator struct {
	Type                   string
	EnumeratorStateVersion int
	Enumerator
	// Clusters is set for a DynamicKafkaSource alone.
	Clusters map[string]Enumerator
}

// Enumerator has the start offsets of partitions by TOPIC-PARTITION, nil where the format stores none.
type Enumerator struct {
	InitialDiscoveryFinished *bool
	Assigned, Unassigned     map[string]*int64
}

// Subtask is the state of one subtask.
type Subtask struct {
	Index               int
	Finished            bool
	KeyedHandles        []string
	ChannelStateHandles int
	ChannelStateBytes   int64
	OperatorHandles     []struct{ States map[string]string }
	KafkaWriterStates   []struct {
		TransactionalIDPrefix        string
		PrecommittedTransactionalIDs []string
		Error                        string
	}
	Committables []struct {
		TransactionalID string
		ProducerID      int64
		Epoch           int16
		Error           string
	}
}

// Position is where a reader stood in one partition.
type Position struct {
	OperatorID, Topic string
	Partition         int32
	Cluster           string
	// Next is nil where the state holds Sentinel.
	Next, Stopping *int64
	Sentinel       string
	// StateKind is the class of the split, where the fixture has it.
	StateKind string
}

// Load reads expected.json in dir.
func Load(dir string) (Fixture, error) {
	f := Fixture{Dir: dir, Name: filepath.Base(dir)}
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("%s: %w", filepath.Join(dir, "expected.json"), err)
	}
	for i := range f.Operators {
		f.Operators[i].sumUp()
	}
	return f, nil
}

// LoadAll reads every fixture in a folder, by name.
func LoadAll(dir string) ([]Fixture, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Fixture
	for _, e := range entries {
		f, err := Load(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// sumUp sets what the subtasks say together.
func (o *Operator) sumUp() {
	states := map[string]bool{}
	for _, s := range o.States {
		states[s] = true
	}
	for _, s := range o.Subtasks {
		o.Keyed = o.Keyed || len(s.KeyedHandles) > 0
		o.ChannelStateHandles += s.ChannelStateHandles
		o.ChannelStateBytes += s.ChannelStateBytes
		for _, h := range s.OperatorHandles {
			for name := range h.States {
				states[name] = true
			}
		}
	}
	o.States = slices.Sorted(maps.Keys(states))
}

// Open reads the state as a user does who has the folder somewhere else than the job had it. Where no position is
// stored it returns what is known all the same, with [flinkstate.ErrNoPosition].
func (f Fixture) Open(options ...flinkstate.Option) (*flinkstate.Snapshot, error) {
	options = append([]flinkstate.Option{flinkstate.WithPathMap(f.PathMap)}, options...)
	snap, err := flinkstate.Read(os.DirFS(f.Dir), f.Pointer, options...)
	if none := (*flinkstate.NoPositionError)(nil); errors.As(err, &none) {
		return none.Snapshot, err
	}
	return snap, err
}

// ExpectedKind is the kind of a source by the splits that it stores.
func (f Fixture) ExpectedKind(operator string) flinkstate.Kind {
	kinds := map[string]flinkstate.Kind{
		"FlinkKafkaConsumer": flinkstate.FlinkKafkaConsumer, "DynamicKafkaSourceSplit": flinkstate.DynamicKafkaSource, "KafkaPartitionSplit": flinkstate.KafkaSource,
		"legacy": flinkstate.FlinkKafkaConsumer, "dynamic": flinkstate.DynamicKafkaSource,
	}
	for _, p := range f.Positions {
		if p.OperatorID == operator && p.StateKind != "" {
			return kinds[p.StateKind]
		}
	}
	return cmp.Or(kinds[f.Source], flinkstate.KafkaSource)
}
