package flinkmm2_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// stands holds the status to a stage and the step that leads on, and to its schema.
func (w *wayBack) stands(plan *offsetmap.Plan, stage flinkmm2.Stage, next string) *flinkmm2.Status {
	w.Helper()
	s, err := w.steps.Status(w.Context(), plan)
	if err != nil {
		w.Fatal(err)
	}
	if got := strings.Join(s.Next.Command, " "); s.Stage != stage || got != next || len(s.Why) == 0 {
		w.Errorf("%s, next %q; want %s, next %q: %v, against it %v, unknown %v", s.Stage, got, stage, next, s.Why, s.Against, s.Unknown)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		w.Fatal(err)
	}
	if err := schematest.Check(flinkmm2.StatusSchema(), raw); err != nil {
		w.Error(err)
	}
	return s
}

func ways(s *flinkmm2.Status) string {
	var out []string
	for _, w := range s.LatestRollback {
		out = append(out, w.Way)
	}
	return strings.Join(out, ", ")
}

func TestStatusAlongTheLine(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	ctx := t.Context()
	w.stands(nil, flinkmm2.StageNoConnector, "create")
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.stands(nil, flinkmm2.StageCreated, "plan")
	w.makePlan()
	if s := w.stands(nil, flinkmm2.StageCreated, "plan"); !strings.Contains(strings.Join(s.Why, "\n"), w.plan.Digest) {
		t.Errorf("without the plan it does not say that there is one: %v", s.Why)
	}
	s := w.stands(w.plan, flinkmm2.StagePlanned, "apply")
	if s.LatestStart == nil || s.LatestStart.At == nil || s.LatestStart.At.After(w.plan.Body.ExpiresAt.Time) {
		t.Errorf("latest start %+v, the plan ends at %s", s.LatestStart, w.plan.Body.ExpiresAt)
	}
	if ways(s) != "savepoint" {
		t.Errorf("ways back: %s", ways(s))
	}
	if _, err := w.steps.Apply(ctx, w.plan); err != nil {
		t.Fatal(err)
	}
	start := "start --digest " + w.plan.Digest
	w.stands(w.plan, flinkmm2.StageApplied, start)
	if _, err := w.steps.Start(ctx, w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"}); err != nil {
		t.Fatal(err)
	}
	if s := w.stands(w.plan, flinkmm2.StageRunning, "watch"); s.LatestStart != nil {
		t.Errorf("it was started, and can be started until %+v", s.LatestStart)
	}
	if _, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute}); err != nil {
		t.Fatal(err)
	}
	s = w.stands(w.plan, flinkmm2.StageProven, "accept")
	for _, way := range []string{"savepoint", "boundary", "rollbackWindow"} {
		if !slices.Contains(strings.Split(ways(s), ", "), way) {
			t.Errorf("no %s among the ways back: %s", way, ways(s))
		}
	}
	back, err := w.steps.Rollback(ctx, w.plan, flinkmm2.RollbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.boundary = back.Boundary
	w.stands(w.plan, flinkmm2.StageRolledBack, "rollback")
	if _, err := w.hand("new-copy"); err != nil {
		t.Fatal(err)
	}
	if s := w.stands(w.plan, flinkmm2.StageHandedBack, ""); !strings.Contains(ways(s), "group new-copy") {
		t.Errorf("ways back: %s", ways(s))
	}
}

// What cannot be seen stands as that, and refuses nothing.
func TestStatusOfWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	w.steps = w.over(mute{w.source.admin}, w.journal)
	s := w.stands(w.plan, flinkmm2.StageUnknown, "status")
	if !unseen(s, "source/cluster") || !unseen(s, "source/range-unknown") {
		t.Errorf("unknown: %v", s.Unknown)
	}
	if s.LatestStart == nil || s.LatestStart.Unknown == "" || len(s.LatestRollback) != 1 || s.LatestRollback[0].Unknown == "" {
		t.Errorf("latest start %+v, rollback %+v", s.LatestStart, s.LatestRollback)
	}
	w.beside = silent{w.client()}
	w.steps = w.over(w.source.admin, w.journal)
	if s := w.stands(w.plan, flinkmm2.StageUnknown, "status"); !unseen(s, "connector/state") {
		t.Errorf("unknown: %v", s.Unknown)
	}
	if s := w.stands(nil, flinkmm2.StageUnknown, "status"); !unseen(s, "connector/state") {
		t.Errorf("unknown: %v", s.Unknown)
	}
}

// silent is a worker that says nothing of its connectors.
type silent struct{ flinkmm2.Connect }

func (silent) Connector(context.Context, string) (connectrest.ConnectorInfo, error) {
	return connectrest.ConnectorInfo{}, errors.New("connection reset")
}

func (silent) Status(context.Context, string) (connectrest.Status, error) {
	return connectrest.Status{}, errors.New("connection reset")
}

// mute are brokers that do not say which topics they have.
type mute struct{ *kadm.Client }

func (mute) Metadata(context.Context, ...string) (kadm.Metadata, error) {
	return kadm.Metadata{}, errors.New("connection reset")
}

func unseen(s *flinkmm2.Status, check string) bool {
	return slices.ContainsFunc(s.Unknown, func(f offsetmap.Finding) bool { return f.Check == check && f.Unmade })
}

// A step that would be refused is not the next one.
func TestStatusNamesWhatStandsAgainstTheNextStep(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	w.ahead = 48 * time.Hour
	s := w.stands(w.plan, flinkmm2.StageApplied, "plan --replace")
	if !slices.ContainsFunc(s.Against, func(f offsetmap.Finding) bool { return f.Check == "plan/expired" }) {
		t.Errorf("against it: %v", s.Against)
	}
	if s.LatestStart == nil || s.LatestStart.At == nil || s.LatestStart.At.After(s.At.Time) {
		t.Errorf("the plan is over, and it can be started until %+v", s.LatestStart)
	}
}

func TestStatusOfAPlanThatIsNone(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	edited := *w.plan
	edited.Digest = "sha256:" + strings.Repeat("0", 64)
	if _, err := w.steps.Status(t.Context(), &edited); !errors.Is(err, offsetmap.ErrEdited) {
		t.Errorf("an edited plan: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.steps.Status(ctx, w.plan); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
