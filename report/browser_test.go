package report_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/report"
)

// browse opens a page in a real browser and returns the document as it is once its
// script has run, and what the console says.
func browse(t *testing.T, page string, flags ...string) (dom string, console []string) {
	t.Helper()
	chromium := lab.Chromium(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
		"--enable-logging=stderr", "--dump-dom",
	}, flags...)
	cmd := exec.CommandContext(ctx, chromium, append(args, (&url.URL{Scheme: "file", Path: path}).String())...)
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			console = append(console, strings.TrimSpace(line))
		}
	}
	return out.String(), console
}

// shown returns the text of the element with an id.
func shown(t *testing.T, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="` + regexp.QuoteMeta(id) + `"[^>]*>([^<]*)<`).FindStringSubmatch(page)
	if m == nil {
		t.Errorf("there is no %q on the page", id)
		return ""
	}
	return html.UnescapeString(m[1])
}

var (
	tableForm = regexp.MustCompile(`(?s)<table id="table">.*?</table>`)
	bodyForm  = regexp.MustCompile(`(?s)<tbody>.*?</tbody>`)
	cellForm  = regexp.MustCompile(`(?s)<t[hd][^>]*>.*?</t[hd]>`)
	tagForm   = regexp.MustCompile(`<[^>]*>`)
	shapeForm = regexp.MustCompile(`<(?:rect|line|svg|button)[^>]*>`)
)

// rowsOf are the rows of the table of partitions, a line each: the texts of the cells,
// and the shapes of the bar.
func rowsOf(page string) []string {
	var out []string
	for _, row := range strings.Split(strings.Join(bodyForm.FindAllString(tableForm.FindString(page), -1), ""), "<tr")[1:] {
		var cells []string
		for _, cell := range cellForm.FindAllString(row, -1) {
			cells = append(cells, strings.Join(strings.Fields(html.UnescapeString(tagForm.ReplaceAllString(cell, ""))), " "))
		}
		out = append(out, strings.Join(cells, " | ")+" "+strings.Join(shapeForm.FindAllString(row, -1), ""))
	}
	return out
}

// withoutRows is a page whose script has everything to draw.
func withoutRows(page string) string {
	return tableForm.ReplaceAllStringFunc(page, func(table string) string { return bodyForm.ReplaceAllString(table, "") })
}

func TestTheBrowserShowsThePlansFigures(t *testing.T) {
	t.Parallel()
	s := whole(t)
	lagOfProof(&s)
	d := newDocument(t, s)
	page := written(t, d.WriteHTML)
	dom, console := browse(t, withoutRows(page))
	if len(console) > 0 {
		t.Errorf("the console says %s", strings.Join(console, "\n"))
	}
	for id, want := range map[string]string{
		"digest": s.Plan.Digest, "summary": d.Summary, "topics": "2", "partition-count": "5", "set": "4", "cleared": "1", "to-copy": "2,260", "lost": "200",
		"duplicates":      "at least 4071 records (60001 bytes), at most 5113, of 1 partitions are on the target already, and come twice",
		"latest-start":    "2026-03-03T12:00:00Z, orders-0: the records from C = 1000000000000 reach the age of retention.ms = 3 d",
		"latest-rollback": "not known: when the old job ended is not known: Flink's REST API was not asked, or did not answer",
		"records":         "2,260", "copied": "2,259", "missing": "1", "altered": "0", "repeated": "3", "lag": "0", "outcome": "failed", "matches": "5 partitions of 2 topics",
	} {
		if got := shown(t, dom, id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	line := regexp.MustCompile(`<polyline points="([^"]*)"`).FindStringSubmatch(dom)
	if line == nil || len(strings.Fields(line[1])) != len(s.Proof.Lag) || !strings.Contains(dom, lagSentence) {
		t.Errorf("the lag is not drawn with its %d points, or not said: %q", len(s.Proof.Lag), line)
	}
	rows := rowsOf(dom)
	for _, r := range s.Plan.Body.Rows {
		cells := []string{r.TopicPartition.String(), r.LogStart.String(), r.Next.String(), r.LastStable.String(), r.LogEnd.String(), string(r.Rule)}
		if m, set := r.Write.Result().Value(); set {
			cells = append(cells, strconv.FormatInt(m, 10))
		}
		at := -1
		for i, row := range rows {
			if strings.HasPrefix(row, cells[0]+" | ") {
				at = i
			}
		}
		if at < 0 {
			t.Errorf("%s is not in the table", cells[0])
			continue
		}
		for _, cell := range cells[1:] {
			if !strings.Contains(rows[at], " | "+cell+" ") {
				t.Errorf("%s: no cell %s in %s", cells[0], cell, rows[at])
			}
		}
	}
	// What the script draws is what the page has without it.
	if diff := cmp.Diff(rowsOf(page), rows); diff != "" {
		t.Errorf("(-page +script)\n%s", diff)
	}
}

func TestTheScriptDrawsWhatThePageHasWithoutIt(t *testing.T) {
	t.Parallel()
	rolledBack := whole(t)
	rolledBack.Boundary = boundaryOf(rolledBack.Plan)
	planned, wide := small(t), small(t)
	wide.Plan = many(t, 3, 150)
	for name, s := range map[string]report.Sources{"rolled back": rolledBack, "planned": planned, "more than a page": wide} {
		page := written(t, newDocument(t, s).WriteHTML)
		dom, console := browse(t, withoutRows(page))
		if len(console) > 0 {
			t.Errorf("%s: the console says %s", name, strings.Join(console, "\n"))
		}
		if diff := cmp.Diff(rowsOf(page), rowsOf(dom)); diff != "" || len(rowsOf(page)) < 7 {
			t.Errorf("%s: (-page +script)\n%s", name, diff)
		}
	}
}

func TestTheBrowserRunsNoOtherScript(t *testing.T) {
	t.Parallel()
	page := withoutRows(written(t, newDocument(t, whole(t)).WriteHTML))
	for name, spoiled := range map[string]string{
		"a script more":  strings.Replace(page, "</main>", `</main><script>document.title = "foreign"</script>`, 1),
		"another script": strings.Replace(page, "draw();\n})();", "draw();\ndocument.title = \"foreign\";\n})();", 1),
		"an image":       strings.Replace(page, "</main>", `</main><img src="other.png">`, 1),
	} {
		if spoiled == page {
			t.Fatalf("%s: nothing was spoiled", name)
		}
		dom, console := browse(t, spoiled)
		if len(console) == 0 || strings.Contains(dom, "<title>foreign") {
			t.Errorf("%s: it runs, and the console says %q", name, console)
		}
	}
}

// driven lets a script of the test use a page, which its policy forbids, and returns
// what it notes.
func driven(t *testing.T, page, script string, flags ...string) string {
	t.Helper()
	free := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(page, "")
	dom, console := browse(t, strings.Replace(free, "</body>", `<pre id="noted"></pre><script>
const note = (x) => document.getElementById("noted").append(String(x) + "\n");
const rows = () => document.querySelectorAll("#table tbody th[scope=row]").length;
const matches = () => document.getElementById("matches").textContent;
const set = (id, event, value) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event(event)); };
`+script+`</script></body>`, 1), flags...)
	if len(console) > 0 {
		t.Errorf("the console says %s", strings.Join(console, "\n"))
	}
	return shown(t, dom, "noted")
}

func TestAHundredThousandPartitionsAreSearchedInTheBrowser(t *testing.T) {
	t.Parallel()
	lab.Require(t, lab.Browser)
	got := driven(t, written(t, hundredThousand(t).WriteHTML), `
note(matches()); note(rows());
set("search", "input", "TOPIC-00999-7");
note(matches()); note(rows());
set("search", "input", "topic-00999-77");
note(matches()); note(rows());
set("search", "input", "no such topic");
note(matches()); note(rows());
set("search", "input", "");
set("filter", "change", "1");
note(matches()); note(rows());
set("filter", "change", "0");
document.getElementById("next").click();
note(matches()); note(document.querySelector("#table tr.topic button").textContent);
document.querySelectorAll("#table tr.topic button")[1].click();
note(rows());
document.querySelectorAll("#table tr.topic button")[1].click();
document.querySelectorAll("#table tr.topic button")[49].click();
note(rows());
`)
	want := `100,000 partitions of 1,000 topics, topics 1 to 50
200
11 partitions of 1 topic
11
1 partition of 1 topic
1
0 partitions of 0 topics
0
2 partitions of 2 topics
2
100,000 partitions of 1,000 topics, topics 51 to 100
topic-00050
100
300
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMoreOfATopicIsDrawnWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	lab.Require(t, lab.Browser)
	s := small(t)
	s.Plan = many(t, 1, 450)
	got := driven(t, written(t, newDocument(t, s).WriteHTML), `
for (;;) {
  note(rows());
  const more = document.querySelector("#table tr.more button");
  if (!more) break;
  note(more.textContent);
  more.click();
}
`)
	if diff := cmp.Diff("200\nShow 200 more of 450\n400\nShow 50 more of 450\n450\n", got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestThePageFitsEachScreen looks at the page as people do: wide and narrow, by day and
// by night. The pictures are kept with go test -artifacts.
func TestThePageFitsEachScreen(t *testing.T) {
	t.Parallel()
	lab.Require(t, lab.Browser)
	page := written(t, newDocument(t, whole(t)).WriteHTML)
	for name, c := range map[string]struct {
		width  int
		flags  []string
		ground color.NRGBA
	}{
		"light-1280": {1280, nil, color.NRGBA{0xff, 0xff, 0xff, 0xff}},
		"dark-1280":  {1280, []string{"--blink-settings=preferredColorScheme=0"}, color.NRGBA{0x14, 0x17, 0x1a, 0xff}},
		"light-400":  {400, nil, color.NRGBA{0xff, 0xff, 0xff, 0xff}},
		"dark-400":   {400, []string{"--blink-settings=preferredColorScheme=0"}, color.NRGBA{0x14, 0x17, 0x1a, 0xff}},
	} {
		picture := filepath.Join(t.ArtifactDir(), name+".png")
		flags := append([]string{fmt.Sprintf("--window-size=%d,2600", c.width), "--screenshot=" + picture}, c.flags...)
		if _, console := browse(t, page, flags...); len(console) > 0 {
			t.Errorf("%s: the console says %s", name, strings.Join(console, "\n"))
		}
		if c.flags == nil { // its shape has nothing to do with its colours
			if got := driven(t, page, `note(document.documentElement.scrollWidth <= innerWidth);`, flags[0]); got != "true\n" {
				t.Errorf("%s: the page is wider than its window", name)
			}
		}
		looksAt(t, name, picture, c.width, c.ground)
	}
}

// looksAt holds a picture to its width, the colour of its ground, and to show something.
func looksAt(t *testing.T, name, path string, width int, ground color.NRGBA) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if img.Bounds() != image.Rect(0, 0, width, 2600) {
		t.Errorf("%s: the picture is %v", name, img.Bounds())
	}
	if got := color.NRGBAModel.Convert(img.At(2, 2)); got != ground {
		t.Errorf("%s: the ground is %v, want %v", name, got, ground)
	}
	colours := map[color.Color]bool{}
	for y := 0; y < img.Bounds().Dy(); y += 2 {
		for x := 0; x < img.Bounds().Dx(); x += 2 {
			colours[img.At(x, y)] = true
		}
	}
	if len(colours) < 20 {
		t.Errorf("%s: only %d colours: nothing is on it", name, len(colours))
	}
}
