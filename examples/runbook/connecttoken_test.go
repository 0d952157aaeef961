package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

const (
	tokenClient = "mm2-runbook"
	tokenSecret = "hunter2-of-the-token-server"
)

// tokenServer gives tokens by the client credentials flow (RFC 6749, section 4.4),
// each with a number, and knows which of them still holds.
type tokenServer struct {
	*httptest.Server
	expiresIn int // seconds, of each token

	mu    sync.Mutex
	given int
}

func newTokenServer(t *testing.T, expiresIn int) *tokenServer {
	t.Helper()
	s := &tokenServer{expiresIn: expiresIn}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "connect" || id != tokenClient || secret != tokenSecret {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":"client_id=%s client_secret=%s"}`, id, secret)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.given++
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, s.given, s.expiresIn)
	}))
	t.Cleanup(s.Close)
	return s
}

// holds reports whether a header has the token that was given last.
func (s *tokenServer) holds(authorization string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given > 0 && authorization == fmt.Sprintf("Bearer token-%d", s.given)
}

func (s *tokenServer) credentials(secret string) *clientcredentials.Config {
	return &clientcredentials.Config{
		ClientID: tokenClient, ClientSecret: secret, TokenURL: s.URL, Scopes: []string{"connect"}, AuthStyle: oauth2.AuthStyleInHeader,
	}
}

// guarded is a worker that is reached with a token of the server alone.
func (s *tokenServer) guarded(t *testing.T) (base string, refused func() int) {
	t.Helper()
	brokers, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID("target"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(brokers.Close)
	worker, err := connecttest.NewWorker(t.Context(), brokers.ListenAddrs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	to, err := url.Parse(worker.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	var mu sync.Mutex
	n := 0
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.holds(r.Header.Get("Authorization")) {
			mu.Lock()
			n++
			mu.Unlock()
			http.Error(w, "no valid token: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(gateway.Close)
	return gateway.URL, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// offsetsBy creates a connector, STOPPED, and writes and reads an offset of it.
func offsetsBy(t *testing.T, client *connectrest.Client) error {
	t.Helper()
	ctx := t.Context()
	_, err := client.Create(ctx, connectrest.CreateRequest{Name: "mm2", InitialState: connectrest.StateStopped, Config: connectrest.Config{
		"connector.class": "MirrorSource", "source.cluster.alias": "source", "target.cluster.alias": "target", "topics": "orders",
		"source.cluster.bootstrap.servers": "127.0.0.1:1", "target.cluster.bootstrap.servers": "127.0.0.1:1",
	}})
	if err != nil {
		return err
	}
	offsets := []connectrest.Offset{{Partition: []byte(`{"cluster":"source","topic":"orders","partition":0}`), Offset: []byte(`{"offset":41}`)}}
	return client.AlterOffsetsInParts(ctx, "mm2", offsets)
}

// The client credentials flow of golang.org/x/oauth2 fits as it is, and who has the
// token is asked before each request: one that holds serves them all, one that is
// about to expire is replaced before it does.
func TestConnectTokensByClientCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		expiresIn int // seconds; x/oauth2 takes a token for expired 10 s before it is
		several   bool
	}{"one token serves": {3600, false}, "each is about to expire": {5, true}} {
		t.Run(name, func(t *testing.T) {
			server := newTokenServer(t, c.expiresIn)
			base, refused := server.guarded(t)
			client, err := connectrest.New(base, connectrest.WithTokenSource(server.credentials(tokenSecret).TokenSource(t.Context())))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.CloseIdleConnections)
			if err := offsetsBy(t, client); err != nil || refused() != 0 {
				t.Errorf("%d requests were refused: %v", refused(), err)
			}
			if several := server.given > 1; several != c.several {
				t.Errorf("%d tokens were given", server.given)
			}
		})
	}
}

// Without a token nothing goes to the worker, and with one that was revoked the
// refusal is named. No secret is told.
func TestConnectTokensThatFail(t *testing.T) {
	server := newTokenServer(t, 3600)
	base, refused := server.guarded(t)
	quick := connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1})
	for name, c := range map[string]struct {
		source  oauth2.TokenSource
		is      error
		refused int
	}{
		"the token server refuses": {server.credentials("wrong-" + tokenSecret).TokenSource(t.Context()), nil, 0},
		"the token was revoked":    {oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "revoked-" + tokenSecret}), connectrest.ErrUnauthorized, 1},
	} {
		before := refused()
		client, err := connectrest.New(base, quick, connectrest.WithTokenSource(c.source))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.CloseIdleConnections)
		_, err = client.Connectors(t.Context())
		if err == nil || c.is != nil && !errors.Is(err, c.is) || refused()-before != c.refused {
			t.Errorf("%s: %d requests reached the worker's gateway: %v", name, refused()-before, err)
			continue
		}
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, tokenSecret) {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}
