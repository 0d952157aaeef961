package flinkstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type nextOffsets = map[offsetmap.TopicPartition]offsetmap.NextOffset

// moved is a source as a Rewrite leaves it.
func moved(src flinkstate.Source, r flinkstate.Rewrite) flinkstate.Source {
	src.Partitions = slices.Clone(src.Partitions)
	for i := range src.Partitions {
		p := &src.Partitions[i]
		if n, ok := r.Next[p.TopicPartition]; ok && p.Cluster == r.Cluster {
			p.Next, p.Unread = n, offsetmap.Marker(0)
		}
	}
	return src
}

// notRewritten are fixtures that are refused, and why.
var notRewritten = map[string]flinkstate.RewriteCode{
	"flink-1.10-legacy-savepoint":                  flinkstate.HandleNotMovable, // metadata version 2
	"flink-1.10-legacy-stop":                       flinkstate.HandleNotMovable,
	"flink-1.15-unaligned-inflight":                flinkstate.StateInFlight,
	"flink-1.20-unaligned-inflight":                flinkstate.StateInFlight,
	"flink-2.2-unaligned-inflight":                 flinkstate.StateInFlight,
	"flink-2.3-unaligned-file-merging":             flinkstate.StateInFlight,
	"flink-1.20-checkpoint-changelog":              flinkstate.HandleNotMovable, // keyed state
	"flink-1.20-checkpoint-file-merging":           flinkstate.HandleNotMovable,
	"flink-2.0-checkpoint-changelog":               flinkstate.HandleNotMovable,
	"flink-2.0-checkpoint-file-merging":            flinkstate.HandleNotMovable,
	"flink-2.2-checkpoint-file-merging":            flinkstate.HandleNotMovable,
	"flink-2.2-checkpoint-file-merging-rocksdb":    flinkstate.HandleNotMovable,
	"flink-2.2-checkpoint-rocksdb-incr":            flinkstate.HandleNotMovable,
	"flink-2.3-checkpoint-changelog-rocksdb":       flinkstate.HandleNotMovable,
	"flink-2.3-checkpoint-file-merging-compressed": flinkstate.HandleNotMovable,
}

// Each source of each fixture can be set to other offsets, in all forms that Flink
// writes, and nothing else differs then. Of state that is not compressed that holds for
// every byte; and the way back gives the old bytes.
func TestRewrittenFixturesDifferInTheirOffsetsAlone(t *testing.T) {
	t.Parallel()
	rewritten := 0
	for _, e := range fixtures(t) {
		if slices.Contains(withoutAny, e.Name) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			old, err := e.Open(flinkstate.WithSinkFiles())
			if err != nil {
				t.Fatal(err)
			}
			for i, src := range old.Sources {
				for _, cluster := range golden.Clusters(src) {
					r := golden.Beyond(src, cluster)
					p, err := flinkstate.PrepareRewrite(os.DirFS(e.Dir), e.Pointer, r, flinkstate.WithPathMap(e.PathMap))
					if code, refused := notRewritten[e.Name]; refused {
						expectRefused(t, err, code)
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					to := write(t, p)
					is, err := flinkstate.ReadDir(to, flinkstate.WithSinkFiles())
					if err != nil {
						t.Fatal(err)
					}
					want := slices.Clone(old.Sources)
					want[i] = moved(src, r)
					same(t, "sources", want, is.Sources)
					same(t, "sinks", old.Sinks, is.Sinks)
					same(t, "states", inventory(old), inventory(is))
					if !compressed(t, to) {
						differInOffsets(t, filepath.Join(e.Dir, e.Pointer), to, p.Changes())
						back(t, to, filepath.Join(e.Dir, e.Pointer), src, r)
					}
				}
			}
		})
		rewritten++
	}
	if rewritten < 110 {
		t.Errorf("only %d fixtures", rewritten)
	}
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got, offsets); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

// inventory is what the operators have, without their sizes: a part of a file becomes
// a file, an encoded offset may take more bytes.
func inventory(s *flinkstate.Snapshot) []flinkstate.Operator {
	ops := slices.Clone(s.Operators)
	for i := range ops {
		ops[i].Bytes = flinkstate.Sizes{}
	}
	return ops
}

func write(t *testing.T, p *flinkstate.PreparedRewrite) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "rewritten")
	w, err := p.WriteDir(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if w.Location != to || !slices.Equal(w.Changes, p.Changes()) || len(w.Files) == 0 {
		t.Errorf("written: %+v", w)
	}
	return to
}

func expectRefused(t *testing.T, err error, code flinkstate.RewriteCode) {
	t.Helper()
	refused, ok := errors.AsType[*flinkstate.RewriteError](err)
	if !ok || !errors.Is(err, flinkstate.ErrRewrite) || !slices.ContainsFunc(refused.Problems, func(p flinkstate.RewriteProblem) bool { return p.Code == code }) {
		t.Errorf("got %v, want %s", err, code)
	}
}

// differInOffsets compares the files of two savepoints byte by byte. Bytes may differ
// where a partition's name has its old offset behind it, and no others.
func differInOffsets(t *testing.T, from, to string, changes []flinkstate.SplitChange) {
	t.Helper()
	for name, is := range contents(t, to) {
		was, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was named by absolute URI
		}
		if err != nil || len(was) != len(is) {
			if name == "_metadata" {
				continue // a handle became relative
			}
			t.Errorf("%s: %d bytes were %d, %v", name, len(is), len(was), err)
			continue
		}
		may := make([]bool, len(was))
		for _, c := range changes {
			for _, at := range fields(was, c) {
				for i := range 8 {
					may[at+i] = true
				}
			}
		}
		for i := range was {
			if was[i] != is[i] && !may[i] {
				t.Errorf("%s differs at byte %d, which is in no offset", name, i)
				break
			}
		}
	}
}

func compressed(t *testing.T, dir string) bool {
	for _, b := range contents(t, dir) {
		if bytes.Contains(b, []byte(streamID)) {
			return true
		}
	}
	return false
}

// fields are the places at which a partition's old offset stands behind its name.
func fields(b []byte, c flinkstate.SplitChange) (at []int) {
	legacy := []byte(c.Topic)
	if 1 < len(legacy) && len(legacy) < 64 {
		legacy[len(legacy)-1] |= 0x80
	}
	var patterns [][]byte
	if v, ok := c.From.Value(); ok {
		patterns = append(patterns, binary.BigEndian.AppendUint64(legacy, uint64(v-1)), binary.BigEndian.AppendUint64(put(c.Topic, int(c.Partition)), uint64(v)))
	} else {
		for marker := range int64(3) {
			patterns = append(patterns, put(c.Topic, int(c.Partition), -1-marker), binary.BigEndian.AppendUint64(bytes.Clone(legacy), uint64(-915623761775+marker)))
		}
	}
	for _, p := range patterns {
		for from := 0; ; {
			i := bytes.Index(b[from:], p)
			if i < 0 {
				break
			}
			from += i + 1
			at = append(at, from-1+len(p)-8)
		}
	}
	return at
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// back sets the source of a rewritten savepoint to its old offsets again: the files are
// those of the old one then. What follows a rewrite cannot be before it, so the way back
// begins with one to offset 0.
func back(t *testing.T, rewritten, old string, src flinkstate.Source, r flinkstate.Rewrite) {
	t.Helper()
	was := nextOffsets{}
	for _, p := range src.Partitions {
		if _, named := r.Next[p.TopicPartition]; named && p.Cluster == r.Cluster {
			if p.Next.IsNone() {
				return // a marker cannot be written
			}
			was[p.TopicPartition] = p.Next
		}
	}
	files := contents(t, rewritten)
	if _, err := flinkstate.PrepareRewriteDir(rewritten, flinkstate.Rewrite{Source: r.Source, Cluster: r.Cluster, Next: was, Kept: r.Kept}); len(was) > 0 {
		expectRefused(t, err, flinkstate.PositionRewound)
	}
	down := zeroed(t, files, src, r)
	p, err := flinkstate.PrepareRewriteDir(down, flinkstate.Rewrite{Source: r.Source, Cluster: r.Cluster, Next: was, Kept: r.Kept})
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range contents(t, write(t, p)) {
		if was, err := os.ReadFile(filepath.Join(old, name)); err == nil && len(was) == len(is) && !bytes.Equal(was, is) {
			t.Errorf("%s is not what it was before, after the way back", name)
		}
	}
}

// zeroed writes the files with offset 0 in the place of what r has written.
func zeroed(t *testing.T, files map[string][]byte, src flinkstate.Source, r flinkstate.Rewrite) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		b = bytes.Clone(b)
		for _, p := range src.Partitions {
			n, named := r.Next[p.TopicPartition]
			if !named || p.Cluster != r.Cluster {
				continue
			}
			zero := uint64(0)
			if src.Kind == flinkstate.FlinkKafkaConsumer {
				zero--
			}
			for _, at := range fields(b, flinkstate.SplitChange{TopicPartition: p.TopicPartition, From: n}) {
				binary.BigEndian.PutUint64(b[at:], zero)
			}
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// All that a Rewrite has said is listed.
func TestChangesOfARewrite(t *testing.T) {
	j := oneSource(t, assigned("orders", 0, 1, 2, 3),
		reader(split("orders", 0, 5, noStop), split("orders", 1, -2, noStop)),
		reader(split("orders", 2, 7, 900), split("orders", 3, 8, noStop)))
	r := flinkstate.Rewrite{
		Next: nextOffsets{{Topic: "orders", Partition: 0}: next(t, 50), {Topic: "orders", Partition: 1}: next(t, 0), {Topic: "orders", Partition: 2}: next(t, 7)},
		Kept: []offsetmap.TopicPartition{{Topic: "orders", Partition: 3}},
	}
	p, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", r)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes", []flinkstate.SplitChange{
		{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 0}, How: flinkstate.SplitMoved, From: next(t, 5), To: next(t, 50)},
		{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 1}, How: flinkstate.SplitFromMarker, Marker: offsetmap.Earliest, To: next(t, 0)},
		{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 2}, How: flinkstate.SplitUnchanged, From: next(t, 7), To: next(t, 7), Stop: next(t, 900), Subtask: 1},
		{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 3}, How: flinkstate.SplitKept, From: next(t, 8), To: next(t, 8), Subtask: 1},
	}, p.Changes())
	if got := p.Snapshot().Sources[0].Partitions[0].Next; got != next(t, 5) {
		t.Errorf("the old savepoint stands at %v", got)
	}
	snap, err := flinkstate.ReadDir(write(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listed(snap.Sources[0].Partitions), listed(moved(p.Snapshot().Sources[0], r).Partitions); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
