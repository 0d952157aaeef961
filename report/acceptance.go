package report

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Acceptance is the acceptance list of a migration.
type Acceptance struct {
	CreatedAt offsetmap.Time             `json:"createdAt"`
	Complete  bool                       `json:"complete"` // no point is not proven
	Points    []flinkmm2.AcceptancePoint `json:"points"`   // as in the list
}

func (s Sources) checkAcceptance() error {
	if s.Acceptance == nil {
		return nil
	}
	return s.sameHead("acceptance list", s.Acceptance.Plan, s.Acceptance.Connector)
}

// acceptanceOf takes a list into a document.
func acceptanceOf(l *flinkmm2.AcceptanceList) *Acceptance {
	if l == nil {
		return nil
	}
	out := &Acceptance{CreatedAt: l.CreatedAt, Complete: l.Complete, Points: make([]flinkmm2.AcceptancePoint, 0, len(l.Points))}
	for _, p := range l.Points {
		p.Evidence, p.Open = cleanAll(p.Evidence), cleanAll(p.Open)
		if p.Attested != nil {
			p.Attested = offsetmap.Attest(clean(p.Attested.Value), clean(p.Attested.By), clean(p.Attested.Reason))
		}
		out.Points = append(out.Points, p)
	}
	return out
}

func cleanAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, clean(t))
	}
	return out
}

// shownPoint is a point as a reader sees it.
type shownPoint struct {
	flinkmm2.AcceptancePoint
	Tone tone
	Word string
	Seen []string // what was seen, what is open, and whose word stands for it
}

func pointsOf(a *Acceptance) []shownPoint {
	if a == nil {
		return nil
	}
	out := make([]shownPoint, 0, len(a.Points))
	for _, p := range a.Points {
		s := shownPoint{AcceptancePoint: p, Word: string(p.State)}
		switch p.State {
		case flinkmm2.Shown:
			s.Tone = good
		case flinkmm2.Attested:
			s.Tone = plain
		default:
			s.Tone, s.Word = open, "not proven"
		}
		s.Seen = append(s.Seen, p.Evidence...)
		for _, o := range p.Open {
			s.Seen = append(s.Seen, "open: "+o)
		}
		if w := p.Attested; w != nil {
			s.Seen = append(s.Seen, fmt.Sprintf("attested by %s: %s (%s)", w.By, w.Value, w.Reason))
		}
		if p.Next != "" {
			s.Seen = append(s.Seen, "next: "+p.Next)
		}
		out = append(out, s)
	}
	return out
}
