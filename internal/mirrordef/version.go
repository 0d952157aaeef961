package mirrordef

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Version is a Kafka release: major, minor, patch. The zero value stands for no
// bound.
type Version [3]int

// Newest returns the newest release that the tables were made from.
func Newest() Version { return Version{4, 3, 1} }

// String writes "4.3.1".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Compare orders versions.
func (v Version) Compare(o Version) int { return slices.Compare(v[:], o[:]) }

var versionPattern = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})\.(\d{1,4})$`)

func parseVersion(s string) (v Version, err error) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		return v, fmt.Errorf("version %q: want three numbers, as in 4.3.1", s)
	}
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // at most four digits
	}
	return v, nil
}

// Span is the versions that have a key.
type Span struct {
	Since Version // zero: the oldest that was seen has it
	Until Version // the first that does not; zero: the newest that was seen has it
}

// Holds reports whether a version has the key.
func (s Span) Holds(v Version) bool {
	return v.Compare(s.Since) >= 0 && (s.Until == Version{} || v.Compare(s.Until) < 0)
}

// parseSpan reads two cells of a table, "-" for no bound.
func parseSpan(since, until string) (s Span, err error) {
	for _, bound := range []struct {
		text string
		to   *Version
	}{{since, &s.Since}, {until, &s.Until}} {
		if bound.text == "-" {
			continue
		}
		if *bound.to, err = parseVersion(bound.text); err != nil {
			return Span{}, err
		}
	}
	return s, nil
}
