package preflight

import (
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func otherConfigCheck() Check {
	return Check{
		ID:         "connector/other-config",
		Title:      "The connector has the config that the migration gives it",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME against connector.config of the migration file, or Config.ConnectorConfig, secrets left out",
		Why:        "Whoever writes the config there believes that the connector has it, and reads the plan by it. A file that is edited after the connector was created changes nothing.",
		Remedy: "Where the connector is right, put its settings into the migration. Where the migration is right, give them to the connector while it is STOPPED, as one JSON object in a file: " +
			"`curl -X PUT -H 'Content-Type: application/json' <WORKER>/connectors/<CONNECTOR>/config -d @<FILE>`; it stays STOPPED. A plan that was made before is of the old config: make a new one, and apply that.",
		Judge: func(c *Case, r *Reporter) {
			if given := c.Question.Config; given != nil {
				c.Facts.reportOtherConfig(r, given)
			}
		},
	}
}

// OtherConfig returns what check connector/other-config finds in the facts alone:
// a finding for each setting in which the connector differs from the config
// given. Secrets are neither compared nor shown.
func (f Facts) OtherConfig(given connectrest.Config) []offsetmap.Finding {
	r := Reporter{check: otherConfigCheck()}
	f.reportOtherConfig(&r, given)
	return r.findings
}

func (f Facts) reportOtherConfig(r *Reporter, given connectrest.Config) {
	info, ok := f.Connector.Get()
	if !ok {
		return // connector/absent or connector/unknown blocks then
	}
	has, want := info.Config.Redacted(), given.Redacted()
	all := maps.Clone(want)
	maps.Copy(all, has)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		h, there := has[key]
		w, wanted := want[key]
		switch {
		case !there:
			r.Block(key, "the connector does not have it, the migration gives it %q", w)
		case !wanted:
			r.Block(key, "the connector has %q, the migration does not give it", h)
		case h != w:
			r.Block(key, "the connector has %q, the migration gives it %q", h, w)
		}
	}
}
