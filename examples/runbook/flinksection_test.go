package main

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestTheJobOfTheFlinkSection(t *testing.T) {
	t.Parallel()
	const id = "1b4098816b420504c2d0a5b6a5f4c3d2"
	for text, c := range map[string]struct {
		job  flinkrest.Job
		want string // what is wrong
	}{
		"":                                       {flinkrest.Job{}, ""},
		"{rest: http://f:8081, job: " + id + "}": {flinkrest.Job{ID: id}, ""},
		"{rest: http://f:8081, job: " + strings.ToUpper(id) + ", name: copy}": {flinkrest.Job{ID: id, Name: "copy"}, ""},
		"{rest: https://li:hunter2@gate/flink/copy/, job: copy orders}":       {flinkrest.Job{Name: "copy orders"}, ""},
		"{rest: http://f:8081, name: copy orders}":                            {flinkrest.Job{Name: "copy orders"}, ""},
		"{rest: http://f:8081}":                                               {flinkrest.Job{}, "flink.job: missing"},
		"{job: copy}":                                                         {flinkrest.Job{}, "flink.rest: missing"},
		"{rest: http://f:8081, job: 1b40, name: copy}":                        {flinkrest.Job{}, `flink.job: not a job id: "1b40"`},
		"{rest: 'f:8081', job: copy}":                                         {flinkrest.Job{}, "flink.rest: base URL of Flink: "},
		"{rest: 'http://li:hunter2@f:8081/#/job', job: copy}":                 {flinkrest.Job{}, "a query or fragment has no place in it"},
		"{rest: 'http://li:hunter2/@f:8081', job: copy}":                      {flinkrest.Job{}, "flink.rest: base URL of Flink: it cannot be parsed"},
		"{rest: http://f:8081, job: copy, user: li}":                          {flinkrest.Job{}, "flink.user: unknown field; flink has: rest, job, name"},
		"{rest: http://f:8081, job: " + id + ", name: copy}\nflink: {job: a}": {flinkrest.Job{}, "already set"},
	} {
		if text != "" {
			text = "flink: " + text + "\n"
		}
		m, err := readMigration(edited(t, "topics: [orders, payments.eu]", text+"topics: [orders]"))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case c.want == "" && m.job != c.job:
			t.Errorf("%s: job %+v, want %+v", text, m.job, c.job)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %v, want %s", text, err, c.want)
		}
	}
}

// Another rollback of the same plan refuses for the same reason.
func TestNobodyIsSentToARollbackThatRefusesToo(t *testing.T) {
	t.Parallel()
	a := &app{file: "migration.yaml", read: &migration{migrationFile: migrationFile{State: stateSection{Dir: "/var/lib/runbook"}}}}
	for _, act := range []string{"rollback", "commit-boundary"} {
		got := a.hint("rollback", &flinkmm2.RefusedError{Act: act, Findings: []offsetmap.Finding{
			{Check: "journal/other-plan", Severity: offsetmap.Block, Detail: "plan sha256:1 was started since"},
		}})
		if want := "runbook -f migration.yaml rollback, once /var/lib/runbook/plan.json is the plan that the finding names; "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: hint %q, want %q", act, got, want)
		}
	}
}

// Sorted by check, the finding that says so is not the first.
func TestAJobThatRunsIsExplainedBesideOtherFindings(t *testing.T) {
	t.Parallel()
	a := &app{file: "migration.yaml"}
	got := a.hint("start", &flinkmm2.RefusedError{Act: "start", Findings: []offsetmap.Finding{
		{Check: "connector/state", Severity: offsetmap.Block}, {Check: "flink/namesake-running", Severity: offsetmap.Block},
	}})
	if want := "runbook explain flink/namesake-running"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}
