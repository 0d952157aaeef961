package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

// next and source take numbers of these tests only, so an error is the test's fault.
func next(v int64) offsetmap.NextOffset {
	c, err := offsetmap.Next(v)
	if err != nil {
		panic(err)
	}
	return c
}

func source(v int64) offsetmap.SourceOffset {
	m, err := offsetmap.Source(v)
	if err != nil {
		panic(err)
	}
	return m
}

func tp(s string) offsetmap.TopicPartition {
	p, err := offsetmap.ParseTopicPartition(s)
	if err != nil {
		panic(err)
	}
	return p
}

var made = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func attested[T any](v T, reason string) *offsetmap.Attestation[T] {
	return offsetmap.Attest(v, "ana", reason)
}

func attestations() offsetmap.Attestations {
	return offsetmap.Attestations{
		CopyOnly: attested(true, "read the job's code"), FlinkStopped: attested(offsetmap.StoppedWithSavepoint, "flink stop said so"),
		AutoRestartOff: attested(true, "scaled to 0"), SinkGuarantee: attested(offsetmap.SinkAtLeastOnce, "read the job's code"),
		Isolation: attested(offsetmap.ReadUncommitted, "the default"), RollbackWindow: attested("72h", "agreed with the owners"), MaxDuplicates: attested(int64(1000), "agreed with the owners"),
		Confirm: offsetmap.Confirmations{
			FlinkVersions: attested("1.20.1, connector 3.4.0", "seen in its image"), SinkEvidence: attested("the savepoint's committables", "inspected"),
			ClustersAndTopics: attested("the-source to the-target, orders and payments.eu", "asked both"), TargetNames: attested(offsetmap.SameNames, "as its readers know them"),
			Image: attested("mm2@sha256:1f2e, three workers, replicated three times", "seen in the registry"), Kubernetes: attested("namespace mirror", "read its manifests"),
			Limits: attested("a pause of ten minutes", "agreed with the owners"),
		},
	}
}

// planOf seals what the rules make of the partitions.
func planOf(t testing.TB, in offsetmap.Input, more ...offsetmap.Finding) *offsetmap.Plan {
	t.Helper()
	in.Origin, in.Isolation = offsetmap.FromSavepoint, offsetmap.ReadUncommitted
	rows, findings := offsetmap.Resolve(in)
	if err := offsetmap.Blocked(findings); err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("c0", 32)
	plan, err := offsetmap.Seal(offsetmap.Body{
		Tool: offsetmap.Tool{Name: "runbook", Version: "v1.2.3"}, CreatedAt: offsetmap.At(made), ExpiresAt: offsetmap.At(made.Add(offsetmap.DefaultLifetime)),
		Source: offsetmap.Cluster{ID: "the-source"}, Target: offsetmap.Cluster{ID: "the-target"},
		Connector: offsetmap.Connector{Name: "orders-mirror", SourceAlias: "source", Config: digest, ActiveTopics: []string{}},
		Worker:    offsetmap.Worker{Version: "4.3.1", Commit: "f745dfdcee2b9851", ClusterID: "the-target", PluginVersion: "4.3.1", ProducerClusterID: "the-target"},
		Savepoint: &offsetmap.Savepoint{
			Location: "s3://flink/savepoints/savepoint-1f2e3d-0a1b2c3d4e5f", MetadataVersion: 5, CheckpointID: 4711, OperatorID: "cbc357ccb763df2852fee8c4fc7d55f2",
			UID: "orders-source", Files: []offsetmap.File{{Name: "_metadata", SHA256: strings.Repeat("5e", 32)}},
		},
		Group: &offsetmap.Group{ID: "orders-copy"}, Isolation: in.Isolation, Attestations: attestations(), Acceptances: in.Acceptances,
		Findings: append(findings, more...), Rows: rows,
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// measured is a partition of a source topic, with its target topic of the same name.
func measured(name string, start, stable, end int64) offsetmap.Measured {
	p := tp(name)
	return offsetmap.Measured{
		TopicPartition: p, TopicID: offsetmap.TopicID{1, 2, 3}, TargetTopic: p.Topic, TargetEnd: next(7),
		Range: offsetmap.Range{Start: next(start), Stable: next(stable), End: next(end)},
	}
}

// small is a migration with one of everything.
func small(t testing.TB) report.Sources {
	t.Helper()
	expired := measured("orders-2", 300, 400, 400)
	expired.Group, expired.Backup = next(90), source(12)
	unstable := measured("payments.eu-0", 0, 70, 100)
	plan := planOf(t, offsetmap.Input{
		Positions: []offsetmap.Position{
			{TopicPartition: tp("orders-0"), Next: next(1_000_000_000_000)},
			{TopicPartition: tp("orders-1"), Next: next(9_007_199_254_740_995)},
			{TopicPartition: tp("orders-2"), Next: next(100)},
			{TopicPartition: tp("orders-3"), Unread: offsetmap.Earliest},
			{TopicPartition: tp("payments.eu-0"), Next: next(40)},
		},
		Measured: []offsetmap.Measured{
			measured("orders-0", 999_999_999_000, 1_000_000_002_000, 1_000_000_002_000), measured("orders-1", 9_007_199_254_740_000, 9_007_199_254_741_095, 9_007_199_254_741_095),
			expired, measured("orders-3", 0, 0, 0), unstable,
		},
		Acceptances: []offsetmap.Acceptance{{Check: "source/offset-expired", Scope: "orders-2:200", Reason: "a weekend of test data, <agreed> with the owners", By: "ana"}},
	}, offsetmap.Finding{Check: "flink/rest-not-asked", Severity: offsetmap.Warn, Detail: "no server of Flink was named to ask", Acceptable: offsetmap.Never},
		offsetmap.Finding{Check: "source/retention", Severity: offsetmap.Warn, Scope: "orders", Detail: "records go in two days", Acceptable: offsetmap.Never},
		offsetmap.Finding{Check: "source/retention", Severity: offsetmap.Warn, Scope: "payments.eu", Detail: "records go in three days", Acceptable: offsetmap.Never},
		offsetmap.Finding{Check: "flink/state-evidence", Severity: offsetmap.Info, Detail: "checkpoint 4711, metadata version 5", Acceptable: offsetmap.Never})
	return report.Sources{Plan: plan, At: made.Add(3 * time.Hour), Tool: offsetmap.Tool{Name: "runbook", Version: "v1.2.3"}, Names: preflight.Names{
		Source: preflight.Brokers{Servers: "source-1:9092,source-2:9092"}, Target: preflight.Brokers{Servers: "target-1:9092"}, Worker: "http://connect-1:8083", Migration: "migration.yaml",
	}}
}

// entry is one of the journal of small, so many minutes after the plan was made.
func entry(s report.Sources, minutes int, act string, phase flinkmm2.Phase) flinkmm2.Entry {
	e := flinkmm2.Entry{At: made.Add(time.Duration(minutes) * time.Minute), Act: act, Phase: phase, Plan: s.Plan.Digest, Connector: s.Plan.Body.Connector.Name, By: "runbook@host"}
	if act == "create" {
		e.Plan = ""
	}
	if act == "start" || act == "resume" {
		e.Approved = "li"
	}
	return e
}

// journalOf is a journal up to a started connector.
func journalOf(s report.Sources) []flinkmm2.Entry {
	return []flinkmm2.Entry{
		entry(s, -5, "create", flinkmm2.PhaseBegin), entry(s, -5, "create", flinkmm2.PhaseDone), entry(s, 0, "plan", flinkmm2.PhaseDone),
		entry(s, 10, "apply", flinkmm2.PhaseBegin), entry(s, 10, "apply", flinkmm2.PhaseDone),
		entry(s, 20, "start", flinkmm2.PhaseDone), entry(s, 20, "resume", flinkmm2.PhaseBegin), entry(s, 20, "resume", flinkmm2.PhaseDone),
	}
}

// proofOf is a proof of a plan, all of it copied.
func proofOf(plan *offsetmap.Plan) *flinkmm2.Proof {
	p := &flinkmm2.Proof{
		APIVersion: offsetmap.APIVersion, Kind: flinkmm2.ProofKind, CreatedAt: offsetmap.At(made.Add(time.Hour)), Plan: plan.Digest,
		Connector: plan.Body.Connector.Name, Outcome: "proven",
	}
	for _, r := range plan.Body.Rows {
		c, _ := r.Next.Value()
		end, _ := r.LogEnd.Value()
		one := flinkmm2.PartitionProof{TopicPartition: r.TopicPartition, TargetTopic: r.TargetTopic, Next: r.Next, End: r.LogEnd, Outcome: "proven", Lost: r.Lost}
		one.Records, one.Copied, one.First = end-c, end-c, r.Next
		if end == c {
			one.Outcome, one.First = "nothing-to-copy", offsetmap.NextOffset{}
		}
		p.Records, p.Copied = p.Records+one.Records, p.Copied+one.Copied
		p.Partitions = append(p.Partitions, one)
	}
	return p
}

// failed spoils a proof: one record of payments.eu-0 is missing.
func failed(p *flinkmm2.Proof) *flinkmm2.Proof {
	p.Outcome, p.Missing, p.Copied, p.Repeated = "failed", 1, p.Copied-1, 3
	one := &p.Partitions[len(p.Partitions)-1]
	one.Outcome, one.Reason, one.Missing, one.Copied, one.Repeated = "failed", "1 record is missing", 1, one.Copied-1, 3
	one.Examples = []flinkmm2.ProofExample{{Fault: "missing", Source: next(55)}, {Fault: "repeated", Source: next(50), Target: next(61)}}
	return p
}

// preflightOf is the judgement that a plan was made after.
func preflightOf(plan *offsetmap.Plan) *report.Preflight {
	return &report.Preflight{At: plan.Body.CreatedAt, Report: preflight.Report{
		Forecast: &preflight.Forecast{Records: 4071, Bytes: 60_001, AtLeast: true, AtMost: 5113, Partitions: []preflight.PartitionForecast{
			{TopicPartition: tp("payments.eu-0"), Records: 4071, Bytes: 60_001, AtLeast: true, AtMost: 5113, Why: "all that were looked for <are> there"},
		}},
		Rows: plan.Body.Rows, Findings: plan.Body.Findings,
		LatestStart:    offsetmap.Known(preflight.Deadline{At: offsetmap.At(made.Add(48 * time.Hour)), Scope: "orders-0", Why: "the records from C = 1000000000000 reach the age of retention.ms = 3 d"}),
		LatestRollback: offsetmap.NotKnown[preflight.Deadline](errors.New("when the old job ended is not known: Flink's REST API was not asked, or did not answer")),
		Results: []preflight.Result{
			{Check: "flink/rest-not-asked", State: preflight.Found, Severity: offsetmap.Warn, Saw: []string{}, Findings: 1},
			{Check: "source/offset-expired", State: preflight.Found, Severity: offsetmap.Warn, Saw: []string{}, Findings: 1},
			{Check: "target/same-cluster", State: preflight.Passed, Saw: []string{"source the-source, target the-target"}},
			{Check: "worker/version", State: preflight.NotAsked, Saw: []string{}},
		},
	}}
}

// acceptanceOf is a list with a point of each state, and of one where a person's word
// does not stand.
func acceptanceOf(plan *offsetmap.Plan) *flinkmm2.AcceptanceList {
	return &flinkmm2.AcceptanceList{
		APIVersion: offsetmap.APIVersion, Kind: flinkmm2.AcceptanceListKind, CreatedAt: offsetmap.At(made.Add(2 * time.Hour)), Plan: plan.Digest, Connector: plan.Body.Connector.Name,
		Points: []flinkmm2.AcceptancePoint{
			{ID: flinkmm2.AcceptImported, Title: "Every partition was imported", State: flinkmm2.Shown, Evidence: []string{"read back equal to the plan"}, Open: []string{}},
			{ID: flinkmm2.AcceptNothingMissing, Title: "No record is missing", State: flinkmm2.NotProven, Evidence: []string{}, Open: []string{"the proof ended with failed"}, Next: "watch again"},
			{ID: flinkmm2.AcceptRestart, Title: "It survives a restart", State: flinkmm2.Attested, Evidence: []string{}, Open: []string{"nothing was recorded"}, Attested: attested("all workers <replaced>", "seen on the dashboard")},
		},
	}
}

// whole is small with everything that a report can be made from, short of a rollback.
func whole(t testing.TB) report.Sources {
	s := small(t)
	s.Journal, s.Proof, s.Preflight, s.Acceptance = journalOf(s), failed(proofOf(s.Plan)), preflightOf(s.Plan), acceptanceOf(s.Plan)
	for i := range 40 {
		s.Lag = append(s.Lag, report.LagPoint{At: offsetmap.At(made.Add(time.Duration(20+i) * time.Minute)), Lag: int64((40 - i) * (40 - i) * 7)})
	}
	return s
}

// boundaryOf is where Flink goes on after everything was copied.
func boundaryOf(plan *offsetmap.Plan) *flinkmm2.Boundary {
	b := &flinkmm2.Boundary{APIVersion: offsetmap.APIVersion, Kind: flinkmm2.BoundaryKind, CreatedAt: offsetmap.At(made.Add(2 * time.Hour)), Plan: plan.Digest, Connector: plan.Body.Connector.Name}
	for _, r := range plan.Body.Rows {
		b.Partitions = append(b.Partitions, offsetmap.Reverse{TopicPartition: r.TopicPartition, Next: r.LogEnd, Copied: 5})
	}
	b.Partitions = append(b.Partitions, offsetmap.Reverse{TopicPartition: tp("payments.eu-1"), Next: next(2), Added: true, Copied: 2})
	return b
}

// many is a plan of topics with partitions each.
func many(t testing.TB, topics, each int) *offsetmap.Plan {
	t.Helper()
	var in offsetmap.Input
	for i := range topics {
		for p := range each {
			name, end := fmt.Sprintf("topic-%05d-%d", i, p), int64(8_000_000_000+i*each+p)
			in.Measured = append(in.Measured, measured(name, end-1_000_000, end, end))
			in.Positions = append(in.Positions, offsetmap.Position{TopicPartition: tp(name), Next: next(end - 400_000)})
		}
	}
	return planOf(t, in)
}

func newDocument(t testing.TB, s report.Sources) *report.Document {
	t.Helper()
	d, err := report.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// written is what one of a document's writers writes.
func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var huge struct {
	sync.Once
	document *report.Document
}

// hundredThousand is a started migration of 1,000 topics with 100 partitions each, two
// of which are not proven. It is made once, and not to be changed.
func hundredThousand(t testing.TB) *report.Document {
	t.Helper()
	huge.Do(func() {
		s := small(t)
		s.Plan = many(t, 1000, 100)
		s.Proof, s.Journal = proofOf(s.Plan), journalOf(s)
		for _, i := range []int{7, 99_999} {
			p := &s.Proof.Partitions[i]
			p.Outcome, p.Missing = "failed", 1
		}
		s.Proof.Outcome, s.Proof.Missing = "failed", 2
		huge.document = newDocument(t, s)
	})
	if huge.document == nil {
		t.Fatal("the document could not be made for another test")
	}
	return huge.document
}
