package stores_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/stores"
)

// Application default credentials are exchanged for a token, which goes to the
// endpoint and to nobody else.
func TestGCSTokenStaysWithItsEndpoint(t *testing.T) {
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	var sent string
	gcs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"a-token","token_type":"Bearer","expires_in":3600}`))
			return
		}
		sent = r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	t.Cleanup(gcs.Close)
	key, err := json.Marshal(map[string]string{
		"type": "authorized_user", "client_id": "id", "client_secret": "sesame", "refresh_token": "refresh", "token_uri": gcs.URL + "/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	store, err := stores.Open(t.Context(), "gs://bucket/a", stores.WithEnv(noEnv), stores.WithGCSEndpoint(gcs.URL), stores.WithTransport(tokensTo(t, gcs.URL)))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, err = store.Open(store.Dir())
	if err == nil || !strings.Contains(err.Error(), "status 302") {
		t.Error(err)
	}
	if sent != "Bearer a-token" || len(stolen) > 0 {
		t.Errorf("sent %q, and to another server %q", sent, stolen)
	}
}

// tokensTo sends what is meant for Google's token service to a server of the
// test.
func tokensTo(t *testing.T, url string) http.RoundTripper {
	w := newWire(t)
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Host, "googleapis.com") {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host, r.URL.Path = "http", strings.TrimPrefix(url, "http://"), "/token"
			r.Host = r.URL.Host
		}
		return w.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestGCSAnswersThatAreNone(t *testing.T) {
	for body, want := range map[string]string{
		`{"name":"other","size":"1"}`: `answers about "other"`,
		`{"name":"a","size":"many"}`:  `the size "many" of a`,
		`{"name":"a","size":"-1"}`:    `the size "-1" of a`,
		`[]`:                          "cannot unmarshal",
		``:                            "unexpected EOF",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		store, err := stores.Open(t.Context(), "gs://bucket/a", stores.WithEnv(noEnv), stores.WithGCSEndpoint(s.URL), stores.WithGCSAnonymous(), stores.WithTransport(newWire(t)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(store.Dir()); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		store.Close()
		s.Close()
	}
}

func TestListsOfGCSComeInPages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case r.URL.Path != "/storage/v1/b/bucket/o" || q.Get("prefix") != "flink/" || q.Get("delimiter") != "/":
			http.Error(w, `{"error":{"message":"not here"}}`, http.StatusNotFound)
		case q.Get("pageToken") == "":
			_, _ = w.Write([]byte(`{"prefixes":["flink/c/"],"items":[{"name":"flink/b","size":"2"}],"nextPageToken":"next/page"}`))
		case q.Get("pageToken") == "next/page":
			_, _ = w.Write([]byte(`{"items":[{"name":"flink/","size":"0"},{"name":"flink/a","size":"1"}]}`))
		}
	}))
	t.Cleanup(s.Close)
	store, err := stores.Open(t.Context(), "gs://bucket/flink", stores.WithEnv(noEnv), stores.WithGCSEndpoint(s.URL), stores.WithGCSAnonymous(), stores.WithTransport(newWire(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := fs.ReadDir(store, store.Dir())
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	if err != nil || strings.Join(names, " ") != "a b c" || !all[2].IsDir() {
		t.Errorf("%q, %v", names, err)
	}
}

// A server that answers a range with the whole file is found out.
func TestServerWithoutRanges(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("alt") == "media" {
			_, _ = w.Write([]byte("0123456789"))
			return
		}
		_, _ = w.Write([]byte(`{"name":"a","size":"10","generation":"1"}`))
	}))
	t.Cleanup(s.Close)
	f := openFile(t, "gs://bucket/a", stores.WithEnv(noEnv), stores.WithGCSEndpoint(s.URL), stores.WithGCSAnonymous(), stores.WithTransport(newWire(t)))
	if n, err := f.(interface {
		ReadAt(p []byte, off int64) (int, error)
	}).ReadAt(make([]byte, 2), 5); err == nil || !strings.Contains(err.Error(), "does not know ranges") {
		t.Errorf("%d bytes, %v", n, err)
	}
}
