package flinkmm2

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// AuditKind is the kind of an AuditReport file.
const AuditKind = "Audit"

// AuditReport says of each point what the files of a bundle show about it.
type AuditReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Evidence   string       `json:"evidence"` // digest of the bundle
	Plan       string       `json:"plan"`     // digest
	Connector  string       `json:"connector"`
	Points     []AuditPoint `json:"points"` // in the order in which a migration meets them
}

// AuditPoint is one point of an audit.
type AuditPoint struct {
	ID    AuditID    `json:"id"`
	Title string     `json:"title"` // what it demands
	State AuditState `json:"state"`
	// Evidence is what was found for it, Open what keeps it from being shown, and
	// Against what contradicts it.
	Evidence []string `json:"evidence"`
	Open     []string `json:"open"`
	Against  []string `json:"against"`
}

// AuditState says how a point stands.
type AuditState string

// The states of a point.
const (
	AuditShown        AuditState = "shown"
	AuditNotShown     AuditState = "not-shown"
	AuditContradicted AuditState = "contradicted"
	// AuditNotReached is a point of a step that, by the journal, was not made.
	AuditNotReached AuditState = "not-reached"
)

// AuditID names a point of an audit.
type AuditID string

// The points.
const (
	AuditJournal    AuditID = "journal"
	AuditStory      AuditID = "story"
	AuditPositions  AuditID = "positions"
	AuditBackup     AuditID = "backup"
	AuditWrites     AuditID = "writes"
	AuditStart      AuditID = "start"
	AuditProof      AuditID = "proof"
	AuditAcceptance AuditID = "acceptance"
	AuditBoundary   AuditID = "boundary"
	AuditReports    AuditID = "report"
)

// Audit holds the files of a bundle to each other. It reaches nothing but them, so it
// says what they show and not whether it happened: that the journal was not cut off
// before it was packed, and that all clocks were right, no file can show.
//
// The error is an ErrEvidence where files contradict each other, else an ErrNotProven
// where a point is not shown. The report comes with both.
func (e *Evidence) Audit() (*AuditReport, error) {
	plan, err := offsetmap.ReadPlan(bytes.NewReader(e.contents[evidencePlan]))
	if err != nil {
		return nil, fmt.Errorf("audit: %w: %s: %w", ErrEvidence, evidencePlan, err)
	}
	a := &audit{Evidence: e, plan: plan}
	journal := a.journalPoint()
	out := &AuditReport{APIVersion: offsetmap.APIVersion, Kind: AuditKind, Evidence: e.Digest, Plan: plan.Digest, Connector: plan.Body.Connector.Name}
	out.Points = []AuditPoint{
		journal, a.storyPoint(), a.positionsPoint(), a.backupPoint(), a.writesPoint(), a.startPoint(),
		a.proofPoint(), a.acceptancePoint(), a.boundaryPoint(), a.reportPoint(),
	}
	return out, out.err()
}

func (r *AuditReport) err() error {
	var open, against strings.Builder
	for _, p := range r.Points {
		if len(p.Against) > 0 {
			fmt.Fprintf(&against, "\n  %s: %s", p.ID, strings.Join(p.Against, "; "))
		}
		if p.State == AuditNotShown {
			fmt.Fprintf(&open, "\n  %s: %s", p.ID, strings.Join(p.Open, "; "))
		}
	}
	switch {
	case against.Len() > 0:
		return fmt.Errorf("audit: %w:%s", ErrEvidence, against.String())
	case open.Len() > 0:
		return fmt.Errorf("audit: %w:%s", ErrNotProven, open.String())
	}
	return nil
}

// Encode returns the report as a file.
func (r *AuditReport) Encode() ([]byte, error) { return encodeFile(r) }

// audit is what the points are judged from.
type audit struct {
	*Evidence
	plan    *offsetmap.Plan
	entries []Entry // of the journal; nil when that does not read
	story   journalStory
}

// finding gathers what is said of a point.
type finding struct{ point AuditPoint }

func about(id AuditID, title string) *finding {
	return &finding{AuditPoint{ID: id, Title: title, Evidence: []string{}, Open: []string{}, Against: []string{}}}
}

func (f *finding) shown(format string, args ...any) {
	f.point.Evidence = append(f.point.Evidence, fmt.Sprintf(format, args...))
}

func (f *finding) open(format string, args ...any) {
	f.point.Open = append(f.point.Open, fmt.Sprintf(format, args...))
}

func (f *finding) against(format string, args ...any) {
	f.point.Against = append(f.point.Against, fmt.Sprintf(format, args...))
}

// done closes the point.
func (f *finding) done() AuditPoint {
	switch {
	case len(f.point.Against) > 0:
		f.point.State = AuditContradicted
	case len(f.point.Open) > 0:
		f.point.State = AuditNotShown
	default:
		f.point.State = AuditShown
	}
	return f.point
}

// notReached closes a point of a step that was not made.
func (f *finding) notReached(why string) AuditPoint {
	f.shown("%s", why)
	p := f.done()
	if p.State == AuditShown {
		p.State = AuditNotReached
	}
	return p
}

// read decodes the one file of a role strictly. It is nil where there is none, and says
// so, and where it does not read, which stands against the point.
func read[T any](a *audit, f *finding, role EvidenceRole, kind string) *T {
	content := a.file(role)
	if content == nil {
		f.open("the bundle has no %s", role)
		return nil
	}
	v := new(T)
	if err := offsetmap.DecodeKind(content, kind, v); err != nil {
		f.against("the %s does not read: %v", role, err)
		return nil
	}
	return v
}

// of holds a file to the plan.
func (a *audit) of(f *finding, role EvidenceRole, plan, connector string) bool {
	if plan != a.plan.Digest || connector != a.plan.Body.Connector.Name {
		f.against("the %s is of plan %s and connector %q, the bundle's plan is %s of connector %q", role, plan, connector, a.plan.Digest, a.plan.Body.Connector.Name)
		return false
	}
	return true
}
