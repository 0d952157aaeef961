package flinkmm2_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// What records hold is given to whoever asks for it, and to nobody else.
func TestSamplesAreInNothingThatIsKept(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	var log bytes.Buffer
	w.options = append(w.options, flinkmm2.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	w.steps = w.migration(w.source.admin)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	var seen []string
	var judged preflight.Report
	req := w.requestFrom("20", "32")
	req.Sample = func(s preflight.DeliverySample) { seen = append(seen, string(s.Value)) }
	req.Judged = func(r preflight.Report) { judged = r }
	plan, err := w.steps.MakePlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(seen, "\n"); !strings.Contains(all, "order 0-19") || !strings.Contains(all, "order 0-20") || !strings.Contains(all, "order 1-31") {
		t.Fatalf("the records that were looked for are not among %q", seen)
	}
	kept := map[string]any{"plan": plan, "report": judged}
	if kept["journal"], err = w.journal.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, v := range kept {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "order 0-") || strings.Contains(string(text), "order 1-") {
			t.Errorf("%s holds a record's value (%v)", what, err)
		}
	}
	if strings.Contains(log.String(), "order 0-") {
		t.Error("the log holds a record's value")
	}
}
