package flinkmm2

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Shard is one of several parts of a plan that are watched apart, as by the pods
// of an Indexed Job: partition number i of the sorted plan belongs to the shard
// with Index i modulo Of. The zero value is the whole plan.
type Shard struct {
	Index int `json:"index"` // from 0 to Of-1
	Of    int `json:"of"`
}

// ParseShard reads "INDEX/OF", such as "0/4" to "3/4".
func ParseShard(text string) (Shard, error) {
	index, of, some := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	s := Shard{i, n}
	if !some || err != nil || errOf != nil || s.validate() != nil || n == 0 {
		return Shard{}, fmt.Errorf("shard %q: want INDEX/OF with INDEX from 0 to OF-1, such as 0/4", text)
	}
	return s, nil
}

// String returns what ParseShard reads, and "all" for the zero value.
func (s Shard) String() string {
	if s.Of == 0 {
		return "all"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

func (s Shard) validate() error {
	if s != (Shard{}) && (s.Of < 1 || s.Index < 0 || s.Index >= s.Of) {
		return fmt.Errorf("there is no shard %d of %d: they are numbered from 0", s.Index, s.Of)
	}
	return nil
}

// rows are those of the plan that belong to the shard, sorted.
func (s Shard) rows(plan *offsetmap.Plan) []offsetmap.Row {
	if s.Of == 0 {
		return plan.Body.Rows
	}
	var out []offsetmap.Row
	for i := s.Index; i < len(plan.Body.Rows); i += s.Of {
		out = append(out, plan.Body.Rows[i])
	}
	return out
}

// ReadProof reads a proof file strictly: what no Watch writes is an error, and so
// are partitions that do not add up to the whole.
func ReadProof(path string) (*Proof, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := new(Proof)
	if err := offsetmap.DecodeKind(text, ProofKind, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func (p *Proof) validate() error {
	var sum ProofCounts
	var lost int64
	for i, one := range p.Partitions {
		if i > 0 && p.Partitions[i-1].Compare(one.TopicPartition) >= 0 {
			return fmt.Errorf("partitions[%d]: %s does not follow %s", i, one.TopicPartition, p.Partitions[i-1].TopicPartition)
		}
		if err := one.TopicPartition.Validate(); err != nil {
			return fmt.Errorf("partitions[%d]: %w", i, err)
		}
		sum, lost = sum.plus(one.ProofCounts), lost+one.Lost
	}
	if sum != p.ProofCounts || lost != p.Lost {
		return fmt.Errorf("the partitions add up to %+v and %d lost, and the proof has %+v and %d", sum, lost, p.ProofCounts, p.Lost)
	}
	if p.Shard != nil && (p.Shard.Of == 0 || p.Shard.validate() != nil) {
		return fmt.Errorf("shard: there is no shard %d of %d", p.Shard.Index, p.Shard.Of)
	}
	if len(p.Lag) > maxLagPoints {
		return fmt.Errorf("lag: %d points, want %d at most", len(p.Lag), maxLagPoints)
	}
	return nil
}

// ErrParts says that proofs are not the parts of one: a shard lacks or is there
// twice, or one is of another plan, connector, number of shards or end.
var ErrParts = errors.New("not the parts of one proof")

// MergeProofs joins the proofs of all shards of a plan into one, with the outcome
// that a watch of the whole would have had. Its time is that of the oldest. With
// UntilRecords each part has its own number of records.
func MergeProofs(plan *offsetmap.Plan, parts ...*Proof) (*Proof, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("merge proofs: %w", err)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("merge proofs: %w: there are none", ErrParts)
	}
	out := &Proof{
		APIVersion: offsetmap.APIVersion, Kind: ProofKind, CreatedAt: parts[0].CreatedAt,
		Plan: plan.Digest, Connector: plan.Body.Connector.Name, Until: parts[0].Until,
	}
	var lags [][]LagPoint
	for _, p := range parts {
		if p.CreatedAt.Before(out.CreatedAt.Time) {
			out.CreatedAt = p.CreatedAt
		}
		out.ProofCounts, out.Lost = out.plus(p.ProofCounts), out.Lost+p.Lost
		out.Partitions = append(out.Partitions, p.Partitions...)
		lags = append(lags, p.Lag)
	}
	if err := errors.Join(partsOf(plan, parts)...); err != nil {
		return nil, fmt.Errorf("merge proofs: %w", err)
	}
	slices.SortFunc(out.Partitions, func(a, b PartitionProof) int { return a.Compare(b.TopicPartition) })
	out.Lag = mergeLag(lags)
	out.Outcome = mergedOutcome(out.Partitions, parts)
	return out, nil
}

// partsOf returns every reason why the parts are not the shards of the plan.
func partsOf(plan *offsetmap.Plan, parts []*Proof) (errs []error) {
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: %s", ErrParts, fmt.Sprintf(format, args...)))
	}
	seen := map[int]bool{}
	of := 0
	for i, p := range parts {
		switch {
		case p.Shard == nil:
			bad("part %d is the proof of the whole plan, not of a shard", i+1)
			continue
		case of == 0:
			of = p.Shard.Of
		case p.Shard.Of != of:
			bad("shard %s is one of %d, and another is one of %d", p.Shard, p.Shard.Of, of)
			continue
		}
		if seen[p.Shard.Index] {
			bad("shard %s is there twice", p.Shard)
		}
		seen[p.Shard.Index] = true
		if p.Plan != plan.Digest || p.Connector != plan.Body.Connector.Name {
			bad("shard %s is of plan %s and connector %q, not of plan %s and connector %q", p.Shard, p.Plan, p.Connector, plan.Digest, plan.Body.Connector.Name)
			continue
		}
		if p.Until != parts[0].Until {
			bad("shard %s was watched until %s, and another until %s", p.Shard, p.Until, parts[0].Until)
		}
		if p.Restart != nil {
			bad("shard %s is of a restart, which is shown of the whole plan", p.Shard)
		}
		if err := p.validate(); err != nil {
			bad("shard %s: %v", p.Shard, err)
		}
		if !slices.EqualFunc(p.Partitions, p.Shard.rows(plan), func(a PartitionProof, r offsetmap.Row) bool {
			return a.TopicPartition == r.TopicPartition && a.TargetTopic == r.TargetTopic && a.Next == r.Next && a.Lost == r.Lost
		}) {
			bad("shard %s does not have the partitions of that shard of the plan", p.Shard)
		}
	}
	var lacks []string
	for i := range of {
		if !seen[i] {
			lacks = append(lacks, Shard{i, of}.String())
		}
	}
	if len(lacks) > 0 {
		bad("shard %s is not there", strings.Join(lacks, ", "))
	}
	return errs
}

// mergedOutcome is by the rule of a watch. A part that was not caught up, though
// each of its partitions is proven as far as it was looked at, makes no whole.
func mergedOutcome(partitions []PartitionProof, parts []*Proof) string {
	reports := make([]proof.PartitionReport, 0, len(partitions))
	for _, p := range partitions {
		reports = append(reports, proof.PartitionReport{
			Source: p.TopicPartition, Outcome: proof.PartitionOutcome(p.Outcome), Counts: p.engine(),
			Moved: !p.First.IsNone() || p.Copied+p.Altered+p.Early > 0,
		})
	}
	outcome := proof.Conclude(reports).Outcome
	for _, p := range parts {
		if outcome == proof.Proven && p.Outcome != string(proof.Proven) && p.Outcome != string(proof.NothingToCopy) {
			outcome = proof.NotProven
		}
	}
	return string(outcome)
}
