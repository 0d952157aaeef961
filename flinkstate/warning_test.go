package flinkstate_test

import (
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

func codes(ws []flinkstate.Warning) []flinkstate.WarningCode {
	var cs []flinkstate.WarningCode
	for _, w := range ws {
		cs = append(cs, w.Code)
	}
	return cs
}

func TestWarnings(t *testing.T) {
	channel := put(0, 0, 0, 1, int64(0), int64(4096), inline([]byte("records")))
	two := reader(split("orders", 0, 5, noStop), split("orders", 1, 5, noStop))
	for _, tt := range []struct {
		name  string
		job   func() job
		want  []flinkstate.WarningCode
		unfit bool
	}{
		{"nothing to say", func() job { return oneSource(t, assigned("orders", 0, 1), two) }, nil, false},
		{"no enumerator", func() job { return oneSource(t, nil, two) }, []flinkstate.WarningCode{flinkstate.EnumeratorMissing}, false},
		{"records in flight", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{channels: [][]byte{channel, channel}}}})
			return j
		}, []flinkstate.WarningCode{flinkstate.RecordsInFlight}, true},
		{"fully finished operator", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, fullyFinished: true})
			return j
		}, []flinkstate.WarningCode{flinkstate.OperatorFinished}, true},
		{"bounded source at its end", func() job { return oneSource(t, assigned("orders", 0, 1), reader()) }, []flinkstate.WarningCode{flinkstate.SourceFinished}, true},
		{"one split at its end", func() job { return oneSource(t, assigned("orders", 0, 1, 2), two) }, []flinkstate.WarningCode{flinkstate.SplitsFinished}, true},
		{"finished subtask", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two, nil)
			j.operators[0].subtasks[1].finished = true
			return j
		}, []flinkstate.WarningCode{flinkstate.SubtasksFinished}, false},
		{"every subtask finished", func() job {
			j := oneSource(t, assigned("orders", 0, 1), nil)
			j.operators[0].subtasks[0].finished = true
			return j
		}, []flinkstate.WarningCode{flinkstate.SourceFinished, flinkstate.SubtasksFinished}, true},
		{"subtask without reader state", func() job { return oneSource(t, assigned("orders", 0, 1), two, nil) }, []flinkstate.WarningCode{flinkstate.SubtaskMissing}, true},
		{"subtask that is not there at all", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			j.operators[0].parallelism = 2
			return j
		}, []flinkstate.WarningCode{flinkstate.SubtaskMissing}, true},
		{"discovery not finished", func() job {
			return oneSource(t, enumerator(2, 1, "orders", 0, 0, int8(0)), reader(split("orders", 0, 5, noStop)))
		}, []flinkstate.WarningCode{flinkstate.DiscoveryNotFinished}, true},
		{"coordinator of an operator that is no source", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, coordinator: []byte("a sink's"), subtasks: []jobSubtask{{}}})
			return j
		}, nil, false},
		{"another source without splits", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			k := oneSource(t, enumerator(1, 0), reader())
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			return j
		}, []flinkstate.WarningCode{flinkstate.SourceUnidentified}, true},
		{"another source with an enumerator that is not known", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			k := oneSource(t, enumerator(7, 0), reader())
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			return j
		}, []flinkstate.WarningCode{flinkstate.SourceUnidentified}, true},
		{"another source with an enumerator that is almost a dynamic one", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			clusters := put(1, "stream", 1, "cluster-0", 1, "orders", "broker:9092")
			k := oneSource(t, enumerator(1, clusters, 1, 1, "cluster-0", sized(0), int8(0)), reader())
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			return j
		}, []flinkstate.WarningCode{flinkstate.SourceUnidentified}, true},
		{"another source with a dynamic enumerator that names nothing", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			k := oneSource(t, enumerator(1, 0, 1, 0), reader())
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			return j
		}, []flinkstate.WarningCode{flinkstate.SourceUnidentified}, true},
		{"two sources of one partition", func() job {
			j := oneSource(t, assigned("orders", 0, 1), two)
			k := oneSource(t, assigned("orders", 1), reader(split("orders", 1, 9, noStop)))
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			return j
		}, []flinkstate.WarningCode{flinkstate.PartitionsShared}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap := read(t, tt.job())
			if c := codes(snap.Warnings); !slices.Equal(c, tt.want) {
				t.Fatalf("got %v, want %v", c, tt.want)
			}
			unfit := slices.ContainsFunc(snap.Warnings, func(w flinkstate.Warning) bool { return w.Code.Unfit() })
			if unfit != tt.unfit {
				t.Errorf("unfit %v, want %v", unfit, tt.unfit)
			}
			for _, w := range snap.Warnings {
				if w.OperatorID == "" || w.Text == "" {
					t.Errorf("a warning without operator or text: %+v", w)
				}
			}
		})
	}
}

// Sizes are what the handles say: their sum does not wrap around.
func TestRecordsInFlightAreAddedUp(t *testing.T) {
	channel := func(size int64) []byte { return put(0, 0, 0, 0, size, int8(0)) }
	for _, tt := range []struct {
		sizes []int64
		want  int64
	}{{[]int64{4096, 4}, 4100}, {[]int64{math.MaxInt64, 5, math.MaxInt64}, math.MaxInt64}} {
		j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
		for _, size := range tt.sizes {
			j.operators[0].subtasks[0].channels = append(j.operators[0].subtasks[0].channels, channel(size))
		}
		want := []flinkstate.InFlight{{OperatorID: testSource, Handles: len(tt.sizes), Bytes: tt.want}}
		if d := gocmp.Diff(want, read(t, j).InFlight); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.sizes, d)
		}
	}
}
