package flinkmm2_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// entered returns what the journal says of an act in a phase, which must be there.
func (w *wayBack) entered(act string, phase flinkmm2.Phase) flinkmm2.Entry {
	w.Helper()
	entries, err := w.journal.Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e flinkmm2.Entry) bool { return e.Act == act && e.Phase == phase })
	if i < 0 {
		w.Fatalf("the journal has no %s that is %s", act, phase)
	}
	return entries[i]
}

func TestJournalSaysWhoSentWhatAndWhatWasFound(t *testing.T) {
	index := 0
	job := &flinkmm2.JobIdentity{Namespace: "kafka", Name: "migrate", Pod: "migrate-0-x", UID: "u", Index: &index}
	w := prepared(t)
	w.options = []flinkmm2.Option{flinkmm2.WithJob(job), flinkmm2.WithActor("li"), flinkmm2.WithTool("runbook", "v1")}
	w.steps = w.migration(w.source.admin)
	ctx := t.Context()
	positions, err := flinkmm2.Export(w.requestFrom("20", "32").Snapshot).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.steps.RecordPositions(ctx, positions); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if w.plan, err = w.planFrom(w.steps, "20", "32"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Verify(ctx, w.plan); !errors.Is(err, flinkmm2.ErrMoved) {
		t.Fatalf("nothing was applied: %v", err)
	}
	w.applyAndStart("ana")
	proof, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	proofFile, err := proof.Encode()
	if err != nil {
		t.Fatal(err)
	}

	host, _ := os.Hostname()
	all, err := w.journal.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.By != "li" || e.Host != host || e.Job == nil || e.Job.Pod != job.Pod || *e.Tool != (offsetmap.Tool{Name: "runbook", Version: "v1"}) {
			t.Errorf("who did it is lacking: %+v", e)
		}
		if sends := slices.Contains([]string{"create", "apply", "resume"}, e.Act) && e.Phase == flinkmm2.PhaseBegin; sends != (e.Request != nil) {
			t.Errorf("%s %s: request %+v", e.Act, e.Phase, e.Request)
		}
	}
	body := `{"offsets":[{"partition":{"cluster":"source","topic":"orders","partition":0},"offset":{"offset":19}},` +
		`{"partition":{"cluster":"source","topic":"orders","partition":1},"offset":{"offset":31}}]}` // orders-2 has no offset, and is to have none
	digest, err := offsetmap.Digest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for act, want := range map[string]flinkmm2.Request{
		"create": {Method: "POST", Path: "/connectors", BodyDigest: w.plan.Body.Connector.Config},
		"apply":  {Method: "PATCH", Path: "/connectors/mm2/offsets", BodyDigest: digest, Partitions: 2},
		"resume": {Method: "PUT", Path: "/connectors/mm2/resume"},
	} {
		if got := *w.entered(act, flinkmm2.PhaseBegin).Request; got != want {
			t.Errorf("%s: %+v, want %+v", act, got, want)
		}
	}
	if e := w.entered("positions", flinkmm2.PhaseDone); e.File != fmt.Sprintf("sha256:%x", sha256.Sum256(positions)) || e.Plan != "" {
		t.Errorf("%+v", e)
	}
	if e := w.entered("watch", flinkmm2.PhaseDone); e.File != fmt.Sprintf("sha256:%x", sha256.Sum256(proofFile)) || e.Plan != w.plan.Digest || !strings.HasPrefix(e.Detail, "proven: 30 of 30 records copied; 0 missing") {
		t.Errorf("%+v", e)
	}
	if e := w.entered("verify", flinkmm2.PhaseFailed); e.Plan != w.plan.Digest || !strings.Contains(e.Detail, "offsets/not-applied") {
		t.Errorf("%+v", e)
	}
}

func TestNoPositionsAreRecordedThatAreNone(t *testing.T) {
	w := prepared(t)
	for _, bad := range []string{"", "{", `{"apiVersion":"flinkmm2/v1","kind":"Plan"}`, `{"kind":"Positions"}`} {
		if err := w.steps.RecordPositions(t.Context(), []byte(bad)); err == nil {
			t.Errorf("%q was recorded", bad)
		}
	}
	if entries, err := w.journal.Read(t.Context()); len(entries) > 0 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
}

// watched is a journal into which others enter what they have found, whenever
// something is about to be sent.
type watched struct {
	flinkmm2.Journal
	entered int
}

func (j *watched) Append(ctx context.Context, e flinkmm2.Entry) error {
	if e.Phase == flinkmm2.PhaseBegin {
		for _, act := range []string{"verify", "watch", "positions", "plan"} {
			quiet := flinkmm2.Entry{At: e.At, Act: act, Phase: flinkmm2.PhaseDone, Connector: e.Connector, Plan: e.Plan, By: "mo"}
			if err := j.Journal.Append(ctx, quiet); err != nil {
				return err
			}
			j.entered++
		}
	}
	return j.Journal.Append(ctx, e)
}

func TestWhoeverOnlyLooksOvertakesNobody(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	journal := &watched{Journal: w.journal}
	w.steps = w.over(w.source.admin, journal)
	w.applyAndStart("ana")
	if journal.entered != 2*4 {
		t.Errorf("%d lines of others: apply and resume were decided more than once", journal.entered)
	}
}

// full is a journal without room.
type full struct{ flinkmm2.Journal }

func (full) Append(context.Context, flinkmm2.Entry) error { return errors.New("no space left") }

func TestWhatCouldNotBeEnteredIsSaidBesideTheOutcome(t *testing.T) {
	w := started(t)
	w.steps = w.over(w.source.admin, full{w.journal})
	proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if proof == nil || proof.Outcome != "proven" || !errors.Is(err, flinkmm2.ErrNotJournaled) {
		t.Errorf("%+v, %v", proof, err)
	}
	if _, err := w.steps.Verify(t.Context(), w.plan); !errors.Is(err, flinkmm2.ErrNotJournaled) || !errors.Is(err, flinkmm2.ErrMoved) {
		t.Errorf("the refusal is lost: %v", err)
	}
}
