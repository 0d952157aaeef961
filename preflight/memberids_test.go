package preflight_test

import (
	"maps"
	"testing"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// Which of two at one address runs the tasks is not known.
func TestAMemberWhoseSessionHasNotTimedOutIsNotTakenForItsSuccessor(t *testing.T) {
	t.Parallel()
	g := preflight.ConnectGroup{Members: []preflight.ConnectMember{
		{ID: "a", URL: "http://one:8083/"}, {ID: "b", URL: "http://two:8083/"}, {ID: "c", URL: "http://one:8083/"}, {ID: "d", URL: "http://one:8083/"}, {ID: "e", URL: "::"},
	}}
	if got, want := g.MemberIDs(), map[string]string{"two:8083": "b"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
