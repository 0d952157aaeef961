package flinkmm2_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
)

// costs is what each form costs, in a text.
func costs(c *flinkmm2.RollbackChoices) map[string]string {
	out := map[string]string{}
	for _, f := range c.Forms {
		text := fmt.Sprintf("repeats %d", f.Repeated)
		if !f.Certain {
			text += " or more"
		}
		if f.Lost > 0 {
			text += fmt.Sprintf(", loses %d", f.Lost)
		}
		if !f.Possible {
			text = "impossible"
		}
		out[string(f.Form)] = text
	}
	return out
}

// all is what every form costs, but for the old savepoint.
func all(one, old string) map[string]string {
	return map[string]string{"savepoint": one, "group": one, "initializer": one, "legacy": one, "sql": one, "old-savepoint": old}
}

func (w *wayBack) choices(want map[string]string) *flinkmm2.RollbackChoices {
	w.Helper()
	before, err := w.journal.Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	got, err := w.steps.RollbackChoices(w.Context(), w.plan, flinkmm2.ChoicesOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if d := cmp.Diff(want, costs(got)); d != "" {
		w.Errorf("(-want +got):\n%s", d)
	}
	if after, err := w.journal.Read(w.Context()); err != nil || len(after) != len(before) {
		w.Errorf("%d lines of the journal, %d before: %v", len(after), len(before), err)
	}
	return got
}

// What each way back costs is counted before anything is stopped, and exactly once it is.
func TestTheWaysBackAreCountedBeforehand(t *testing.T) {
	t.Parallel()
	w := started(t)
	running := w.choices(all("repeats 0 or more", "repeats 30 or more"))
	if running.State != "RUNNING" || len(running.Findings) > 0 {
		t.Errorf("%+v", running)
	}
	w.again()
	w.alter(0, 39)
	got := w.choices(all("repeats 0", "repeats 30"))
	p := got.Partitions[0]
	if p.C.String() != "20" || p.Committed.String() != "40" || p.Next.String() != "50" || p.SinceC != 30 || p.SinceCommit != 10 || p.Uncounted+p.Expired+p.Beyond != 0 {
		t.Errorf("%#v", p)
	}

	// What is bounded is not counted, and said.
	bounded, err := w.steps.RollbackChoices(t.Context(), w.plan, flinkmm2.ChoicesOptions{Tail: flinkmm2.TailBounds{Records: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if p := bounded.Partitions[0]; p.SinceC+p.Uncounted < 20 || p.Uncounted == 0 || p.Doubt == "" {
		t.Errorf("%#v", p)
	}

	// What has expired is lost for the old savepoint, and for C' what was not copied.
	if err := w.source.DeleteRecords("orders", 0, 45); err != nil {
		t.Fatal(err)
	}
	expired := w.choices(all("repeats 5 or more, loses 5", "repeats 5 or more, loses 25"))
	if len(expired.Findings) != 1 || expired.Findings[0].Check != "rollback/offset-expired" {
		t.Errorf("%+v", expired.Findings)
	}
	w.alter(0, 49)

	w.again()
	if _, err := w.goesOn(flinkmm2.FormSQL); err != nil {
		t.Fatal(err)
	}
	want := all("impossible", "impossible")
	want["sql"] = "repeats 0"
	handed := w.choices(want)
	if why := handed.Forms[0].Why; !strings.Contains(why, "as starting offsets (sql)") {
		t.Error(why)
	}
}

// Before the start nothing was copied, so nothing comes again; and what nobody can see
// is said.
func TestTheWaysBackBeforeTheStart(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	w.choices(all("repeats 0", "repeats 0"))
	w.alter(0, -1)
	cleared := w.choices(map[string]string{
		"savepoint": "impossible", "group": "impossible", "initializer": "impossible", "legacy": "impossible", "sql": "impossible", "old-savepoint": "repeats 0 or more",
	})
	if len(cleared.Findings) != 1 || cleared.Findings[0].Check != "rollback/offset-absent" {
		t.Errorf("%+v", cleared.Findings)
	}
	if err := w.connect.Delete(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.RollbackChoices(t.Context(), w.plan, flinkmm2.ChoicesOptions{}); !errors.Is(err, flinkmm2.ErrNotKnown) {
		t.Errorf("without a connector: %v", err)
	}
}
