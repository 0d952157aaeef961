package connectrest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// What net/http would refuse at each attempt, for two minutes, is refused once.
func TestOptionThatFailsEveryRequestIsRefusedBeforeAny(t *testing.T) {
	for name, tt := range map[string]struct {
		option connectrest.Option
		says   string
	}{
		"user agent":      {connectrest.WithUserAgent("tool\r\nX-Evil: 1"), "the user agent holds a control character"},
		"nil":             {nil, "option 1 is nil"},
		"part of answers": {connectrest.WithHeader("range", "bytes=0-1"), "header Range: it cannot be set"},
		"other method":    {connectrest.WithHeader("X-HTTP-Method-Override", "DELETE"), "header X-Http-Method-Override: it cannot be set, a read would become a write"},
		"other encoding":  {connectrest.WithHeader("Content-Encoding", "gzip"), "header Content-Encoding: it cannot be set"},
		"other protocol":  {connectrest.WithHeader("Upgrade", "h2c"), "header Upgrade: it cannot be set, it belongs to the transport"},
	} {
		_, err := connectrest.New("http://host", tt.option)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.says)
		}
	}
}

// One host under two spellings would be asked twice and count as two workers.
func TestBaseURLsThatAreNoneOfTheirOwnAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		urls []string
		says string
	}{
		"another spelling": {[]string{"http://host/x", "http://HOST:80/x/"}, "stands twice"},
		"implied port":     {[]string{"https://host:443", "https://host"}, "stands twice"},
		"joined":           {[]string{"http://a:8083,http://b:8083"}, "cannot be parsed"},
		"joined, no port":  {[]string{"http://a,http://b"}, "the host holds a comma"},
		"half escaped":     {[]string{"http://host/a%2Fb/c d"}, "some of its path is escaped"},
	} {
		_, err := connectrest.NewCluster(tt.urls)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.says)
		}
	}
	for _, urls := range [][]string{{"http://host", "https://host"}, {"http://host", "http://host:8083"}, {"http://host/a", "http://host/A"}, {"http://host/a%2Fb/c%20d"}, {"http://host/ä ö"}} {
		if _, err := connectrest.NewCluster(urls); err != nil {
			t.Errorf("%q: %v", urls, err)
		}
	}
}

func TestUserWithoutPasswordIsASecret(t *testing.T) {
	s := newScript(t).on("GET /connectors", func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "nobody is called "+user)
	})
	base := strings.Replace(s.URL, "http://", "http://hunter2token@", 1)
	_, err := dial(t, base, newClock()).Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrUnauthorized)
	if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "nobody is called <secret>") {
		t.Errorf("got %v", err)
	}
}

// oauth2's error holds the answer of the token server, which may repeat what it was
// asked.
func TestErrorOfATokenSourceShowsNoGrant(t *testing.T) {
	for _, answer := range []string{
		"Response: client_secret=hunter2-a&grant_type=client_credentials",
		`Response: {"error":"invalid_client","client_secret":"hunter2-b","x":1}`,
		`Response: {"body":"{\"client_assertion\": \"hunter2-c\"}"}`,
		"Response: access_token: hunter2-d",
	} {
		failed := errors.New("oauth2: cannot fetch token: 401\n" + answer)
		c := dial(t, "http://host", newClock(), connectrest.WithTokenSource(tokens(func() (*oauthToken, error) { return nil, failed })))
		_, err := c.Connectors(t.Context())
		checkMeanings(t, err, connectrest.ErrUnauthorized)
		if !errors.Is(err, failed) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "cannot fetch token: 401") {
			t.Errorf("got %v", err)
		}
	}
}

func TestTokenThatNoHeaderCanHoldIsAnErrorOfTheSource(t *testing.T) {
	s := newScript(t) // which expects nothing
	c := dial(t, s.URL, newClock(), connectrest.WithTokenSource(tokens(func() (*oauthToken, error) { return &oauthToken{"hunter\r\n2"}, nil })))
	err := c.Stop(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnauthorized)
	if strings.Contains(err.Error(), "hunter") || !strings.Contains(err.Error(), "holds a control character") {
		t.Errorf("got %v", err)
	}
}
