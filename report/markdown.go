package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// WriteMarkdown writes the document as Markdown with tables, as of GitHub, for a review
// or a ticket. Every partition is in it.
func (d *Document) WriteMarkdown(w io.Writer) error {
	m := &markdown{w: bufio.NewWriterSize(w, 1<<16)}
	m.text("# Migration of %s", m.esc(d.Plan.Connector))
	m.text("**%s**", m.esc(d.Summary))
	m.text("Report of %s. All times are UTC. C is the next offset to read, M = C − 1 the last one handled, which Connect stores.", d.CreatedAt)
	m.approval(d)
	m.proof(d)
	m.acceptance(d)
	m.findings(d)
	m.checks(d)
	m.heading("Attestations")
	m.table("Attested", "Value", "By", "Reason")
	for _, a := range d.Attestations {
		m.row(a.Name, a.Value, a.By, a.Reason)
	}
	m.heading("Journal")
	m.table("Time", "Act", "Phase", "By", "Approved by", "Detail")
	for _, a := range d.Acts {
		m.row(a.At, a.Act, a.Phase, a.By, a.Approved, a.Detail)
	}
	m.partitions(d)
	if err := m.w.Flush(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// markdown writes; an error of the writer stays until it is flushed.
type markdown struct{ w *bufio.Writer }

// special acts in a text or ends a cell of a table.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "|", `\|`, "#", `\#`, "~", `\~`, "$", `\$`, "&", `\&`, "!", `\!`,
)

// addresses are what becomes a link without being written as one.
var addresses = strings.NewReplacer("http://", `http:\/\/`, "https://", `https:\/\/`, "ftp://", `ftp:\/\/`, "www.", `www\.`)

// esc makes a text that somebody has chosen stand for itself, on one line. An address
// is no link: whoever reads a report follows none of a broker's.
func (m *markdown) esc(s string) string {
	return addresses.Replace(special.Replace(shown.Line(s)))
}

func (m *markdown) text(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, format+"\n\n", args...)
}

func (m *markdown) heading(s string) { _, _ = fmt.Fprintf(m.w, "\n## %s\n\n", s) }

func (m *markdown) table(columns ...string) {
	_, _ = m.w.WriteString("| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)) + "\n")
}

func (m *markdown) row(cells ...any) {
	for _, c := range cells {
		_, _ = m.w.WriteString("| ")
		_, _ = m.w.WriteString(m.esc(fmt.Sprint(c)))
		_ = m.w.WriteByte(' ')
	}
	_, _ = m.w.WriteString("|\n")
}

func (m *markdown) approval(d *Document) {
	m.heading("Approval")
	if a := d.Approval; a != nil {
		m.text("Approved by **%s** at %s, for the plan of this digest:", m.esc(a.By), a.At)
	} else {
		m.text("Not approved: nobody has started this plan. Whoever does so gives this digest:")
	}
	m.text("    %s", d.Plan.Digest)
	m.table("Fact", "Value")
	t, p := d.Totals, d.Plan
	m.row("topics, partitions", fmt.Sprintf("%s, %s", group(int64(t.Topics)), group(int64(t.Partitions))))
	m.row("set to M, cleared (C = 0)", fmt.Sprintf("%s, %s", group(int64(t.Set)), group(int64(t.Cleared))))
	m.row("offsets from C to the log end, when planned", group(t.ToCopy))
	m.row("lost, by acceptance", group(t.Lost))
	m.row("connector", fmt.Sprintf("%s, source alias %s, config %s", p.Connector, p.SourceAlias, p.ConfigDigest))
	m.row("source cluster, target cluster", p.Source+", "+p.Target)
	m.row("worker", fmt.Sprintf("Kafka %s, MirrorSourceConnector %s, on cluster %s", p.Worker, p.Plugin, p.WorkerCluster))
	if s := p.Savepoint; s != nil {
		m.row("positions", fmt.Sprintf("%s, checkpoint %d, operator %s", s.Location, s.CheckpointID, s.OperatorID))
	} else {
		m.row("positions", "the consumer group alone")
	}
	if p.Group != "" {
		m.row("consumer group", p.Group)
	}
	m.row("isolation", p.Isolation)
	m.row("duplicates expected", d.duplicates())
	m.row("start possible at least until", d.LatestStart)
	m.row("rollback possible at least until", d.LatestRollback)
	m.row("plan made, expires", fmt.Sprintf("%s by %s %s, %s", p.CreatedAt, p.Tool.Name, p.Tool.Version, p.ExpiresAt))
	for _, e := range p.Earlier {
		m.row("earlier plan", e)
	}
	m.duplicates(d)
}

// duplicates follows the facts of the approval with the partitions that have some.
func (m *markdown) duplicates(d *Document) {
	twice, left := twiceOf(d.Forecast)
	if len(twice) == 0 {
		return
	}
	_ = m.w.WriteByte('\n')
	m.table("Partition", "Records found", "Bytes", "At most", "Why")
	for _, p := range twice {
		m.row(p.TopicPartition, group(p.Records), group(p.Bytes), group(p.AtMost), p.Why)
	}
	if left > 0 {
		m.text("\n%s partitions more are in the JSON report.", group(int64(left)))
	}
}

func (m *markdown) proof(d *Document) {
	m.heading("Proof")
	p := d.Proof
	if p == nil {
		m.text("There is no proof yet.")
	} else {
		m.text("**%s**, by the watch of %s.", m.esc(p.Outcome), p.CreatedAt)
		m.table("Records from C on", "Copied", "Missing", "Altered", "Out of order", "From before C", "Pending", "Unprovable", "Repeated", "Of other writers", "Older than the window", "Lag", "Offsets not read")
		m.row(group(p.Records), group(p.Copied), group(p.Missing), group(p.Altered), group(p.OutOfOrder), group(p.Early), group(p.Pending), group(p.Unprovable), group(p.Repeated), group(p.Foreign), group(p.Older), group(p.Lag), group(p.Unread))
	}
	m.lag(d.Lag)
	if r := d.Return; r != nil {
		m.text("\nRolled back at %s: %s offsets were copied from C to C', %s had expired.", r.CreatedAt, group(r.Copied), group(r.Lost))
		for _, a := range r.Added {
			m.text("%s was added since, and goes on at %s.", a.TopicPartition, a.Next)
		}
	}
	faults, left := faultsOf(d.Partitions)
	if len(faults) == 0 {
		return
	}
	_ = m.w.WriteByte('\n')
	m.table("Partition", "Outcome", "Fault", "Source offset", "Target offset", "Differs in")
	for _, f := range faults {
		m.row(f.Partition, f.Outcome, f.Fault, f.Source, f.Target, f.Differs)
	}
	if left > 0 {
		m.text("\n%s partitions more are in the JSON report.", group(int64(left)))
	}
}

func (m *markdown) acceptance(d *Document) {
	m.heading("Acceptance")
	a := d.Acceptance
	if a == nil {
		m.text("Nobody has held the migration against its list yet.")
		return
	}
	verdict := "Not complete"
	if a.Complete {
		verdict = "Complete"
	}
	m.text("**%s**, as of %s.", verdict, a.CreatedAt)
	m.table("Point", "State", "What it demands", "What was seen")
	for _, p := range pointsOf(a) {
		m.row(p.ID, p.Word, p.Title, strings.Join(p.Seen, "; "))
	}
}

// lag says in figures what the page draws.
func (m *markdown) lag(points []LagPoint) {
	if len(points) < 2 {
		return
	}
	first, last := points[0], points[len(points)-1]
	least, most := first.most(), first.most()
	for _, p := range points {
		least, most = min(least, p.most()), max(most, p.most())
	}
	m.text("\nLag from %s to %s: at least %s, at most %s, at the end %s records; offsets that were not read then are counted as records.", first.At, last.At, group(least), group(most), group(last.most()))
}

func (m *markdown) findings(d *Document) {
	m.heading("Findings")
	groups := findingGroups(d.Findings)
	if len(groups) == 0 {
		m.text("The plan has none.")
	}
	for _, g := range groups {
		m.text("### %s %s", g.Word, m.esc(g.Check))
		m.text("Demanded: %s", m.esc(g.Title))
		for _, r := range g.Remedies {
			of := ""
			if len(g.Remedies) > 1 {
				of = " for " + m.esc(r.For())
			}
			m.text("Remedy%s: %s", of, m.remedy(r))
		}
		if g.RemediesLeft > 0 {
			m.text("Those of %s findings more are in the JSON report.", group(int64(g.RemediesLeft)))
		}
		m.table("About", "What was found", "Accepted by", "Reason")
		for _, f := range g.Shown {
			by, reason := "", ""
			if f.Accepted != nil {
				by, reason = f.Accepted.By, f.Accepted.Reason
			}
			scope := f.Scope
			if scope == "" {
				scope = "the migration"
			}
			m.row(scope, f.Detail, by, reason)
		}
		if g.Left > 0 {
			m.text("\n%s more are in the JSON report.", group(int64(g.Left)))
		}
		_ = m.w.WriteByte('\n')
	}
}

// remedy writes commands so that nothing in them is special.
func (m *markdown) remedy(r remedy) string {
	var b strings.Builder
	for _, p := range r.Parts {
		if p.Command {
			b.WriteString("`" + shown.Line(p.Text) + "`")
		} else {
			b.WriteString(m.esc(p.Text))
		}
	}
	return b.String()
}

func (m *markdown) checks(d *Document) {
	m.heading("Checks")
	if d.Checks == nil {
		m.text("The results of the checks were not kept when this plan was made.")
		return
	}
	m.text("As they were made at %s, for this plan.", d.Checks.At)
	m.table("Check", "Result", "What it demands", "What it looked at")
	for _, c := range d.Checks.Results {
		m.row(c.Check, stateWord(c.Result), c.Title, strings.Join(c.Saw, "; "))
	}
}

func (m *markdown) partitions(d *Document) {
	m.heading("Partitions")
	t := tableOf(d)
	columns := []string{"Partition", "Log start", "C", "Last stable", "Log end", "M before", "M after"}
	if t.Group {
		columns = append(columns, "Group")
	}
	columns = append(columns, "Rule", "Lost")
	if t.Proof {
		columns = append(columns, "Proof")
	}
	if t.Returned {
		columns = append(columns, "C'")
	}
	m.table(columns...)
	for _, topic := range t.Topics {
		for _, r := range topic.Partitions {
			s := t.row(topic.Name, r)
			cells := []any{s.Name}
			for _, o := range s.Offsets {
				cells = append(cells, o)
			}
			cells = append(cells, s.Rule, s.Lost)
			if s.Outcome != nil {
				cells = append(cells, s.Outcome.Name+": "+s.Note)
			}
			if t.Returned {
				cells = append(cells, s.Returned)
			}
			m.row(cells...)
		}
	}
}
