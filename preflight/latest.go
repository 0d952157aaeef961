package preflight

import (
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Latest is a fact about a [Deadline] as files and people have it.
type Latest struct {
	At        *offsetmap.Time `json:"at"` // null when nothing expires, or nothing is known
	Scope     string          `json:"scope"`
	Why       string          `json:"why"`
	Estimated bool            `json:"estimated"`
	Unknown   string          `json:"unknown"` // what could not be found out, and may come sooner
}

// LatestOf is a fact in that form.
func LatestOf(f offsetmap.Fact[Deadline]) Latest {
	d, known := f.Get()
	switch {
	case known:
		return Latest{&d.At, d.Scope, d.Why, d.Estimated, d.Unknown}
	case f.IsAbsent():
		return Latest{}
	default:
		return Latest{Unknown: f.Err().Error()}
	}
}

// Fact is what LatestOf was given.
func (l Latest) Fact() offsetmap.Fact[Deadline] {
	switch {
	case l.At != nil:
		return offsetmap.Known(Deadline{At: *l.At, Why: l.Why, Scope: l.Scope, Estimated: l.Estimated, Unknown: l.Unknown})
	case l.Unknown != "":
		return offsetmap.NotKnown[Deadline](errors.New(l.Unknown))
	default:
		return offsetmap.Absent[Deadline]()
	}
}

// String says when and why, or that it is not known.
func (l Latest) String() string {
	text := "no end: nothing that it needs expires"
	switch {
	case l.At != nil && l.Scope != "":
		text = fmt.Sprintf("%s, %s: %s", l.At, l.Scope, l.Why)
	case l.At != nil:
		text = fmt.Sprintf("%s: %s", l.At, l.Why)
	case l.Unknown != "":
		return "not known: " + l.Unknown
	}
	if l.At != nil && l.Estimated {
		text += " (estimated by how fast the partition grows)"
	}
	if l.Unknown != "" {
		text += "; not known: " + l.Unknown
	}
	return text
}
