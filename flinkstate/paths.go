package flinkstate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// place is a folder that files are read from.
type place struct {
	fsys  fs.FS
	dir   string // inside fsys
	shown string // how the folder is called in errors and in Location
}

// file is one file below a place.
type file struct {
	place
	name string // inside fsys
	path string // for errors
}

// at returns the file that rel names below the place. It refuses to leave it.
func (p place) at(rel string) (file, error) {
	var clean []string
	for s := range strings.SplitSeq(rel, "/") {
		switch s {
		case "", ".":
		case "..":
			return file{}, errors.New("it leads out of the folder")
		default:
			clean = append(clean, s)
		}
	}
	if len(clean) == 0 {
		return file{}, errors.New("it names no file")
	}
	name := path.Join(append([]string{p.dir}, clean...)...)
	if !fs.ValidPath(name) {
		return file{}, errors.New("it is no valid path")
	}
	return file{place: p, name: name, path: path.Join(append([]string{p.shown}, clean...)...)}, nil
}

// mapping says where the files of a prefix of absolute URIs are now.
type mapping struct {
	prefix string // canonical, without a slash at the end
	to     place
}

// newMappings checks a path map and sorts it so that the longest prefix comes
// first. open makes a place of a target.
func newMappings(m map[string]string, open func(target string) (place, error)) ([]mapping, error) {
	var ms []mapping
	for _, from := range slices.Sorted(maps.Keys(m)) {
		from, target := withoutUser(from), m[from]
		prefix := strings.TrimRight(canonicalURI(from), "/")
		if prefix == "" || !isAbsolute(prefix+"/") {
			return nil, fmt.Errorf("path map: %q is neither a URI nor an absolute path", from)
		}
		to, err := open(target)
		if err != nil {
			return nil, fmt.Errorf("path map: target of %q: %w", from, err)
		}
		ms = append(ms, mapping{prefix, to})
	}
	slices.SortFunc(ms, func(a, b mapping) int {
		return cmp.Or(cmp.Compare(len(b.prefix), len(a.prefix)), strings.Compare(a.prefix, b.prefix))
	})
	for i := 1; i < len(ms); i++ {
		if ms[i].prefix == ms[i-1].prefix {
			return nil, fmt.Errorf("path map: %q is there twice (file:/a, file:///a and /a are one place)", ms[i].prefix)
		}
	}
	return ms, nil
}

// rest returns what follows the prefix in a canonical URI, false when the URI
// does not lie below it.
func (m mapping) rest(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, m.prefix)
	return rest, ok && strings.HasPrefix(rest, "/")
}

// canonicalURI makes the spellings of a local file one: Flink writes file:/a,
// others file:///a, people /a. Other URIs stay as they are.
func canonicalURI(s string) string {
	rest, ok := strings.CutPrefix(s, "file:")
	switch {
	case ok:
		return "file:/" + strings.TrimLeft(rest, "/")
	case strings.HasPrefix(s, "/"):
		return "file:/" + strings.TrimLeft(s, "/")
	default:
		return s
	}
}

// withoutUser puts a mark where a URI has user and password: s3n: URIs hold the
// keys of the bucket there. Names of state files and prefixes of a path map are
// compared in this form and have no other here, so that none can be shown.
func withoutUser(uri string) string {
	if !strings.Contains(uri, "@") { // nearly all: a state can name very many files
		return uri
	}
	return offsetmap.RedactSetting("location", uri)
}

// isAbsolute reports whether s is a URI with a scheme, or an absolute path.
func isAbsolute(s string) bool { return strings.HasPrefix(s, "/") || scheme(s) != "" }

// scheme returns what stands before the colon of a URI. One letter is a drive
// of Windows.
func scheme(s string) string {
	before, _, ok := strings.Cut(s, ":")
	if !ok || len(before) < 2 || strings.ContainsAny(before, `/\`) {
		return ""
	}
	return before
}

// localPath returns the path of a local folder that may be given as a file: URI.
func localPath(s string) (string, error) {
	if localfs.IsURI(s) {
		p, ok := localfs.FromURI(s)
		if !ok {
			return "", fmt.Errorf("%w: %q is no file: URI of a local absolute path", ErrUnsupported, s)
		}
		return p, nil
	}
	if sc := scheme(s); sc != "" {
		return "", fmt.Errorf("%w: %q: local paths and file: URIs are read here, not %s: (package stores opens s3:, gs: and webhdfs:, Read takes any fs.FS; or make a local copy)", ErrUnsupported, s, sc)
	}
	return filepath.Clean(s), nil
}

// doubt says how a local path that leads to no folder may not be as it was meant.
// It begins with a semicolon, or is empty.
func doubt(path string) string {
	if bare := strings.TrimSpace(path); bare != path && bare != "" {
		if _, err := os.Stat(bare); err == nil {
			return "; it is there without the white space at an end of its name"
		}
	}
	if strings.HasPrefix(path, "~") || strings.Contains(path, "$") {
		return "; ~ and $ stand for themselves here: a shell replaces them before, and not within quotes or behind ="
	}
	return ""
}
