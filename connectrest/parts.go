package connectrest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// The bounds of one part of a large change of offsets. A worker gives up a
// request after 90 s, whatever the body is like: it has no bound on the size of a
// body, and each entry becomes a record of its own in its topic
// (KafkaOffsetBackingStore). docs/connect-overhead.md has what a real worker
// takes for parts of other sizes.
const (
	DefaultPartEntries = 1000
	DefaultPartBytes   = 1 << 20
)

// PartState says how far one part of a change of offsets came.
type PartState string

// The states of a part.
const (
	// PartNotWritten: it was not sent, or the worker said that it did nothing.
	PartNotWritten PartState = "not written"
	// PartWritten: the worker said that it is written, or it was read back.
	PartWritten PartState = "written"
	// PartUnknown: it was sent and may be written, in part too, or it was not all
	// seen when everything was read back.
	PartUnknown PartState = "unknown"
)

// Part is one request of [Client.AlterOffsetsInParts].
type Part struct {
	// Number counts from 1 to Of.
	Number, Of int
	// Offsets are successive entries of the caller's list, and share its memory.
	Offsets []Offset
	State   PartState
}

// String names the part by its number and by its first and last partition. Where
// there is no other part it names a few partitions alone.
func (p Part) String() string {
	n := len(p.Offsets)
	switch {
	case p.Of == 1 && n > 0:
		return namePartitions(p.Offsets)
	case n == 0:
		return fmt.Sprintf("part %d of %d", p.Number, p.Of)
	default:
		return fmt.Sprintf("part %d of %d (%d partitions, %s to %s)", p.Number, p.Of, n, namePartition(p.Offsets[0].Partition), namePartition(p.Offsets[n-1].Partition))
	}
}

// PartsProgress says how far a change of offsets in parts has come.
type PartsProgress struct {
	// Part is the one that was just written.
	Part Part
	// Written and Total count partitions.
	Written, Total int
}

// PartsError says which parts of a change of offsets are written, which are not,
// and which may be. [Client.ContinueOffsets] goes on from it.
type PartsError struct {
	// Name is the connector's.
	Name string
	// Parts are all of them, in the order in which they are sent.
	Parts []Part
	// Failed is the number of the part that failed; 0 where every part was written
	// and the offsets that were read back never were as expected.
	Failed int
	// Err says what failed.
	Err error
}

// In returns the parts of a state.
func (e *PartsError) In(state PartState) []Part {
	var in []Part
	for _, p := range e.Parts {
		if p.State == state {
			in = append(in, p)
		}
	}
	return in
}

// Error names the part that failed, why, and how far every part came.
func (e *PartsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "offsets of connector %q: ", e.Name)
	switch {
	case e.Failed > 0 && e.Failed <= len(e.Parts):
		fmt.Fprintf(&b, "%v: %v", e.Parts[e.Failed-1], e.Err)
	case len(e.Parts) == 1:
		fmt.Fprintf(&b, "%v: sent: %v", e.Parts[0], e.Err)
	default:
		fmt.Fprintf(&b, "all of it was sent, in %d parts: %v", len(e.Parts), e.Err)
	}
	if errors.Is(e.Err, ErrTimedOut) {
		b.WriteString(" (smaller parts, WithPartSize, take the worker less time)")
	}
	if len(e.Parts) == 1 {
		return b.String() // which says it all
	}
	for _, state := range []PartState{PartWritten, PartUnknown, PartNotWritten} {
		if s := describeParts(e.In(state)); s != "" {
			fmt.Fprintf(&b, "; %s: %s", state, s)
		}
	}
	return b.String()
}

// Unwrap returns what failed.
func (e *PartsError) Unwrap() error { return e.Err }

// describeParts lists parts by runs of their numbers: "parts 1 to 6, 9 (6,012 …)".
func describeParts(parts []Part) string {
	if len(parts) == 0 {
		return ""
	}
	var runs []string
	partitions := 0
	for i := 0; i < len(parts); {
		j := i
		for j+1 < len(parts) && parts[j+1].Number == parts[j].Number+1 {
			j++
		}
		run := strconv.Itoa(parts[i].Number)
		if j > i {
			run += fmt.Sprintf(" to %d", parts[j].Number)
		}
		runs = append(runs, run)
		i = j + 1
	}
	for _, p := range parts {
		partitions += len(p.Offsets)
	}
	word := "part"
	if len(parts) > 1 {
		word = "parts"
	}
	return fmt.Sprintf("%s %s (%d partitions)", word, restapi.Bound(strings.Join(runs, ", "), 512), partitions)
}

// PartsOption changes how [Client.AlterOffsetsInParts] works.
type PartsOption func(*partsSettings) error

type partsSettings struct {
	entries, bytes int
	progress       func(PartsProgress)
	within         time.Duration
	leave          bool // the read-back to the caller
}

// WithPartSize bounds one part: partitions, and bytes of its body.
// By default, [DefaultPartEntries] and [DefaultPartBytes].
func WithPartSize(partitions, bytes int) PartsOption {
	return func(s *partsSettings) error {
		if partitions < 1 || bytes < 1 {
			return fmt.Errorf("the size of a part is %d partitions and %d bytes, both must be positive", partitions, bytes)
		}
		s.entries, s.bytes = partitions, bytes
		return nil
	}
}

// WithPartsProgress calls report after each part that was written, before the
// next one is sent. By default, nothing is reported.
func WithPartsProgress(report func(PartsProgress)) PartsOption {
	return func(s *partsSettings) error {
		if report == nil {
			return errors.New("the function that progress is reported to is nil")
		}
		s.progress = report
		return nil
	}
}

// WithPartsReadBack bounds how long everything is read back until it is as it was
// sent, once every part is written. What else is stored does not matter.
// By default, [RetryPolicy].ReadBack.
func WithPartsReadBack(within time.Duration) PartsOption {
	return func(s *partsSettings) error {
		if within <= 0 {
			return fmt.Errorf("the time for the read-back is %v, it must be positive", within)
		}
		s.within, s.leave = within, false
		return nil
	}
}

// WithoutPartsReadBack leaves it to the caller to read everything back. A part
// whose outcome is unknown is read back all the same.
func WithoutPartsReadBack() PartsOption {
	return func(s *partsSettings) error {
		s.leave = true
		return nil
	}
}
