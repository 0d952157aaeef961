package main

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func next(t *testing.T, v int64) offsetmap.NextOffset {
	t.Helper()
	c, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever a new plan would decide otherwise makes the old one another plan; what
// moves by itself does not.
func TestWhatMakesAPlanAnotherOne(t *testing.T) {
	t.Parallel()
	row := func() offsetmap.Row {
		return offsetmap.Row{
			TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 1}, TopicID: offsetmap.TopicID{1}, TargetTopic: "orders",
			Rule: offsetmap.RuleStored, Next: next(t, 20), LogEnd: next(t, 50),
		}
	}
	request := func() flinkmm2.PlanRequest {
		return flinkmm2.PlanRequest{
			Snapshot:     &flinkstate.Snapshot{Location: "sp/_metadata", Files: []flinkstate.File{{Name: "_metadata", SHA256: "aa"}}},
			Attestations: offsetmap.Attestations{CopyOnly: &offsetmap.Attestation[bool]{Value: true, By: "li", Reason: "read it"}},
			Acceptances:  []offsetmap.Acceptance{{Check: "c", Scope: "s", Reason: "r", By: "b"}},
		}
	}
	for name, c := range map[string]struct {
		change func(*offsetmap.Row, *flinkmm2.PlanRequest)
		want   string
	}{
		"nothing":                  {func(*offsetmap.Row, *flinkmm2.PlanRequest) {}, ""},
		"the log has grown":        {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.LogEnd = next(t, 60) }, ""},
		"the plan was applied":     {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.Backup, _ = offsetmap.Source(19) }, ""},
		"C":                        {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.Next = next(t, 21) }, "orders-1 at C = 20 (stored), now it is orders-1 at C = 21"},
		"rule":                     {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.Rule = offsetmap.RuleExpiredAccepted }, "(expired-accepted)"},
		"loss":                     {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.Lost = 3 }, "orders-1"},
		"topic":                    {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.TopicID = offsetmap.TopicID{2} }, "orders-1"},
		"target":                   {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.TargetTopic = "source.orders" }, "orders-1"},
		"partition":                {func(r *offsetmap.Row, _ *flinkmm2.PlanRequest) { r.Partition = 2 }, "orders-2"},
		"place of the savepoint":   {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) { q.Snapshot.Location = "sp2/_metadata" }, "sp/_metadata"},
		"content of the savepoint": {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) { q.Snapshot.Files[0].SHA256 = "bb" }, "other content"},
		"another file": {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) {
			q.Snapshot.Files = append(q.Snapshot.Files, flinkstate.File{})
		}, "other content"},
		"attestation":                {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) { q.Attestations.CopyOnly.By = "bo" }, "the attestations have changed"},
		"acceptance":                 {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) { q.Acceptances[0].By = "bo" }, "the acceptances have changed"},
		"acceptance that is no more": {func(_ *offsetmap.Row, q *flinkmm2.PlanRequest) { q.Acceptances = nil }, "the acceptances have changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, asked := request(), row(), request()
			old := &offsetmap.Plan{Body: offsetmap.Body{
				Savepoint:    &offsetmap.Savepoint{Location: "sp/_metadata", Files: []offsetmap.File{{Name: "_metadata", SHA256: "aa"}}},
				Attestations: before.Attestations, Acceptances: before.Acceptances, Rows: []offsetmap.Row{row()},
			}}
			c.change(&after, &asked)
			got := difference(old, preflight.Report{Rows: []offsetmap.Row{after}}, asked)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if two := difference(old, preflight.Report{Rows: []offsetmap.Row{after, after}}, asked); two == "" {
				t.Error("another number of partitions is no difference")
			}
		})
	}
}

// A group that commits after the plan was made is read from; one whose offset is
// gone has let it expire.
func TestAGroupThatMovesOnMakesAPlanAnotherOne(t *testing.T) {
	t.Parallel()
	none := offsetmap.NextOffset{}
	copies, other := &offsetmap.Group{ID: "orders-copy"}, &offsetmap.Group{ID: "other"}
	row := func(group offsetmap.NextOffset) []offsetmap.Row {
		return []offsetmap.Row{{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 1}, Next: next(t, 20), Group: group}}
	}
	for name, c := range map[string]struct {
		was, now   *offsetmap.Group
		from, to   offsetmap.NextOffset
		want, also string
	}{
		"stands":             {copies, copies, next(t, 8), next(t, 8), "", ""},
		"has expired":        {copies, copies, next(t, 8), none, "", ""},
		"moved on":           {copies, copies, next(t, 8), next(t, 12), "group orders-copy has committed 12 of orders-1 since, it had 8", "somebody reads on"},
		"moved back":         {copies, copies, next(t, 8), next(t, 3), "has committed 3 of orders-1", ""},
		"begins to commit":   {copies, copies, none, next(t, 3), "has committed 3 of orders-1 since, it had none", ""},
		"is another":         {copies, other, next(t, 8), next(t, 8), "compared with group orders-copy, now with group other", ""},
		"is named now":       {nil, copies, none, next(t, 8), "compared with no group, now with group orders-copy", ""},
		"is not named again": {copies, nil, next(t, 8), none, "compared with group orders-copy, now with no group", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &offsetmap.Plan{Body: offsetmap.Body{Group: c.was, Rows: row(c.from)}}
			got := difference(old, preflight.Report{Rows: row(c.to), Group: c.now}, flinkmm2.PlanRequest{})
			if c.want == "" && got != "" || !strings.Contains(got, c.want) || !strings.Contains(got, c.also) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
