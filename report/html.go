package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	styleText string
	//go:embed page.js
	scriptText string
)

// WriteHTML writes the page: one file, which needs no network and is forbidden any by
// its policy. Without its script it shows all but the partitions beyond the first.
func (d *Document) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"group": groupAny}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	out := bufio.NewWriterSize(w, 1<<16) // the template has a write for each part
	if err := t.Execute(out, pageOf(d)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func groupAny(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return group(int64(n)), nil
	case int64:
		return group(n), nil
	}
	return "", fmt.Errorf("%T is no count", n)
}

// page is what the template shows.
type page struct {
	*Document
	Title         string
	Policy        string
	CSS           template.CSS
	Script        template.JS
	Tone          tone
	ProofTone     tone
	Table         table
	First         []shownTopic
	Columns       int
	Filters       []filter
	Faults        []fault
	FaultsLeft    int
	FindingGroups []findingGroup
	Areas         []area
	Chart         *chart
	Points        []shownPoint
	Duplicates    string
	Twice         []preflight.PartitionForecast
	TwiceLeft     int
}

type filter struct {
	Name  string
	Flag  int
	Count int
}

func pageOf(d *Document) page {
	t := tableOf(d)
	p := page{
		Document: d, Title: "Migration of " + d.Plan.Connector,
		// The two texts are this package's own; the policy lets no other run.
		CSS: template.CSS(styleText), Script: template.JS(scriptText), //nolint:gosec // not a text of anybody else
		Policy: fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", hashOf(styleText), hashOf(scriptText)),
		Tone:   d.tone(), Table: t, First: t.first(), Columns: t.columns(), FindingGroups: findingGroups(d.Findings), Areas: areasOf(d.Checks), Chart: chartOf(d.Lag), Points: pointsOf(d.Acceptance),
	}
	p.Duplicates = d.duplicates()
	p.Twice, p.TwiceLeft = twiceOf(d.Forecast)
	if d.Proof != nil {
		p.ProofTone = toneOf(d.Proof.Outcome)
	}
	p.Faults, p.FaultsLeft = faultsOf(d.Partitions)
	counts := t.flagCounts()
	for _, f := range []filter{{Name: "not proven", Flag: flagNotProven}, {Name: "with offsets lost", Flag: flagLost}, {Name: "with a finding", Flag: flagFinding}, {Name: "cleared, C = 0", Flag: flagCleared}} {
		if f.Count = counts[f.Flag]; f.Count > 0 {
			p.Filters = append(p.Filters, f)
		}
	}
	return p
}

// hashOf is how a policy names a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// shownTopic and shownRow are what the page has before its script runs.
type shownTopic struct {
	Name, About string
	Open        bool
	Rows        []shownRow
	More        string
}

type shownRow struct {
	Name, Label             string
	Empty                   bool
	CAt, StableAt, Unstable int
	Offsets                 []string
	Rule, Lost              string
	Outcome                 *outcome
	Note, Returned          string
}

func (t table) columns() int {
	n := 10
	for _, has := range []bool{t.Group, t.Proof, t.Returned} {
		if has {
			n++
		}
	}
	return n
}

// first is what the script draws first, by the same rule: topics are opened until the
// page has its rows.
func (t table) first() []shownTopic {
	var out []shownTopic
	left := t.Rows
	for _, topic := range t.Topics[:min(len(t.Topics), t.Page)] {
		here := topic.Partitions[:min(len(topic.Partitions), left)]
		left -= len(here)
		one := shownTopic{Name: topic.Name, About: topic.About, Open: len(here) > 0}
		for _, r := range here {
			one.Rows = append(one.Rows, t.row(topic.Name, r))
		}
		if rest := len(topic.Partitions) - len(here); len(here) > 0 && rest > 0 {
			one.More = fmt.Sprintf("Show %s more of %s", group(int64(min(t.Rows, rest))), group(int64(len(topic.Partitions))))
		}
		out = append(out, one)
	}
	return out
}

func (t table) row(topic string, r partitionRow) shownRow {
	out := shownRow{
		Name: offsetmap.TopicPartition{Topic: topic, Partition: r.Partition}.String(), Empty: r.LogStart == r.LogEnd,
		Label: fmt.Sprintf("log %s to %s, C %s, last stable %s", r.LogStart, r.LogEnd, r.C, r.Stable),
		CAt:   r.CAt, StableAt: r.StableAt, Unstable: t.Width - r.StableAt,
		Offsets: []string{r.LogStart.String(), r.C.String(), r.Stable.String(), r.LogEnd.String(), orDash(r.Before), r.After.String()},
		Rule:    t.Rules[r.Rule], Lost: group(r.Lost), Note: r.Note, Returned: orDash(r.Returned),
	}
	if r.After.IsNone() {
		out.Offsets[len(out.Offsets)-1] = "clear"
	}
	if t.Group {
		out.Offsets = append(out.Offsets, orDash(r.Group))
	}
	if r.Outcome >= 0 {
		out.Outcome = &t.Outcomes[r.Outcome]
	}
	return out
}

func orDash(o interface {
	IsNone() bool
	String() string
},
) string {
	if o.IsNone() {
		return "–"
	}
	return o.String()
}

// chart is the lag over time, drawn into the box of the template.
type chart struct {
	Most          int64
	From, To      offsetmap.Time
	Points, Label string
}

// chartOf is nil where there is no line to draw.
func chartOf(lag []LagPoint) *chart {
	if len(lag) < 2 {
		return nil
	}
	c := &chart{From: lag[0].At, To: lag[len(lag)-1].At}
	for _, p := range lag {
		c.Most = max(c.Most, p.most())
	}
	const left, width, bottom, height = 60, 570, 150, 140
	span := max(1, c.To.Sub(c.From.Time).Seconds())
	var points strings.Builder
	for i, p := range lag {
		if i > 0 {
			points.WriteByte(' ')
		}
		fmt.Fprintf(&points, "%.1f,%.1f", left+width*p.At.Sub(c.From.Time).Seconds()/span, bottom-height*float64(p.most())/float64(max(1, c.Most)))
	}
	c.Points = points.String()
	c.Label = fmt.Sprintf("Lag in records from %s to %s: at most %s, at the end %s", c.From, c.To, group(c.Most), group(lag[len(lag)-1].most()))
	return c
}
