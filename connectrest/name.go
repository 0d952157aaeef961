package connectrest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckName reports whether a connector of that name can be created and then
// addressed by every call: it is an [ErrName] when
//
//   - it is empty, "." or "..", or holds a slash: no path can address it;
//   - it holds a control character: the worker refuses to create it;
//   - it begins or ends with white space: the worker trims it on creation, and
//     the trimmed name is another one;
//   - it holds ";", or "%" before two hexadecimal digits: a worker that is not
//     the leader forwards a write to the connector of another name (seen: "a;b"
//     became "a" on 4.3.1, "50%25" became "50%" on 3.7.2);
//   - it holds "{" or "}": such a worker fails, and so does the answer to the
//     creation, though the connector is created;
//   - it is not valid UTF-8.
//
// Every other name works: spaces, %, ->, +, any script. But workers of Kafka
// 4.x refuse a path with "%" or "\" in a name (Jetty 12), which is an [ErrName]
// too, said by the worker.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case name == "." || name == "..":
		return fmt.Errorf("%w: %q is a path segment of its own", ErrName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not valid UTF-8", ErrName, name)
	case strings.Contains(name, "/"):
		return fmt.Errorf("%w: %q holds a slash", ErrName, name)
	case strings.ContainsAny(name, ";{}"):
		return fmt.Errorf("%w: %q holds one of ; { }, which a worker that forwards the request misreads", ErrName, name)
	case percentEscape.MatchString(name):
		return fmt.Errorf("%w: %q holds %% before two hexadecimal digits, which a worker that forwards the request decodes", ErrName, name)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%w: %q begins or ends with white space, which a worker trims", ErrName, name)
	}
	for i, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %q has control character %U at byte %d", ErrName, name, r, i)
		}
	}
	return nil
}

var percentEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// escapeSegment escapes one path segment once: all but RFC 3986's unreserved
// characters. url.PathEscape leaves "+" and others, which some gateways decode
// a second time as if they stood in a query.
func escapeSegment(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
