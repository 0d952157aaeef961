package connectrest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var errTwoCredentials = errors.New("credentials are given twice: by an option and by the URL, or by two options")

// authorizeBy lets a be the one that puts credentials on requests.
func (s *settings) authorizeBy(a authorizer) error {
	if s.authorize != nil {
		return errTwoCredentials
	}
	s.authorize = a
	return nil
}

// WithBasicAuth sends user and password with every request. By default, those
// of the base URL's user-info, or none.
func WithBasicAuth(user, password string) Option {
	return func(s *settings) error {
		a, err := basicAuth(url.UserPassword(user, password))
		if err != nil {
			return err
		}
		return s.authorizeBy(a)
	}
}

// WithBearerToken sends token with every request (RFC 6750). By default, none.
func WithBearerToken(token string) Option {
	return func(s *settings) error {
		if err := checkToken(token); err != nil {
			return fmt.Errorf("bearer token: %w", err)
		}
		return s.authorizeBy(func(r *http.Request) ([]string, error) { return bearer(r, token), nil })
	}
}

// WithBearerTokenFile sends the token in the file at path, without white space
// around it. The file is read anew for each attempt, so that a token that is
// renewed in place, as Kubernetes renews those that it projects, is used at once.
// A file that cannot be read fails the request before it is sent. By default,
// none.
func WithBearerTokenFile(path string) Option {
	read := func() (string, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("token file: %w", err)
		}
		token := string(bytes.TrimSpace(b))
		if err := checkToken(token); err != nil {
			return "", fmt.Errorf("token file %s: %w", path, err)
		}
		return token, nil
	}
	return func(s *settings) error {
		if _, err := read(); err != nil {
			return err
		}
		return s.authorizeBy(func(r *http.Request) ([]string, error) {
			token, err := read()
			if err != nil {
				return nil, err
			}
			return bearer(r, token), nil
		})
	}
}

// AuthHeaderSetter is a token that can put itself on a request, as
// [golang.org/x/oauth2.Token] does.
//
// [golang.org/x/oauth2.Token]: https://pkg.go.dev/golang.org/x/oauth2#Token
type AuthHeaderSetter interface{ SetAuthHeader(*http.Request) }

// WithTokenSource asks src for a token before each attempt. An
// oauth2.TokenSource fits, such as that of the client credentials flow
// (golang.org/x/oauth2/clientcredentials), which keeps a token until it
// expires; this package does not import it:
//
//	connectrest.New(url, connectrest.WithTokenSource(credentials.TokenSource(ctx)))
//
// When it fails, the request fails before it is sent. It takes no context and is
// waited for, so it must bound itself: for oauth2, by an [http.Client] with a
// Timeout in the context that the source is made with. By default, none.
func WithTokenSource[T AuthHeaderSetter](src interface{ Token() (T, error) }) Option {
	return func(s *settings) error {
		if src == nil {
			return errors.New("the token source is nil")
		}
		return s.authorizeBy(func(r *http.Request) ([]string, error) {
			token, err := src.Token()
			if err != nil {
				return nil, fmt.Errorf("token source: %w", restapi.WithText(err, grantText.ReplaceAllString(err.Error(), "${1}"+offsetmap.SecretMark)))
			}
			token.SetAuthHeader(r)
			value := r.Header.Get("Authorization")
			_, credentials, _ := strings.Cut(value, " ")
			switch {
			case credentials == "":
				return nil, errors.New("token source: its token sets no Authorization header")
			case hasControl(value):
				return nil, errors.New("token source: the Authorization header that its token sets holds a control character")
			}
			return []string{value, credentials}, nil
		})
	}
}

// grantText finds what a token server repeats of a request for a token (RFC 6749):
// oauth2 puts its answer into the error.
var grantText = regexp.MustCompile(`(?i)\b((?:client_secret|client_assertion|password|access_token|refresh_token|id_token)["\\']*\s*[=:]\s*["\\']*)[^\s"'\\&,;<>}]+`)

// hasControl reports whether s holds what no value of a header may
// (golang.org/x/net/http/httpguts): net/http would fail each attempt for it.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func bearer(r *http.Request, token string) []string {
	r.Header.Set("Authorization", "Bearer "+token)
	return []string{token}
}

// checkToken never repeats the token in an error.
func checkToken(token string) error {
	if token == "" {
		return errors.New("it is empty")
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7f {
			return fmt.Errorf("byte %d is none that a token can hold", i)
		}
	}
	return nil
}

// header is an extra header of each request. Its value is behind a function, so
// that nothing that prints it shows it.
type header struct {
	name  string
	value func() string
}

const (
	belongsToTransport = "it belongs to the transport"
	methodStays        = "a read would become a write"
)

// reserved headers are set by this package, or by net/http.
var reserved = map[string]string{
	"Authorization":     "use WithBasicAuth, WithBearerToken or WithTokenSource",
	"User-Agent":        "use WithUserAgent",
	"Accept":            "the answers are JSON",
	"Accept-Encoding":   "the transport decompresses what it asked for itself",
	"Content-Type":      "the requests are JSON",
	"Content-Length":    "it follows from the body",
	"Transfer-Encoding": "it follows from the body",
	"Content-Encoding":  "the requests are plain JSON",
	"Connection":        belongsToTransport,
	"Expect":            belongsToTransport,
	"Keep-Alive":        belongsToTransport,
	"Proxy-Connection":  belongsToTransport,
	"Te":                belongsToTransport,
	"Trailer":           belongsToTransport,
	"Upgrade":           belongsToTransport,
	"Host":              "it follows from the base URL",
	"Range":             "an answer that is a part is none",
	// Gateways and filters of JAX-RS take the method from these.
	"X-Http-Method":          methodStays,
	"X-Http-Method-Override": methodStays,
	"X-Method-Override":      methodStays,
	// With one of these net/http sends a write again by itself when a connection that
	// it used before breaks (http.Request.isReplayable), and no worker reads them.
	"Idempotency-Key":   "a write would be sent twice without a read-back",
	"X-Idempotency-Key": "a write would be sent twice without a read-back",
}

// WithHeader sends a header with every request, for a gateway that asks for
// one. Its value counts as a secret. Names that this package or the transport
// sets are refused. Workers do not pass it on to each other: of a request's
// headers they forward Authorization alone. By default, none.
func WithHeader(name, value string) Option {
	return func(s *settings) error {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isTokenRune(r) }) {
			return fmt.Errorf("header %q: that is no name of a header", name)
		}
		if why, ok := reserved[canonical]; ok {
			return fmt.Errorf("header %s: it cannot be set, %s", canonical, why)
		}
		if value == "" || hasControl(value) {
			return fmt.Errorf("header %s: its value is empty or holds a control character", canonical)
		}
		s.extra = append(s.extra, header{canonical, func() string { return value }})
		return nil
	}
}

// isTokenRune reports whether r may stand in the name of a header (RFC 9110,
// section 5.6.2).
func isTokenRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// headers returns what puts the extra headers on a request.
func (s *settings) headers() authorizer {
	extra := s.extra
	return func(r *http.Request) ([]string, error) {
		secrets := make([]string, 0, len(extra))
		for _, h := range extra {
			secrets = append(secrets, h.value())
			r.Header.Add(h.name, h.value())
		}
		return secrets, nil
	}
}
