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
			if why := w.notRead(p.operator, state.name); why != "" {
				w.problem(FormNotWritten, offsetmap.TopicPartition{}, "operator %s: not all of what its committer holds could be read, so nothing tells whether it is committed: %s", p.operator, why)
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

// notRead says why a state was not understood to its last element, empty where it was.
func (w *rewriting) notRead(operator, state string) string {
	for _, op := range w.snapshot.Operators {
		if op.ID != operator {
			continue
		}
		for _, s := range op.States {
			if s.Name == state {
				return s.NotRead
			}
		}
	}
	return ""
}

func (w *rewriting) drops(p *handlePlace, state opState) bool {
	return state.name == committerState && len(state.offsets) > 0 && w.dropping[p.operator]
}
