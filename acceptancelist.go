package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// AcceptanceListKind is the kind of an AcceptanceList file.
const AcceptanceListKind = "AcceptanceList"

// AcceptanceList says of each point by which a migration is accepted whether it is
// shown, attested by a person, or not proven.
type AcceptanceList struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	CreatedAt  offsetmap.Time `json:"createdAt"`
	Plan       string         `json:"plan"` // digest
	Connector  string         `json:"connector"`
	// Complete says that no point is not proven.
	Complete bool              `json:"complete"`
	Points   []AcceptancePoint `json:"points"` // in the order in which a migration meets them
}

// AcceptancePoint is one point of the list.
type AcceptancePoint struct {
	ID    AcceptanceID `json:"id"`
	Title string       `json:"title"` // what it demands
	State PointState   `json:"state"`
	// Evidence is what was seen for it.
	Evidence []string `json:"evidence"`
	// Open is what keeps it from being shown, empty when it is.
	Open []string `json:"open"`
	// Attested is the word of a person for what is open. It is null where there is
	// none, or where it does not stand against what was seen.
	Attested *offsetmap.Attestation[string] `json:"attested"`
	// Next says what to do about what is open, empty when the point is shown. Its commands
	// have the placeholders of a remedy, which preflight.Names fills.
	Next string `json:"next,omitempty"`
}

// PointState says how a point stands.
type PointState string

// The states of a point.
const (
	Shown     PointState = "shown"      // it was seen
	Attested  PointState = "attested"   // a person answers for what could not be seen
	NotProven PointState = "not-proven" // neither
)

// AcceptanceID names a point of the list.
type AcceptanceID string

// The points.
const (
	AcceptImported          AcceptanceID = "imported"
	AcceptFirstRecord       AcceptanceID = "first-record"
	AcceptNothingMissing    AcceptanceID = "nothing-missing"
	AcceptRunning           AcceptanceID = "running"
	AcceptImage             AcceptanceID = "image"
	AcceptRestart           AcceptanceID = "restart"
	AcceptNoCompanions      AcceptanceID = "no-companions"
	AcceptNoSynchronisation AcceptanceID = "no-synchronisation"
	AcceptAsBefore          AcceptanceID = "as-before"
)

// Attestable reports whether a person's word can stand for a point: for what nothing
// shows, or shows only in part. Whether records are there, and whether the connector
// runs, is always seen.
func (id AcceptanceID) Attestable() bool {
	switch id {
	case AcceptFirstRecord, AcceptImage, AcceptRestart, AcceptNoSynchronisation, AcceptAsBefore:
		return true
	default:
		return false
	}
}

// AcceptanceRequest is what a list is made from, beside what clusters, worker and
// journal say.
type AcceptanceRequest struct {
	// Proof is the last that Watch made of the plan. Without one no point about records
	// is shown.
	Proof *Proof
	// AfterRestart is the one of AfterRestart, for the point of the restart. By default,
	// Proof stands for it too when it is one.
	AfterRestart *Proof
	// Attested are a person's words for points that cannot be seen. One for a point
	// that is not Attestable is an error.
	Attested map[AcceptanceID]offsetmap.Attestation[string]
	// Between is the time between the two looks at the running connector.
	// By default, ten seconds.
	Between time.Duration
}

const defaultBetween = 10 * time.Second

// AcceptanceList looks at a migration that was started, and says of each point by which
// it is accepted what is seen of it. It changes nothing. A list with a point that is not
// proven comes with an ErrNotProven that names those points.
//
// What was synchronised beside records is judged against the baseline of the journal's
// start record, which Start takes. What has moved since is named; whose doing it was is
// said only as far as that can be known.
func (m *Migration) AcceptanceList(ctx context.Context, plan *offsetmap.Plan, r AcceptanceRequest) (*AcceptanceList, error) {
	fail := func(err error) (*AcceptanceList, error) { return nil, fmt.Errorf("acceptance list: %w", err) }
	if err := plan.Check(); err != nil {
		return fail(err)
	}
	if err := m.ofThisConnector(plan); err != nil {
		return fail(err)
	}
	if err := r.check(plan); err != nil {
		return fail(err)
	}
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return fail(fmt.Errorf("the journal could not be read: %w", err))
	}
	start := startedBy(entries, m.cfg.Connector, plan.Digest)
	if u := start.undone; u != nil {
		return fail(fmt.Errorf("%w: plan %s has gone back (%s, %s): there is nothing to accept", ErrMoved, plan.Digest, u.Act, offsetmap.At(u.At)))
	}
	seen := m.lookForAcceptance(ctx, plan, r, start)
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	list := &AcceptanceList{
		APIVersion: offsetmap.APIVersion, Kind: AcceptanceListKind, CreatedAt: offsetmap.At(m.now()),
		Plan: plan.Digest, Connector: plan.Body.Connector.Name, Complete: true, Points: []AcceptancePoint{},
	}
	var open []string
	for _, p := range acceptancePoints() {
		point := p.judge(seen, r)
		list.Points = append(list.Points, point)
		if point.State == NotProven {
			list.Complete = false
			open = append(open, fmt.Sprintf("\n  %s: %s", point.ID, strings.Join(point.Open, "; ")))
		}
	}
	if !list.Complete {
		return list, fmt.Errorf("acceptance list: %w:%s", ErrNotProven, strings.Join(open, ""))
	}
	return list, nil
}

// check holds the request to the plan.
func (r AcceptanceRequest) check(plan *offsetmap.Plan) error {
	for _, p := range []*Proof{r.Proof, r.AfterRestart} {
		if p != nil && (p.Plan != plan.Digest || p.Connector != plan.Body.Connector.Name) {
			return fmt.Errorf("the proof is of plan %s and connector %q, not of plan %s and connector %q", p.Plan, p.Connector, plan.Digest, plan.Body.Connector.Name)
		}
	}
	if r.AfterRestart != nil && r.AfterRestart.Restart == nil {
		return errors.New("the proof after a restart is none: nothing of a restart is in it")
	}
	known := acceptancePoints()
	for id, a := range r.Attested {
		switch {
		case !slices.ContainsFunc(known, func(p acceptancePoint) bool { return p.id == id }):
			return fmt.Errorf("there is no point %q to attest", id)
		case !id.Attestable():
			return fmt.Errorf("point %s cannot be attested: it is seen or not proven", id)
		}
		if err := a.Check(); err != nil {
			return fmt.Errorf("point %s: %w", id, err)
		}
		if strings.TrimSpace(a.Value) == "" || !utf8.ValidString(a.Value) {
			return fmt.Errorf("point %s: the value %q says nothing of it", id, a.Value)
		}
	}
	return nil
}

// Encode returns the list as a file.
func (l *AcceptanceList) Encode() ([]byte, error) { return encodeFile(l) }

// journalStart is what a journal tells of a plan's start.
type journalStart struct {
	record  *Entry // the first; nil when there is none
	applied *Entry // the last apply that was read back
	undone  *Entry // the last act by which it went back, or Flink was given C'
}

// startedBy looks for a plan's start.
func startedBy(entries []Entry, connector, digest string) (s journalStart) {
	for i := range entries {
		e := &entries[i]
		if e.Connector != connector || e.Plan != digest {
			continue
		}
		switch e.Act {
		case actStart:
			if s.record == nil {
				s.record = e
			}
		case actWrite:
			if e.Phase == PhaseDone {
				s.applied = e
			}
		case actStop, actRestore, actDelete, actRollback, actHandBack, actCommit, actRewrite:
			s.undone = e
		}
	}
	return s
}

// acceptanceFacts is what was seen for the list.
type acceptanceFacts struct {
	plan    *offsetmap.Plan
	proof   *Proof
	restart *Proof // after a restart
	journal journalStart

	// first and later are the two looks at the connector, which lie between apart.
	first, later connectorLook
	between      time.Duration
	connector    offsetmap.Fact[connectrest.ConnectorInfo]
	others       offsetmap.Fact[connectrest.ConnectorList]
	standing     standing
	source       offsetmap.Fact[map[string][]int32] // partitions of the source's topics
	target       offsetmap.Fact[map[string][]int32] // of the target's
}

// connectorLook is one look at the connector.
type connectorLook struct {
	status offsetmap.Fact[connectrest.Status]
	stored offsetmap.Fact[offsetsByPartition]
}
