package flinkrest

import (
	"net/url"
	"path"
	"strings"
)

// Match says how a path that Flink names and one that a person names go
// together.
type Match string

const (
	// MatchNone: they are different savepoints, or one of the two is empty.
	MatchNone Match = "none"
	// MatchName: the places differ and the last folder has the same name, which
	// Flink draws at random for each savepoint: a copy, most likely. The names of
	// checkpoints (chk-7) are no such evidence and never match.
	MatchName Match = "name"
	// MatchPath: they are one place.
	MatchPath Match = "path"
)

// MatchLocation compares the path of a savepoint as Flink names it with a
// location as people have it: a folder, with or without a slash or /_metadata at
// its end, plain, as a file: URI, or in another store. s3, s3a and s3p are one
// store.
func MatchLocation(flink, location string) Match {
	a, b := canonical(flink), canonical(location)
	switch {
	case a == "" || b == "":
		return MatchNone
	case a == b || unescaped(a) == unescaped(b):
		return MatchPath
	}
	if name := folder(a); strings.HasPrefix(name, "savepoint-") && name == folder(b) {
		return MatchName
	}
	return MatchNone
}

func folder(canonical string) string {
	_, p, _ := strings.Cut(unescaped(canonical), ":")
	return path.Base(p)
}

func canonical(s string) string {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, `/\`) {
		scheme, rest = "file", s
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "file":
		rest = strings.TrimPrefix(rest, "//localhost/")
		if strings.HasPrefix(s, scheme) || strings.HasPrefix(rest, "/") {
			rest = "/" + strings.TrimLeft(rest, "/")
		}
	case "s3a", "s3p", "s3n":
		scheme = "s3"
	}
	if rest == "" {
		return ""
	}
	rest = strings.TrimSuffix(path.Clean(rest), "/_metadata")
	return scheme + ":" + rest
}

// unescaped undoes percent-encoding, which Flink does not use in its paths and
// people paste.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}
