package flinkstate_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// prepared is a rewrite of a savepoint in a local folder, with a file of positions and
// one of keyed state.
func prepared(t *testing.T) (p *flinkstate.PreparedRewrite, from string) {
	t.Helper()
	stream, at := plainStream(split("orders", 0, 5, noStop))
	j := oneSource(t, assigned("orders", 0), handle(relative("positions", len(stream)), listState{readerState, 0, at}))
	j.operators[0].subtasks[0].keyed = put(int8(3), 0, 1, int64(0), relative("keyed/state", 4))
	from = t.TempDir()
	for name, b := range map[string][]byte{"_metadata": j.bytes(), "positions": stream, "keyed/state": []byte("keys")} {
		path := filepath.Join(from, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := flinkstate.PrepareRewriteDir(from, flinkstate.Rewrite{Next: ordersAt(t, 50)})
	if err != nil {
		t.Fatal(err)
	}
	return p, from
}

// A rewritten savepoint is a folder of its own, which needs nothing of the old one.
func TestARewrittenSavepointIsWholeByItself(t *testing.T) {
	p, from := prepared(t)
	before := contents(t, from)
	to := write(t, p)
	for name, b := range contents(t, from) {
		if string(before[name]) != string(b) {
			t.Errorf("%s of the old savepoint has changed", name)
		}
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	snap, err := flinkstate.ReadDir(to)
	if err != nil || snap.Sources[0].Partitions[0].Next != next(t, 50) {
		t.Errorf("got %+v, %v", snap, err)
	}
	if is := contents(t, to); string(is["keyed/state"]) != "keys" || len(is) != 3 {
		t.Errorf("files: %v", is)
	}
	if info, err := os.Stat(filepath.Join(to, "_metadata")); err != nil || info.Mode().Perm()&0o444 != 0o444 {
		t.Errorf("Flink could not read it: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("Flink could not list it: %v, %v", info.Mode(), err)
	}
}

// On an error there is nothing: no folder, no part of one.
func TestARewriteThatFailsLeavesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, from, to string)
		says  string
		is    error
	}{
		"the folder exists": {func(t *testing.T, _, to string) { must(t, os.Mkdir(to, 0o755)) }, "a folder of its own", fs.ErrExist},
		"canceled":          {nil, "", context.Canceled},
		"a file has gone":   {func(t *testing.T, from, _ string) { must(t, os.Remove(filepath.Join(from, "keyed/state"))) }, "keyed/state", fs.ErrNotExist},
		"a file is shorter": {func(t *testing.T, from, _ string) { must(t, os.Truncate(filepath.Join(from, "keyed/state"), 2)) }, "2 bytes of it could be read, the metadata names 4", nil},
		"a file is longer": {func(t *testing.T, from, _ string) {
			must(t, os.WriteFile(filepath.Join(from, "keyed/state"), []byte("keys and more"), 0o600))
		}, "it has more than the 4 bytes that the metadata names", nil},
		"there is no such parent": {func(t *testing.T, _, to string) { must(t, os.Remove(filepath.Dir(to))) }, "no such file", fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			p, from := prepared(t)
			parent := filepath.Join(t.TempDir(), "parent")
			must(t, os.Mkdir(parent, 0o755))
			to := filepath.Join(parent, "to")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.spoil != nil {
				tt.spoil(t, from, to)
			} else {
				cancel()
			}
			_, err := p.WriteDir(ctx, to)
			if err == nil || !strings.Contains(err.Error(), tt.says) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %q and %v", err, tt.says, tt.is)
			}
			if left, _ := filepath.Glob(filepath.Join(parent, ".*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
				t.Errorf("left in the folder: %v", entries)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was read to decide is what is copied.
func TestASavepointThatChangesMeanwhileIsNotRewritten(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop))
	kept, atKept := plainStream(split("orders", 1, 6, noStop))
	j := oneSource(t, assigned("orders", 0, 1),
		handle(relative("a", len(stream)), listState{readerState, 0, at}),
		handle(relative("b", len(kept)), listState{readerState, 0, atKept}))
	fsys := j.fsys(map[string][]byte{"sp/a": stream, "sp/b": kept})
	r := flinkstate.Rewrite{Next: ordersAt(t, 50, 6)}
	p, err := flinkstate.PrepareRewrite(fsys, "sp", r, flinkstate.WithoutHashes())
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte{}, kept...)
	other[len(other)-9]++ // its offset
	fsys["sp/b"].Data = other
	if _, err := p.WriteDir(t.Context(), filepath.Join(t.TempDir(), "to")); err == nil || !strings.Contains(err.Error(), "it has changed since the savepoint was read") {
		t.Errorf("got %v", err)
	}
}

// A new savepoint whose positions lie in a file has the _metadata of the old one, so
// that its hash says nothing of where it stands.
func TestSavepointsOfOneMetadataAreToldApart(t *testing.T) {
	p, from := prepared(t)
	q, err := flinkstate.PrepareRewriteDir(from, flinkstate.Rewrite{Next: ordersAt(t, 51)})
	if err != nil {
		t.Fatal(err)
	}
	if p.SHA256() != q.SHA256() || p.Digest() == q.Digest() {
		t.Errorf("_metadata %s and %s, digests %s and %s", p.SHA256(), q.SHA256(), p.Digest(), q.Digest())
	}
	to := write(t, p)
	if err := p.Check(t.Context(), "file:"+to); err != nil {
		t.Error(err)
	}
	for name, dir := range map[string]string{"the old one": from, "another position": write(t, q), "none": t.TempDir()} {
		if err := p.Check(t.Context(), dir); err == nil {
			t.Errorf("%s: taken for the new one", name)
		}
	}
	must(t, os.WriteFile(filepath.Join(to, "keyed/state"), []byte("KEYS"), 0o600))
	if err := p.Check(t.Context(), to); err == nil || !strings.Contains(err.Error(), "keyed/state is not what is to be written there") {
		t.Errorf("a file beside it has changed: %v", err)
	}
}

// The old savepoint is not touched, by whatever name its folder is reached.
func TestANewSavepointDoesNotLieInTheOldOne(t *testing.T) {
	p, from := prepared(t)
	before := len(contents(t, from))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(from, link))
	for _, to := range []string{filepath.Join(from, "new"), filepath.Join(from, "keyed", "new"), filepath.Join(link, "new"), "file:" + from + "/new/"} {
		if _, err := p.WriteDir(t.Context(), to); err == nil || !strings.Contains(err.Error(), "lies in the old savepoint") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if n := len(contents(t, from)); n != before {
		t.Errorf("%d files, there were %d", n, before)
	}
}

// A path that no plan could name is refused before anything is written.
func TestANewSavepointHasANameThatAPlanCanHold(t *testing.T) {
	p, _ := prepared(t)
	if _, err := p.WriteDir(t.Context(), filepath.Join(t.TempDir(), "a\xff")); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("got %v", err)
	}
}
