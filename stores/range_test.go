package stores_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/stores"
)

// deaf answers every read of a file with all of it, whatever range is asked for.
type deaf struct {
	// head is what the answer has besides; the Content-Length is that of the whole
	// file unless it is chunked.
	head    map[string]string
	status  int
	chunked bool
}

const whole = "0123456789"

func (d deaf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("op") == "GETFILESTATUS" {
		_, _ = w.Write([]byte(`{"FileStatus":{"type":"FILE","length":10}}`))
		return
	}
	if _, gcs := q["alt"]; !gcs && strings.HasPrefix(r.URL.Path, "/storage/") {
		_, _ = w.Write([]byte(`{"name":"a","size":"10","generation":"1"}`))
		return
	}
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("Last-Modified", "Mon, 30 Nov 2026 06:00:00 GMT")
	for k, v := range d.head {
		w.Header().Set(k, v)
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Length", "10")
		return
	}
	if !d.chunked {
		w.Header().Set("Content-Length", "10")
	}
	w.WriteHeader(d.status)
	_, _ = io.WriteString(w, whole[:5])
	w.(http.Flusher).Flush()
	_, _ = io.WriteString(w, whole[5:])
}

// What a server sends for another range than the one that was asked for would be
// spliced into a file unseen.
func TestAnswersOfAnotherRangeAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		server deaf
		at     string // empty: WebHDFS at the server
		want   string
	}{
		"s3 with all":                 {deaf{status: 200}, "s3://bucket/a", `Content-Range "" where "bytes 5-`},
		"s3 with another range":       {deaf{status: 206, head: map[string]string{"Content-Range": "bytes 0-9/10"}}, "s3://bucket/a", `Content-Range "bytes 0-9/10" where "bytes 5-`},
		"s3 with a range like it":     {deaf{status: 206, head: map[string]string{"Content-Range": "bytes 55-64/100"}}, "s3://bucket/a", `where "bytes 5-`},
		"gcs with another range":      {deaf{status: 206, head: map[string]string{"Content-Range": "bytes 0-9/10"}}, "gs://bucket/a", `Content-Range "bytes 0-9/10" where "bytes 5-`},
		"webhdfs with all":            {deaf{status: 200}, "", "the answer has 10 bytes where "},
		"webhdfs, length is not said": {deaf{status: 200, chunked: true}, "", "whether it begins at byte 5 is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tc.server)
			t.Cleanup(s.Close)
			at := tc.at
			if at == "" {
				at = strings.Replace(s.URL, "http", "webhdfs", 1) + "/a"
			}
			f := openFile(t, at, stores.WithEnv(noEnv), stores.WithTransport(newWire(t)),
				stores.WithS3Endpoint(s.URL), stores.WithS3Region("r"), stores.WithS3Keys("a", "b"), stores.WithGCSEndpoint(s.URL), stores.WithGCSAnonymous())
			if n, err := f.(io.ReaderAt).ReadAt(make([]byte, 2), 5); n != 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ReadAt: %d bytes, %v, want %q", n, err, tc.want)
			}
			if _, err := f.(io.Seeker).Seek(5, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(f); len(b) != 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Read after a Seek: %q, %v, want %q", b, err, tc.want)
			}
		})
	}
}

// A gateway that streams without a length, such as HttpFS, can still be read from
// the start.
func TestWebHDFSWithoutALength(t *testing.T) {
	s := httptest.NewServer(deaf{status: 200, chunked: true})
	t.Cleanup(s.Close)
	f := openFile(t, strings.Replace(s.URL, "http", "webhdfs", 1)+"/a", stores.WithEnv(noEnv), stores.WithTransport(newWire(t)))
	if b, err := io.ReadAll(f); err != nil || string(b) != whole {
		t.Errorf("%q, %v", b, err)
	}
}

// The words of a server are bounded, and one line.
func TestWordsOfS3AreCut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<Error><Code>InvalidRequest</Code><Message>one\ntwo"+strings.Repeat(" more", 10_000)+"</Message></Error>")
	}))
	t.Cleanup(s.Close)
	store, err := stores.Open(t.Context(), "s3://bucket/a", stores.WithEnv(noEnv), stores.WithTransport(newWire(t)), stores.WithS3Endpoint(s.URL), stores.WithS3Region("r"), stores.WithS3Keys("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, err = store.ReadDir(store.Dir())
	if err == nil || !strings.Contains(err.Error(), "InvalidRequest: one two more") || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%.700v", err)
	}
}

// The metadata service of a machine is asked through the given transport, too.
func TestS3CredentialsAreFetchedByTheGivenTransport(t *testing.T) {
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	asked := map[string]bool{}
	wire := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked[r.URL.Hostname()] = true
		if r.URL.Hostname() != "s3.example" {
			return nil, errors.New("no such network")
		}
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	store, err := stores.Open(t.Context(), "s3://bucket/a", stores.WithEnv(noEnv), stores.WithTransport(wire), stores.WithS3Endpoint("http://s3.example"), stores.WithS3Region("r"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Open(store.Dir()); err == nil {
		t.Error("what is forbidden can be opened")
	}
	if !asked["169.254.169.254"] {
		t.Errorf("asked: %v", asked)
	}
}

// The port of a data node on the host of the gateway is not the gateway, and
// nothing leads out of TLS.
func TestRedirectsOfWebHDFS(t *testing.T) {
	for name, tc := range map[string]struct {
		to   string
		auth bool
		want string
	}{
		"the same":       {"https://gate.example/data/a", true, ""},
		"another port":   {"https://gate.example:9865/data/a", false, ""},
		"a host below":   {"https://dn.gate.example/data/a", false, ""},
		"out of TLS":     {"http://gate.example/data/a", false, "from https to http"},
		"without an end": {"https://gate.example/webhdfs/v1/a?op=OPEN", true, "10th in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			wire := roundTrip(func(r *http.Request) (*http.Response, error) {
				resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: http.NoBody}
				switch {
				case r.URL.Query().Get("op") == "GETFILESTATUS":
					resp.Body = io.NopCloser(strings.NewReader(`{"FileStatus":{"type":"FILE","length":1}}`))
				case r.URL.Query().Get("op") == "OPEN":
					resp.StatusCode = http.StatusTemporaryRedirect
					resp.Header.Set("Location", tc.to)
				default:
					if _, _, auth := r.BasicAuth(); auth != tc.auth || !auth && strings.Contains(r.Referer(), "delegation") {
						t.Errorf("credentials: %v, Referer %s", auth, r.Referer())
					}
					resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader("x")), 1
				}
				return resp, nil
			})
			f := openFile(t, "hdfs://nn/a", stores.WithEnv(noEnv), stores.WithTransport(wire),
				stores.WithWebHDFS("https://user:sesame@gate.example"), stores.WithWebHDFSToken("abc"))
			b, err := io.ReadAll(f)
			switch {
			case tc.want == "" && (err != nil || string(b) != "x"):
				t.Errorf("%q, %v", b, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "abc")):
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// openFile opens a store at the location of a file, and the file.
func openFile(t *testing.T, at string, opts ...stores.Option) fs.File {
	t.Helper()
	store, err := stores.Open(t.Context(), at, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	f, err := store.Open(store.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
