package flinkmm2

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A companion of another flow, which somebody has accepted by name in the plan, is none
// of this one's.
func TestACompanionThatThePlanAcceptsIsNamed(t *testing.T) {
	t.Parallel()
	list := connectrest.ConnectorList{"mm2": {}, "dr-checkpoints": {Info: connectrest.ConnectorInfo{Config: connectrest.Config{"connector.class": "MirrorCheckpoint"}}}}
	for scope, against := range map[string]bool{"dr-checkpoints": false, "dr": true, "*": true} {
		f := acceptanceFacts{others: offsetmap.Known(list), plan: &offsetmap.Plan{Body: offsetmap.Body{
			Connector:   offsetmap.Connector{Name: "mm2"},
			Acceptances: []offsetmap.Acceptance{{Check: "connector/checkpoint", Scope: scope, By: "ana", Reason: "it is the way back's"}},
		}}}
		var j judgement
		noCompanions(f, &j)
		if j.against != against || !against && !strings.Contains(strings.Join(j.evidence, "\n"), "which ana accepted in the plan: it is the way back's") {
			t.Errorf("accepted for %s: seen %q, open %q", scope, j.evidence, j.open)
		}
	}
}
