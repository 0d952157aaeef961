package connectrest

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

const (
	// maxErrorBody bounds what is read of an answer that refuses, in bytes.
	maxErrorBody = 1 << 20
	// maxMessage bounds the text that is kept of it.
	maxMessage = 4 << 10
)

var (
	authorizationText = regexp.MustCompile(`(?i)\b(basic|bearer|negotiate)([ \t:=]+)[A-Za-z0-9+/=._~-]{4,}`)
	userInfoText      = regexp.MustCompile(`(://)[^/?#@\s"'<>]+@`)
)

// newScrubber returns a function that takes the given secrets out of a text,
// in every form in which a server may echo them, and whatever looks like an
// Authorization header or the user-info of a URL. The secrets live in the
// closure alone, so that printing a struct that holds it shows none.
func newScrubber(secrets ...string) func(string) string {
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

// basicAuthSecrets are the texts that must not appear when user and password
// are sent by basic authentication.
func basicAuthSecrets(user, password string) []string {
	return []string{password, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
}

// plainText makes a server's text fit for an error or a log line: no control
// characters but line breaks, and bounded.
func plainText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	return bound(strings.ToValidUTF8(s, "\uFFFD"), maxMessage)
}

func bound(s string, limit int) string {
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

func scrubError(err error, scrub func(string) string) error {
	return &scrubbedError{text: plainText(scrub(err.Error())), err: err}
}

func (e *scrubbedError) Error() string        { return e.text }
func (e *scrubbedError) GoString() string     { return e.text }
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *scrubbedError) As(target any) bool   { return errors.As(e.err, target) }
