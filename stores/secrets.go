package stores

import (
	"net/http"
	"strings"
	"sync"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// secrets knows what must not stand in an error though a server may repeat it: what
// the caller has given, and what was last sent to prove who is asking, such as the
// token of a role.
type secrets struct {
	in http.RoundTripper

	mu    sync.Mutex
	given []string
	sent  map[string]string // by name of the header
}

func newSecrets(in http.RoundTripper, given ...string) *secrets {
	return &secrets{in: in, given: given, sent: map[string]string{}}
}

// RoundTrip is that of [http.RoundTripper].
func (s *secrets) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		if v := r.Header.Get(name); v != "" {
			s.sent[name] = v
		}
	}
	s.mu.Unlock()
	return s.in.RoundTrip(r)
}

// scrub takes them out of a server's text.
func (s *secrets) scrub(text string) string {
	s.mu.Lock()
	all := append([]string(nil), s.given...)
	for _, v := range s.sent {
		_, value, _ := strings.Cut(v, " ") // behind the scheme
		_, signature, _ := strings.Cut(v, "Signature=")
		all = append(all, v, value, signature)
	}
	s.mu.Unlock()
	return restapi.NewScrubber(all...)(text)
}

// String keeps fmt from printing what it holds.
func (s *secrets) String() string { return "secrets" }

// GoString is String.
func (s *secrets) GoString() string { return s.String() }
