package engine

import (
	"errors"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Spent refuses for the journal's sake what Apply and Start refuse, and nothing
// that one of them does: a plan that was started goes on by its start.
func TestAPlanIsSpentWhereTheJournalForbidsItsApplyAndItsStart(t *testing.T) {
	const other = "sha256:other"
	for name, c := range map[string]struct {
		change func(*History)
		want   string // empty: it goes forward
	}{
		"planned":                         {func(*History) {}, ""},
		"applied":                         {func(h *History) { h.Written = true }, ""},
		"started":                         {func(h *History) { h.Written, h.Resumed, h.Stopped = true, true, true }, ""},
		"a rollback was begun":            {func(h *History) { h.RolledBack = true }, "journal/rolled-back"},
		"rolled back":                     {func(h *History) { h.RolledBack, h.RollbackDone = true, true }, "journal/rolled-back"},
		"another was started since":       {func(h *History) { h.Other = other }, "journal/other-plan"},
		"another may be written yet":      {func(h *History) { h.Writing = other }, "journal/other-plan"},
		"a backup was restored since":     {func(h *History) { h.Restored = true }, "journal/restored"},
		"a boundary was committed before": {func(h *History) { h.HandedBack = other }, "journal/handed-back"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{})
			w := applied(t, p)
			history(&w, c.change)
			got := Spent(w.History)
			if c.want == "" {
				if got != nil {
					t.Errorf("refused: %+v", got)
				}
				return
			}
			if got == nil {
				t.Fatal("it goes forward")
			}
			refuse(t, Decision{Refusal: got}, Moved, c.want)
			refuse(t, Next(Apply, p, w), Moved, c.want)
			refuse(t, Next(Start, p, w), Moved, c.want)
		})
	}
	unread := Spent(offsetmap.NotKnown[History](errors.New("input/output error")))
	if unread == nil {
		t.Fatal("a journal that cannot be read lets it go forward")
	}
	refuse(t, Decision{Refusal: unread}, Unknown, "journal/unreadable")
}
