package connectrest

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// ErrVersion says that a string does not say which Kafka version it is.
var ErrVersion = errors.New("not a version of Kafka")

// Version is the version of a worker, as its build reports it and as the
// Apache Kafka version that it says to be.
//
// The zero value is unknown: it is at least nothing, and orders before every
// known version.
type Version struct {
	text                string
	major, minor, patch int
	known               bool
}

// KafkaVersion returns the Apache Kafka version major.minor.0.
func KafkaVersion(major, minor int) Version {
	return Version{text: fmt.Sprintf("%d.%d.0", major, minor), major: major, minor: minor, known: true}
}

var versionText = regexp.MustCompile(`^([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4})(?:[.\-+_].*)?|[.\-+_][^0-9\s].*)?$`)

var confluentMark = regexp.MustCompile(`-(?:ccs|ce)(?:[.\-+_]|$)`)

// ParseVersion reads what a worker reports: "3.9.2", and what vendors make of
// it: "3.7.0.redhat-00007", "4.0.0-SNAPSHOT", "3.4.1.7.1.9.0-387". What
// follows the first three numbers is kept in the text and decides nothing.
//
// Confluent Platform counts by itself and marks it: "7.6.1-ccs" and "7.6.1-ce"
// are Kafka 3.6, whose patch is not told and counts as 0 (its interoperability
// table: 5.x = 2.x, 6.x = 2.(x+6), 7.x = 3.x, 8.x = 4.x). The same numbers without
// the mark are not read as a Kafka version: Apache Kafka has no major version
// above 4, and 7.5 would count as newer than 3.7 where it is older.
//
// Any other string is an ErrVersion. The Version returned with that error is
// unknown and keeps the text.
func ParseVersion(s string) (Version, error) {
	v := Version{text: s}
	m := versionText.FindStringSubmatch(s)
	if m == nil {
		return v, fmt.Errorf("%w: %q", ErrVersion, s)
	}
	// At most four digits each, so Atoi cannot fail.
	v.major, _ = strconv.Atoi(m[1])
	v.minor, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		v.patch, _ = strconv.Atoi(m[3])
	}
	if confluentMark.MatchString(s) {
		switch v.major {
		case 5:
			v.major = 2
		case 6:
			v.major, v.minor = 2, v.minor+6
		case 7, 8:
			v.major -= 4
		default:
			return Version{text: s}, fmt.Errorf("%w: %q is a Confluent Platform release that this package does not know", ErrVersion, s)
		}
		v.patch = 0
	} else if v.major > 4 {
		return Version{text: s}, fmt.Errorf("%w: %q: there is no Apache Kafka %d", ErrVersion, s, v.major)
	}
	v.known = true
	return v, nil
}

// Known reports whether the Kafka version was understood.
func (v Version) Known() bool { return v.known }

// AtLeast reports whether v is Kafka major.minor or later. An unknown version
// is at least nothing.
func (v Version) AtLeast(major, minor int) bool {
	return v.known && cmp.Or(cmp.Compare(v.major, major), cmp.Compare(v.minor, minor)) >= 0
}

// Compare orders by the three numbers of the Kafka version. Suffixes decide
// nothing: 4.0.0-SNAPSHOT equals 4.0.0. An unknown version comes first.
func (v Version) Compare(o Version) int {
	if v.known != o.known {
		if o.known {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch))
}

// String returns the text as the worker reported it, or "unknown" where it
// reported none.
func (v Version) String() string {
	if v.text == "" {
		return "unknown"
	}
	return v.text
}

// MarshalText writes the text as the worker reported it.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.text), nil }

// UnmarshalText reads any text: one that is not understood gives an unknown
// version, so that the rest of an answer stays readable.
func (v *Version) UnmarshalText(b []byte) error {
	// The error is in the value: Known is false then.
	*v, _ = ParseVersion(string(b))
	return nil
}
