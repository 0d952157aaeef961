package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	fuzzed = `package fuzzed

func Parse(s string) int {
	switch s {
	case "b":
		return 1
	case "c":
		return 2
	}
	return 0
}
`
	fuzzedTest = `package fuzzed

import (
	"io/fs"
	"path/filepath"
	"testing"
)

func FuzzParse(f *testing.F) {
	n := 0
	_ = filepath.WalkDir("testdata/fixtures", func(string, fs.DirEntry, error) error { n++; return nil })
	if n != 2 {
		f.Fatalf("%d entries, want the folder and its file", n)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if Parse(s) > 2 {
			t.Error(s)
		}
	})
}
`
)

func TestMergeKeepsOfTheCacheWhatReachesMore(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		name = filepath.FromSlash(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(s string) string { return fmt.Sprintf("go test fuzz v1\nstring(%q)\n", s) }
	put(dir+"/go.mod", "module example.com/fuzzed\n\ngo 1.26.0\n")
	put(dir+"/fuzzed.go", fuzzed)
	put(dir+"/fuzzed_test.go", fuzzedTest)
	put(dir+"/testdata/fixtures/one", "1")
	put(dir+"/testdata/fuzz/FuzzParse/old", in("b"))
	put(cache+"/1", in("b"))
	put(cache+"/2", in("c"))
	put(cache+"/3", in("c"))
	put(cache+"/4", in("another"))
	t.Setenv("GOWORK", "off")
	p, err := build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if len(p.targets) != 1 || p.targets[0].name != "FuzzParse" {
		t.Fatalf("targets %+v", p.targets)
	}
	target := p.targets[0]
	target.cache = cache
	corpus := func() string {
		t.Helper()
		kept, err := target.kept()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, k := range kept {
			names[k.name] = true
		}
		return fmt.Sprint(names)
	}
	for _, tt := range []struct {
		left int64
		want map[string]bool
		says string
	}{
		{3, map[string]bool{"old": true}, "0 of 4 found reach more: 4 statement blocks instead of 2; 2 more do, but not within the limit"},
		{1 << 10, map[string]bool{"old": true, "2": true, "4": true}, "2 of 4 found reach more"},
		{1 << 10, map[string]bool{"old": true, "2": true, "4": true}, "0 of 4 found reach more"},
	} {
		left := tt.left
		said, err := target.merge(t.Context(), &left)
		if err != nil {
			t.Fatal(err)
		}
		if got := corpus(); got != fmt.Sprint(tt.want) || left > tt.left || left < 0 {
			t.Errorf("%d bytes: the corpus is %v, want %v; %d are left", tt.left, got, tt.want, left)
		}
		if !strings.Contains(said, tt.says) {
			t.Errorf("%d bytes: it says %q, want %q", tt.left, said, tt.says)
		}
	}

	put(cache+"/5", "no input at all")
	left := int64(1 << 10)
	if _, err := target.merge(t.Context(), &left); err == nil || !strings.Contains(err.Error(), "FuzzParse") {
		t.Errorf("with an input that cannot be read: %v", err)
	}
}
