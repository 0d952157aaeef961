package stores_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/flinkmm2/flinkmm2/stores"
)

const bucket = "my-bucket"

// stage is one kind of store, running in this process.
type stage struct {
	name string
	// root is the location that keys are below.
	root string
	put  func(t testing.TB, key string, content []byte)
	opts []stores.Option
	wire *wire
	// versions is whether the store can tell that an object was replaced.
	versions bool
}

func (s *stage) at(key string) string { return strings.TrimRight(s.root+"/"+key, "/") }

// with is the options of the stage, and more.
func (s *stage) with(opts ...stores.Option) []stores.Option {
	return append(append([]stores.Option{}, s.opts...), opts...)
}

// wire counts and disturbs what goes over the network.
type wire struct {
	*http.Transport
	mu       sync.Mutex
	requests []string
	bytes    int64
	disturb  func(r *http.Request, resp *http.Response)
}

func newWire(t testing.TB) *wire {
	w := &wire{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	t.Cleanup(w.CloseIdleConnections)
	return w
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.requests = append(w.requests, r.Method+" "+r.URL.String())
	disturb := w.disturb
	w.mu.Unlock()
	resp, err := w.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &counted{resp.Body, w}
		if disturb != nil {
			disturb(r, resp)
		}
	}
	return resp, err
}

func (w *wire) reset(disturb func(r *http.Request, resp *http.Response)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests, w.bytes, w.disturb = nil, 0, disturb
}

type counted struct {
	io.ReadCloser
	w *wire
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.w.mu.Lock()
	c.w.bytes += int64(n)
	c.w.mu.Unlock()
	return n, err
}

// noEnv hides the machine's own credentials and endpoints.
func noEnv(string) string { return "" }

func stages(t testing.TB) []*stage {
	t.Helper()
	return []*stage{s3Stage(t), gcsStage(t), hdfsStage(t)}
}

func s3Stage(t testing.TB) *stage {
	t.Helper()
	at := time.Date(2026, 11, 30, 6, 0, 0, 123_000_000, time.UTC)
	backend := s3mem.New(s3mem.WithTimeSource(gofakes3.FixedTimeSource(at)))
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	w := newWire(t)
	return &stage{
		name: "s3", root: "s3://" + bucket, wire: w, versions: true,
		put: func(t testing.TB, key string, content []byte) {
			t.Helper()
			if _, err := backend.PutObject(bucket, key, map[string]string{"Last-Modified": at.Format(http.TimeFormat)}, bytes.NewReader(content), int64(len(content)), nil); err != nil {
				t.Fatal(err)
			}
		},
		opts: []stores.Option{
			stores.WithEnv(noEnv), stores.WithTransport(w), stores.WithS3Endpoint(server.URL), stores.WithS3Region("eu-central-1"),
			stores.WithS3Keys("access", "sesame"),
		},
	}
}

func gcsStage(t testing.TB) *stage {
	t.Helper()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: 0, Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucket})
	w := newWire(t)
	env := func(name string) string {
		if name == "STORAGE_EMULATOR_HOST" {
			return strings.TrimPrefix(fake.URL(), "http://")
		}
		return ""
	}
	return &stage{
		name: "gcs", root: "gs://" + bucket, wire: w, versions: true,
		put: func(_ testing.TB, key string, content []byte) {
			fake.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: key}, Content: content})
		},
		opts: []stores.Option{stores.WithEnv(env), stores.WithTransport(w)},
	}
}

// hdfs is a name node and a data node with the reads of WebHDFS, as Hadoop's page
// "WebHDFS REST API" describes them.
type hdfs struct {
	mu    sync.Mutex
	files map[string][]byte
	data  string // URL of the data node
	token string // that every request to the name node has to have
}

func (h *hdfs) put(_ testing.TB, key string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files["/"+key] = content
}

func refuse(w http.ResponseWriter, code int, exception, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	say(w, map[string]any{"RemoteException": map[string]string{
		"exception": exception, "javaClassName": "java.io." + exception, "message": message,
	}})
}

func say(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func (h *hdfs) nameNode(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, ok := strings.CutPrefix(r.URL.Path, "/webhdfs/v1")
	if !ok {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	if h.token != "" && q.Get("delegation") != h.token {
		refuse(w, http.StatusForbidden, "InvalidToken", "token "+q.Get("delegation")+" is not known")
		return
	}
	name = path.Clean("/" + name)
	content, isFile := h.files[name]
	status := func(suffix string, size int, kind string) map[string]any {
		return map[string]any{"pathSuffix": suffix, "length": size, "type": kind, "modificationTime": 1320171722771, "owner": "flink", "replication": 3}
	}
	children := map[string]map[string]any{}
	for file, c := range h.files {
		if rest, ok := strings.CutPrefix(file, strings.TrimRight(name, "/")+"/"); ok {
			if first, _, nested := strings.Cut(rest, "/"); nested {
				children[first] = status(first, 0, "DIRECTORY")
			} else {
				children[first] = status(first, len(c), "FILE")
			}
		}
	}
	if !isFile && len(children) == 0 {
		refuse(w, http.StatusNotFound, "FileNotFoundException", "File does not exist: "+name+"\n\tat org.apache.hadoop.hdfs")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch q.Get("op") {
	case "GETFILESTATUS":
		s := status("", 0, "DIRECTORY")
		if isFile {
			s = status("", len(content), "FILE")
		}
		say(w, map[string]any{"FileStatus": s})
	case "LISTSTATUS":
		all := []any{}
		for _, c := range children {
			all = append(all, c)
		}
		say(w, map[string]any{"FileStatuses": map[string]any{"FileStatus": all}})
	case "OPEN":
		u, err := url.Parse(h.data)
		if err != nil {
			panic(err)
		}
		q.Del("delegation")
		q.Set("namenoderpcaddress", "nn:8020")
		http.Redirect(w, r, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: r.URL.Path, RawQuery: q.Encode()}).String(), http.StatusTemporaryRedirect)
	default:
		refuse(w, http.StatusBadRequest, "IllegalArgumentException", "Invalid value for webhdfs parameter \"op\"")
	}
}

func (h *hdfs) dataNode(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, _, ok := r.BasicAuth(); ok {
		http.Error(w, "credentials of another host", http.StatusTeapot)
		return
	}
	content := h.files[strings.TrimPrefix(r.URL.Path, "/webhdfs/v1")]
	number := func(name string, none int) int {
		if s := r.URL.Query().Get(name); s != "" {
			n, err := strconv.Atoi(s)
			if err != nil {
				panic(err)
			}
			return n
		}
		return none
	}
	from := min(number("offset", 0), len(content))
	to := min(from+number("length", len(content)), len(content))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(to-from)) // as WebHdfsHandler.onOpen does
	_, _ = w.Write(content[from:to])
}

func newHDFS(t testing.TB) (h *hdfs, nameNode string) {
	t.Helper()
	h = &hdfs{files: map[string][]byte{}}
	data := httptest.NewServer(http.HandlerFunc(h.dataNode))
	t.Cleanup(data.Close)
	// Another host than that of the name node.
	h.data = strings.Replace(data.URL, "127.0.0.1", "localhost", 1)
	name := httptest.NewServer(http.HandlerFunc(h.nameNode))
	t.Cleanup(name.Close)
	return h, name.URL
}

func hdfsStage(t testing.TB) *stage {
	t.Helper()
	h, nameNode := newHDFS(t)
	w := newWire(t)
	return &stage{
		name: "webhdfs", root: strings.Replace(nameNode, "http", "webhdfs", 1), put: h.put, wire: w,
		opts: []stores.Option{stores.WithEnv(noEnv), stores.WithTransport(w)},
	}
}

// upload puts the files of a local folder under a key.
func (s *stage) upload(t testing.TB, dir, key string) {
	t.Helper()
	local := os.DirFS(dir)
	err := fs.WalkDir(local, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(local, name)
		if err == nil {
			s.put(t, path.Join(key, name), content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, s *stage, key string, opts ...stores.Option) *stores.Store {
	t.Helper()
	return openCtx(t.Context(), t, s, key, opts...)
}

func openCtx(ctx context.Context, t testing.TB, s *stage, key string, opts ...stores.Option) *stores.Store {
	t.Helper()
	store, err := stores.Open(ctx, s.at(key), s.with(opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
