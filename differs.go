package flinkmm2

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Differs returns how a plan that is made now from the request would decide
// otherwise than the plan given; it is empty when it would decide the same. What
// moves by itself is no difference: log ends, the time, and the backup once the
// plan is applied. Nothing is written.
//
// The error is that of MakePlan: an *offsetmap.BlockedError where no plan could be
// made now, and an ErrMoved where the plan is for another connector.
func (m *Migration) Differs(ctx context.Context, plan *offsetmap.Plan, req PlanRequest) (string, error) {
	if err := plan.Check(); err != nil {
		return "", err
	}
	if err := m.ofThisConnector(plan); err != nil {
		return "", err
	}
	from, facts, report, err := m.preflight(ctx, req)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return "", fmt.Errorf("plan: %w", err)
	}
	now, err := m.body(req, from, facts, report)
	if err != nil {
		return "", fmt.Errorf("plan: %w", err)
	}
	return difference(plan.Body, now), nil
}

// difference names the first way in which now decides otherwise than was.
func difference(was, now offsetmap.Body) string {
	for _, part := range []struct{ what, was, now string }{
		{"the source is cluster %s", was.Source.ID, now.Source.ID},
		{"the target is cluster %s", was.Target.ID, now.Target.ID},
		{"the connector is %s", was.Connector.Name, now.Connector.Name},
		{"source.cluster.alias is %s", was.Connector.SourceAlias, now.Connector.SourceAlias},
		{"the connector's config has the digest %s", was.Connector.Config, now.Connector.Config},
		{"the worker is %s", was.Worker.Version, now.Worker.Version},
		{"MirrorSourceConnector is %s", was.Worker.PluginVersion, now.Worker.PluginVersion},
		{"the data producer reaches cluster %s", was.Worker.ProducerClusterID, now.Worker.ProducerClusterID},
	} {
		if part.was != part.now {
			return fmt.Sprintf("it was made where "+part.what+", now it is %s", part.was, part.now)
		}
	}
	if text := stateDifference(was, now); text != "" {
		return text
	}
	if !reflect.DeepEqual(was.Attestations, now.Attestations) {
		return "the attestations have changed"
	}
	if !slices.Equal(was.Acceptances, now.Acceptances) {
		return "the acceptances have changed"
	}
	if was, now := groupName(was.Group), groupName(now.Group); was != now {
		return fmt.Sprintf("it was compared with %s, now with %s", was, now)
	}
	if was, now := askedOf(was), askedOf(now); was != now {
		return fmt.Sprintf("Flink was asked about %s, now about %s", was, now)
	}
	if !slices.EqualFunc(was.Earlier, now.Earlier, func(a, b offsetmap.EarlierPlan) bool { return a.Digest == b.Digest }) {
		return "the earlier plans have changed"
	}
	return rowDifference(was, now)
}

// stateDifference compares what the positions come from.
func stateDifference(was, now offsetmap.Body) string {
	a, b := was.Savepoint, now.Savepoint
	switch {
	case (a == nil) != (b == nil):
		return "it was made from a savepoint or from a group, and now it is the other"
	case a == nil:
	case a.Location != b.Location || !slices.EqualFunc(a.Files, b.Files, func(x, y offsetmap.File) bool { return x.SHA256 == y.SHA256 }):
		return fmt.Sprintf("it was made from %s, checkpoint %d; the one named now has other content, or lies elsewhere", a.Location, a.CheckpointID)
	case a.OperatorID != b.OperatorID:
		return fmt.Sprintf("it was made from the positions of operator %s, now of operator %s", a.OperatorID, b.OperatorID)
	}
	// The same C of two clusters of a DynamicKafkaSource are two decisions. A plan of
	// before this was recorded says nothing of it.
	x, y := evidence(was, checkStateEvidence), evidence(now, checkStateEvidence)
	if x != nil && y != nil && !reflect.DeepEqual(x, y) {
		return fmt.Sprintf("it was judged on %s; now it is %s", x[0].Detail, y[0].Detail)
	}
	return ""
}

// The findings that say what a plan was judged on.
const (
	checkStateEvidence = "flink/state-evidence"
	checkJobEvidence   = "flink/job-evidence"
)

func evidence(b offsetmap.Body, check string) []offsetmap.Finding {
	var out []offsetmap.Finding
	for _, f := range b.Findings {
		if f.Check == check {
			out = append(out, f)
		}
	}
	return out
}

// askedOf names the jobs of which Flink has told.
func askedOf(b offsetmap.Body) string {
	var jobs []string
	for _, f := range evidence(b, checkJobEvidence) {
		jobs = append(jobs, "job "+f.Scope)
	}
	if jobs == nil {
		return "no job"
	}
	return strings.Join(jobs, ", ")
}

func rowDifference(was, now offsetmap.Body) string {
	if len(was.Rows) != len(now.Rows) {
		return fmt.Sprintf("it has %d partitions, now there are %d", len(was.Rows), len(now.Rows))
	}
	for i, b := range now.Rows {
		a := was.Rows[i]
		if a.TopicPartition != b.TopicPartition || a.TopicID != b.TopicID || a.TargetTopic != b.TargetTopic ||
			a.Next != b.Next || a.Rule != b.Rule || a.Lost != b.Lost {
			return fmt.Sprintf("it has %s at C = %s (%s), now it is %s at C = %s (%s)", a.TopicPartition, a.Next, a.Rule, b.TopicPartition, b.Next, b.Rule)
		}
		// A commit that is gone has expired; a new one is of somebody who reads.
		if b.Group != a.Group && !b.Group.IsNone() {
			return fmt.Sprintf("%s has committed %s of %s since, it had %s: somebody reads on, perhaps the job", groupName(now.Group), b.Group, b.TopicPartition, a.Group)
		}
	}
	return ""
}

func groupName(g *offsetmap.Group) string {
	if g == nil {
		return "no group"
	}
	return "group " + g.ID
}
