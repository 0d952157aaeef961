package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

// forms are a document as page, Markdown and JSON.
func forms(t *testing.T, d *report.Document) (page, markdown, json string) {
	t.Helper()
	var out [3]bytes.Buffer
	if err := errors.Join(d.WriteHTML(&out[0]), d.WriteMarkdown(&out[1]), d.WriteJSON(&out[2])); err != nil {
		t.Fatal(err)
	}
	return out[0].String(), out[1].String(), out[2].String()
}

// withFindings is small with findings of one check.
func withFindings(t *testing.T, check string, scopes ...string) report.Sources {
	t.Helper()
	s := small(t)
	b := s.Plan.Body
	b.Findings = slices.Clone(b.Findings)
	for _, scope := range scopes {
		b.Findings = append(b.Findings, offsetmap.Finding{Check: check, Severity: offsetmap.Warn, Scope: scope, Detail: "found", Acceptable: offsetmap.Never})
	}
	plan, err := offsetmap.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plan
	s.Names = preflight.Names{Source: preflight.Brokers{Servers: "source-1:9092,source-2:9092"}, Worker: "http://li:hunter2@connect:8083"}
	return s
}

func TestACommandOfTheReportCanBePasted(t *testing.T) {
	t.Parallel()
	page, markdown, json := forms(t, newDocument(t, withFindings(t, "connector/active-topics", "")))
	for _, topic := range []string{"orders", "payments.eu"} {
		command := "kafka-configs.sh --bootstrap-server source-1:9092,source-2:9092 --alter --entity-type topics --entity-name " + topic + " --add-config retention.ms=<MS>"
		for name, has := range map[string]bool{
			"page":     strings.Contains(page, "<code>"+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(command)+"</code>"),
			"Markdown": strings.Contains(markdown, "`"+command+"`"),
			"JSON":     strings.Contains(json, "`"+strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(command)+"`"),
		} {
			if !has {
				t.Errorf("the %s does not have %s", name, command)
			}
		}
	}
	for what, text := range map[string]string{"page": "Remedy for orders:", "Markdown": "Remedy for payments.eu: "} {
		if !strings.Contains(map[string]string{"page": page, "Markdown": markdown}[what], text) {
			t.Errorf("no %q in the %s", text, what)
		}
	}
	for name, text := range map[string]string{"page": page, "Markdown": markdown, "JSON": json} {
		if !strings.Contains(text, "curl -X PUT http://connect:8083/connectors/orders-mirror/topics/reset") || strings.Contains(text, "hunter2") {
			t.Errorf("the %s has another command, or the password", name)
		}
	}
}

func TestManyRemediesOfACheckAreBounded(t *testing.T) {
	t.Parallel()
	s := withFindings(t, "source/retention")
	b := s.Plan.Body
	var scopes []string
	for i := range 300 { // topics of the plan, so that each has a command of its own
		row := b.Rows[0]
		row.TopicPartition = offsetmap.TopicPartition{Topic: fmt.Sprintf("topic%03d", i)}
		row.TargetTopic = row.Topic
		b.Rows = append(b.Rows, row)
		scopes = append(scopes, row.Topic)
	}
	for _, scope := range scopes {
		b.Findings = append(b.Findings, offsetmap.Finding{Check: "source/retention", Severity: offsetmap.Warn, Scope: scope, Detail: "found", Acceptable: offsetmap.Never})
	}
	var err error
	if s.Plan, err = offsetmap.Seal(b); err != nil {
		t.Fatal(err)
	}
	page, markdown, _ := forms(t, newDocument(t, s))
	if n := strings.Count(page, "<strong>Remedy for topic"); n != 3 { // beside orders and payments.eu
		t.Errorf("%d of the check's remedies for further topics are on the page", n)
	}
	const rest = "Those of 297 findings more are in the JSON report."
	if !strings.Contains(page, rest) || !strings.Contains(markdown, rest) {
		t.Error("the rest is not counted")
	}
}

func TestBothDeadlinesAreShownWithTheirCausesAlsoWhenUnknown(t *testing.T) {
	t.Parallel()
	at := offsetmap.At(made.Add(48 * time.Hour))
	s := small(t)
	s.Preflight = preflightOf(s.Plan)
	s.Preflight.Report.LatestStart = offsetmap.Known(preflight.Deadline{At: at, Scope: "orders-0", Why: "the records from C = 9 reach the age of retention.ms = 3 days", Unknown: "settings of payments.eu"})
	s.Preflight.Report.LatestRollback = offsetmap.NotKnown[preflight.Deadline](errors.New("when the old job ended is not known, at http://li:hunter2@flink"))
	page, markdown, json := forms(t, newDocument(t, s))
	const start = "2026-03-03T12:00:00Z, orders-0: the records from C = 9 reach the age of retention.ms = 3 days; not known: settings of payments.eu"
	for name, want := range map[string][2]string{
		"page":     {page, `<dd id="latest-start">` + start + `</dd>`},
		"Markdown": {markdown, "| start possible at least until | 2026-03-03T12:00:00Z, orders-0: the records"},
		"JSON":     {json, `"at": "2026-03-03T12:00:00Z"`},
	} {
		if !strings.Contains(want[0], want[1]) {
			t.Errorf("the %s does not have %s", name, want[1])
		}
		if !strings.Contains(want[0], "when the old job ended is not known") || strings.Contains(want[0], "hunter2") {
			t.Errorf("the %s does not say why, or holds a password", name)
		}
	}
	s.Preflight = nil
	page, markdown, json = forms(t, newDocument(t, s))
	for name, text := range map[string]string{"page": page, "Markdown": markdown, "JSON": json} {
		if strings.Count(text, "was not kept when this plan was made") < 2 {
			t.Errorf("the %s does not say that nothing was kept", name)
		}
	}
}
