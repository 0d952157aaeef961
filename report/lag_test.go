package report_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/report"
)

// lagOfProof moves the lag of a whole report to the proof, where a watch has it.
func lagOfProof(s *report.Sources) {
	for _, p := range s.Lag {
		s.Proof.Lag = append(s.Proof.Lag, flinkmm2.LagPoint{At: p.At, Lag: p.Lag / 2, Unread: p.Lag - p.Lag/2})
	}
	s.Lag = nil
}

// What was not read then may be records, so it counts.
const lagSentence = "Lag in records from 2026-03-01T12:20:00Z to 2026-03-01T12:59:00Z: at most 11,200, at the end 7"

func TestTheLagOfAProofIsDrawnAndSaid(t *testing.T) {
	t.Parallel()
	s := whole(t)
	lagOfProof(&s)
	d := newDocument(t, s)
	if page := written(t, d.WriteHTML); !strings.Contains(page, lagSentence) || !strings.Contains(page, "<polyline points=\"60.0,10.0 ") {
		t.Error("the page does not draw it")
	}
	text := written(t, d.WriteMarkdown)
	if want := "at least 7, at most 11,200, at the end 7 records"; !strings.Contains(text, want) {
		t.Errorf("the Markdown does not say %q", want)
	}
	s.Proof.Lag = nil
	d = newDocument(t, s)
	if strings.Contains(written(t, d.WriteHTML), "<polyline") || strings.Contains(written(t, d.WriteMarkdown), "Lag from") {
		t.Error("a lag is shown, and none was seen")
	}
}
