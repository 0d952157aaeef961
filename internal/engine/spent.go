package engine

import "github.com/flinkmm2/flinkmm2/offsetmap"

// Spent returns why a plan goes forward no more, whatever the clusters and the
// worker say: what Apply and Start refuse for the journal's sake alone. It is nil
// while there is nothing of that.
func Spent(history offsetmap.Fact[History]) *Refusal {
	d := &decider{seen: Observed{History: history}}
	if h, ok := known(d, history, "journal/unreadable", "journal"); ok {
		d.rolledBack(h)
		d.alone(h)
	}
	if !d.refused() {
		return nil
	}
	return d.refusal().Refusal
}

// rolledBack refuses to go forward by a plan that was gone back by, and reports
// whether it was.
func (d *decider) rolledBack(h History) bool {
	if h.RolledBack {
		d.find(Moved, "journal/rolled-back", "", "the plan was rolled back; going forward again needs a new plan")
	}
	return h.RolledBack
}
