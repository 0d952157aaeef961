package golden

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Check reads the fixture and says everything in which what was read differs from what Flink's classes read.
func (f Fixture) Check() []string {
	snap, err := f.Open(flinkstate.WithSinkFiles())
	switch none := errors.Is(err, flinkstate.ErrNoPosition); {
	case err != nil && !none:
		return []string{err.Error()}
	case none && len(f.Positions) > 0:
		return []string{fmt.Sprintf("%v, want %d positions", err, len(f.Positions))}
	case !none && len(f.Positions) == 0 && len(snap.Sources) > 0 && !f.known():
		return []string{fmt.Sprintf("%d sources, want %v", len(snap.Sources), flinkstate.ErrNoPosition)}
	}
	return slices.Concat(f.CheckPositions(snap), f.CheckOperators(snap), f.CheckSinks(snap), f.checkKind(snap))
}

// known reports whether an enumerator knows a partition.
func (f Fixture) known() bool {
	return slices.ContainsFunc(f.Operators, func(o Operator) bool {
		return o.Coordinator != nil && len(o.Coordinator.Assigned)+len(o.Coordinator.Unassigned) > 0
	})
}

// bySubtask reports whether the fixture has the subtasks of operators, and not only what they sum up to.
func (f Fixture) bySubtask() bool {
	return slices.ContainsFunc(f.Operators, func(o Operator) bool { return len(o.Subtasks) > 0 })
}

// CheckOperators says where the inventory of a snapshot differs.
func (f Fixture) CheckOperators(snap *flinkstate.Snapshot) []string {
	if len(f.Operators) == 0 {
		return nil
	}
	var want []flinkstate.Operator
	var inFlight []flinkstate.InFlight
	for _, o := range f.Operators {
		op := flinkstate.Operator{
			ID: o.OperatorID, UID: o.UID, Name: o.Name, Parallelism: o.Parallelism, MaxParallelism: o.MaxParallelism,
			Keyed: o.Keyed, FullyFinished: o.FullyFinished,
		}
		for _, name := range o.States {
			op.States = append(op.States, flinkstate.State{Name: name})
		}
		for _, s := range o.Subtasks {
			if s.Finished {
				op.FinishedSubtasks = append(op.FinishedSubtasks, s.Index)
			}
		}
		want = append(want, op)
		if o.ChannelStateHandles > 0 {
			inFlight = append(inFlight, flinkstate.InFlight{OperatorID: o.OperatorID, UID: o.UID, Name: o.Name, Handles: o.ChannelStateHandles, Bytes: o.ChannelStateBytes})
		}
	}
	slices.SortFunc(want, func(a, b flinkstate.Operator) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(inFlight, func(a, b flinkstate.InFlight) int { return cmp.Compare(a.OperatorID, b.OperatorID) })
	options := gocmp.Options{
		cmpopts.IgnoreFields(flinkstate.Operator{}, "Skipped", "Bytes", "BeyondCopying"),
		cmpopts.IgnoreFields(flinkstate.State{}, "Kind", "Elements", "Holds", "NotRead"),
		cmpopts.EquateEmpty(),
	}
	if !f.bySubtask() {
		options = append(options, cmpopts.IgnoreFields(flinkstate.Operator{}, "FinishedSubtasks"))
	}
	var out []string
	if d := gocmp.Diff(want, snap.Operators, options); d != "" {
		out = append(out, "operators (-want +got):\n"+d)
	}
	if d := gocmp.Diff(inFlight, snap.InFlight, cmpopts.EquateEmpty()); d != "" {
		out = append(out, "in flight (-want +got):\n"+d)
	}
	return out
}

// checkKind compares what the job was asked for, which the file says from metadata version 4 on.
func (f Fixture) checkKind(snap *flinkstate.Snapshot) []string {
	want, known := map[string]flinkstate.SnapshotKind{
		"checkpoint": flinkstate.KindCheckpoint, "savepoint": flinkstate.KindSavepoint,
		"stop-with-savepoint": flinkstate.KindStopWithSavepoint, "stop-with-savepoint (drain)": flinkstate.KindStopWithDrain,
	}[f.Kind]
	switch {
	case !known:
		return []string{fmt.Sprintf("the kind %q of the fixture is not known", f.Kind)}
	case f.MetadataVersion < 4:
		want = flinkstate.KindUnknown
	}
	if snap.Kind != want {
		return []string{fmt.Sprintf("kind %q, want %q", snap.Kind, want)}
	}
	return nil
}

// sink is what the state of one operator says of transactions, each but once.
type sink struct {
	Prefixes     []string
	Transactions []transaction
}

type transaction struct {
	ID         string
	ProducerID int64
	Epoch      int16
	// Checkpoint is 0 for a committable, since Flink's classes print it without one.
	Checkpoint int64
}

// precommitted is how CheckpointTransaction of the connector prints itself.
var precommitted = regexp.MustCompile(`^CheckpointTransaction\{transactionalId='(.*)', checkpointId=(-?[0-9]+)\}$`)

// CheckSinks says where the sinks of a snapshot, read with [flinkstate.WithSinkFiles], differ. Flink's classes were asked
// for those of KafkaSink alone.
func (f Fixture) CheckSinks(snap *flinkstate.Snapshot) []string {
	want, got := sinks{}, sinks{}
	var out []string
	for _, o := range f.Operators {
		prefixes, txs := map[string]bool{}, map[transaction]bool{}
		for _, s := range o.Subtasks {
			for _, w := range s.KafkaWriterStates {
				if w.Error != "" {
					out = append(out, fmt.Sprintf("operator %s: Flink's classes read no state of a writer: %s", o.OperatorID, w.Error))
					continue
				}
				prefixes[w.TransactionalIDPrefix] = true
				for _, text := range w.PrecommittedTransactionalIDs {
					m := precommitted.FindStringSubmatch(text)
					if m == nil {
						out = append(out, fmt.Sprintf("operator %s: %q is no transaction", o.OperatorID, text))
						continue
					}
					checkpoint, err := strconv.ParseInt(m[2], 10, 64)
					if err != nil {
						out = append(out, err.Error())
					}
					txs[transaction{ID: m[1], ProducerID: -1, Epoch: -1, Checkpoint: checkpoint}] = true
				}
			}
			for _, c := range s.Committables {
				if c.Error != "" {
					out = append(out, fmt.Sprintf("operator %s: Flink's classes read no committable: %s", o.OperatorID, c.Error))
					continue
				}
				txs[transaction{ID: c.TransactionalID, ProducerID: c.ProducerID, Epoch: c.Epoch}] = true
			}
		}
		want.put(o.OperatorID, prefixes, txs)
	}
	for _, s := range snap.Sinks {
		if s.Kind != flinkstate.KafkaSink {
			continue
		}
		prefixes, txs := map[string]bool{}, map[transaction]bool{}
		for _, p := range s.TransactionalIDPrefixes {
			prefixes[p] = true
		}
		for _, tx := range s.Transactions {
			x := transaction{ID: tx.TransactionalID, ProducerID: tx.ProducerID, Epoch: tx.Epoch}
			if tx.ProducerID < 0 {
				x.Checkpoint = tx.CheckpointID
			}
			txs[x] = true
		}
		got.put(s.OperatorID, prefixes, txs)
	}
	if !f.bySubtask() {
		return nil
	}
	if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		out = append(out, "sinks (-want +got):\n"+d)
	}
	return out
}

type sinks map[string]sink

func (m sinks) put(operator string, prefixes map[string]bool, txs map[transaction]bool) {
	if len(prefixes)+len(txs) == 0 {
		return
	}
	m[operator] = sink{
		Prefixes: slices.Sorted(maps.Keys(prefixes)),
		Transactions: slices.SortedFunc(maps.Keys(txs), func(a, b transaction) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Checkpoint, b.Checkpoint), cmp.Compare(a.ProducerID, b.ProducerID), cmp.Compare(a.Epoch, b.Epoch))
		}),
	}
}
