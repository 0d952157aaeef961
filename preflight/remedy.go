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

// Remedies returns the catalogue's remedies for the checks of the findings, with
// their placeholders.
func Remedies(findings []offsetmap.Finding) map[string]string {
	out, all := map[string]string{}, byID() // once: there may be as many findings as partitions
	for _, f := range findings {
		if c, known := all[f.Check]; known && c.Remedy != "" {
			out[f.Check] = c.Remedy
		}
	}
	return out
}

// Remedy is how to mend what a check has found.
type Remedy struct {
	Check string `json:"check"`
	// Scopes are those of the findings that are mended so.
	Scopes []string `json:"scopes"`
	// Text has its commands between backticks.
	Text     string   `json:"text"`
	Commands []string `json:"commands"`
}

// RemedyFor is the catalogue's remedy for a finding, its placeholders filled by the
// finding's scope and by names. A placeholder that stays, such as <OFFSET>, is for
// whoever runs the command. It is empty for a check that the catalogue does not have.
func RemedyFor(f offsetmap.Finding, n Names) string {
	c, known := Explain(f.Check)
	if !known {
		return ""
	}
	return n.filler().remedy(c.Remedy, f.Scope)
}

// RemediesFor is RemedyFor of findings, in their order. Those of one check that are
// mended by the same words are one.
func RemediesFor(findings []offsetmap.Finding, n Names) []Remedy {
	type key struct{ check, text string }
	out, at, all, with := []Remedy{}, map[key]int{}, byID(), n.filler()
	for _, f := range findings {
		text := with.remedy(all[f.Check].Remedy, f.Scope)
		if text == "" {
			continue
		}
		i, known := at[key{f.Check, text}]
		if !known {
			i = len(out)
			at[key{f.Check, text}] = i
			out = append(out, Remedy{Check: f.Check, Scopes: []string{}, Text: text, Commands: commands(text)})
		}
		out[i].Scopes = append(out[i].Scopes, f.Scope)
	}
	return out
}
