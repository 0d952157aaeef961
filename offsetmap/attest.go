package offsetmap

import "fmt"

// Attestation is what no API can show and a person therefore states by name.
type Attestation[T any] struct {
	Value  T      `json:"value"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Attestations are what a person states of the old job. Those that are always
// required come first; evidence that contradicts one blocks.
type Attestations struct {
	CopyOnly       *Attestation[bool]          `json:"copyOnly"`       // the job neither filters nor changes records
	FlinkStopped   *Attestation[FlinkEnd]      `json:"flinkStopped"`   // how the job ended
	AutoRestartOff *Attestation[bool]          `json:"autoRestartOff"` // nothing brings the job back by itself
	SinkGuarantee  *Attestation[SinkGuarantee] `json:"sinkGuarantee"`  // the sink's delivery guarantee
	Isolation      *Attestation[Isolation]     `json:"isolation"`      // the source consumer's isolation.level
	Checkpointing  *Attestation[string]        `json:"checkpointing"`  // interval, or "off"; only for planning from a group
	RollbackWindow *Attestation[string]        `json:"rollbackWindow"` // a duration, for the report
	MaxDuplicates  *Attestation[int64]         `json:"maxDuplicates"`  // records, for the report
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

// Check returns a finding for every required attestation that is missing, has
// no name or reason to it, or says what a migration cannot live with. None can
// be accepted away: an attestation is the acceptance.
func (a Attestations) Check() []Finding {
	var out []Finding
	block := func(name, format string, args ...any) {
		out = append(out, Finding{Check: "attest/" + name, Severity: Block, Detail: fmt.Sprintf(format, args...), Acceptable: Never})
	}
	require(block, "copy-only", a.CopyOnly, func(v bool) string {
		return problem(!v, "a job that does more than copy cannot be replaced by MirrorMaker 2")
	})
	require(block, "flink-stopped", a.FlinkStopped, func(v FlinkEnd) string {
		return oneOf(v, StoppedWithSavepoint, Canceled, Failed)
	})
	require(block, "auto-restart-off", a.AutoRestartOff, func(v bool) string {
		return problem(!v, "while something may start the job again, there can be two writers")
	})
	require(block, "sink-guarantee", a.SinkGuarantee, func(v SinkGuarantee) string {
		if v == SinkNone {
			return "with the guarantee none the savepoint may be ahead of the target; it blocks until the records before C were found there"
		}
		return oneOf(v, SinkAtLeastOnce, SinkExactlyOnce)
	})
	require(block, "isolation", a.Isolation, func(v Isolation) string {
		return oneOf(v, ReadUncommitted, ReadCommitted)
	})
	return out
}

func require[T any](block func(name, format string, args ...any), name string, a *Attestation[T], wrong func(T) string) {
	switch {
	case a == nil:
		block(name, "not attested; nothing can show it, so a person must state it")
	case a.By == "" || a.Reason == "":
		block(name, "attested without a name and a reason (by %q, reason %q)", a.By, a.Reason)
	default:
		if w := wrong(a.Value); w != "" {
			block(name, "attested %v by %s: %s", a.Value, a.By, w)
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
	for _, x := range values {
		if v == x {
			return ""
		}
	}
	return fmt.Sprintf("want one of %q", values)
}
