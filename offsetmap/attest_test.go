package offsetmap_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestAttestations(t *testing.T) {
	type change = func(*offsetmap.Attestations)
	for name, c := range map[string]struct {
		change change
		want   []string // ids without "attest/"
	}{
		"all there": {func(*offsetmap.Attestations) {}, nil},
		"none there": {func(a *offsetmap.Attestations) { *a = offsetmap.Attestations{} }, []string{
			"copy-only", "flink-stopped", "auto-restart-off", "sink-guarantee", "isolation",
			"confirm/flink-versions", "confirm/sink-evidence", "confirm/clusters-and-topics", "confirm/target-names", "confirm/image", "confirm/kubernetes", "confirm/limits",
		}},
		"not only a copy": {func(a *offsetmap.Attestations) { a.CopyOnly.Value = false }, []string{"copy-only"}},
		"may start again": {func(a *offsetmap.Attestations) { a.AutoRestartOff.Value = false }, []string{"auto-restart-off"}},
		"still running":   {func(a *offsetmap.Attestations) { a.FlinkStopped.Value = "running" }, []string{"flink-stopped"}},
		"canceled":        {func(a *offsetmap.Attestations) { a.FlinkStopped.Value = offsetmap.Canceled }, nil},
		"failed":          {func(a *offsetmap.Attestations) { a.FlinkStopped.Value = offsetmap.Failed }, nil},
		"no guarantee":    {func(a *offsetmap.Attestations) { a.SinkGuarantee.Value = offsetmap.SinkNone }, []string{"sink-none"}},
		"exactly once":    {func(a *offsetmap.Attestations) { a.SinkGuarantee.Value = offsetmap.SinkExactlyOnce }, nil},
		"other guarantee": {func(a *offsetmap.Attestations) { a.SinkGuarantee.Value = "AT_LEAST_ONCE" }, []string{"sink-guarantee"}},
		"committed":       {func(a *offsetmap.Attestations) { a.Isolation.Value = offsetmap.ReadCommitted }, nil},
		"other isolation": {func(a *offsetmap.Attestations) { a.Isolation.Value = "" }, []string{"isolation"}},
		"nobody says so":  {func(a *offsetmap.Attestations) { a.CopyOnly.By = " " }, []string{"copy-only"}},
		"no reason":       {func(a *offsetmap.Attestations) { a.FlinkStopped.Reason = "" }, []string{"flink-stopped"}},
		"not UTF-8":       {func(a *offsetmap.Attestations) { a.FlinkStopped.Reason = "\xff" }, []string{"flink-stopped"}},
		"in halves":       {func(a *offsetmap.Attestations) { a.FlinkStopped.By, a.FlinkStopped.Reason = "x\xc3", "\xa9y" }, []string{"flink-stopped"}},
		"optional": {func(a *offsetmap.Attestations) {
			a.Checkpointing, a.RollbackWindow, a.MaxDuplicates = attested("off"), attested("72h"), attested(int64(0))
		}, nil},
		"interval":                      {func(a *offsetmap.Attestations) { a.Checkpointing = attested("1m30s") }, nil},
		"no interval":                   {func(a *offsetmap.Attestations) { a.Checkpointing = attested("often") }, []string{"checkpointing"}},
		"an interval of 0":              {func(a *offsetmap.Attestations) { a.Checkpointing = attested("0s") }, []string{"checkpointing"}},
		"negative window":               {func(a *offsetmap.Attestations) { a.RollbackWindow = attested("-1h") }, []string{"rollback-window"}},
		"window off":                    {func(a *offsetmap.Attestations) { a.RollbackWindow = attested("off") }, []string{"rollback-window"}},
		"negative number":               {func(a *offsetmap.Attestations) { a.MaxDuplicates = attested(int64(-1)) }, []string{"max-duplicates"}},
		"points, one open":              {func(a *offsetmap.Attestations) { a.Confirm.Kubernetes = nil }, []string{"confirm/kubernetes"}},
		"point, nameless":               {func(a *offsetmap.Attestations) { a.Confirm.Image.By = "" }, []string{"confirm/image"}},
		"point without words":           {func(a *offsetmap.Attestations) { a.Confirm.SinkEvidence.Value = " " }, []string{"confirm/sink-evidence"}},
		"point not in UTF-8":            {func(a *offsetmap.Attestations) { a.Confirm.FlinkVersions.Value = "\xff" }, []string{"confirm/flink-versions"}},
		"names of a policy":             {func(a *offsetmap.Attestations) { a.Confirm.TargetNames.Value = "identity" }, []string{"confirm/target-names"}},
		"prefixed names":                {func(a *offsetmap.Attestations) { a.Confirm.TargetNames.Value = offsetmap.PrefixedNames }, nil},
		"limits without the window":     {func(a *offsetmap.Attestations) { a.RollbackWindow = nil }, []string{"confirm/limits"}},
		"limits without the duplicates": {func(a *offsetmap.Attestations) { a.MaxDuplicates = nil }, []string{"confirm/limits"}},
		"limits without words":          {func(a *offsetmap.Attestations) { a.Confirm.Limits.Value = "" }, []string{"confirm/limits"}},
		"optional, nameless":            {func(a *offsetmap.Attestations) { a.MaxDuplicates = &offsetmap.Attestation[int64]{Value: 1} }, []string{"max-duplicates"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := attestations()
			c.change(&a)
			var got []string
			for _, f := range a.Check() {
				if f.Severity != offsetmap.Block || f.Acceptable != offsetmap.Never || f.Scope != "" || f.Detail == "" {
					t.Errorf("got %+v", f)
				}
				got = append(got, strings.TrimPrefix(f.Check, "attest/"))
			}
			diff(t, c.want, got)
		})
	}
	if offsetmap.CheckSinkNone != "attest/sink-none" {
		t.Errorf("the id is %q", offsetmap.CheckSinkNone)
	}
}

func TestPlanFromAGroupNeedsCheckpointing(t *testing.T) {
	a := attestations()
	diff(t, []string{"block attest/checkpointing  never"}, lines(a.CheckGroupPlan()))
	a.Checkpointing = attested("off")
	diff(t, []string(nil), lines(a.CheckGroupPlan()))
}

func TestAttestationNamesValueAndPerson(t *testing.T) {
	a := attestations()
	a.CopyOnly = &offsetmap.Attestation[bool]{Value: false, By: "bo", Reason: "it filters"}
	if got := a.Check()[0].Detail; !strings.HasPrefix(got, "attested false by bo: ") {
		t.Errorf("got %q", got)
	}
}
