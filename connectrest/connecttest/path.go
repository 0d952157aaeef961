package connecttest

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// readPath splits the path. Jetty 12 (Kafka 4.0) refuses ambiguous paths with a
// page of its own, so a name with a percent sign, a slash or a backslash has no
// address there, although a connector can be created under it.
func (o *options) readPath(r *request) *answer {
	path := strings.TrimPrefix(r.path, "/")
	path = strings.TrimSuffix(path, "/")
	if path == "" && r.path != "//" {
		return nil
	}
	for s := range strings.SplitSeq(path, "/") {
		s, _, _ = strings.Cut(s, ";") // a matrix parameter
		u, err := url.PathUnescape(s)
		if err != nil || strings.ContainsRune(u, 0) {
			a := jettyPage(http.StatusBadRequest, "/badMessage", "Bad Request")
			return &a
		}
		if o.version.strictPaths() {
			if why := whyRefused(s, u); why != "" {
				a := jettyPage(http.StatusBadRequest, "/badURI", why)
				return &a
			}
		}
		r.segments = append(r.segments, u)
	}
	return nil
}

// whyRefused is what Jetty 12 finds wrong with a segment, as it was sent and
// unescaped; empty for nothing.
func whyRefused(sent, unescaped string) string {
	sent = strings.ToLower(sent)
	switch {
	case sent == "":
		return "Ambiguous URI empty segment"
	case strings.Contains(sent, "%2f"):
		return "Ambiguous URI path separator"
	case strings.Contains(sent, "%25"):
		return "Ambiguous URI path encoding"
	case strings.Contains(sent, "%") && (unescaped == "." || unescaped == ".."):
		return "Ambiguous URI path segment"
	case !utf8.ValidString(unescaped):
		return "Bad UTF-8 encoding"
	case strings.ContainsFunc(unescaped, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }):
		return "Suspicious Path Character"
	default:
		return ""
	}
}
