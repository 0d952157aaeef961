package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// ErrSources says that the files of a report do not belong together, or that one is
// missing without which there is none.
var ErrSources = errors.New("not the files of one migration")

// Sources are what a report is made from. Only Plan and At have to be there.
type Sources struct {
	Plan *offsetmap.Plan
	At   time.Time      // when the report is made
	Tool offsetmap.Tool // that makes it
	// Journal is the whole journal of the migration. What it holds of other plans
	// and connectors is left out.
	Journal []flinkmm2.Entry
	// Proof is the last of the plan.
	Proof *flinkmm2.Proof
	// Acceptance is the last list of the plan.
	Acceptance *flinkmm2.AcceptanceList
	// Boundary is where Flink goes on.
	Boundary *flinkmm2.Boundary
	// Preflight is the one that the plan was made after.
	Preflight *Preflight
	// Names are what the migration calls the things that remedies speak of, such as its
	// brokers, which no plan names. What the plan names is taken from there.
	Names preflight.Names
	// Lag is how far the target was behind while it was watched, oldest first. By
	// default, what the proof has of it.
	Lag []LagPoint
}

// Preflight is a judgement with its time.
type Preflight struct {
	At     offsetmap.Time
	Report preflight.Report
}

// New makes a document. What does not belong to the plan is an ErrSources that says
// which source it is, and why; nothing is left out in silence. A plan that was edited
// is an offsetmap.ErrEdited.
func New(s Sources) (*Document, error) {
	if s.Plan == nil {
		return nil, fmt.Errorf("report: %w: there is no plan", ErrSources)
	}
	if s.At.IsZero() {
		return nil, fmt.Errorf("report: %w: the time of the report is not given", ErrSources)
	}
	if s.Lag == nil {
		s.Lag = lagOf(s.Proof)
	}
	if err := s.Plan.Check(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if err := errors.Join(s.checkProof(), s.checkAcceptance(), s.checkBoundary(), s.checkPreflight(), s.checkLag()); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	b := s.Plan.Body
	acts, stage, approval := history(s.Plan, s.Journal)
	d := &Document{
		APIVersion: offsetmap.APIVersion, Kind: Kind, CreatedAt: offsetmap.At(s.At), Tool: s.Tool,
		Stage: stage, Approval: approval, Acts: acts,
		Plan: headOf(s.Plan), Attestations: attestationsOf(b.Attestations), Findings: findingsOf(b.Findings, s.names()),
		Forecast: forecastOf(s.Preflight), Checks: checksOf(s.Preflight), LatestStart: latestOf(s.Preflight, start), LatestRollback: latestOf(s.Preflight, rollback), Lag: append([]LagPoint{}, s.Lag...),
		Partitions: make([]Partition, 0, len(b.Rows)),
	}
	proofs := proofsOf(s.Proof)
	for _, r := range b.Rows {
		d.Partitions = append(d.Partitions, Partition{
			TopicPartition: r.TopicPartition, TargetTopic: r.TargetTopic, Rule: r.Rule,
			LogStart: r.LogStart, Next: r.Next, LastStable: r.LastStable, LogEnd: r.LogEnd, TargetEnd: r.TargetEnd,
			Before: r.Backup, After: r.Write.Result(), Group: r.Group, Lost: r.Lost, Proof: proofs[r.TopicPartition],
		})
	}
	d.Return = returnOf(s.Boundary, d.Partitions)
	d.Totals = totalsOf(d)
	d.Proof, d.Acceptance = proofOf(s.Proof), acceptanceOf(s.Acceptance)
	d.Summary = d.summary()
	return d, nil
}

// clean drops user and password from addresses: a text of a person, of a worker or of
// a broker may hold some.
func clean(text string) string { return offsetmap.RedactSetting("text", text) }

func headOf(p *offsetmap.Plan) Plan {
	b := p.Body
	out := Plan{
		Digest: p.Digest, CreatedAt: b.CreatedAt, ExpiresAt: b.ExpiresAt, Tool: b.Tool,
		Source: b.Source.ID, Target: b.Target.ID, Connector: b.Connector.Name, SourceAlias: b.Connector.SourceAlias, ConfigDigest: b.Connector.Config,
		Worker: b.Worker.Version, WorkerCluster: b.Worker.ClusterID, Plugin: b.Worker.PluginVersion, Isolation: b.Isolation, Earlier: []string{},
	}
	if sp := b.Savepoint; sp != nil {
		out.Savepoint = &Savepoint{Location: clean(sp.Location), CheckpointID: sp.CheckpointID, OperatorID: sp.OperatorID}
		for _, f := range sp.Files {
			if f.Name == "_metadata" {
				out.Savepoint.Metadata = f.SHA256
			}
		}
	}
	if b.Group != nil {
		out.Group = b.Group.ID
	}
	for _, e := range b.Earlier {
		out.Earlier = append(out.Earlier, e.Digest)
	}
	return out
}

func attestationsOf(a offsetmap.Attestations) []Attestation {
	out, c := []Attestation{}, a.Confirm
	attested(&out, "copyOnly", a.CopyOnly)
	attested(&out, "flinkStopped", a.FlinkStopped)
	attested(&out, "autoRestartOff", a.AutoRestartOff)
	attested(&out, "sinkGuarantee", a.SinkGuarantee)
	attested(&out, "isolation", a.Isolation)
	attested(&out, "checkpointing", a.Checkpointing)
	attested(&out, "rollbackWindow", a.RollbackWindow)
	attested(&out, "maxDuplicates", a.MaxDuplicates)
	attested(&out, "confirm.flinkVersions", c.FlinkVersions)
	attested(&out, "confirm.sinkEvidence", c.SinkEvidence)
	attested(&out, "confirm.clustersAndTopics", c.ClustersAndTopics)
	attested(&out, "confirm.targetNames", c.TargetNames)
	attested(&out, "confirm.image", c.Image)
	attested(&out, "confirm.kubernetes", c.Kubernetes)
	attested(&out, "confirm.limits", c.Limits)
	return out
}

func attested[T any](out *[]Attestation, name string, a *offsetmap.Attestation[T]) {
	if a != nil {
		*out = append(*out, Attestation{Name: name, Value: clean(fmt.Sprint(a.Value)), By: clean(a.By), Reason: clean(a.Reason)})
	}
}

// catalogue holds the checks by id, for documents that have many findings.
func catalogue() map[string]preflight.Check {
	all := map[string]preflight.Check{}
	for _, c := range preflight.Checks() {
		all[c.ID] = c
	}
	return all
}

// names are those that were given, with the plan's.
func (s Sources) names() preflight.Names {
	n, b := s.Names, s.Plan.Body
	n.Connector, n.Alias, n.Topics = b.Connector.Name, b.Connector.SourceAlias, map[string]string{}
	if b.Group != nil {
		n.Group = b.Group.ID
	}
	for _, r := range b.Rows {
		n.Topics[r.Topic] = r.TargetTopic
	}
	return n
}

func findingsOf(findings []offsetmap.Finding, n preflight.Names) []Finding {
	known := catalogue()
	type mended struct{ check, scope string }
	remedies := map[mended]string{}
	for _, r := range preflight.RemediesFor(findings, n) {
		for _, scope := range r.Scopes {
			remedies[mended{r.Check, scope}] = r.Text
		}
	}
	out := make([]Finding, 0, len(findings))
	for _, f := range findings {
		f.Detail = clean(f.Detail)
		if f.Accepted != nil {
			a := *f.Accepted
			a.By, a.Reason = clean(a.By), clean(a.Reason)
			f.Accepted = &a
		}
		one := Finding{Finding: f, Title: known[f.Check].Title}
		if f.Severity != offsetmap.Info {
			one.Remedy = remedies[mended{f.Check, f.Scope}]
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Compare(b.Finding) })
	return out
}

func checksOf(p *Preflight) *Checks {
	if p == nil {
		return nil
	}
	known := catalogue()
	out := &Checks{At: p.At, Results: make([]Check, 0, len(p.Report.Results))}
	for _, r := range p.Report.Results {
		r.Saw = cleanAll(r.Saw)
		out.Results = append(out.Results, Check{Result: r, Title: known[r.Check].Title})
	}
	return out
}

func start(r preflight.Report) offsetmap.Fact[preflight.Deadline]    { return r.LatestStart }
func rollback(r preflight.Report) offsetmap.Fact[preflight.Deadline] { return r.LatestRollback }

// latestOf takes a deadline of the preflight into a document.
func latestOf(p *Preflight, which func(preflight.Report) offsetmap.Fact[preflight.Deadline]) preflight.Latest {
	if p == nil {
		return preflight.Latest{Unknown: "what the checks had looked at was not kept when this plan was made"}
	}
	out := preflight.LatestOf(which(p.Report))
	out.Why, out.Unknown = clean(out.Why), clean(out.Unknown)
	return out
}

// forecastOf takes the forecast of the preflight into a document.
func forecastOf(p *Preflight) *preflight.Forecast {
	if p == nil || p.Report.Forecast == nil {
		return nil
	}
	out := *p.Report.Forecast
	out.Partitions = slices.Clone(out.Partitions)
	for i := range out.Partitions {
		out.Partitions[i].Why = clean(out.Partitions[i].Why)
	}
	return &out
}

func totalsOf(d *Document) Totals {
	t := Totals{Partitions: len(d.Partitions)}
	for i, p := range d.Partitions {
		if i == 0 || d.Partitions[i-1].Topic != p.Topic {
			t.Topics++
		}
		if p.After.IsNone() {
			t.Cleared++
		} else {
			t.Set++
		}
		t.ToCopy += distance(p.Next, p.LogEnd)
		t.Lost += p.Lost
	}
	for _, f := range d.Findings {
		switch {
		case f.Accepted != nil:
			t.Accepted++
		case f.Severity == offsetmap.Warn:
			t.Warnings++
		}
	}
	return t
}

// distance counts the offsets from a to b, which every row of a plan has.
func distance(a, b offsetmap.NextOffset) int64 {
	n, _ := b.Sub(a)
	return n
}
