package flinkmm2

import (
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func nextOffset(t *testing.T, v int64) offsetmap.NextOffset {
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
	stateSays := func(text string) []offsetmap.Finding {
		return []offsetmap.Finding{{Check: checkStateEvidence, Severity: offsetmap.Info, Detail: text}}
	}
	body := func() *offsetmap.Body {
		return &offsetmap.Body{
			Source: offsetmap.Cluster{ID: "s"}, Target: offsetmap.Cluster{ID: "t"},
			Connector:    offsetmap.Connector{Name: "mm2", SourceAlias: "source", Config: "sha256:1"},
			Worker:       offsetmap.Worker{Version: "4.3.1", PluginVersion: "4.3.1", ProducerClusterID: "t"},
			Savepoint:    &offsetmap.Savepoint{Location: "sp/_metadata", OperatorID: "op1", Files: []offsetmap.File{{Name: "_metadata", SHA256: "aa"}}},
			Attestations: offsetmap.Attestations{CopyOnly: offsetmap.Attest(true, "li", "read it")},
			Acceptances:  []offsetmap.Acceptance{{Check: "c", Scope: "s", Reason: "r", By: "b"}},
			Findings:     append(stateSays("checkpoint 5 of cluster east"), offsetmap.Finding{Check: checkJobEvidence, Scope: "96ac"}),
			Rows: []offsetmap.Row{{
				TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 1}, TopicID: offsetmap.TopicID{1}, TargetTopic: "orders",
				Rule: offsetmap.RuleStored, Next: nextOffset(t, 20), LogEnd: nextOffset(t, 50),
			}},
		}
	}
	for name, c := range map[string]struct {
		change func(*offsetmap.Body)
		want   string
	}{
		"nothing":                   {func(*offsetmap.Body) {}, ""},
		"the log has grown":         {func(b *offsetmap.Body) { b.Rows[0].LogEnd = nextOffset(t, 60) }, ""},
		"the plan was applied":      {func(b *offsetmap.Body) { b.Rows[0].Backup, _ = offsetmap.Source(19) }, ""},
		"it has written before":     {func(b *offsetmap.Body) { b.Connector.ActiveTopics = []string{"orders"} }, ""},
		"recorded before evidence":  {func(b *offsetmap.Body) { b.Findings = b.Findings[1:] }, ""},
		"source":                    {func(b *offsetmap.Body) { b.Source.ID = "x" }, "the source is cluster s, now it is x"},
		"target cluster":            {func(b *offsetmap.Body) { b.Target.ID = "x" }, "the target is cluster t, now it is x"},
		"connector":                 {func(b *offsetmap.Body) { b.Connector.Name = "mm3" }, "the connector is mm2, now it is mm3"},
		"alias":                     {func(b *offsetmap.Body) { b.Connector.SourceAlias = "a" }, "source.cluster.alias is source"},
		"config":                    {func(b *offsetmap.Body) { b.Connector.Config = "sha256:2" }, "the digest sha256:1, now it is sha256:2"},
		"worker":                    {func(b *offsetmap.Body) { b.Worker.Version = "4.4.0" }, "the worker is 4.3.1"},
		"plugin":                    {func(b *offsetmap.Body) { b.Worker.PluginVersion = "4.4.0" }, "MirrorSourceConnector is 4.3.1"},
		"producer":                  {func(b *offsetmap.Body) { b.Worker.ProducerClusterID = "x" }, "the data producer reaches cluster t"},
		"C":                         {func(b *offsetmap.Body) { b.Rows[0].Next = nextOffset(t, 21) }, "orders-1 at C = 20 (stored), now it is orders-1 at C = 21"},
		"rule":                      {func(b *offsetmap.Body) { b.Rows[0].Rule = offsetmap.RuleExpiredAccepted }, "(expired-accepted)"},
		"loss":                      {func(b *offsetmap.Body) { b.Rows[0].Lost = 3 }, "orders-1"},
		"topic":                     {func(b *offsetmap.Body) { b.Rows[0].TopicID = offsetmap.TopicID{2} }, "orders-1"},
		"target":                    {func(b *offsetmap.Body) { b.Rows[0].TargetTopic = "source.orders" }, "orders-1"},
		"partition":                 {func(b *offsetmap.Body) { b.Rows[0].Partition = 2 }, "orders-2"},
		"number of partitions":      {func(b *offsetmap.Body) { b.Rows = append(b.Rows, b.Rows[0]) }, "it has 1 partitions, now there are 2"},
		"place of the savepoint":    {func(b *offsetmap.Body) { b.Savepoint.Location = "sp2/_metadata" }, "sp/_metadata"},
		"content of the savepoint":  {func(b *offsetmap.Body) { b.Savepoint.Files[0].SHA256 = "bb" }, "other content"},
		"another file":              {func(b *offsetmap.Body) { b.Savepoint.Files = append(b.Savepoint.Files, offsetmap.File{}) }, "other content"},
		"operator":                  {func(b *offsetmap.Body) { b.Savepoint.OperatorID = "op2" }, "operator op1, now of operator op2"},
		"group instead":             {func(b *offsetmap.Body) { b.Savepoint = nil }, "from a group"},
		"cluster of the source":     {func(b *offsetmap.Body) { b.Findings[0].Detail = "checkpoint 5 of cluster west" }, "cluster east; now it is checkpoint 5 of cluster west"},
		"job":                       {func(b *offsetmap.Body) { b.Findings[1].Scope = "0011" }, "asked about job 96ac, now about job 0011"},
		"no server of Flink":        {func(b *offsetmap.Body) { b.Findings = b.Findings[:1] }, "asked about job 96ac, now about no job"},
		"attestation":               {func(b *offsetmap.Body) { b.Attestations.CopyOnly.By = "bo" }, "the attestations have changed"},
		"acceptance":                {func(b *offsetmap.Body) { b.Acceptances[0].By = "bo" }, "the acceptances have changed"},
		"acceptance that is gone":   {func(b *offsetmap.Body) { b.Acceptances = nil }, "the acceptances have changed"},
		"an earlier plan":           {func(b *offsetmap.Body) { b.Earlier = []offsetmap.EarlierPlan{{Digest: "d"}} }, "the earlier plans have changed"},
		"an empty list for no list": {func(b *offsetmap.Body) { b.Earlier = []offsetmap.EarlierPlan{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := body()
			c.change(now)
			if got := difference(*body(), *now); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
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
	for name, c := range map[string]struct {
		was, now *offsetmap.Group
		from, to offsetmap.NextOffset
		want     []string
	}{
		"stands":             {copies, copies, nextOffset(t, 8), nextOffset(t, 8), nil},
		"has expired":        {copies, copies, nextOffset(t, 8), none, nil},
		"moved on":           {copies, copies, nextOffset(t, 8), nextOffset(t, 12), []string{"group orders-copy has committed 12 of orders-1 since, it had 8", "somebody reads on"}},
		"moved back":         {copies, copies, nextOffset(t, 8), nextOffset(t, 3), []string{"has committed 3 of orders-1"}},
		"begins to commit":   {copies, copies, none, nextOffset(t, 3), []string{"has committed 3 of orders-1 since, it had none"}},
		"is another":         {copies, other, nextOffset(t, 8), nextOffset(t, 8), []string{"compared with group orders-copy, now with group other"}},
		"is named now":       {nil, copies, none, nextOffset(t, 8), []string{"compared with no group, now with group orders-copy"}},
		"is not named again": {copies, nil, nextOffset(t, 8), none, []string{"compared with group orders-copy, now with no group"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := offsetmap.Row{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 1}, Next: nextOffset(t, 20)}
			before, after := row, row
			before.Group, after.Group = c.from, c.to
			got := difference(offsetmap.Body{Group: c.was, Rows: []offsetmap.Row{before}}, offsetmap.Body{Group: c.now, Rows: []offsetmap.Row{after}})
			if len(c.want) == 0 && got != "" || slices.ContainsFunc(c.want, func(part string) bool { return !strings.Contains(got, part) }) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Under another id nothing would be found to compare, and nothing would differ.
func TestTheEvidenceThatIsComparedIsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, id := range []string{checkStateEvidence, checkJobEvidence} {
		if check, known := preflight.Explain(id); !known || check.Severity != offsetmap.Info {
			t.Errorf("%s: %+v", id, check)
		}
	}
}
