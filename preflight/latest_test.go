package preflight_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestADeadlineIsInFilesWhatItWas(t *testing.T) {
	at := offsetmap.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		fact offsetmap.Fact[preflight.Deadline]
		text string
	}{
		"known":     {offsetmap.Known(preflight.Deadline{At: at, Why: "records go", Scope: "orders-0"}), "2026-03-01T12:00:00Z, orders-0: records go"},
		"estimated": {offsetmap.Known(preflight.Deadline{At: at, Why: "records go", Scope: "orders-0", Estimated: true}), "2026-03-01T12:00:00Z, orders-0: records go (estimated by how fast the partition grows)"},
		"in part":   {offsetmap.Known(preflight.Deadline{At: at, Why: "records go", Unknown: "the group"}), "2026-03-01T12:00:00Z: records go; not known: the group"},
		"unknown":   {offsetmap.NotKnown[preflight.Deadline](errors.New("no answer")), "not known: no answer"},
		"absent":    {offsetmap.Absent[preflight.Deadline](), "no end: nothing that it needs expires"},
	} {
		latest := preflight.LatestOf(c.fact)
		if got := latest.String(); got != c.text {
			t.Errorf("%s: %q", name, got)
		}
		text, err := json.Marshal(latest)
		if err != nil {
			t.Fatal(err)
		}
		var read preflight.Latest
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		want, isKnown := c.fact.Get()
		got, known := read.Fact().Get()
		if d := cmp.Diff(want, got); d != "" || known != isKnown || read.Fact().IsAbsent() != c.fact.IsAbsent() {
			t.Errorf("%s: %s", name, d)
		}
		if err := c.fact.Err(); err != nil && read.Fact().Err().Error() != err.Error() {
			t.Errorf("%s: %v", name, read.Fact().Err())
		}
	}
}
