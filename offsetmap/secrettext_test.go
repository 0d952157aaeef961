package offsetmap_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const address = "see http://li:hunter2@ci/job/7"

// What a person states stands in the plan for as long as that is kept.
func TestAnAddressWithAPasswordIsNotTakenIntoAPlan(t *testing.T) {
	for name, a := range map[string]offsetmap.Attestations{
		"reason": {CopyOnly: offsetmap.Attest(true, "li", address)},
		"by":     {CopyOnly: offsetmap.Attest(true, address, "read its source")},
		"value":  {Checkpointing: offsetmap.Attest(address, "li", "read its source")},
	} {
		var found bool
		for _, f := range a.Check() {
			found = found || strings.Contains(f.Detail, "leave them out")
			if strings.Contains(f.String(), "hunter2") {
				t.Errorf("%s: %s", name, f)
			}
		}
		if !found {
			t.Errorf("%s: nothing blocks", name)
		}
	}
	for _, f := range offsetmap.Accept(nil, []offsetmap.Acceptance{{Check: "a/b", Scope: "orders", By: "li", Reason: address}}) {
		if f.Severity != offsetmap.Block || !strings.Contains(f.Detail, "reason holds an address") || strings.Contains(f.String(), "hunter2") {
			t.Errorf("an acceptance: %s", f)
		}
	}
}
