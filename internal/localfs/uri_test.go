package localfs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

func TestURIsOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	both := filepath.Join(dir, "literal%20name")
	if err := os.Mkdir(both, 0o700); err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]string{
		"file:/a/b":                         "/a/b",
		"file:///a/b/":                      "/a/b",
		"file://localhost/a":                "/a",
		"FILE:/a":                           "/a",
		"file:/a b/c":                       "/a b/c",
		"file:/a%20b/%E8%AE%A2":             "/a b/订",
		"file:/100%/a":                      "/100%/a",
		"file:" + dir + "/literal%20name":   both,
		"file:" + dir + "/other%20name":     filepath.Join(dir, "other name"),
		"file:" + dir + "/literal%2520name": both,
		"file://host/a":                     "",
		"file:a":                            "",
		"file:":                             "",
		"file://":                           "",
		"file://localhost":                  "",
	} {
		if !localfs.IsURI(uri) {
			t.Errorf("%s is taken for no file: URI", uri)
		}
		if got, ok := localfs.FromURI(uri); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", uri, got, ok, want)
		}
	}
	for _, s := range []string{"", "file", "/file:/a", "files:/a", "s3://a"} {
		if localfs.IsURI(s) {
			t.Errorf("%q is taken for a file: URI", s)
		}
	}
}
