package stores_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flinkmm2/flinkmm2/stores"
)

// Characters that each escaping writes in another way.
const (
	keptPassword = `ses"ame <&>/open+50%`
	keptToken    = `tok"en <&>/of+the%role`
)

// echo refuses every request in the words of its store, and repeats what it was
// sent, as it is and in each form in which servers write it, behind a beginning.
func echo(t *testing.T, beginning string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"ya29.sesame","token_type":"Bearer","expires_in":3600}`)
			return
		}
		if r.Method == http.MethodHead { // S3's answer to it has no words
			w.WriteHeader(http.StatusNotFound)
			return
		}
		user, password, _ := r.BasicAuth()
		said := []string{
			r.Header.Get("Authorization"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Amz-Security-Token"), r.URL.Query().Get("delegation"),
			user + ":" + password, password,
		}
		var text []string
		for _, s := range said {
			text = append(text, s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s), base64.StdEncoding.EncodeToString([]byte(s)))
		}
		message := beginning + strings.Join(text, " | ")
		w.WriteHeader(http.StatusForbidden)
		switch {
		case strings.HasPrefix(r.URL.Path, "/webhdfs"):
			_ = json.NewEncoder(w).Encode(map[string]any{"RemoteException": map[string]string{"exception": "SecurityException", "message": message}})
		case strings.HasPrefix(r.URL.Path, "/storage"):
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message}})
		default:
			_ = xml.NewEncoder(w).Encode(struct {
				XMLName       xml.Name `xml:"Error"`
				Code, Message string
			}{Code: "AccessDenied", Message: message})
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestWhatAServerRepeatsIsTakenOut(t *testing.T) {
	t.Run("whole", func(t *testing.T) { repeated(t, "", "<secret>") })
	// A text is cut at 300 bytes, here within what it repeats.
	t.Run("cut", func(t *testing.T) { repeated(t, strings.Repeat("x", 293), "[cut]") })
}

func repeated(t *testing.T, beginning, says string) {
	t.Helper()
	server := echo(t, beginning)
	credentials := filepath.Join(t.TempDir(), "gcs.json")
	text := `{"type": "authorized_user", "client_id": "id", "client_secret": "x", "refresh_token": "y", "token_uri": "` + server.URL + `/token"}`
	if err := os.WriteFile(credentials, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", credentials)
	role := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": keptPassword, "AWS_SESSION_TOKEN": keptToken}[name]
	}
	basic := strings.Replace(server.URL, "http://", "http://user:"+url.PathEscape(keptPassword)+"@", 1)
	for name, tc := range map[string]struct {
		at   string
		opts []stores.Option
	}{
		"s3":           {"s3://bucket/a", []stores.Option{stores.WithEnv(role), stores.WithS3Endpoint(server.URL), stores.WithS3Region("r")}},
		"gcs":          {"gs://bucket/a", []stores.Option{stores.WithEnv(noEnv), stores.WithGCSEndpoint(server.URL)}},
		"hdfs, basic":  {"hdfs://nn/a", []stores.Option{stores.WithEnv(noEnv), stores.WithWebHDFS(basic)}},
		"hdfs, tokens": {"hdfs://nn/a", []stores.Option{stores.WithEnv(noEnv), stores.WithWebHDFS(server.URL), stores.WithWebHDFSToken(keptToken)}},
	} {
		t.Run(name, func(t *testing.T) {
			snap, err := stores.ReadSavepoint(t.Context(), tc.at, nil, tc.opts...)
			if snap != nil || err == nil {
				t.Fatalf("got %v, want an error", err)
			}
			hidden(t, err)
			store, err := stores.Open(t.Context(), tc.at, tc.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			_, err = store.ReadDir(store.Dir())
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want an error that says %s", err, says)
			}
			hidden(t, err)
		})
	}
}

// Several requests are under way at once, each with a signature of its own: the one
// that is refused need not be the one that was sent last.
func TestASignatureIsTakenOutThoughAnotherWasSentSince(t *testing.T) {
	var requests atomic.Int32
	first, second := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead { // S3's answer to it has no words
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if requests.Add(1) == 1 {
			close(first)
			select {
			case <-second:
			case <-r.Context().Done():
			}
		} else {
			defer close(second)
		}
		w.WriteHeader(http.StatusForbidden)
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: "AccessDenied", Message: r.Header.Get("Authorization")})
	}))
	t.Cleanup(server.Close)
	role := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": keptPassword}[name]
	}
	store, err := stores.Open(t.Context(), "s3://bucket/a", stores.WithEnv(role), stores.WithS3Endpoint(server.URL), stores.WithS3Region("r"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	refused := make(chan error, 1)
	go func() {
		_, err := store.ReadDir(store.Dir() + "/first")
		refused <- err
	}()
	<-first
	_, err = store.ReadDir(store.Dir() + "/second")
	for _, err := range []error{err, <-refused} {
		if err == nil || !strings.Contains(err.Error(), "<secret>") {
			t.Errorf("got %v, want an error of which something was taken out", err)
		}
		hidden(t, err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// hidden looks for what the words and tokens of this test begin with.
func hidden(t *testing.T, err error) {
	t.Helper()
	for _, shown := range []string{fmt.Sprintf("%v", err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		shown = strings.ReplaceAll(shown, "<secret>", "")
		for _, s := range []string{"ses", "tok", "xBearer", "xAWS4", "xBasic", "ya29", "Signature=", base64.StdEncoding.EncodeToString([]byte("user:" + keptPassword))} {
			if strings.Contains(shown, s) {
				t.Errorf("%q is in %s", s, shown)
			}
		}
	}
}
