package stores_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/stores"
)

// Of two name nodes one is a standby, which refuses to read.
func TestActiveNameNodeIsFound(t *testing.T) {
	h, active := newHDFS(t)
	h.put(t, "user/flink/sp/_metadata", []byte("x"))
	asked := 0
	standby := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		refuse(w, http.StatusForbidden, "StandbyException", "Operation category READ is not supported in state standby")
	}))
	t.Cleanup(standby.Close)
	store, err := stores.Open(t.Context(), "hdfs://cluster/user/flink/sp", stores.WithEnv(noEnv), stores.WithTransport(newWire(t)), stores.WithWebHDFS(standby.URL, active))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if store.Dir() != "hdfs:/cluster/user/flink/sp" || store.Location(store.Dir()) != "hdfs://cluster/user/flink/sp" {
		t.Errorf("%s, %s", store.Dir(), store.Location(store.Dir()))
	}
	b, err := fs.ReadFile(store, store.Dir()+"/_metadata")
	if err != nil || string(b) != "x" || asked != 1 {
		t.Errorf("%q, %v, the standby was asked %d times", b, err, asked)
	}
	if _, err := store.Open(store.Dir() + "/other"); !errors.Is(err, fs.ErrNotExist) || asked != 1 {
		t.Errorf("%v, the standby was asked %d times", err, asked)
	}
	both, err := stores.Open(t.Context(), "hdfs://cluster/user/flink/sp", stores.WithEnv(noEnv), stores.WithTransport(newWire(t)), stores.WithWebHDFS(standby.URL, standby.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if _, err := both.Open(both.Dir()); err == nil || !strings.Contains(err.Error(), "StandbyException") {
		t.Error(err)
	}
}

// The name node gets the user, the token or the password; the data node, another
// host, gets what the name node has put into the redirect and nothing else.
func TestWhoIsSaidToWebHDFS(t *testing.T) {
	for name, tc := range map[string]struct {
		opts func(nameNode string) []stores.Option
		want string
	}{
		"user of the environment": {func(string) []stores.Option {
			return []stores.Option{stores.WithEnv(func(n string) string { return map[string]string{"HADOOP_USER_NAME": "flink"}[n] })}
		}, "user.name=flink"},
		"user": {func(string) []stores.Option {
			return []stores.Option{stores.WithEnv(noEnv), stores.WithWebHDFSUser("ops")}
		}, "user.name=ops"},
		"token": {func(string) []stores.Option {
			return []stores.Option{stores.WithEnv(noEnv), stores.WithWebHDFSUser("ops"), stores.WithWebHDFSToken("abc")}
		}, "delegation=abc"},
	} {
		t.Run(name, func(t *testing.T) {
			h, nameNode := newHDFS(t)
			h.put(t, "f", []byte("x"))
			w := newWire(t)
			opts := append(tc.opts(nameNode), stores.WithTransport(w), stores.WithWebHDFS(strings.Replace(nameNode, "//", "//gate:sesame@", 1)))
			store, err := stores.Open(t.Context(), "hdfs://nn/f", opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			// The data node refuses to answer where credentials come along.
			if _, err := fs.ReadFile(store, store.Dir()); err != nil {
				t.Error(err)
			}
			for _, r := range w.requests {
				if strings.Contains(r, nameNode) && (!strings.Contains(r, tc.want) || strings.Contains(tc.want, "delegation") && strings.Contains(r, "user.name")) {
					t.Errorf("sent %s, want %s", r, tc.want)
				}
			}
		})
	}
}

func TestAnswersThatAreNotWebHDFS(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                                "has no FileStatus",
		`<html>login</html>`:                "invalid character",
		`{"FileStatus":{"type"`:             "unexpected EOF",
		`{"FileStatus":{"type":"SYMLINK"}}`: `is a "SYMLINK"`,
		`{"FileStatus":{"type":"FILE","length":-1}}`:     "the length -1",
		`{"FileStatus":{"type":"FILE","length":"many"}}`: "cannot unmarshal",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		store, err := stores.Open(t.Context(), strings.Replace(s.URL, "http", "webhdfs", 1)+"/a", stores.WithEnv(noEnv), stores.WithTransport(newWire(t)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(store.Dir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		store.Close()
		s.Close()
	}
}
