package connectrest_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// asking answers requests and keeps the values of one header.
func asking(header string, seen *[]string, replies ...reply) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.Header.Get(header))
		next := replies[0]
		if len(replies) > 1 {
			replies = replies[1:]
		}
		next(w, r)
	}
}

func TestTokenFileIsReadAnewForEachAttempt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	var seen []string
	s := newScript(t).on("GET /connectors", asking("Authorization", &seen, refuse(409, stale), status(200, `[]`)))
	c := newClock()
	c.during = func() { write(" second ") }
	client := dial(t, s.URL, c, connectrest.WithBearerTokenFile(file))
	if _, err := client.Connectors(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bearer first", "Bearer second"}, seen); diff != "" {
		t.Error(diff)
	}
	for content, says := range map[string]string{"": "is empty", "two words": "byte 3"} {
		write(content)
		_, err := client.Connectors(t.Context())
		checkMeanings(t, err, connectrest.ErrUnauthorized)
		if !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", content, err)
		}
		if _, err := connectrest.New(s.URL, connectrest.WithBearerTokenFile(file)); err == nil || strings.Contains(err.Error(), "two") {
			t.Errorf("%q: got %v", content, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	// A write that has no credentials was not sent: its outcome is known.
	err := client.Stop(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnauthorized)
	if !errors.Is(err, os.ErrNotExist) || len(seen) != 2 {
		t.Errorf("%d requests: %v", len(seen), err)
	}
}

func TestTokenThatIsLostBetweenAttemptsSendsNothingMore(t *testing.T) {
	s := newScript(t).on("GET /connectors", refuse(409, stale))
	asked := 0
	client := s.client(connectrest.WithTokenSource(tokens(func() (*oauthToken, error) {
		if asked++; asked > 2 {
			return nil, errors.New("the identity provider says no to secret bearer hidden-token")
		}
		return &oauthToken{"fine"}, nil
	})))
	_, err := client.Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrUnauthorized)
	noSecret(t, "error", printed(err))
	if n := s.sent("GET /connectors"); n != 2 || !strings.Contains(err.Error(), "identity provider says no") {
		t.Errorf("sent %d: %v", n, err)
	}
}

func TestTokenWithoutAHeaderIsRefused(t *testing.T) {
	s := newScript(t)
	_, err := s.client(connectrest.WithTokenSource(tokens(func() (*oauthToken, error) { return &oauthToken{}, nil }))).Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrUnauthorized)
}

func TestExtraHeaders(t *testing.T) {
	var seen []string
	s := newScript(t).on("GET /connectors", asking("X-Tenant", &seen, refuse(409, stale), refuse(400, "tenant blue-42 is unknown")))
	_, err := s.client(connectrest.WithHeader("x-tenant", "blue-42")).Connectors(t.Context())
	if diff := cmp.Diff([]string{"blue-42", "blue-42"}, seen); diff != "" || !strings.Contains(err.Error(), "tenant <secret> is unknown") {
		t.Errorf("%v\n%s", err, diff)
	}
	for name, value := range map[string]string{"": "x", "a b": "x", "authorization": "x", "Content-Type": "x", "Accept-Encoding": "x", "X": "", "Y": "a\r\nb", "Idempotency-Key": "x", "x-idempotency-key": "x"} {
		if _, err := connectrest.New("http://host", connectrest.WithHeader(name, value)); err == nil {
			t.Errorf("header %q: %q was taken", name, value)
		}
	}
}

// User-info of one URL belongs to its host; what an option gives goes to all.
func TestCredentialsOfOneURLGoToNoOtherHost(t *testing.T) {
	var first, second []string
	one := newScript(t).on("GET /connectors", asking("Authorization", &first, status(502, "")))
	two := newScript(t).on("GET /connectors", asking("Authorization", &second, status(200, `[]`)))
	withUser := func(base, user string) string {
		return strings.Replace(base, "http://", "http://"+url.UserPassword(user, "pw").String()+"@", 1)
	}
	for _, tt := range []struct {
		urls          []string
		opts          []connectrest.Option
		first, second string
	}{
		{[]string{withUser(one.URL, "a"), two.URL}, nil, "Basic YTpwdw==", ""},
		{[]string{withUser(one.URL, "a"), withUser(two.URL, "b")}, nil, "Basic YTpwdw==", "Basic Yjpwdw=="},
		{[]string{one.URL, two.URL}, []connectrest.Option{connectrest.WithBearerToken("t")}, "Bearer t", "Bearer t"},
	} {
		first, second = nil, nil
		client, err := connectrest.NewCluster(tt.urls, append(tt.opts, connectrest.WithClock(newClock()))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Connectors(t.Context()); err != nil {
			t.Error(err)
		}
		client.CloseIdleConnections()
		if !cmp.Equal(first, []string{tt.first}) || !cmp.Equal(second, []string{tt.second}) {
			t.Errorf("%d URLs: the first got %q, the second %q", len(tt.urls), first, second)
		}
	}
	if _, err := connectrest.NewCluster([]string{one.URL, withUser(two.URL, "b")}, connectrest.WithBearerToken("t")); err == nil {
		t.Error("two kinds of credentials were taken")
	}
}

func TestTLSFilesThatAreNoGood(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, opt := range map[string]connectrest.Option{
		"no CA file named":    connectrest.WithCAFile(),
		"CA file not there":   connectrest.WithCAFile("/nowhere/ca.pem"),
		"CA file empty":       connectrest.WithCAFile(empty),
		"no key file":         connectrest.WithClientCertificate(empty, ""),
		"empty certificate":   connectrest.WithClientCertificate(empty, empty),
		"certificate missing": connectrest.WithClientCertificate("/nowhere/cert.pem", empty),
		"empty token":         connectrest.WithBearerToken(""),
		"token with a line":   connectrest.WithBearerToken("a\nb"),
	} {
		if c, err := connectrest.New("https://host", opt); err == nil {
			t.Errorf("%s: accepted as %v", name, c)
		}
	}
}
