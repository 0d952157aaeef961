package report_test

import (
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheAcceptanceListIsInEachForm(t *testing.T) {
	t.Parallel()
	s := whole(t)
	d := newDocument(t, s)
	if diff := cmp.Diff(s.Acceptance.Points, d.Acceptance.Points); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	page, text := html.UnescapeString(written(t, d.WriteHTML)), strings.ReplaceAll(written(t, d.WriteMarkdown), `\`, "")
	for _, want := range []string{"Not complete", "read back equal to the plan", "open: the proof ended with failed", "next: watch again", "attested by ana: all workers <replaced> (seen on the dashboard)"} {
		for form, all := range map[string]string{"html": page, "markdown": text} {
			if !strings.Contains(all, want) {
				t.Errorf("%s does not say %q", form, want)
			}
		}
	}
	s.Acceptance = nil
	if page := written(t, newDocument(t, s).WriteHTML); !strings.Contains(page, "Nobody has held the migration against its list yet.") {
		t.Error("the page without a list does not say so")
	}
}

func TestTheForecastIsInEachForm(t *testing.T) {
	t.Parallel()
	s := whole(t)
	d := newDocument(t, s)
	const sum, one = "at least 4071 records (60001 bytes), at most 5113, of 1 partitions are on the target already, and come twice", "all that were looked for <are> there"
	for form, all := range map[string]string{"html": html.UnescapeString(written(t, d.WriteHTML)), "markdown": strings.ReplaceAll(written(t, d.WriteMarkdown), `\`, "")} {
		if !strings.Contains(all, sum) || !strings.Contains(all, one) {
			t.Errorf("%s does not say it", form)
		}
	}
	s.Preflight = nil
	if page := written(t, newDocument(t, s).WriteHTML); !strings.Contains(page, "not kept when this plan was made") {
		t.Error("a report without a preflight does not say that the forecast is not known")
	}
}
