package flinkstate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ErrRewrite says that a savepoint cannot be rewritten as it was asked for. The error
// is a [*RewriteError].
var ErrRewrite = errors.New("the savepoint cannot be rewritten")

// RewriteError lists every reason why a savepoint cannot be rewritten. It is an
// ErrRewrite.
type RewriteError struct {
	// Metadata is the path of the metadata file.
	Metadata string
	// Problems is sorted by code and partition.
	Problems []RewriteProblem
}

// RewriteProblem is one reason.
type RewriteProblem struct {
	Code RewriteCode
	// Partition is what it is about. Its topic is empty where it is about the whole.
	Partition offsetmap.TopicPartition
	// Text says what was found, and what to do.
	Text string
}

// RewriteCode says what kind of reason it is.
type RewriteCode string

const (
	// PartitionNotNamed: the source has a partition that the Rewrite does not name.
	PartitionNotNamed RewriteCode = "partition-not-named"
	// PartitionNotInState: no reader holds a partition of Next, and Added does not name it.
	PartitionNotInState RewriteCode = "partition-not-in-state"
	// PartitionShared: another source of the job has the partition too.
	PartitionShared RewriteCode = "partition-shared"
	// PositionRewound: C' is below the position in the state, so that the boundary is
	// not one that followed this savepoint.
	PositionRewound RewriteCode = "position-rewound"
	// SplitFinishedAlready: the source had finished the partition, and Added does not
	// name it.
	SplitFinishedAlready RewriteCode = "split-finished"
	// SplitStops: the stopping offset of the split is not above C', so that the job
	// would end there at once.
	SplitStops RewriteCode = "split-stops"
	// DiscoveryNotOver: the first discovery of partitions had not finished, so the
	// restored job would take every partition that the state lacks for new.
	DiscoveryNotOver RewriteCode = "discovery-unfinished"
	// StateInFlight: an unaligned checkpoint holds records behind the positions.
	StateInFlight RewriteCode = "records-in-flight"
	// HandleNotMovable: state lies under an absolute URI that cannot be made relative.
	HandleNotMovable RewriteCode = "handle-not-movable"
	// FormNotWritten: the state is read in this form, but not written.
	FormNotWritten RewriteCode = "form-not-written"
	// RewriteContradicts: the Rewrite contradicts itself.
	RewriteContradicts RewriteCode = "rewrite-contradicts"
)

// mostProblems is how many an error's text lists: there may be one for each partition.
const mostProblems = 10

func (e *RewriteError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s", ErrRewrite, shown.Name(e.Metadata))
	for i, p := range e.Problems[:min(len(e.Problems), mostProblems)] {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(string(p.Code) + " ")
		if p.Partition.Topic != "" {
			b.WriteString(p.Partition.String() + ": ")
		}
		b.WriteString(shown.Line(p.Text))
	}
	if more := len(e.Problems) - mostProblems; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// Is reports whether target is ErrRewrite.
func (e *RewriteError) Is(target error) bool { return target == ErrRewrite }

// problem notes a reason. What it is about may be the whole.
func (w *rewriting) problem(code RewriteCode, tp offsetmap.TopicPartition, format string, args ...any) {
	w.problems = append(w.problems, RewriteProblem{code, tp, fmt.Sprintf(format, args...)})
}

func (w *rewriting) refusal() error {
	slices.SortFunc(w.problems, func(a, b RewriteProblem) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), a.Partition.Compare(b.Partition), cmp.Compare(a.Text, b.Text))
	})
	return &RewriteError{Metadata: w.snapshot.Location, Problems: slices.Compact(w.problems)}
}
