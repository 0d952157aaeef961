package restapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Transport returns a clone of http.DefaultTransport that connects by c, or as
// the default does where c is nil.
func Transport(c *tls.Config) (*http.Transport, error) {
	// http.DefaultTransport is an interface, which a program may replace.
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("http.DefaultTransport is a %T: use WithTransport", http.DefaultTransport)
	}
	t = t.Clone()
	if c != nil {
		t.TLSClientConfig = c
	}
	return t, nil
}

// RetryAfter returns what a gateway asks for in seconds, 0 if nothing.
func RetryAfter(resp *http.Response) time.Duration {
	s, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || s < 0 || s > 3600 {
		return 0
	}
	return time.Duration(s) * time.Second
}

// SystemClock is the time of this machine.
type SystemClock struct{}

// Now returns the time.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep returns nil after d, or ctx's error as soon as ctx ends.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
