package stores

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// location is a folder or file of a store, or of the local disk.
type location struct {
	scheme    string // s3, gs, hdfs, webhdfs, swebhdfs; "" for local
	authority string // bucket or host
	path      string // without slashes at its ends; the whole of a local location
}

// aliases are the schemes of one store.
func (l location) aliases() []string {
	if l.scheme == "s3" {
		return s3Schemes
	}
	return []string{l.scheme}
}

var s3Schemes = []string{"s3", "s3a", "s3p", "s3n"}

func parseLocation(s string) (location, error) {
	before, rest, ok := strings.Cut(s, ":")
	// One letter is a drive of Windows.
	if !ok || len(before) < 2 || strings.ContainsAny(before, `/\`) || localfs.IsURI(s) {
		if s == "" {
			return location{}, errors.New("the location is empty")
		}
		return location{path: s}, nil
	}
	l := location{scheme: strings.ToLower(before)}
	switch {
	case slices.Contains(s3Schemes, l.scheme):
		l.scheme = "s3"
	case l.scheme == "gs", l.scheme == "hdfs", l.scheme == "webhdfs", l.scheme == "swebhdfs":
	default:
		return location{}, fmt.Errorf("%w: savepoints are read from local paths, file:, s3:, gs:, webhdfs: and hdfs: locations, not from %s: (make a local copy, or give flinkstate.Read an fs.FS)", flinkstate.ErrUnsupported, l.scheme)
	}
	rest, ok = strings.CutPrefix(rest, "//")
	l.authority, l.path, _ = strings.Cut(rest, "/")
	if strings.Contains(l.authority, "@") {
		return location{}, fmt.Errorf("%s: location: credentials have no place in it (its text is withheld)", l.scheme)
	}
	switch {
	case !ok || l.authority == "" || l.authority == "." || l.authority == "..":
		return location{}, fmt.Errorf("%q: want %s://%s/path", s, l.scheme, map[bool]string{true: "bucket", false: "host"}[l.isBucket()])
	case l.isBucket() && strings.ContainsAny(l.authority, `:\?#%`):
		return location{}, fmt.Errorf("%q: %q is not the name of a bucket", s, l.authority)
	}
	if !utf8.ValidString(l.authority) || !utf8.ValidString(l.path) {
		return location{}, fmt.Errorf("%q: it is not UTF-8", s)
	}
	var elements []string
	for e := range strings.SplitSeq(l.path, "/") {
		switch e {
		case "":
			// Flink's own paths do not hold two slashes in a row (Path.normalizePath).
		case ".", "..":
			return location{}, fmt.Errorf("%q: it holds the path element %q", s, e)
		default:
			elements = append(elements, e)
		}
	}
	l.path = strings.Join(elements, "/")
	return l, nil
}

func (l location) isLocal() bool  { return l.scheme == "" }
func (l location) isBucket() bool { return l.scheme == "s3" || l.scheme == "gs" }

// mount is where the store of the location is in the tree of a Store.
func (l location) mount() string { return l.scheme + ":/" + l.authority }

// name is where the location itself is there.
func (l location) name() string { return path.Join(l.mount(), l.path) }

// String is the location as a URI, for errors.
func (l location) String() string {
	if l.isLocal() {
		return l.path
	}
	return strings.TrimRight(l.scheme+"://"+l.authority+"/"+l.path, "/")
}

// uri makes a path of the tree a URI again.
func uri(name string) string {
	scheme, rest, ok := strings.Cut(name, ":/")
	switch {
	case !ok:
		return name
	case scheme == "file":
		return filepath.FromSlash("/" + rest)
	default:
		return scheme + "://" + rest
	}
}
