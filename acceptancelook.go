package flinkmm2

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lookForAcceptance looks at everything that the list judges. It never fails: what
// could not be seen is an unknown fact.
func (m *Migration) lookForAcceptance(ctx context.Context, plan *offsetmap.Plan, r AcceptanceRequest, start journalStart) acceptanceFacts {
	f := acceptanceFacts{plan: plan, proof: r.Proof, restart: r.AfterRestart, journal: start, between: cmp.Or(max(r.Between, 0), defaultBetween)}
	if f.restart == nil && f.proof != nil && f.proof.Restart != nil {
		f.restart = f.proof
	}
	f.first = m.lookAtConnector(ctx, plan)
	looked := m.now()
	f.connector = factOf(m.cfg.Connect.Connector(ctx, m.cfg.Connector))
	f.others = factOf(m.cfg.Connect.ListConnectors(ctx, connectrest.ExpandInfo)) // with the status, those without one would be left out
	f.standing = m.standing(ctx, plan)
	sources := map[string]bool{}
	for _, row := range plan.Body.Rows {
		sources[row.Topic] = true
	}
	f.source = partitionsOf(ctx, m.cfg.Source.Admin, plan.Body.Source.ID, slices.Sorted(maps.Keys(sources)))
	f.target = partitionsOf(ctx, m.cfg.Target.Admin, plan.Body.Target.ID, targetTopics(plan))
	if rest := f.between - m.now().Sub(looked); rest > 0 {
		// Without the connector: that would say that it stands still meanwhile.
		m.log.InfoContext(ctx, LogWait, "for", "the second look at the running connector", "duration", rest.Round(time.Millisecond))
		if err := m.sleep(ctx, rest); err != nil {
			return f // whoever asked has given up
		}
	}
	f.later = m.lookAtConnector(ctx, plan)
	return f
}

func (m *Migration) lookAtConnector(ctx context.Context, plan *offsetmap.Plan) connectorLook {
	return connectorLook{
		status: factOf(m.cfg.Connect.Status(ctx, m.cfg.Connector)),
		stored: factOf(m.storedUpTo(ctx, plan)),
	}
}

// storedUpTo returns what Connect holds for the connector. A worker's first answer may be
// short, so it asks again within a bound until every planned offset, or a later one, is
// there; what was answered last stands then.
func (m *Migration) storedUpTo(ctx context.Context, plan *offsetmap.Plan) (offsetsByPartition, error) {
	var last offsetsByPartition
	_, err := m.cfg.Connect.AwaitOffsets(ctx, m.cfg.Connector, func(all []connectrest.Offset) error {
		stored, err := mirrorOffsets(plan.Body.Connector.SourceAlias, all)
		if err != nil {
			return err
		}
		last = stored.Offsets
		for _, r := range plan.Body.Rows {
			if below(last[r.TopicPartition], r.Write.Result()) {
				return fmt.Errorf("%s is not as planned", r.TopicPartition)
			}
		}
		return nil
	}, min(storedWithin, m.readBack))
	if last != nil {
		return last, nil
	}
	return nil, err
}

// below reports whether Connect stores less than it was given. What was cleared may
// hold anything.
func below(stored, planned offsetmap.SourceOffset) bool {
	want, given := planned.Value()
	is, some := stored.Value()
	return given && (!some || is < want)
}

// partitionsOf reads which partitions each topic of a cluster has.
func partitionsOf(ctx context.Context, admin Admin, cluster string, topics []string) offsetmap.Fact[map[string][]int32] {
	all, err := fresh.Topics(ctx, admin, topics...)
	if err == nil && all.ClusterID != cluster {
		err = fmt.Errorf("the brokers belong to cluster %s, and the plan is of %s", all.ClusterID, cluster)
	}
	out := make(map[string][]int32, len(topics))
	for _, name := range topics {
		t := all.Topics[name]
		if err == nil && t.Err != nil {
			err = fmt.Errorf("topic %s: %w", name, t.Err)
		}
		out[name] = t.Partitions
	}
	return factOf(out, err)
}

func factOf[T any](v T, err error) offsetmap.Fact[T] {
	if err != nil {
		return offsetmap.NotKnown[T](err)
	}
	return offsetmap.Known(v)
}
