package flinkmm2

import (
	"context"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// othersActs reads the journal, and returns what reads it again and says who else acts
// on the connector: whoever has meanwhile, since this program enters nothing while it
// looks, and before, where the last acts are another actor's. What changes nothing is no
// act. A journal that cannot be read is notHandedBack's matter, which then blocks.
func (m *Migration) othersActs(ctx context.Context) func(context.Context) []preflight.OtherAct {
	before, err := m.cfg.Journal.Read(ctx)
	return func(ctx context.Context) []preflight.OtherAct {
		all, again := m.cfg.Journal.Read(ctx)
		if err != nil || again != nil {
			return nil
		}
		var out []preflight.OtherAct
		for i, e := range all {
			meanwhile := i >= len(before)
			changes := !quietActs[e.Act] && e.Phase != PhaseFailed && (meanwhile || e.Act != actStart && e.Phase != PhaseBegin)
			switch {
			case e.Connector != m.cfg.Connector || !changes:
			case !meanwhile && e.By == m.by:
				out = nil
			default:
				out = append(out, preflight.OtherAct{Act: e.Act, By: e.By, At: e.At, Meanwhile: meanwhile})
			}
		}
		return out
	}
}
