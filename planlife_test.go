package flinkmm2_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A plan that outlives its records would be started when they are gone.
func TestAPlanLivesNoLongerThanWhatItCopies(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.keepsFor("3h")
	plan, err := w.steps.MakePlan(t.Context(), w.requestFrom("20", "32"))
	if err != nil {
		t.Fatal(err)
	}
	life := plan.Body.ExpiresAt.Sub(plan.Body.CreatedAt.Time)
	if life > 3*time.Hour || life < 2*time.Hour+30*time.Minute {
		t.Errorf("it lives %s, and its first record 3h", life)
	}
	var said []offsetmap.Finding
	for _, f := range plan.Body.Findings {
		if f.Check == offsetmap.CheckPlanLifetime {
			said = append(said, f)
		}
	}
	if len(said) != 1 || said[0].Severity != offsetmap.Info || said[0].Scope != "orders-0" || !strings.Contains(said[0].Detail, "the records from C = 20 reach the age of retention.ms = 3h0m0s") {
		t.Errorf("findings %v", said)
	}

	w.clock.ahead += 3 * time.Hour
	_, err = w.steps.Apply(t.Context(), plan)
	if err == nil || !strings.Contains(err.Error(), "ended at "+plan.Body.ExpiresAt.String()+" (orders-0: the plan lives until ") {
		t.Errorf("after its end: %v", err)
	}
	if !errors.Is(plan.CheckExpiry(plan.Body.ExpiresAt.Time), offsetmap.ErrExpired) {
		t.Error("it has not ended")
	}
}

func TestAPlanOfWhatIsKeptLivesADay(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.keepsFor("48h")
	plan, err := w.steps.MakePlan(t.Context(), w.requestFrom("20", "32"))
	if err != nil {
		t.Fatal(err)
	}
	if life := plan.Body.ExpiresAt.Sub(plan.Body.CreatedAt.Time); life != offsetmap.DefaultLifetime {
		t.Errorf("it lives %s", life)
	}
}

// Whoever accepts by name that records may go has the hour that any plan has.
func TestAPlanOfRecordsThatMayGoLivesAnHourWhereThatIsAccepted(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.keepsFor("10m")
	req := w.requestFrom("20", "32")
	if _, err := w.steps.MakePlan(t.Context(), req); err == nil || !strings.Contains(err.Error(), "source/retention") {
		t.Fatalf("records that go within the hour do not block: %v", err)
	}
	for _, id := range []string{"source/retention", "source/rollback-until"} {
		req.Acceptances = append(req.Acceptances, offsetmap.Acceptance{Check: id, Scope: "orders-0", By: "ann", Reason: "they can be read again"})
	}
	plan, err := w.steps.MakePlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if life := plan.Body.ExpiresAt.Sub(plan.Body.CreatedAt.Time); life != time.Hour {
		t.Errorf("it lives %s", life)
	}
}

// keepsFor sets for how long both sides keep records.
func (w *wayBack) keepsFor(d string) {
	w.Helper()
	age, err := time.ParseDuration(d)
	if err != nil {
		w.Fatal(err)
	}
	ms := strconv.FormatInt(age.Milliseconds(), 10)
	for _, s := range []*side{w.source, w.target} {
		done, err := s.admin.AlterTopicConfigs(w.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &ms}}, "orders")
		if err != nil || done[0].Err != nil {
			w.Fatal(err, done)
		}
	}
}
