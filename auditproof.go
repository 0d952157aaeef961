package flinkmm2

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// startPoint holds the start to the plan.
func (a *audit) startPoint() AuditPoint {
	f := about(AuditStart, "a person approved the start of this plan, and the target's ends were recorded before")
	s := a.story
	if s.start == nil && s.resumed == nil {
		return f.notReached("the connector was not resumed")
	}
	for _, e := range []*Entry{s.start, s.resumed} {
		switch {
		case e == nil:
			f.open("the start was recorded, and the connector not resumed")
		case e.Approved == "":
			f.against("the %s at %s names nobody who gave the word", e.Act, offsetmap.At(e.At))
		default:
			f.shown("%s at %s by %s", e.Act, offsetmap.At(e.At), who(e))
		}
	}
	if s.start != nil {
		ends := endsOf(s.start.Ends)
		for _, row := range a.plan.Body.Rows {
			if end, ok := ends[row.TopicPartition]; !ok || end.IsNone() {
				f.against("%s: the start record has no end of the target", row.TopicPartition)
			}
		}
	}
	return f.done()
}

// proofPoint holds the proof to the plan and to the journal.
func (a *audit) proofPoint() AuditPoint {
	f := about(AuditProof, "every partition is proven from C on, by a proof of this plan")
	if a.story.resumed == nil {
		if a.file(RoleProof) != nil {
			f.open("there is a proof, and by the journal the connector was not resumed")
		}
		return f.notReached("the connector was not resumed")
	}
	p := read[Proof](a, f, RoleProof, ProofKind)
	if p == nil {
		return f.done()
	}
	if err := p.validate(); err != nil {
		f.against("the proof: %v", err)
		return f.done()
	}
	if !a.of(f, RoleProof, p.Plan, p.Connector) {
		return f.done()
	}
	same := slices.EqualFunc(p.Partitions, a.plan.Body.Rows, func(p PartitionProof, r offsetmap.Row) bool {
		return p.TopicPartition == r.TopicPartition && p.Next == r.Next && p.TargetTopic == r.TargetTopic && p.Lost == r.Lost
	})
	if !same {
		f.against("the proof does not have the plan's partitions, each from its C on")
	}
	if p.CreatedAt.Before(a.story.resumed.At.Add(-auditSkew)) {
		f.against("the proof is of %s, and the connector was resumed at %s", p.CreatedAt, offsetmap.At(a.story.resumed.At))
	}
	if p.Outcome != string(proof.Proven) {
		f.open("its outcome is %s", p.Outcome)
	}
	if !a.merged(f, p) && a.named(f, RoleProof, a.file(RoleProof)) && same {
		f.shown("%s at %s: %d of %d records copied, %d repeated", p.Outcome, p.CreatedAt, p.Copied, p.Records, p.Repeated)
	}
	return f.done()
}

// merged reports whether there are proofs of shards, and holds the proof to them.
func (a *audit) merged(f *finding, whole *Proof) bool {
	var parts []*Proof
	for _, m := range a.Body.Files {
		if m.Role != RoleShardProof {
			continue
		}
		p := new(Proof)
		if err := offsetmap.DecodeKind(a.contents[m.Name], ProofKind, p); err != nil {
			f.against("%s does not read: %v", m.Name, err)
			return true
		}
		if err := p.validate(); err != nil {
			f.against("%s: %v", m.Name, err)
			return true
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 || a.story.found[sumText(sha256.Sum256(a.file(RoleProof)))] {
		return false
	}
	for _, m := range a.Body.Files {
		if m.Role == RoleShardProof {
			a.named(f, RoleShardProof, a.contents[m.Name])
		}
	}
	joined, err := MergeProofs(a.plan, parts...)
	if err != nil {
		f.against("%v", err)
		return true
	}
	text, err := joined.Encode()
	if err != nil || !bytes.Equal(text, a.file(RoleProof)) {
		f.against("the proof is not what the proofs of its %d shards come to", len(parts))
		return true
	}
	f.shown("joined from %d shards: %s, %d of %d records copied, %d repeated", len(parts), whole.Outcome, whole.Copied, whole.Records, whole.Repeated)
	return true
}

// acceptancePoint holds the acceptance list to the plan.
func (a *audit) acceptancePoint() AuditPoint {
	f := about(AuditAcceptance, "each point of the acceptance list is shown or attested")
	if a.story.resumed == nil {
		return f.notReached("the connector was not resumed")
	}
	if a.story.back != nil && a.file(RoleAcceptance) == nil {
		return f.notReached("the migration went back")
	}
	list := read[AcceptanceList](a, f, RoleAcceptance, AcceptanceListKind)
	if list == nil || !a.of(f, RoleAcceptance, list.Plan, list.Connector) {
		return f.done()
	}
	for _, want := range acceptancePoints() {
		i := slices.IndexFunc(list.Points, func(p AcceptancePoint) bool { return p.ID == want.id })
		switch {
		case i < 0:
			f.against("the list has no point %s", want.id)
		case list.Points[i].State == NotProven:
			f.open("%s: %s", want.id, strings.Join(list.Points[i].Open, "; "))
		default:
			f.shown("%s: %s", want.id, list.Points[i].State)
		}
	}
	return f.done()
}

// boundaryPoint holds the boundary to the plan and to the rollback.
func (a *audit) boundaryPoint() AuditPoint {
	f := about(AuditBoundary, "where Flink goes on after the way back is told")
	switch back := a.story.back; {
	case back == nil:
		if a.file(RoleBoundary) != nil {
			f.open("there is a boundary, and by the journal the migration did not go back")
		}
		return f.notReached("the migration did not go back")
	case !a.story.startedBefore:
		return f.notReached("it went back before a start: Flink has its savepoint")
	}
	raw := a.file(RoleBoundary)
	if raw == nil {
		f.open("the bundle has no boundary")
		return f.done()
	}
	b, err := decodeBoundary(raw)
	if err != nil {
		f.against("the boundary does not read: %v", err)
		return f.done()
	}
	if !a.of(f, RoleBoundary, b.Plan, b.Connector) {
		return f.done()
	}
	if b.SourceID != a.plan.Body.Source.ID {
		f.against("the boundary is of the source cluster %s, the plan of %s", b.SourceID, a.plan.Body.Source.ID)
	}
	var of []offsetmap.TopicPartition
	for _, p := range b.Partitions {
		if !p.Added {
			of = append(of, p.TopicPartition)
		}
	}
	if !slices.EqualFunc(of, a.plan.Body.Rows, func(tp offsetmap.TopicPartition, r offsetmap.Row) bool { return tp == r.TopicPartition }) {
		f.against("the boundary does not have the plan's partitions")
	}
	if b.CreatedAt.Before(a.story.resumed.At.Add(-auditSkew)) {
		f.against("the boundary is of %s, and the connector was resumed at %s", b.CreatedAt, offsetmap.At(a.story.resumed.At))
	}
	if len(f.point.Against) == 0 {
		f.shown("C' of %d partitions at %s", len(b.Partitions), b.CreatedAt)
	}
	return f.done()
}

// reportPoint holds the report to the plan. Its page and its Markdown are told from
// others by their digests alone.
func (a *audit) reportPoint() AuditPoint {
	f := about(AuditReports, "the report is of this plan")
	for _, m := range a.Body.Files {
		if m.Role != RoleReport {
			continue
		}
		var r struct {
			Plan struct {
				Digest string `json:"digest"`
			} `json:"plan"`
		}
		switch err := json.Unmarshal(a.contents[m.Name], &r); {
		case !strings.HasSuffix(m.Name, ".json"):
			f.shown("%s has SHA-256 %s", m.Name, m.SHA256)
		case err != nil:
			f.against("%s does not read: %v", m.Name, err)
		case r.Plan.Digest != a.plan.Digest:
			f.against("%s is of plan %s", m.Name, r.Plan.Digest)
		default:
			f.shown("%s is of plan %s", m.Name, r.Plan.Digest)
		}
	}
	if len(f.point.Evidence)+len(f.point.Against) == 0 {
		f.open("the bundle has no report")
	}
	return f.done()
}
