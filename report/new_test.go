package report_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/report"
)

func TestSourcesOfAnotherMigrationAreRefused(t *testing.T) {
	t.Parallel()
	other := "sha256:" + strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		spoil func(*report.Sources)
		want  string
	}{
		"no plan":                    {func(s *report.Sources) { s.Plan = nil }, "there is no plan"},
		"no time":                    {func(s *report.Sources) { s.At = time.Time{} }, "the time of the report is not given"},
		"proof of another plan":      {func(s *report.Sources) { s.Proof.Plan = other }, `the proof is of plan "` + other},
		"proof of another connector": {func(s *report.Sources) { s.Proof.Connector = "mm2" }, `the proof is of connector "mm2", the plan of "orders-mirror"`},
		"proof of a part":            {func(s *report.Sources) { s.Proof.Partitions = s.Proof.Partitions[1:] }, "the proof has 4 of the plan's 5 partitions and lacks orders-0"},
		"proof from another C":       {func(s *report.Sources) { s.Proof.Partitions[4].Next = next(41) }, "the proof has C = 41 of payments.eu-0, the plan 40"},
		"proof of more": {func(s *report.Sources) {
			s.Proof.Partitions = append(s.Proof.Partitions, flinkmm2.PartitionProof{TopicPartition: tp("audit-0")})
		}, "the proof has audit-0, which the plan does not have"},
		"acceptance list of another plan": {func(s *report.Sources) { s.Acceptance.Plan = other }, `the acceptance list is of plan "` + other},
		"boundary of another plan":        {func(s *report.Sources) { s.Boundary.Plan = other }, `the boundary is of plan "` + other},
		"boundary of a part":              {func(s *report.Sources) { s.Boundary.Partitions = s.Boundary.Partitions[1:] }, "the boundary lacks orders-0"},
		"preflight that was blocked": {func(s *report.Sources) {
			s.Preflight.Report.Findings = []offsetmap.Finding{{Severity: offsetmap.Block, Check: "target/unknown"}}
		}, "the preflight of 2026-03-01T12:00:00Z is not the one that the plan was made after, since it was blocked"},
		"preflight from another C": {func(s *report.Sources) {
			s.Preflight.Report.Rows = small(t).Plan.Body.Rows
			s.Preflight.Report.Rows[0].Next = next(3)
		}, "the preflight of 2026-03-01T12:00:00Z has C = 3 of orders-0, the plan 1000000000000"},
		"lag that nobody can have":   {func(s *report.Sources) { s.Lag[1].Lag = -1 }, "lag[1]: -1 records"},
		"lag that goes back in time": {func(s *report.Sources) { s.Lag[1].At = s.Plan.Body.CreatedAt }, "lag[1]: 2026-03-01T12:00:00Z comes before 2026-03-01T12:20:00Z"},
	} {
		s := whole(t)
		s.Boundary = boundaryOf(s.Plan)
		c.spoil(&s)
		_, err := report.New(s)
		if !errors.Is(err, report.ErrSources) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAnEditedPlanHasNoReport(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.Plan.Body.Rows[0].TargetEnd = next(8)
	if _, err := report.New(s); !errors.Is(err, offsetmap.ErrEdited) {
		t.Error(err)
	}
}

func TestEachThingThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	s := whole(t)
	s.Proof.Connector, s.Lag[0].Lag = "mm2", -1
	_, err := report.New(s)
	for _, want := range []string{"the proof is of connector", "lag[0]: -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

func TestTotalsAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	d := newDocument(t, whole(t))
	want := report.Totals{Topics: 2, Partitions: 5, Set: 4, Cleared: 1, ToCopy: 2000 + 100 + 100 + 60, Lost: 200, Warnings: 3, Accepted: 1}
	if diff := cmp.Diff(want, d.Totals); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]report.OutcomeCount{{"failed", 1}, {"nothing-to-copy", 1}, {"proven", 3}}, d.Proof.Outcomes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, r := range d.Partitions {
		if row := small(t).Plan.Body.Rows[i]; r.TopicPartition != row.TopicPartition || r.Next != row.Next || r.After != row.Write.Result() || r.Before != row.Backup || r.Lost != row.Lost {
			t.Errorf("%+v of %+v", r, row)
		}
	}
}

func TestTheReturnStandsBesideEachPartition(t *testing.T) {
	t.Parallel()
	s := whole(t)
	s.Boundary = boundaryOf(s.Plan)
	d := newDocument(t, s)
	for i, p := range d.Partitions {
		if p.Returned != s.Boundary.Partitions[i].Next {
			t.Errorf("%s returns at %s", p.TopicPartition, p.Returned)
		}
	}
	if d.Return.Copied != 27 || len(d.Return.Added) != 1 || d.Return.Added[0].TopicPartition != tp("payments.eu-1") {
		t.Errorf("%+v", d.Return)
	}
}

func TestRemediesComeFromTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, f := range newDocument(t, small(t)).Findings {
		if (f.Remedy == "") != (f.Severity == offsetmap.Info) || f.Title == "" {
			t.Errorf("%s %s: title %q, remedy %q", f.Severity, f.Check, f.Title, f.Remedy)
		}
	}
}

// TestEveryAttestationIsShown fails for one that a plan has and the report leaves out.
func TestEveryAttestationIsShown(t *testing.T) {
	t.Parallel()
	s := small(t)
	b := s.Plan.Body
	b.Attestations.Checkpointing = attested("1m", "read its config")
	plan, err := offsetmap.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plan
	var want []string
	for _, of := range []struct {
		prefix string
		value  any
	}{{"", b.Attestations}, {"confirm.", b.Attestations.Confirm}} {
		v := reflect.ValueOf(of.value)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type.Kind() == reflect.Pointer {
				if v.Field(i).IsNil() {
					t.Fatalf("%s is not attested, so this test would not miss it", f.Name)
				}
				want = append(want, of.prefix+f.Tag.Get("json"))
			}
		}
	}
	var got []string
	for _, a := range newDocument(t, s).Attestations {
		got = append(got, a.Name)
		if a.Value == "" || a.By == "" || a.Reason == "" {
			t.Errorf("%+v", a)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-plan +report)\n%s", diff)
	}
}
