package preflight

import (
	"errors"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Blocked is offsetmap.Blocked with the catalogue's remedies.
func Blocked(findings []offsetmap.Finding) error {
	err := offsetmap.Blocked(findings)
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); ok {
		blocked.Remedies = Remedies(findings)
	}
	return err
}

// Remedies returns the catalogue's remedies for the checks of the findings.
func Remedies(findings []offsetmap.Finding) map[string]string {
	out, all := map[string]string{}, byID() // once: there may be as many findings as partitions
	for _, f := range findings {
		if c, known := all[f.Check]; known && c.Remedy != "" {
			out[f.Check] = c.Remedy
		}
	}
	return out
}
