package flinkmm2_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (w *wayBack) enter(e flinkmm2.Entry) {
	w.Helper()
	if err := w.journal.Append(w.Context(), e); err != nil {
		w.Fatal(err)
	}
}

// others returns what preflight finds of other controllers.
func (w *wayBack) others() []offsetmap.Finding {
	w.Helper()
	report, err := w.steps.Preflight(w.Context(), w.requestFrom("20", "32"))
	if err != nil {
		w.Fatal(err)
	}
	return slices.DeleteFunc(report.Findings, func(f offsetmap.Finding) bool { return f.Check != "connector/other-controller" })
}

func TestTheActsOfAnotherAreSaid(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	w.options = append(w.options, flinkmm2.WithActor("li"))
	w.steps = w.migration(w.source.admin)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := w.others(); len(found) > 0 {
		t.Errorf("of its own create: %v", found)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	entry := func(act, connector string, phase flinkmm2.Phase) flinkmm2.Entry {
		return flinkmm2.Entry{At: at, Act: act, Phase: phase, Connector: connector, By: "ana"}
	}
	w.enter(entry("stop", "another", flinkmm2.PhaseDone))
	w.enter(entry("plan", "mm2", flinkmm2.PhaseDone))
	w.enter(entry("stop", "mm2", flinkmm2.PhaseFailed))
	if found := w.others(); len(found) > 0 {
		t.Errorf("of what changes nothing here: %v", found)
	}
	w.enter(entry("resume", "mm2", flinkmm2.PhaseBegin))
	w.enter(entry("resume", "mm2", flinkmm2.PhaseUnknown))
	found := w.others()
	if len(found) != 1 || found[0].Severity != offsetmap.Warn || found[0].Detail != "the last acts are somebody else's: resume by ana at 2026-03-04T05:06:07Z; agree on who goes on" {
		t.Errorf("got %v", found)
	}
	mine := entry("stop", "mm2", flinkmm2.PhaseDone)
	mine.By = "li"
	w.enter(mine)
	if found := w.others(); len(found) > 0 {
		t.Errorf("of what came before its own: %v", found)
	}
}

// acting acts while the facts are read.
type acting struct {
	*kadm.Client
	act func()
}

func (a acting) DescribeACLs(ctx context.Context, b *kadm.ACLBuilder) (kadm.DescribeACLsResults, error) {
	a.act()
	return a.Client.DescribeACLs(ctx, b)
}

func TestAnActWhileFactsAreReadBlocks(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	w.options = append(w.options, flinkmm2.WithActor("li"))
	w.steps = w.migration(acting{w.source.admin, func() {
		w.enter(flinkmm2.Entry{At: time.Now(), Act: "apply", Phase: flinkmm2.PhaseBegin, Connector: "mm2", By: "li"})
	}})
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := w.others()
	if len(found) != 1 || found[0].Severity != offsetmap.Block || found[0].Scope != "journal" || !strings.Contains(found[0].Detail, "apply by li at ") {
		t.Errorf("got %v", found)
	}
}
