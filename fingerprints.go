package flinkmm2

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fingerprints shows of many things, by name, whether they are as they were. It holds
// no contents. Of more than 1,000 things it holds one fingerprint for each of up to
// 1,024 groups of them, so that it stays small: what has moved is then one of a group.
type Fingerprints struct {
	// Of holds a fingerprint by name, or by the group's number.
	Of map[string]string `json:"of"`
	// Grouped says that Of is by group.
	Grouped bool `json:"grouped"`
	// Unknown says why nothing is known; Of is empty then.
	Unknown string `json:"unknown,omitempty"`
}

const (
	mostFingerprints  = 1000
	fingerprintGroups = 1024
)

// newFingerprints takes the contents by name.
func newFingerprints(contents map[string]string, grouped bool) Fingerprints {
	f := Fingerprints{Of: map[string]string{}, Grouped: grouped}
	if !grouped {
		for name, content := range contents {
			f.Of[name] = fingerprint(content)
		}
		return f
	}
	members := map[string][]string{}
	for name := range contents {
		g := fingerprintGroup(name)
		members[g] = append(members[g], name)
	}
	for g, names := range members {
		var all strings.Builder
		for _, name := range slices.Sorted(slices.Values(names)) {
			fmt.Fprintf(&all, "%q %s\n", name, fingerprint(contents[name]))
		}
		f.Of[g] = fingerprint(all.String())
	}
	return f
}

func fingerprint(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:8])
}

func fingerprintGroup(name string) string {
	sum := sha256.Sum256([]byte(name))
	return strconv.Itoa((int(sum[0])<<8 | int(sum[1])) % fingerprintGroups)
}

// moved names what is not as it was, sorted: what came, went or changed. Of a group it
// names all that are in it now, since it is not known which of them it is.
func (f Fingerprints) moved(now map[string]string) []string {
	is := newFingerprints(now, f.Grouped)
	var differ []string
	for name := range maps.Keys(f.Of) {
		if is.Of[name] != f.Of[name] {
			differ = append(differ, name)
		}
	}
	for name := range maps.Keys(is.Of) {
		if _, was := f.Of[name]; !was {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	if !f.Grouped {
		return differ
	}
	members := map[string][]string{}
	for name := range now {
		g := fingerprintGroup(name)
		members[g] = append(members[g], name)
	}
	for i, g := range differ {
		differ[i] = "one that is gone"
		if names := slices.Sorted(slices.Values(members[g])); len(names) > 0 {
			differ[i] = "one of " + someOf(names)
		}
	}
	return differ
}

// someOf names the first of many.
func someOf(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
