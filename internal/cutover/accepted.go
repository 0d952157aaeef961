package cutover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// expectAccepted holds that everything about a migration that runs and has copied all
// there is can be shown, but for what only a person knows. A worker before 3.9 writes
// offset-syncs, which nobody's word takes back.
func (w *world) expectAccepted(ctx context.Context, m *flinkmm2.Migration, plan *offsetmap.Plan, proof *flinkmm2.Proof) error {
	word := *offsetmap.Attest("as the suite has made it", "suite", "it is a test")
	attested := map[flinkmm2.AcceptanceID]offsetmap.Attestation[string]{
		flinkmm2.AcceptFirstRecord: word, flinkmm2.AcceptImage: word, flinkmm2.AcceptRestart: word, flinkmm2.AcceptNoSynchronisation: word,
	}
	syncs := !w.Version.AtLeast(3, 9)
	for until := time.Now().Add(w.Patience); ; {
		list, err := m.AcceptanceList(ctx, plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: attested, Between: 100 * time.Millisecond})
		if list == nil {
			return err
		}
		var wrong []error
		for _, p := range list.Points {
			want := flinkmm2.Shown
			switch p.ID {
			case flinkmm2.AcceptFirstRecord, flinkmm2.AcceptImage, flinkmm2.AcceptRestart: // a partition is quiet
				want = flinkmm2.Attested
			case flinkmm2.AcceptNoSynchronisation:
				if syncs {
					want = flinkmm2.NotProven
				}
			}
			if p.State != want {
				wrong = append(wrong, fmt.Errorf("point %s is %s, want %s: seen %q, open %q", p.ID, p.State, want, p.Evidence, p.Open))
			}
		}
		if len(wrong) == 0 {
			return check((err != nil) == syncs && list.Complete != syncs, "the list is complete: %t, %v", list.Complete, err)
		}
		if time.Now().After(until) { // the worker stores offsets now and then
			return errors.Join(wrong...)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
