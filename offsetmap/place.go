package offsetmap

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// PlaceError says what is wrong at which place of a JSON text, such as
// "body.rows[3].next".
type PlaceError struct {
	Place   string
	Problem string
}

// Error returns "place: problem".
func (e *PlaceError) Error() string {
	if e.Place == "" {
		return e.Problem
	}
	return e.Place + ": " + e.Problem
}

func joinPlace(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 && !strings.HasPrefix(p, "[") {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// decodeAny decodes a canonical text with numbers kept as they stand.
func decodeAny(canonical []byte) any {
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	return v
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}
