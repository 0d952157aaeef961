package stores_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/stores"
)

const fixtures = "../flinkstate/testdata/savepoints/"

var snapshots = cmp.Options{cmpopts.EquateComparable(offsetmap.NextOffset{}), cmpopts.IgnoreFields(flinkstate.Snapshot{}, "Location")}

func TestEachStoreIsAFileSystem(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			files := []string{"a", "b c/d", "b c/e+f/g%20h", "u/ü", "empty"}
			for _, f := range files {
				s.put(t, "root/"+f, []byte(strings.Repeat(f, 100)))
			}
			s.put(t, "root/none", nil)
			store := open(t, s, "root")
			sub, err := fs.Sub(store, store.Dir())
			if err != nil {
				t.Fatal(err)
			}
			if err := fstest.TestFS(sub, append(files, "none")...); err != nil {
				t.Error(err)
			}
		})
	}
}

// The same positions and the same hashes as from a local folder, whatever the
// store and whatever the place.
func TestSavepointsInEachStore(t *testing.T) {
	for _, s := range stages(t) {
		for fixture, dir := range map[string]string{
			"flink-1.20-savepoint-s3": "state/savepoints/savepoint-c9058f-69468bfc834c",
			"flink-1.20-canonical-p1": "savepoint",
			"flink-2.2-stop-p2":       "savepoint",
		} {
			t.Run(s.name+"/"+fixture, func(t *testing.T) {
				want, err := flinkstate.ReadDir(fixtures + fixture + "/" + dir)
				if err != nil {
					t.Fatal(err)
				}
				key := "flink/" + fixture
				s.upload(t, fixtures+fixture, key)
				for _, end := range []string{"", "/", "/_metadata"} {
					got, err := stores.ReadSavepoint(t.Context(), s.at(key+"/"+dir)+end, nil, s.opts...)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got, snapshots); diff != "" {
						t.Errorf("with %q at the end (-local +store):\n%s", end, diff)
					}
					if loc := s.at(key+"/"+dir) + "/_metadata"; got.Location != loc {
						t.Errorf("location %s, want %s", got.Location, loc)
					}
				}
			})
		}
	}
}

// Files under an injected entropy are named by absolute URI, in the bucket of the
// checkpoint: no entry of a path map is needed. Elsewhere one is.
func TestEntropyInjectedCheckpoint(t *testing.T) {
	const (
		fixture = "flink-1.20-checkpoint-s3-entropy"
		chk     = "checkpoints/3c8a4a5485be4302371a62c817c1dc2d/chk-1"
		written = "s3://my-bucket/flink/" + fixture
	)
	want, err := flinkstate.ReadDir(fixtures+fixture+"/state/"+chk, flinkstate.WithPathMap(map[string]string{written: fixtures + fixture + "/state"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.upload(t, fixtures+fixture+"/state", "flink/"+fixture)
			s.upload(t, fixtures+fixture+"/state", "moved/here")
			var pathMap map[string]string
			if s.name != "s3" {
				pathMap = map[string]string{written: s.at("flink/" + fixture)}
			}
			for name, read := range map[string]func() (*flinkstate.Snapshot, error){
				"where it was written": func() (*flinkstate.Snapshot, error) {
					return stores.ReadSavepoint(t.Context(), s.at("flink/"+fixture+"/"+chk), pathMap, s.opts...)
				},
				"moved": func() (*flinkstate.Snapshot, error) {
					return stores.ReadSavepoint(t.Context(), s.at("moved/here/"+chk), map[string]string{written: s.at("moved/here")}, s.opts...)
				},
				"files on the local disk": func() (*flinkstate.Snapshot, error) {
					return stores.ReadSavepoint(t.Context(), s.at("moved/here/"+chk), map[string]string{written: fixtures + fixture + "/state"}, s.opts...)
				},
				"metadata on the local disk": func() (*flinkstate.Snapshot, error) {
					return stores.ReadSavepoint(t.Context(), fixtures+fixture+"/state/"+chk, map[string]string{written: s.at("moved/here/")}, s.opts...)
				},
				"all of it on the local disk": func() (*flinkstate.Snapshot, error) {
					return stores.ReadSavepoint(t.Context(), fixtures+fixture+"/state/"+chk, map[string]string{written: fixtures + fixture + "/state"}, s.opts...)
				},
			} {
				got, err := read()
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if diff := cmp.Diff(want, got, snapshots); diff != "" {
					t.Errorf("%s (-local +store):\n%s", name, diff)
				}
			}
			if s.name == "s3" {
				return
			}
			_, err := stores.ReadSavepoint(t.Context(), s.at("moved/here/"+chk), nil, s.opts...)
			if !errors.Is(err, flinkstate.ErrMissingFiles) || !strings.Contains(err.Error(), written) {
				t.Errorf("without a path map: %v", err)
			}
		})
	}
}

func TestLocationsAsPeopleHaveThem(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.upload(t, fixtures+"flink-1.20-canonical-p1/savepoint", "my flink/ü/savepoint-1")
			s.upload(t, fixtures+"flink-1.20-canonical-p1/savepoint", "literal/a%20b")
			s.upload(t, fixtures+"flink-2.2-stop-p2/savepoint", "literal/a b")
			for _, tc := range []struct {
				at      string
				version int
			}{
				{"my flink/ü/savepoint-1", 4},
				{"my%20flink/%C3%BC/savepoint-1/", 4},
				{"/my%20flink//%C3%BC/savepoint-1/_metadata", 4},
				{"literal/a%20b", 4},
				{"literal/a b", 6},
			} {
				snap, err := stores.ReadSavepoint(t.Context(), s.at(tc.at), nil, s.opts...)
				if err != nil {
					t.Errorf("%s: %v", tc.at, err)
				} else if snap.MetadataVersion != tc.version {
					t.Errorf("%s: metadata version %d, want %d", tc.at, snap.MetadataVersion, tc.version)
				}
			}
		})
	}
}

func TestSchemesOfS3AreOneStore(t *testing.T) {
	s := s3Stage(t)
	s.upload(t, fixtures+"flink-1.20-canonical-p1/savepoint", "a/savepoint-1")
	for _, scheme := range []string{"s3", "s3a", "s3p", "s3n", "S3"} {
		if _, err := stores.ReadSavepoint(t.Context(), scheme+"://"+bucket+"/a/savepoint-1", nil, s.opts...); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.put(t, "flink/savepoint-1/other", []byte("x"))
			store := open(t, s, "flink")
			for _, name := range []string{"savepoint-1/_metadata", "savepoint", "savepoint-1/other/below"} {
				if _, err := store.Open(store.Dir() + "/" + name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), store.Dir()+"/"+name) {
					t.Errorf("%s: %v", name, err)
				}
			}
			_, err := stores.ReadSavepoint(t.Context(), s.at("flink/savepoint-1"), nil, s.opts...)
			if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.Contains(err.Error(), "in the folder there is other") {
				t.Errorf("a folder without metadata: %v", err)
			}
			_, err = stores.ReadSavepoint(t.Context(), s.at("flink/savepoint-2"), nil, s.opts...)
			if !errors.Is(err, flinkstate.ErrNoMetadata) {
				t.Errorf("no such folder: %v", err)
			}
		})
	}
}

// Buckets have no folders: there are as many as keys need, and some that an empty
// object stands for. Lists come in pages.
func TestFoldersOfBuckets(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			if s.versions {
				s.put(t, "made/", nil)
			}
			many := 20
			if s.name == "s3" {
				many = 1100 // more than a page; the emulator of GCS takes a minute for so many
			}
			for i := range many {
				s.put(t, fmt.Sprintf("many/%04d", i), []byte("x"))
				s.put(t, fmt.Sprintf("many/%04d/below", i), []byte("x"))
			}
			store := open(t, s, "")
			all, err := fs.ReadDir(store, store.Dir()+"/many")
			// A key can be an object and a folder at once; an fs.FS has one name for it.
			if err != nil || len(all) != many || all[0].Name() != "0000" || all[many-1].Name() != fmt.Sprintf("%04d", many-1) {
				t.Errorf("%d entries, %v", len(all), err)
			}
			if !s.versions {
				return
			}
			if info, err := fs.Stat(store, store.Dir()+"/made"); err != nil || !info.IsDir() {
				t.Errorf("an empty object in the place of a folder: %v, %v", info, err)
			}
			if all, err := fs.ReadDir(store, store.Dir()+"/made"); err != nil || len(all) != 0 {
				t.Errorf("in it: %v, %v", all, err)
			}
		})
	}
}

// A bucket that is not there, or a server that is another, does not make it look
// as if only the savepoint were missing.
func TestPlaceThatIsNotThereIsSaid(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	s3, gcs := s3Stage(t), gcsStage(t)
	for at, tc := range map[string]struct {
		opts []stores.Option
		want string
	}{
		"s3://other-bucket/a": {s3.opts, "s3 has no bucket other-bucket"},
		"gs://other-bucket/a": {gcs.opts, "google cloud storage has no bucket other-bucket"},
		"gs://elsewhere/a":    {[]stores.Option{stores.WithEnv(noEnv), stores.WithTransport(newWire(t)), stores.WithGCSEndpoint(other.URL), stores.WithGCSAnonymous()}, "none of Google Cloud Storage"},
		"hdfs://elsewhere/a":  {[]stores.Option{stores.WithEnv(noEnv), stores.WithTransport(newWire(t)), stores.WithWebHDFS(other.URL)}, "none of WebHDFS"},
	} {
		_, err := stores.ReadSavepoint(t.Context(), at, nil, tc.opts...)
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, flinkstate.ErrNoMetadata) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %s", at, err, tc.want)
		}
	}
}

// A file is read from the byte that is asked for, and no further than needed.
func TestRanges(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			content := make([]byte, 4<<20)
			for i := range content {
				content[i] = byte(i * 7 >> 3)
			}
			s.put(t, "big", content)
			store := open(t, s, "big")
			s.wire.reset(nil)
			f, err := store.Open(store.Dir())
			if err != nil {
				t.Fatal(err)
			}
			p := make([]byte, 1000)
			for _, off := range []int64{0, 1, 3 << 20, int64(len(content)) - 1000} {
				if n, err := f.(io.ReaderAt).ReadAt(p, off); n != 1000 || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p, content[off:off+1000]) {
					t.Errorf("at %d: %d bytes, %v", off, n, err)
				}
			}
			if s.wire.bytes > 16_000 {
				t.Errorf("4 ranges of 1000 bytes made %d over the wire", s.wire.bytes)
			}
			if n, err := f.(io.ReaderAt).ReadAt(p, int64(len(content))-10); n != 10 || !errors.Is(err, io.EOF) || !bytes.Equal(p[:10], content[len(content)-10:]) {
				t.Errorf("over the end: %d bytes, %v", n, err)
			}
			if _, err := f.(io.ReaderAt).ReadAt(p, int64(len(content))); !errors.Is(err, io.EOF) {
				t.Errorf("behind the end: %v", err)
			}
			if _, err := f.(io.Seeker).Seek(-5000, io.SeekEnd); err != nil {
				t.Error(err)
			}
			if rest, err := io.ReadAll(f); err != nil || !bytes.Equal(rest, content[len(content)-5000:]) {
				t.Errorf("after a seek: %d bytes, %v", len(rest), err)
			}
			if _, err := f.(io.Seeker).Seek(0, io.SeekStart); err != nil {
				t.Error(err)
			}
			if all, err := io.ReadAll(f); err != nil || !bytes.Equal(all, content) {
				t.Errorf("from the start: %d bytes, %v", len(all), err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := f.Read(p); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// State that is not needed is not even asked for.
func TestOnlyWhatIsNeededIsAskedFor(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.upload(t, fixtures+"flink-1.20-savepoint-s3/state", "sp")
			s.put(t, "sp/savepoints/savepoint-c9058f-69468bfc834c/window-state", make([]byte, 8<<20))
			s.wire.reset(nil)
			if _, err := stores.ReadSavepoint(t.Context(), s.at("sp/savepoints/savepoint-c9058f-69468bfc834c"), nil, s.opts...); err != nil {
				t.Fatal(err)
			}
			if s.wire.bytes > 64<<10 {
				t.Errorf("%d bytes over the wire", s.wire.bytes)
			}
			for _, r := range s.wire.requests {
				if strings.Contains(r, "window-state") || !strings.HasPrefix(r, "GET ") && !strings.HasPrefix(r, "HEAD ") {
					t.Errorf("sent %s", r)
				}
			}
		})
	}
}

// cutter ends the body of each answer after some bytes.
type cutter struct {
	io.ReadCloser
	left int
}

func (c *cutter) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errors.New("connection reset by the test")
	}
	n, err := c.ReadCloser.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func TestCutStreamsAreResumed(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 10_000)
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.put(t, "file", content)
			store := open(t, s, "file")
			for _, tc := range []struct {
				after int
				whole bool
			}{{40_000, true}, {1_000, false}} {
				s.wire.reset(func(_ *http.Request, resp *http.Response) {
					if resp.ContentLength > 1000 || resp.ContentLength < 0 {
						resp.Body = &cutter{resp.Body, tc.after}
					}
				})
				got, err := fs.ReadFile(store, store.Dir())
				if tc.whole && (err != nil || !bytes.Equal(got, content)) {
					t.Errorf("cut after %d: %d bytes, %v", tc.after, len(got), err)
				}
				if !tc.whole && (err == nil || !strings.Contains(err.Error(), "read "+store.Dir()+": byte 4000 of 100000, after 4 attempts: connection reset by the test")) {
					t.Errorf("cut after %d: %v", tc.after, err)
				}
			}
		})
	}
}

func TestObjectThatIsReplacedMeanwhile(t *testing.T) {
	for _, s := range stages(t) {
		if !s.versions {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			s.put(t, "file", []byte("one"))
			store := open(t, s, "file")
			f, err := store.Open(store.Dir())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s.put(t, "file", []byte("two"))
			if got, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "replaced") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestContextEndsReads(t *testing.T) {
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.put(t, "file", []byte("one"))
			ctx, cancel := context.WithCancel(t.Context())
			store := openCtx(ctx, t, s, "file")
			cancel()
			if _, err := store.Open(store.Dir()); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func TestLocationsThatAreNone(t *testing.T) {
	for at, want := range map[string]string{
		"":                                   "empty",
		"oss://bucket/a":                     "not supported",
		"abfs://c@account/a":                 "not supported",
		"http://host/a":                      "not supported",
		"s3:/bucket/a":                       "want s3://bucket/path",
		"s3://":                              "want s3://bucket/path",
		"s3:///a":                            "want s3://bucket/path",
		"s3://key:hunter2@bucket/a":          "credentials have no place",
		"s3://bucket:9000/a":                 "is not the name of a bucket",
		"s3://bucket/a/../b":                 `path element ".."`,
		"gs://b?x=1/a":                       "is not the name of a bucket",
		"hdfs://nn:8020/a":                   "webhdfs://NAMENODE:9870",
		"webhdfs://nn:port/a":                "endpoint of WebHDFS",
		"file://elsewhere/a":                 "no file: URI of a local absolute path",
		filepath.Join(t.TempDir(), "a", "b"): "no such file",
	} {
		store, err := stores.Open(t.Context(), at, stores.WithEnv(noEnv))
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %q", at, err, want)
		}
	}
	if _, err := stores.Open(t.Context(), "oss://b/a"); !errors.Is(err, flinkstate.ErrUnsupported) {
		t.Error(err)
	}
}

func TestLocalFoldersAreNotLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "sp", "link")); err != nil {
		t.Skip(err)
	}
	store, err := stores.Open(t.Context(), "file://"+filepath.ToSlash(dir)+"/sp")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, name := range []string{store.Dir() + "/link", path.Dir(store.Dir()) + "/secret", "file:/etc/passwd"} {
		if _, err := store.Open(name); err == nil {
			t.Errorf("%s can be read", name)
		}
	}
}

func TestNoSecretInErrors(t *testing.T) {
	const secret = "sesame-open"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "forbidden")
	}))
	t.Cleanup(echo.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	h, nameNode := newHDFS(t)
	h.token = "another"
	for name, tc := range map[string]struct {
		at   string
		opts []stores.Option
		want error
	}{
		"s3, refused":      {"s3://bucket/a", []stores.Option{stores.WithS3Endpoint(echo.URL), stores.WithS3Region("r"), stores.WithS3Keys("access", secret)}, fs.ErrPermission},
		"gcs, refused":     {"gs://bucket/a", []stores.Option{stores.WithGCSEndpoint(echo.URL), stores.WithGCSAnonymous()}, fs.ErrPermission},
		"hdfs, refused":    {"hdfs://nn/a", []stores.Option{stores.WithWebHDFS(strings.Replace(echo.URL, "http://", "http://user:"+secret+"@", 1))}, fs.ErrPermission},
		"hdfs, bad token":  {"hdfs://nn/a", []stores.Option{stores.WithWebHDFS(nameNode), stores.WithWebHDFSToken(secret)}, nil},
		"hdfs, unreached":  {"hdfs://nn/a", []stores.Option{stores.WithWebHDFS(gone.URL), stores.WithWebHDFSToken(secret)}, nil},
		"s3, bad endpoint": {"s3://bucket/a", []stores.Option{stores.WithEnv(func(string) string { return "http://a:" + secret + " b@c" })}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t)
			opts := append([]stores.Option{stores.WithEnv(noEnv), stores.WithTransport(w)}, tc.opts...)
			_, err := stores.ReadSavepoint(t.Context(), tc.at, nil, opts...)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
				t.Errorf("the secret is in %v", err)
			}
		})
	}
}
