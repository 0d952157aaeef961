package flinkmm2

import (
	"context"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// beside reads what a step on a wave is given beside its plan.
func (s *story) beside(args []string) (o WidenOptions) {
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "given":
			o.GivenUp = append(o.GivenUp, s.named([]string{value}))
		case "accept":
			check, scope, _ := strings.Cut(value, ":")
			o.Acceptances = append(o.Acceptances, offsetmap.Acceptance{Check: check, Scope: scope, By: "ann", Reason: "it is meant"})
		default:
			panic("what is " + arg + "?")
		}
	}
	return o
}

// widen is Widen without the check of the config, which is no part of a story.
func (s *story) widen(args []string) {
	m, p, o := s.migration(), s.named(args), s.beside(args[2:])
	s.wanted = "sha256:" + strings.Repeat(args[1], 32)
	err := m.gaveUp(s.t.Context(), p, o.GivenUp)
	var done *Widened
	if err == nil {
		done, err = m.widenTo(s.t.Context(), p, wave{wanted: s.wanted, givenUp: o.GivenUp}, nil)
	}
	how := ""
	if err == nil {
		how = fmt.Sprintf("; standing still: %s", strings.Join(done.Halted, ", "))
	}
	s.outcome(err, how)
}

func (s *story) goOn(args []string) {
	p := s.named(args)
	_, err := s.migration().Continue(s.t.Context(), p, Approval{Digest: p.Digest, By: "ann"}, s.beside(args[1:]))
	s.outcome(err, "")
}

func (w storyWorker) ReplaceConfig(context.Context, string, connectrest.Config) (connectrest.ConnectorInfo, error) {
	return connectrest.ConnectorInfo{}, w.call("config", "PUT config", func(world *engine.Observed) {
		world.Config = offsetmap.Known(w.s.wanted)
	})
}
