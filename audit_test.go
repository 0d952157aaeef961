package flinkmm2_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func pointStates(r *flinkmm2.AuditReport) map[flinkmm2.AuditID]flinkmm2.AuditState {
	out := map[flinkmm2.AuditID]flinkmm2.AuditState{}
	for _, p := range r.Points {
		out[p.ID] = p.State
	}
	return out
}

func TestAuditOfAMigrationThatWasAccepted(t *testing.T) {
	p := accepted(t)
	archive := p.archive()
	if bytes.Contains(archive, []byte(planted)) {
		t.Error("the bundle holds the secret of the connector's config")
	}
	e, err := flinkmm2.ReadEvidence(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.Audit()
	if err != nil {
		t.Error(err)
	}
	for id, state := range pointStates(report) {
		want := flinkmm2.AuditShown
		if id == flinkmm2.AuditBoundary {
			want = flinkmm2.AuditNotReached
		}
		if state != want {
			t.Errorf("%s is %s, want %s", id, state, want)
		}
	}
	all := string(encoded(t, report))
	for _, said := range []string{"resumed at ", " by li on ", "on the word of ana", "proven at ", "39 of 39 records copied", "savepoint file _metadata has SHA-256 "} {
		if !strings.Contains(all, said) {
			t.Errorf("the audit does not say %q", said)
		}
	}
	if err := errors.Join(
		schematest.Check(flinkmm2.AuditSchema(), []byte(all)),
		schematest.Check(flinkmm2.EvidenceSchema(), headOf(t, archive)),
	); err != nil {
		t.Error(err)
	}
	audits, bundles := schematest.New(t, flinkmm2.AuditSchema()), schematest.New(t, flinkmm2.EvidenceSchema())
	audits.SameMembers(t, "audit", reflect.TypeFor[flinkmm2.AuditReport](), audits.Root)
	bundles.SameMembers(t, "evidence", reflect.TypeFor[flinkmm2.Evidence](), bundles.Root)

	t.Run("Changed", func(t *testing.T) { auditsOfChanged(t, p) })
	t.Run("Lacking", func(t *testing.T) { auditsOfLacking(t, p) })
	t.Run("Archive", func(t *testing.T) { archivesAltered(t, p, archive) })
}

// What somebody changed before it was packed, or packed anew, contradicts the rest.
func auditsOfChanged(t *testing.T, p *packed) {
	drop := func(match func(flinkmm2.Entry) bool) *packed {
		return p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry { return slices.DeleteFunc(all, match) })
	}
	change := func(act string, to func(*flinkmm2.Entry)) *packed {
		return p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			for i := range all {
				if all[i].Act == act {
					to(&all[i])
				}
			}
			return all
		})
	}
	lines := bytes.SplitAfter(p.files["journal.jsonl"], []byte("\n"))
	behind := func(act string, phase flinkmm2.Phase) func(all []flinkmm2.Entry) []flinkmm2.Entry {
		return func(all []flinkmm2.Entry) []flinkmm2.Entry {
			last := all[len(all)-1]
			return append(all, flinkmm2.Entry{At: last.At, Act: act, Phase: phase, Plan: last.Plan, Connector: "mm2", By: "li"})
		}
	}
	for _, c := range []struct {
		name  string
		files *packed
		point flinkmm2.AuditID
		says  string
	}{
		{"a line of the journal altered", p.replaced("journal.jsonl", `"by":"li"`, `"by":"mo"`), flinkmm2.AuditJournal, "was altered"},
		{"a line of the journal taken out", p.with("journal.jsonl", bytes.Join(slices.Delete(slices.Clone(lines), 2, 3), nil)), flinkmm2.AuditJournal, "taken out"},
		{"another C", p.replaced("positions.json", `"next": 20`, `"next": 19`), flinkmm2.AuditPositions, "orders-0: the plan found another position"},
		{"a partition more", p.replaced("positions.json", `"partition": 2`, `"partition": 3`), flinkmm2.AuditPositions, "orders-3: the positions have it"},
		{"another savepoint", p.replaced("positions.json", `"checkpointId": 0`, `"checkpointId": 7`), flinkmm2.AuditPositions, "checkpoint 7"},
		{"another backup", p.replaced("backup.json", `"offsets": []`, `"offsets": [
      {"partition":{"cluster":"source","partition":0,"topic":"orders"},"offset":{"offset":1}}
    ]`), flinkmm2.AuditBackup, "edited"},
		{"a backup that the journal does not name", change("apply", func(e *flinkmm2.Entry) { e.Backup = "" }), flinkmm2.AuditBackup, "the first write names the backup"},
		{"another write", change("apply", func(e *flinkmm2.Entry) {
			if e.Request != nil {
				e.Request.BodyDigest = "sha256:" + strings.Repeat("0", 64)
			}
		}), flinkmm2.AuditWrites, "is not what the plan changes"},
		{"applied behind the start", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			i := slices.IndexFunc(all, func(e flinkmm2.Entry) bool { return e.Act == "apply" })
			return append(append(slices.Delete(slices.Clone(all), i, i+2), all[i]), all[i+1])
		}), flinkmm2.AuditStory, "start before the plan was applied"},
		{"resumed without a record of the target's ends", drop(func(e flinkmm2.Entry) bool { return e.Act == "start" }), flinkmm2.AuditStory, "resume before the target's ends were recorded"},
		{"an end of the target lacks", change("start", func(e *flinkmm2.Entry) { e.Ends = e.Ends[1:] }), flinkmm2.AuditStart, "orders-0: the start record has no end"},
		{"approved by nobody", change("resume", func(e *flinkmm2.Entry) { e.Approved = "" }), flinkmm2.AuditStart, "names nobody"},
		{"started after its end", change("resume", func(e *flinkmm2.Entry) { e.At = e.At.Add(48 * time.Hour) }), flinkmm2.AuditStory, "and the plan had ended at"},
		{"forward after the way back", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			all = behind("rollback", flinkmm2.PhaseBegin)(all)
			return behind("resume", flinkmm2.PhaseBegin)(all)
		}), flinkmm2.AuditStory, "after the way back had begun"},
		{"forward after a backup was put back", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			i := slices.IndexFunc(all, func(e flinkmm2.Entry) bool { return e.Act == "resume" })
			return slices.Insert(all, i, flinkmm2.Entry{At: all[i].At, Act: "restore-backup", Phase: flinkmm2.PhaseFailed, Connector: "mm2", By: "mo"})
		}), flinkmm2.AuditStory, "after a backup had been put back"},
		{"handed back while it runs", p.rewritten(behind("commit-boundary", flinkmm2.PhaseBegin)), flinkmm2.AuditStory, "before the rollback had ended"},
		{"from another savepoint by the journal", change("plan", func(e *flinkmm2.Entry) { e.Savepoint = "sha256:0" }), flinkmm2.AuditStory, `the savepoint "sha256:0"`},
		{"a proof with better counts", p.replaced("proof.json", `"repeated": 0`, `"repeated": 5`), flinkmm2.AuditProof, "add up to"},
		{"a proof of another plan", p.with("proof.json", bytes.ReplaceAll(p.files["proof.json"], []byte(`"plan": "sha256:`), []byte(`"plan": "sha256:0`))), flinkmm2.AuditProof, "the proof is of plan"},
		{"a proof from another C", p.replaced("proof.json", `"next": 20`, `"next": 21`), flinkmm2.AuditProof, "each from its C on"},
		{"a list of another plan", p.replaced("acceptance.json", `"plan": "sha256:`, `"plan": "sha256:0`), flinkmm2.AuditAcceptance, "the acceptance is of plan"},
		{"a list that lacks a point", p.replaced("acceptance.json", `"id": "running"`, `"id": "walking"`), flinkmm2.AuditAcceptance, "no point running"},
		{"a report of another plan", p.replaced("report.json", `sha256:`, `sha256:0`), flinkmm2.AuditReports, "report.json is of plan sha256:0"},
	} {
		report, err := c.files.evidence().Audit()
		if !errors.Is(err, flinkmm2.ErrEvidence) || flinkmm2.ExitStatus(err) != flinkmm2.ExitMoved {
			t.Errorf("%s: %v", c.name, err)
		}
		one := pointOf(t, report, c.point)
		if one.State != flinkmm2.AuditContradicted || !strings.Contains(strings.Join(one.Against, "\n"), c.says) {
			t.Errorf("%s: %s is %s, %q", c.name, c.point, one.State, one.Against)
		}
	}
}

// What lacks is no contradiction, and not shown.
func auditsOfLacking(t *testing.T, p *packed) {
	phase := func(act string, phase flinkmm2.Phase, to flinkmm2.Phase) *packed {
		return p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			for i := range all {
				if all[i].Act == act && all[i].Phase == phase {
					all[i].Phase = to
				}
			}
			return all
		})
	}
	file := map[flinkmm2.AuditID]string{
		flinkmm2.AuditPositions: "positions.json", flinkmm2.AuditBackup: "backup.json", flinkmm2.AuditProof: "proof.json",
		flinkmm2.AuditAcceptance: "acceptance.json", flinkmm2.AuditJournal: "journal.jsonl",
	}
	cases := []struct {
		name  string
		files *packed
		point flinkmm2.AuditID
		says  string
	}{
		{"a resume without an end", phase("resume", flinkmm2.PhaseDone, flinkmm2.PhaseUnknown), flinkmm2.AuditStory, "its outcome is unknown"},
		{"a proof that the journal does not name", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			return slices.DeleteFunc(all, func(e flinkmm2.Entry) bool { return e.Act == "watch" })
		}), flinkmm2.AuditProof, "no entry of the journal names the SHA-256 of the proof"},
		{"a proof that shows nothing", p.replaced("proof.json", `"outcome": "proven"`, `"outcome": "not-proven"`), flinkmm2.AuditProof, "its outcome is not-proven"},
		{"a clock that went back", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			all[0].At = all[0].At.Add(time.Hour)
			return all
		}), flinkmm2.AuditJournal, "a clock was wrong"},
		{"a crash in the last line", p.with("journal.jsonl", append(slices.Clone(p.files["journal.jsonl"]), `{"at`...)), flinkmm2.AuditJournal, "cut short by a crash"},
		{"a journal without digests", p.with("journal.jsonl", []byte(`{"at":"2026-10-15T08:00:00Z","act":"create","phase":"begin","connector":"mm2","by":"li"}`+"\n")), flinkmm2.AuditJournal, "its first 1 of 1 entries"},
		{"a proof, and no resume", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			return slices.DeleteFunc(all, func(e flinkmm2.Entry) bool { return e.Act == "start" || e.Act == "resume" })
		}), flinkmm2.AuditProof, "by the journal the connector was not resumed"},
		{"a boundary, and no way back", p.with("boundary.json", []byte(`{"apiVersion":"flinkmm2/v1","kind":"Boundary"}`)), flinkmm2.AuditBoundary, "the migration did not go back"},
		{"another plan's start", p.rewritten(func(all []flinkmm2.Entry) []flinkmm2.Entry {
			i := slices.IndexFunc(all, func(e flinkmm2.Entry) bool { return e.Act == "start" })
			other := flinkmm2.Entry{At: all[i].At, Act: "resume", Phase: flinkmm2.PhaseDone, Plan: "sha256:1", Connector: "mm2", By: "mo"}
			return slices.Insert(all, i, other)
		}), flinkmm2.AuditStory, "resumed the connector for plan sha256:1"},
	}
	for id, name := range file {
		cases = append(cases, struct {
			name  string
			files *packed
			point flinkmm2.AuditID
			says  string
		}{"no " + name, p.with(name, nil), id, "the bundle has no"})
	}
	// A wave takes some topics of a savepoint.
	cases = append(cases, struct {
		name  string
		files *packed
		point flinkmm2.AuditID
		says  string
	}{
		"positions of topics of another wave", p.replaced("positions.json", `"partitions": [`, `"partitions": [{"topic": "others", "partition": 0, "next": 5},`),
		flinkmm2.AuditPositions, "no entry of the journal names the SHA-256 of the positions",
	})
	for _, c := range cases {
		report, err := c.files.evidence().Audit()
		if !errors.Is(err, flinkmm2.ErrNotProven) || flinkmm2.ExitStatus(err) != flinkmm2.ExitNotProven {
			t.Errorf("%s: %v", c.name, err)
		}
		if one := pointOf(t, report, c.point); one.State != flinkmm2.AuditNotShown || !strings.Contains(strings.Join(one.Open, "\n"), c.says) {
			t.Errorf("%s: %s is %s, %q", c.name, c.point, one.State, one.Open)
		}
	}
}

func pointOf(t *testing.T, r *flinkmm2.AuditReport, id flinkmm2.AuditID) flinkmm2.AuditPoint {
	t.Helper()
	i := slices.IndexFunc(r.Points, func(p flinkmm2.AuditPoint) bool { return p.ID == id })
	if i < 0 {
		t.Fatalf("the audit has no point %s", id)
	}
	return r.Points[i]
}

func TestAuditOfAWayBackAndOfShards(t *testing.T) {
	w, journal, backup := keptInFiles(t)
	ctx := t.Context()
	w, _ = copied(t, w)
	files := map[string][]byte{"plan.json": encoded(t, w.plan), "backup.json": backup()}
	var parts []*flinkmm2.Proof
	for i := range 2 {
		part, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute, Shard: flinkmm2.Shard{Index: i, Of: 2}})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
		files["proof-"+string(rune('0'+i))+"-of-2.json"] = encoded(t, part)
	}
	whole, err := flinkmm2.MergeProofs(w.plan, parts...)
	if err != nil {
		t.Fatal(err)
	}
	files["proof.json"] = encoded(t, whole)
	w.again()
	files["boundary.json"] = encoded(t, w.boundary)
	if files["journal.jsonl"], err = os.ReadFile(journal); err != nil {
		t.Fatal(err)
	}
	p := &packed{t, files}
	report, err := p.evidence().Audit()
	if !errors.Is(err, flinkmm2.ErrNotProven) { // no positions, no report
		t.Error(err)
	}
	want := map[flinkmm2.AuditID]flinkmm2.AuditState{
		flinkmm2.AuditJournal: flinkmm2.AuditShown, flinkmm2.AuditStory: flinkmm2.AuditShown, flinkmm2.AuditPositions: flinkmm2.AuditNotShown,
		flinkmm2.AuditBackup: flinkmm2.AuditShown, flinkmm2.AuditWrites: flinkmm2.AuditShown, flinkmm2.AuditStart: flinkmm2.AuditShown,
		flinkmm2.AuditProof: flinkmm2.AuditShown, flinkmm2.AuditAcceptance: flinkmm2.AuditNotReached, flinkmm2.AuditBoundary: flinkmm2.AuditShown,
		flinkmm2.AuditReports: flinkmm2.AuditNotShown,
	}
	if diff := cmp.Diff(want, pointStates(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		files *packed
		point flinkmm2.AuditID
		state flinkmm2.AuditState
	}{
		"no boundary":             {p.with("boundary.json", nil), flinkmm2.AuditBoundary, flinkmm2.AuditNotShown},
		"another plan's boundary": {p.replaced("boundary.json", `"plan": "sha256:`, `"plan": "sha256:0`), flinkmm2.AuditBoundary, flinkmm2.AuditContradicted},
		"another cluster":         {p.replaced("boundary.json", `"the-source"`, `"elsewhere"`), flinkmm2.AuditBoundary, flinkmm2.AuditContradicted},
		"a shard lacks":           {p.with("proof-1-of-2.json", nil), flinkmm2.AuditProof, flinkmm2.AuditContradicted},
		"a shard twice":           {p.with("proof-7-of-2.json", p.files["proof-1-of-2.json"]), flinkmm2.AuditProof, flinkmm2.AuditContradicted},
		"all shards lack":         {p.with("proof-1-of-2.json", nil).with("proof-0-of-2.json", nil), flinkmm2.AuditProof, flinkmm2.AuditNotShown},
	} {
		report, _ := c.files.evidence().Audit()
		if one := pointOf(t, report, c.point); one.State != c.state {
			t.Errorf("%s: %s, want %s: %+v", name, one.State, c.state, one)
		}
	}
}

func TestEvidenceTakesNoOtherFiles(t *testing.T) {
	w := rolledBack(t)
	plan := flinkmm2.EvidenceFile{Name: "plan.json", Content: encoded(t, w.plan)}
	proofLike := []byte(`{"apiVersion":"flinkmm2/v1","kind":"Proof"}`)
	for name, files := range map[string][]flinkmm2.EvidenceFile{
		"no plan":          {},
		"a folder":         {plan, {Name: "a/journal.jsonl"}},
		"a way up":         {plan, {Name: "../journal.jsonl"}},
		"an absolute path": {plan, {Name: "/journal.jsonl"}},
		"a hidden name":    {plan, {Name: ".journal.jsonl"}},
		"no name":          {plan, {}},
		"a long name":      {plan, {Name: strings.Repeat("a", 99) + ".md"}},
		"the list":         {plan, {Name: "evidence.json", Content: proofLike}},
		"twice":            {plan, plan},
		"two journals":     {plan, {Name: "a.jsonl"}, {Name: "b.jsonl"}},
		"two proofs":       {plan, {Name: "a.json", Content: proofLike}, {Name: "b.json", Content: proofLike}},
		"no kind":          {plan, {Name: "a.json", Content: []byte(`{"apiVersion":"flinkmm2/v1"}`)}},
		"another version":  {plan, {Name: "a.json", Content: []byte(`{"apiVersion":"flinkmm2/v9","kind":"Proof"}`)}},
		"a checkpoint":     {plan, {Name: "a.json", Content: []byte(`{"apiVersion":"flinkmm2/v1","kind":"Checkpoint"}`)}},
		"no JSON":          {plan, {Name: "a.json", Content: []byte(`x`)}},
		"an edited plan":   {{Name: "plan.json", Content: bytes.Replace(plan.Content, []byte(`"mm2"`), []byte(`"mm3"`), 1)}},
	} {
		if _, err := flinkmm2.NewEvidence(offsetmap.Tool{}, files...); err == nil {
			t.Errorf("%s: was packed", name)
		}
	}
}
