package report_test

import (
	"html"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/report"
)

func TestThePageReachesForNothing(t *testing.T) {
	t.Parallel()
	for name, d := range everyKind(t) {
		page := written(t, d.WriteHTML)
		for _, form := range []string{`(?i)\ssrc\s*=`, `(?i)href="[^#]`, `(?i)@import`, `(?i)url\((?:[^#]|$)`, `(?i)https?:`, `\b(fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon)`, `(?i)<(link|img|iframe|object|embed|base)\b`, `(?i)\son[a-z]+=`, `\sstyle=`} {
			// The one address of a page is the name of SVG's elements, which is none.
			if found := regexp.MustCompile(form).FindString(strings.ReplaceAll(page, `"http://www.w3.org/2000/svg"`, "")); found != "" {
				t.Errorf("%s: %q", name, found)
			}
		}
		if !strings.Contains(html.UnescapeString(page), `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`) {
			t.Errorf("%s: no policy", name)
		}
	}
}

// hostile are texts of people, brokers and workers that would act in a page, a table
// or a terminal.
var hostile = []string{`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, "a | b\n| c |", "[x](javascript:alert(1))", "\x1b[31mred", "<!--", "`code`", "${x} {{.}}"}

// spoiled is a migration in which everybody says it.
func spoiled(t testing.TB, say string) *report.Document {
	t.Helper()
	s := whole(t)
	b := s.Plan.Body
	b.Attestations.CopyOnly = offsetmap.Attest(true, say, say)
	b.Findings[0].Detail = say
	b.Findings[1].Accepted.Reason, b.Acceptances[0].Reason = say, say
	plan, err := offsetmap.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plan
	s.Names.Source.Servers = say // in commands
	s.Proof = failed(proofOf(plan))
	s.Proof.Partitions[4].Reason, s.Proof.Partitions[4].Examples[0].Differs = say, []string{say}
	s.Preflight = preflightOf(plan)
	s.Preflight.Report.Results[2].Saw, s.Preflight.Report.Forecast.Partitions[0].Why = []string{say}, say
	s.Acceptance = acceptanceOf(plan)
	s.Acceptance.Points[0].Evidence, s.Acceptance.Points[1].Open = []string{say}, []string{say}
	s.Acceptance.Points[2].Attested = offsetmap.Attest(say, say, say)
	s.Journal = journalOf(s)
	s.Journal[3].Detail, s.Journal[3].By, s.Journal[5].Approved = say, say, say
	return newDocument(t, s)
}

func TestNoTextActsInAPage(t *testing.T) {
	t.Parallel()
	skeleton := regexp.MustCompile(`<[a-z!/][^>]*>`) // what a browser takes for a tag
	want := skeleton.FindAllString(written(t, spoiled(t, "plain").WriteHTML), -1)
	for _, say := range hostile {
		page := written(t, spoiled(t, say).WriteHTML)
		if got := skeleton.FindAllString(page, -1); len(got) != len(want) {
			t.Errorf("%q: %d tags, want %d", say, len(got), len(want))
		}
		if !strings.Contains(html.UnescapeString(page), strings.ReplaceAll(say, "\x1b", "\x1b")) {
			t.Errorf("%q is not on the page", say)
		}
	}
}

func TestNoTextActsInATable(t *testing.T) {
	t.Parallel()
	shape := func(say string) []string {
		var out []string
		for line := range strings.Lines(written(t, spoiled(t, say).WriteMarkdown)) {
			if strings.ContainsAny(line, "\x1b\x00") {
				t.Errorf("%q: a control character in %q", say, line)
			}
			line = regexp.MustCompile(`\\.`).ReplaceAllString(line, "")
			if strings.HasPrefix(line, "Remedy") { // whose commands stand for themselves
				line = regexp.MustCompile("`[^`]*`").ReplaceAllString(line, "")
			}
			if strings.ContainsAny(strings.TrimPrefix(line, "#"), "<>[]`") {
				t.Errorf("%q: %q acts", say, line)
			}
			out = append(out, strings.Repeat("|", strings.Count(line, "|")))
		}
		return out
	}
	want := shape("plain")
	for _, say := range hostile {
		if diff := cmp.Diff(want, shape(say)); diff != "" {
			t.Errorf("%q (-plain +hostile)\n%s", say, diff)
		}
	}
}

func TestNoSecretIsInAReport(t *testing.T) {
	t.Parallel()
	const secret = "planted-9f2c"
	address := "https://admin:" + secret + "@flink.example:8081/jobs"
	s := whole(t)
	b := s.Plan.Body
	b.Savepoint.Location = "s3://key:" + secret + "@bucket/savepoint-1"
	b.Findings[0].Detail = "asked " + address
	plan, err := offsetmap.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plan
	s.Proof, s.Preflight = failed(proofOf(plan)), preflightOf(plan)
	s.Proof.Partitions[4].Reason = "reset by " + address
	s.Preflight.Report.Results[0].Saw, s.Preflight.Report.Forecast.Partitions[0].Why = []string{address}, address
	s.Acceptance = acceptanceOf(plan)
	s.Acceptance.Points[0].Evidence, s.Acceptance.Points[1].Open = []string{address}, []string{address}
	s.Acceptance.Points[2].Attested = offsetmap.Attest(address, address, address)
	s.Journal = journalOf(s)
	s.Journal[3].Detail, s.Journal[3].By, s.Journal[5].Approved = address, address, address
	d := newDocument(t, s)
	for name, text := range map[string]string{"html": written(t, d.WriteHTML), "markdown": written(t, d.WriteMarkdown), "json": written(t, d.WriteJSON)} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the secret: %s", name, text[max(0, strings.Index(text, secret)-80):][:120])
		}
		if !strings.Contains(text, "flink.example") {
			t.Errorf("%s does not hold the address either, so this test shows nothing", name)
		}
	}
}

func TestTheFirstPageOfManyPartitionsIsSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ topics, each, rows, groups int }{
		{1, 450, 200, 1}, {30, 10, 200, 30}, {60, 2, 100, 50}, {2, 100, 200, 2},
	} {
		s := small(t)
		s.Plan = many(t, c.topics, c.each)
		page := written(t, newDocument(t, s).WriteHTML)
		if rows, groups := strings.Count(page, `<tr><th scope="row">topic-`), strings.Count(page, `<tr class="topic">`); rows != c.rows || groups != c.groups {
			t.Errorf("%d topics of %d: %d rows in %d groups, want %d in %d", c.topics, c.each, rows, groups, c.rows, c.groups)
		}
	}
}

func TestAHundredThousandPartitionsFitAPage(t *testing.T) {
	t.Parallel()
	d := hundredThousand(t)
	for name, c := range map[string]struct {
		text   string
		atMost int
	}{
		"html": {written(t, d.WriteHTML), 25 << 20}, "markdown": {written(t, d.WriteMarkdown), 25 << 20}, "json": {written(t, d.WriteJSON), 64 << 20},
	} {
		if len(c.text) > c.atMost {
			t.Errorf("%s: %d bytes, at most %d", name, len(c.text), c.atMost)
		}
		t.Logf("%s: %d bytes", name, len(c.text))
		if !strings.Contains(c.text, "8000099999") { // the end of the last partition
			t.Errorf("%s: the last partition is not there", name)
		}
	}
}

// TestColoursCanBeRead holds each colour of a text to the 4.5:1 of WCAG 2.2 AA, on
// both backgrounds, by day and by night.
func TestColoursCanBeRead(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := regexp.MustCompile(`(?s)--ink: .*?\}`).FindAllString(string(css), -1)
	if len(themes) != 3 { // light, dark, print
		t.Fatalf("%d themes", len(themes))
	}
	for _, theme := range themes {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{3,6});`).FindAllStringSubmatch(theme, -1) {
			colours[m[1]] = m[2]
		}
		for _, text := range []string{"ink", "quiet", "good", "bad", "open", "link"} {
			for _, ground := range []string{"paper", "shade"} {
				if colours[text] == "" {
					continue // a print has the links of the light theme
				}
				if c := contrast(t, colours[text], colours[ground]); c < 4.5 {
					t.Errorf("%s %s on %s %s: %.2f", text, colours[text], ground, colours[ground], c)
				}
			}
		}
		if c := contrast(t, colours["done"], colours["log"]); c < 1.9 {
			t.Errorf("the two parts of a bar, which also has an outline and a mark: %.2f", c)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := colour[1:]
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestManyFindingsOfACheckAreFolded(t *testing.T) {
	t.Parallel()
	s := small(t)
	var more []offsetmap.Finding
	for i := range 350 {
		more = append(more, offsetmap.Finding{Check: "source/still-behind", Severity: offsetmap.Warn, Scope: "orders-" + strconv.Itoa(i), Detail: "found", Acceptable: offsetmap.Never})
	}
	s.Plan = planOf(t, offsetmap.Input{Positions: []offsetmap.Position{{TopicPartition: tp("orders-0"), Next: next(1)}}, Measured: []offsetmap.Measured{measured("orders-0", 0, 1, 1)}}, more...)
	page := written(t, newDocument(t, s).WriteHTML)
	if !strings.Contains(page, "350 times") || !strings.Contains(page, "250 more are in the JSON report") || strings.Count(page, `<td class="free">found</td>`) != 100 {
		t.Errorf("%d findings on the page", strings.Count(page, `<td class="free">found</td>`))
	}
}

func TestManyFaultsAreBounded(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.Plan = many(t, 1, 500)
	s.Proof, s.Journal = proofOf(s.Plan), journalOf(s)
	s.Proof.Outcome = "failed"
	for i := range s.Proof.Partitions {
		p := &s.Proof.Partitions[i]
		p.Outcome, p.Missing = "failed", 1
		p.Examples = []flinkmm2.ProofExample{{Fault: "missing", Source: p.Next}}
	}
	for name, text := range map[string]string{"html": written(t, newDocument(t, s).WriteHTML), "markdown": written(t, newDocument(t, s).WriteMarkdown)} {
		if !strings.Contains(text, "300 partitions more") {
			t.Errorf("%s does not say how many it leaves out", name)
		}
	}
}

func TestTheStateIsMarkedByASignToo(t *testing.T) {
	t.Parallel()
	for acts, want := range map[string]string{
		"": "plain –", "apply": "plain –", "apply start resume": "open ?", "rollback+": "open ?", "rollback": "plain –", "apply+": "bad ✗",
	} {
		s := small(t)
		s.Journal = acted(s, acts)
		class, sign, _ := strings.Cut(want, " ")
		if page := written(t, newDocument(t, s).WriteHTML); !strings.Contains(page, `<p class="state `+class+`"><span class="sign" aria-hidden="true">`+sign+`</span> <span id="summary">`) {
			t.Errorf("%q is not marked %s", acts, want)
		}
	}
}

func TestTheBarShowsWhereCLies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, c, stable, end int64
		bar                   string
	}{
		{0, 40, 70, 100, `<rect class="done" x="0" y="2" width="64" height="10"></rect><rect class="unstable" x="112" y="2" width="48" height="10"></rect><line x1="64" y1="0" x2="64" y2="14"></line>`},
		{20, 20, 40, 40, `<rect class="done" x="0" y="2" width="0" height="10"></rect><line x1="0" y1="0" x2="0" y2="14"></line>`},
		{20, 40, 40, 40, `<rect class="done" x="0" y="2" width="160" height="10"></rect><line x1="160" y1="0" x2="160" y2="14"></line>`},
		{9_000_000_000_000_000_000, 9_000_000_000_000_000_005, 9_000_000_000_000_000_010, 9_000_000_000_000_000_010, `<rect class="done" x="0" y="2" width="80" height="10">`},
		{40, 40, 40, 40, `<span class="hint">no records</span>`},
	} {
		s := small(t)
		s.Plan = planOf(t, offsetmap.Input{
			Positions: []offsetmap.Position{{TopicPartition: tp("orders-0"), Next: next(c.c)}}, Measured: []offsetmap.Measured{measured("orders-0", c.start, c.stable, c.end)},
		})
		if page := written(t, newDocument(t, s).WriteHTML); !strings.Contains(page, c.bar) {
			t.Errorf("log %d to %d, C %d, stable %d: no %s", c.start, c.end, c.c, c.stable, c.bar)
		}
	}
}
