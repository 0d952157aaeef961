package restapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	authorizationText = regexp.MustCompile(`(?i)\b(basic|bearer|negotiate)([ \t:=]+)[A-Za-z0-9+/=._~-]{4,}`)
	userInfoText      = regexp.MustCompile(`(://)[^/?#@\s"'<>]+@`)
)

// NewScrubber returns a function that takes the given secrets out of a text,
// in every form in which a server may echo them, and whatever looks like an
// Authorization header or the user-info of a URL. The secrets live in the
// closure alone, so that printing a struct that holds it shows none.
func NewScrubber(secrets ...string) func(string) string {
	var forms []string
	for _, s := range secrets {
		if s == "" {
			continue
		}
		quoted, err := json.Marshal(s)
		if err == nil {
			forms = append(forms, strings.Trim(string(quoted), `"`))
		}
		forms = append(forms, s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s), base64.StdEncoding.EncodeToString([]byte(s)))
	}
	// Longest first: a form that is part of another must not leave its rest.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, offsetmap.SecretMark)
	}
	exact := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = exact.Replace(text)
		text = authorizationText.ReplaceAllString(text, "${1}${2}"+offsetmap.SecretMark)
		return userInfoText.ReplaceAllString(text, "${1}"+offsetmap.SecretMark+"@")
	}
}

// BasicAuthSecrets are the texts that must not appear when user and password
// are sent by basic authentication.
func BasicAuthSecrets(user, password string) []string {
	return []string{password, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
}

// Text makes a server's text fit for an error or a log line: no control
// characters but line breaks, and at most limit bytes of it.
func Text(s string, limit int) string {
	return plain(s, limit, func(r rune) bool { return r != '\n' && unicode.IsControl(r) })
}

// Line is Text on one line.
func Line(s string, limit int) string { return plain(s, limit, unicode.IsControl) }

func plain(s string, limit int, blank func(rune) bool) string {
	s = strings.Map(func(r rune) rune {
		if blank(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	return Bound(strings.ToValidUTF8(s, "\uFFFD"), limit)
}

// Bound cuts s to limit bytes and says that it did.
func Bound(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " [cut]"
}

// scrubbedError is an error whose text went through a scrubber. errors.Is and
// errors.As see the error itself; its text can be had only by As with its
// concrete type.
type scrubbedError struct {
	text string
	err  error
}

// WithText returns err with another text in place of its own, which may hold a
// secret.
func WithText(err error, text string) error { return &scrubbedError{text: text, err: err} }

func (e *scrubbedError) Error() string        { return e.text }
func (e *scrubbedError) GoString() string     { return e.text }
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *scrubbedError) As(target any) bool   { return errors.As(e.err, target) }
