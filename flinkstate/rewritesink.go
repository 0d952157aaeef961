package flinkstate

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// dropCommittables leaves out what committers of a KafkaSink are to commit again. The
// bytes stay in their files, and no offset leads to them any more.
func (w *rewriting) dropCommittables() {
	if !w.request.WithoutCommittables {
		return
	}
	w.dropping = map[string]bool{}
	for i := range w.places {
		p := &w.places[i]
		for _, state := range p.states {
			if state.name != committerState || len(state.offsets) == 0 || w.dropping[p.operator] {
				continue
			}
			at := slices.IndexFunc(w.snapshot.Sinks, func(s Sink) bool { return s.OperatorID == p.operator && s.Kind == KafkaSink })
			if at < 0 {
				w.problem(FormNotWritten, offsetmap.TopicPartition{}, "operator %s: what its committer holds is not understood as that of a KafkaSink, and cannot be left out", p.operator)
				continue
			}
			w.dropping[p.operator] = true
			w.dropped = append(w.dropped, w.snapshot.Sinks[at].Transactions...)
		}
	}
	none := make([]byte, 4)
	for i := range w.places {
		for _, state := range w.places[i].states {
			if w.drops(&w.places[i], state) {
				w.splices = append(w.splices, w.offsetsOf(state, none))
			}
		}
	}
}

func (w *rewriting) drops(p *handlePlace, state opState) bool {
	return state.name == committerState && len(state.offsets) > 0 && w.dropping[p.operator]
}
