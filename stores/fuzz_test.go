package stores

import (
	"io/fs"
	"testing"
)

// FuzzLocation: a location that is taken leads to a path that fs.FS can name, in
// its own store, and back to a location of the same meaning.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{
		"/flink/savepoint-1", "file:///flink/savepoint-1/_metadata", "s3://bucket/a%20b/", "s3a://b//a", "gs://bucket", "webhdfs://nn:9870/a b",
		"s3://bucket/../x", "s3://k:s@b/x", `C:\flink`, "hdfs:///a", "s3://b/\xff", "s3://.", "hdfs://../a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := parseLocation(s)
		if err != nil || l.isLocal() {
			return
		}
		name := l.name()
		if !fs.ValidPath(name) {
			t.Errorf("%q has the path %q", s, name)
		}
		if name != l.mount() && name[:len(l.mount())+1] != l.mount()+"/" {
			t.Errorf("%q leads out of its store: %q", s, name)
		}
		again, err := parseLocation(uri(name))
		if err != nil || again != l {
			t.Errorf("%q is %+v, and by way of %q it is %+v, %v", s, l, uri(name), again, err)
		}
	})
}
