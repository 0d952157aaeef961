package offsetmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Attestation is what no API can show and a person therefore states by name.
type Attestation[T any] struct {
	Value  T      `json:"value"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Attest returns an attestation of value, by somebody, for a reason.
func Attest[T any](value T, by, reason string) *Attestation[T] {
	return &Attestation[T]{Value: value, By: by, Reason: reason}
}

// Check returns an error where nobody can answer for the attestation, since its name
// or its reason is missing or is no text, or where it must not be kept.
func (a Attestation[T]) Check() error {
	switch {
	case strings.TrimSpace(a.By) == "" || strings.TrimSpace(a.Reason) == "":
		return fmt.Errorf("attested without a name and a reason (by %q, reason %q)", a.By, a.Reason)
	case !utf8.ValidString(a.By) || !utf8.ValidString(a.Reason):
		return fmt.Errorf("the name %q or the reason %q is not UTF-8", a.By, a.Reason)
	case hasUser(a.By) || hasUser(a.Reason) || hasUser(fmt.Sprint(a.Value)):
		return errors.New("it holds an address with a user or a password, which a plan would keep: leave them out")
	}
	return nil
}

// Attestations are what a person states of the old job. Those that are always
// required come first; evidence that contradicts one blocks.
type Attestations struct {
	CopyOnly       *Attestation[bool]          `json:"copyOnly"`       // the job neither filters nor changes records
	FlinkStopped   *Attestation[FlinkEnd]      `json:"flinkStopped"`   // how the job ended
	AutoRestartOff *Attestation[bool]          `json:"autoRestartOff"` // nothing brings the job back by itself
	SinkGuarantee  *Attestation[SinkGuarantee] `json:"sinkGuarantee"`  // the sink's delivery guarantee
	Isolation      *Attestation[Isolation]     `json:"isolation"`      // the source consumer's isolation.level
	Checkpointing  *Attestation[string]        `json:"checkpointing"`  // interval such as "1m30s", or "off"; required when planning from a group
	RollbackWindow *Attestation[string]        `json:"rollbackWindow"` // a duration such as "72h", for which a way back must exist; Confirm.Limits requires it
	MaxDuplicates  *Attestation[int64]         `json:"maxDuplicates"`  // records that consumers bear; Confirm.Limits requires it
	Confirm        Confirmations               `json:"confirm"`        // what has to be settled before a migration
}

// FlinkEnd says how the old job ended.
type FlinkEnd string

const (
	StoppedWithSavepoint FlinkEnd = "stopped-with-savepoint"
	Canceled             FlinkEnd = "canceled"
	Failed               FlinkEnd = "failed"
)

// SinkGuarantee is the delivery guarantee of the old job's KafkaSink
// (org.apache.flink.connector.base.DeliveryGuarantee), whose default is none.
type SinkGuarantee string

const (
	SinkNone        SinkGuarantee = "none"
	SinkAtLeastOnce SinkGuarantee = "at-least-once"
	SinkExactlyOnce SinkGuarantee = "exactly-once"
)

// CheckSinkNone is the one finding of Check that evidence can answer: with the
// guarantee none, positions may be ahead of the target. Who found the record
// before each C on the target puts a finding of this check, a Warn with that
// evidence, in its place; Seal asks for it.
const CheckSinkNone = "attest/sink-none"

// Check returns a finding for every required attestation that is missing, and
// for every one that has no name or reason to it, or says what a migration
// cannot live with; and one for every point of Confirm that is open. None can be
// accepted away: an attestation is the acceptance.
func (a Attestations) Check() []Finding {
	var out blocks
	require(&out, "copy-only", a.CopyOnly, func(v bool) string {
		return problem(!v, "a job that does more than copy cannot be replaced by MirrorMaker 2")
	})
	require(&out, "flink-stopped", a.FlinkStopped, func(v FlinkEnd) string {
		return oneOf(v, StoppedWithSavepoint, Canceled, Failed)
	})
	require(&out, "auto-restart-off", a.AutoRestartOff, func(v bool) string {
		return problem(!v, "while something may start the job again, there can be two writers")
	})
	require(&out, "sink-guarantee", a.SinkGuarantee, func(v SinkGuarantee) string {
		return oneOf(v, SinkNone, SinkAtLeastOnce, SinkExactlyOnce)
	})
	if a.SinkGuarantee != nil && a.SinkGuarantee.Value == SinkNone {
		out.add("sink-none", "with the sink's guarantee none the positions may be ahead of the target; this blocks until the records before C were found there")
	}
	require(&out, "isolation", a.Isolation, func(v Isolation) string {
		return oneOf(v, isolations...)
	})
	optional(&out, "checkpointing", a.Checkpointing, func(v string) string {
		if v == "off" {
			return ""
		}
		return duration(v)
	})
	optional(&out, "rollback-window", a.RollbackWindow, duration)
	optional(&out, "max-duplicates", a.MaxDuplicates, func(v int64) string {
		return problem(v < 0, "a number of records is not negative")
	})
	return append(out, a.open()...)
}

// CheckGroupPlan returns a finding for every attestation that planning from a
// group alone needs in addition to those of Check.
func (a Attestations) CheckGroupPlan() []Finding {
	var out blocks
	if a.Checkpointing == nil {
		out.add("checkpointing", "not attested; a plan from a group needs the interval of the checkpoints, or off: without checkpoints the group is ahead of the target")
	}
	return out
}

type blocks []Finding

func (b *blocks) add(name, format string, args ...any) {
	*b = append(*b, Finding{Check: "attest/" + name, Severity: Block, Detail: fmt.Sprintf(format, args...), Acceptable: Never})
}

func require[T any](out *blocks, name string, a *Attestation[T], wrong func(T) string) {
	if a == nil {
		out.add(name, "not attested; nothing can show it, so a person must state it")
		return
	}
	optional(out, name, a, wrong)
}

func optional[T any](out *blocks, name string, a *Attestation[T], wrong func(T) string) {
	switch {
	case a == nil:
	case a.Check() != nil:
		out.add(name, "%v", a.Check())
	default:
		if w := wrong(a.Value); w != "" {
			out.add(name, "attested %v by %s: %s", a.Value, a.By, w)
		}
	}
}

func problem(wrong bool, text string) string {
	if wrong {
		return text
	}
	return ""
}

func oneOf[T ~string](v T, values ...T) string {
	return problem(!slices.Contains(values, v), fmt.Sprintf("want one of %q", values))
}

func duration(v string) string {
	d, err := time.ParseDuration(v)
	return problem(err != nil || d <= 0, "want a duration such as 90s or 72h")
}
