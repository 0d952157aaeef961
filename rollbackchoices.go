package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// RollbackChoices says, before a rollback, in which forms Flink could go on and what each
// costs. While the connector runs it is of one moment: what is copied later adds to it.
type RollbackChoices struct {
	Digest string         `json:"digest"`
	At     offsetmap.Time `json:"at"`
	// State is the connector's: but for STOPPED, the end of the target was not compared,
	// and what was copied since the last commit is not known.
	State      string            `json:"state"`
	Partitions []PartitionChoice `json:"partitions"` // sorted
	Forms      []FormChoice      `json:"forms"`
	// Findings are those that a rollback would be refused for, or need an acceptance of.
	Findings []offsetmap.Finding `json:"findings"` // sorted
}

// PartitionChoice is where Flink could go on in one partition. Records are counted on the
// source, as the isolation level of the old job shows them.
type PartitionChoice struct {
	offsetmap.TopicPartition
	C         offsetmap.NextOffset `json:"c"`         // of the savepoint; null of a partition that was added since
	Committed offsetmap.NextOffset `json:"committed"` // M + 1, or the log start above it
	Next      offsetmap.NextOffset `json:"next"`      // C'
	// SinceC are the records from C to C', which the old savepoint repeats, and
	// SinceCommit those of them from M + 1 on, which no offset tells of.
	SinceC      int64 `json:"sinceC"`
	SinceCommit int64 `json:"sinceCommit"`
	// Beyond are records from C' on that the target has as well: every form repeats them.
	Beyond int64 `json:"beyond"`
	// Uncounted are offsets before C' that were not looked at, each of them a record or
	// none.
	Uncounted int64 `json:"uncounted"`
	// Expired are the offsets from C on that the source has no more, and Lost those of
	// them that Connect does not hold to be copied.
	Expired int64 `json:"expired"`
	Lost    int64 `json:"lost"`
	// Doubt says why more may be repeated than is counted; empty when no more is.
	Doubt string `json:"doubt"`
}

// FormChoice is what one form of a way back costs.
type FormChoice struct {
	Form     HandBackForm `json:"form"`
	Possible bool         `json:"possible"`
	Why      string       `json:"why"` // it is not possible, or what it demands; empty when nothing is to be said
	// Repeated are records that come again, as far as is counted.
	Repeated int64 `json:"repeated"`
	// Certain says that no more do.
	Certain bool `json:"certain"`
	// Lost are offsets that a job which goes on so does not find any more. Those before M + 1
	// the target has, if only there.
	Lost int64 `json:"lost"`
}

// ChoicesOptions bounds what RollbackChoices reads.
type ChoicesOptions struct {
	// Tail bounds the comparison of the target's end, and the counting of the source from C
	// on in Records and Bytes of a partition. By default, as TailBounds says, and counting
	// takes a minute at most.
	Tail TailBounds
}

// RollbackChoices counts what each way back would repeat or lose. It writes nothing, not
// even to the journal, and stops nothing: it can be asked at any time after the start.
func (m *Migration) RollbackChoices(ctx context.Context, plan *offsetmap.Plan, o ChoicesOptions) (*RollbackChoices, error) {
	out, err := m.rollbackChoices(ctx, plan, o)
	if err != nil {
		return nil, fmt.Errorf("rollback choices: %w", err)
	}
	return out, nil
}

func (m *Migration) rollbackChoices(ctx context.Context, plan *offsetmap.Plan, o ChoicesOptions) (*RollbackChoices, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if err := m.ofThisConnector(plan); err != nil {
		return nil, err
	}
	if err := o.Tail.check(); err != nil {
		return nil, err
	}
	seen := (&observer{m: m, plan: plan, goal: engine.Rollback}).look(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, read := seen.Connector.Get()
	_, stored := seen.Stored.Get()
	measured, known := seen.Measured.Get()
	if err := errors.Join(seen.Connector.Err(), seen.Stored.Err(), seen.Measured.Err()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKnown, err)
	}
	if !read || !stored || !known {
		return nil, fmt.Errorf("%w: there is no connector %s, so nobody knows how far it came", ErrNotKnown, m.cfg.Connector)
	}
	out := &RollbackChoices{Digest: plan.Digest, At: offsetmap.At(m.now()), State: c.State, Partitions: []PartitionChoice{}}
	rows, findings := reversed(plan, seen, nil)
	out.Findings = append([]offsetmap.Finding{}, findings...)
	if rows == nil { // what blocks can be accepted: its counts are of use before
		rows, _ = reversed(plan, seen, acceptanceOf(findings))
	}
	if rows != nil {
		var tail []DeliveredPartition
		if c.State == string(connectrest.StateStopped) && c.Tasks == 0 {
			tail = m.delivered(ctx, plan, rows, seen, o.Tail)
		}
		var err error
		if out.Partitions, err = m.countChoices(ctx, plan, rows, tail, measured, o); err != nil {
			return nil, err
		}
	}
	earlier, err := m.handedTo(ctx, plan.Digest, handedForm{})
	if err != nil {
		return nil, fmt.Errorf("%w: the journal: %w", ErrNotKnown, err)
	}
	out.Forms = formChoices(plan, out.Partitions, earlier)
	return out, ctx.Err()
}

// acceptanceOf accepts what can be, to see what would be accepted with it.
func acceptanceOf(findings []offsetmap.Finding) []offsetmap.Acceptance {
	var out []offsetmap.Acceptance
	for _, f := range findings {
		if f.Acceptable != offsetmap.Never {
			out = append(out, offsetmap.Acceptance{Check: f.Check, Scope: f.Scope, By: "nobody", Reason: "counted beforehand"})
		}
	}
	return out
}

// countChoices counts the source's records between C, M + 1 and C'.
func (m *Migration) countChoices(ctx context.Context, plan *offsetmap.Plan, rows []offsetmap.Reverse, tail []DeliveredPartition, measured measuredByPartition, o ChoicesOptions) ([]PartitionChoice, error) {
	begin := endsByPartition{}
	for _, row := range plan.Body.Rows {
		begin[row.TopicPartition] = row.Next
	}
	out := make([]PartitionChoice, 0, len(rows))
	var spans []proof.Span
	for i, row := range rows {
		p := PartitionChoice{TopicPartition: row.TopicPartition, C: begin[row.TopicPartition], Committed: row.Next, Next: row.Next, Lost: row.Lost}
		if tail == nil {
			p.Doubt = "the connector is not at rest: what was copied since the last commit is not known"
		} else {
			p.Next, p.Beyond, p.Doubt = tail[i].Next, tail[i].Beyond, tail[i].Doubt
		}
		from := p.C
		if row.Added {
			from = firstOffset()
		}
		expired, _ := measured[row.TopicPartition].Range.Start.Sub(from)
		p.Expired = max(0, expired)
		spans = append(spans, proof.Span{TopicPartition: row.TopicPartition, From: from, To: p.Committed}, proof.Span{TopicPartition: row.TopicPartition, From: p.Committed, To: p.Next})
		out = append(out, p)
	}
	counted, err := proof.Count(ctx, proof.Cluster{Options: m.cfg.Source.Options, Isolation: plan.Body.Isolation, Admin: m.cfg.Source.Admin},
		spans, proof.CountBounds{Records: o.Tail.Records, Bytes: o.Tail.Bytes})
	if err != nil {
		return nil, fmt.Errorf("count the source's records: %w", err)
	}
	for i := range out {
		before, since := counted[2*i], counted[2*i+1]
		out[i].SinceCommit = since.Records
		out[i].SinceC = before.Records + since.Records
		out[i].Uncounted = before.Rest + since.Rest
	}
	return out, nil
}

// formChoices says of each form whether it is possible, and what it costs.
func formChoices(plan *offsetmap.Plan, partitions []PartitionChoice, earlier handed) []FormChoice {
	forms := []HandBackForm{FormSavepoint, FormGroup, FormInitializer, FormLegacy, FormSQL, FormOldSavepoint}
	out := make([]FormChoice, 0, len(forms))
	for _, form := range forms {
		c := FormChoice{Form: form, Possible: true, Certain: true}
		for _, p := range partitions {
			c.Repeated += p.Beyond
			c.Certain = c.Certain && p.Doubt == ""
			if form == FormOldSavepoint {
				c.Repeated += p.SinceC
				c.Certain = c.Certain && p.Uncounted == 0
				c.Lost += p.Expired
			} else {
				c.Lost += p.Lost
			}
		}
		switch {
		case len(partitions) == 0 && form != FormOldSavepoint:
			c.Possible, c.Certain, c.Why = false, false, "a rollback would be refused, so there is no C'"
		case plan.Body.Savepoint == nil && (form == FormSavepoint || form == FormOldSavepoint):
			c.Possible, c.Why = false, "the plan was made from a group alone, so no savepoint is known to be of its job"
		case len(partitions) == 0:
			c.Certain, c.Why = false, "how much comes again is not known: a rollback would be refused"
		case form == FormSQL && len(topicsOf(plan)) > 1:
			c.Why = "a table has such offsets for one topic alone: " + strings.Join(topicsOf(plan), ", ") + " need one each"
		case form == FormGroup:
			c.Why = "brokers drop a group's offsets after a while"
		}
		for _, other := range earlier.others {
			if other.form != form {
				c.Possible, c.Why = false, "the plan was handed back already, for Flink to go on "+other.String()+": see rollback/another-form"
			}
		}
		out = append(out, c)
	}
	return out
}
