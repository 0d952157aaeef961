package flinkrest

import (
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	secretMark = "<secret>"
	// maxErrorBody bounds what is read of an answer that refuses, in bytes.
	maxErrorBody = 1 << 20
	// maxMessage bounds the text that is kept of it.
	maxMessage = 1 << 10
)

var (
	authorizationText = regexp.MustCompile(`(?i)\b(basic|bearer|negotiate)([ \t:=]+)[A-Za-z0-9+/=._~-]{4,}`)
	userInfoText      = regexp.MustCompile(`(://)[^/?#@\s"'<>]+@`)
)

// newScrubber returns a function that takes the secrets out of a text, in every
// form in which a server may echo them, and whatever looks like an Authorization
// header or the user-info of a URL.
func newScrubber(secrets ...string) func(string) string {
	var forms []string
	for _, s := range secrets {
		if s == "" {
			continue
		}
		if quoted, err := json.Marshal(s); err == nil {
			forms = append(forms, strings.Trim(string(quoted), `"`))
		}
		forms = append(forms, s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s))
	}
	// Longest first: a form that is part of another must not leave its rest.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, secretMark)
	}
	exact := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = exact.Replace(text)
		text = authorizationText.ReplaceAllString(text, "${1}${2}"+secretMark)
		return userInfoText.ReplaceAllString(text, "${1}"+secretMark+"@")
	}
}

// plainText makes a server's text fit for one line of an error or a log.
func plainText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " [cut]"
}

// scrubbedError is an error whose text went through a scrubber. errors.Is and
// errors.As see the error itself.
type scrubbedError struct {
	text string
	err  error
}

func scrubError(err error, scrub func(string) string) error {
	return &scrubbedError{text: plainText(scrub(err.Error())), err: err}
}

func (e *scrubbedError) Error() string        { return e.text }
func (e *scrubbedError) GoString() string     { return e.text }
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *scrubbedError) As(target any) bool   { return errors.As(e.err, target) }

// firstLine leaves the stack trace behind.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return plainText(s)
}
