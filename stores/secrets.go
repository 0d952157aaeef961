package stores

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// secrets knows what must not stand in an error though a server may repeat it: what
// the caller has given, and what was sent of late to prove who is asking, such as the
// token of a role or the signature of a request.
type secrets struct {
	in http.RoundTripper

	mu    sync.Mutex
	given []string
	sent  []string // the newest last
}

// mostSent is how many of those are kept: more than requests are under way at
// once, each of which S3 has signed anew.
const mostSent = 64

func newSecrets(in http.RoundTripper, given ...string) *secrets {
	return &secrets{in: in, given: given}
}

// RoundTrip is that of [http.RoundTripper].
func (s *secrets) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		v := r.Header.Get(name)
		if v == "" {
			continue
		}
		if i := slices.Index(s.sent, v); i >= 0 {
			s.sent = slices.Delete(s.sent, i, i+1)
		}
		if s.sent = append(s.sent, v); len(s.sent) > mostSent {
			s.sent = slices.Delete(s.sent, 0, 1)
		}
	}
	s.mu.Unlock()
	return s.in.RoundTrip(r)
}

// scrub takes them out of a server's text.
func (s *secrets) scrub(text string) string {
	s.mu.Lock()
	all := slices.Clone(s.given)
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
