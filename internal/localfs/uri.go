package localfs

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// IsURI reports whether s is a file: URI.
func IsURI(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "file:") }

// FromURI returns the path that a file: URI names, false unless it is an absolute
// one of this machine: file:/path, file:///path or file://localhost/path.
//
// Flink prints a path into a URI as it is, and people encode it: where something
// has the name as it is written, that is taken, else the percent-decoded one. What
// is no escape stays.
func FromURI(uri string) (path string, ok bool) {
	p := uri[len("file:"):]
	if rest, authority := strings.CutPrefix(p, "//"); authority {
		host, _, _ := strings.Cut(rest, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", false
		}
		p = rest[len(host):]
	}
	if !strings.HasPrefix(p, "/") {
		return "", false
	}
	literal := filepath.Clean(filepath.FromSlash(p))
	plain, err := url.PathUnescape(p)
	if err != nil || plain == p {
		return literal, true
	}
	if _, err := os.Lstat(literal); err == nil {
		return literal, true
	}
	return filepath.Clean(filepath.FromSlash(plain)), true
}
