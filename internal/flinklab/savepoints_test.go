package flinklab

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The newest release of each line for which there are artifacts of Flink and of a Kafka connector that runs on it.
const (
	newest1 = "1.20.5"
	newest2 = "2.3.0"
)

var (
	release   = flag.String("flinklab.release", "", "the one release that TestSavepointsOfRealJobs runs, FLINK or FLINK/CONNECTOR; by default, the newest of each line")
	scenarios = flag.String("flinklab.scenarios", "", "comma-separated scenarios, or all; by default, a few that show the most")
	out       = flag.String("flinklab.out", "", "existing folder that keeps the fixtures; by default, none does")
	stateRoot = flag.String("flinklab.state", "", "folder that the jobs keep their state in, and that absolute paths in it name; by default, a temporary one")
)

// stopped, a checkpoint whose operator state Flink put into files of its own, and the forms that only one line has.
var some = map[string][]string{
	newest1: {"stop-p2", "checkpoint-rocksdb-incr", "legacy-p2"},
	newest2: {"stop-p2", "checkpoint-file-merging-compressed", "dynamic-p2"},
}

// What a job of the newest releases leaves is read as Flink's and the connector's own classes read it.
func TestSavepointsOfRealJobs(t *testing.T) {
	t.Parallel()
	Require(t)
	lab.Require(t, lab.JVM)
	l := lab.Start(t, lab.Options{})
	l.Worker.Kill(t) // nobody asks it
	if *release != "" {
		t.Run(*release, func(t *testing.T) { compare(t, l.Source.Bootstrap, *release) })
		return
	}
	// Each on a broker of its own: they use the same topics.
	for version, broker := range map[string]*lab.Broker{newest1: l.Source, newest2: l.Target} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			compare(t, broker.Bootstrap, version)
		})
	}
}

func compare(t *testing.T, bootstrap, version string) {
	r, err := FindRelease(version)
	if err != nil {
		t.Fatal(err)
	}
	o := GeneratorOptions{Bootstrap: bootstrap, Out: *out, StateRoot: *stateRoot}
	if o.Out == "" {
		o.Out = t.TempDir()
	}
	if o.StateRoot == "" {
		o.StateRoot = t.TempDir()
	}
	for _, dir := range []string{o.Out, o.StateRoot} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Fatalf("%s is no folder: %v", dir, err)
		}
	}
	if r.old() {
		compareOld(t, r, o)
		return
	}
	names := some[version]
	if *scenarios == "" {
		r.Profiles = "" // some need none of them, and they are half of what is to be fetched
	} else if *scenarios != "all" {
		names = strings.Split(*scenarios, ",")
	}
	g := StartGenerator(t, r, o)
	if *scenarios == "all" {
		names = g.Scenarios(t)
	}
	if len(names) == 0 {
		t.Fatalf("no scenario of Flink %s is named", version)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			f := g.Make(t, name)
			agree(t, f)
			rewritten(t, g, f)
		})
	}
	t.Run("rewritten fixtures", func(t *testing.T) { rewrittenFixtures(t, g, version) })
}

// rewrittenFixtures gives the fixtures of a line other offsets and has a release read them that is not older.
func rewrittenFixtures(t *testing.T, g *Generator, version string) {
	line, minor := lineOf(t, version)
	all, err := golden.LoadAll("../../flinkstate/testdata/savepoints")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if l, m := lineOf(t, f.FlinkVersion); l == line && m <= minor {
			n += rewritten(t, g, f)
		}
	}
	if n < 40 && (version == newest1 || version == newest2) {
		t.Errorf("%d savepoints were rewritten", n)
	}
}

// lineOf returns the major and the minor version of a release.
func lineOf(t *testing.T, version string) (major, minor int) {
	t.Helper()
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		t.Fatalf("Flink %s: %v", version, err)
	}
	return major, minor
}

// rewritten sets each source of a fixture to other offsets, with and without a partition more, and has Flink's classes
// read what came out. It counts the savepoints; what refuses to be rewritten is none.
func rewritten(t *testing.T, g *Generator, f golden.Fixture) (n int) {
	snap, err := f.Open()
	if err != nil {
		return 0
	}
	for _, src := range snap.Sources {
		for _, cluster := range golden.Clusters(src) {
			r := golden.Beyond(src, cluster)
			added := offsetmap.TopicPartition{Topic: src.Partitions[0].Topic, Partition: 999}
			for _, more := range [][]offsetmap.TopicPartition{nil, {added}} {
				if more != nil {
					r.Next[added], _ = offsetmap.Next(7)
				}
				r.Added = more
				p, err := flinkstate.PrepareRewrite(os.DirFS(f.Dir), f.Pointer, r, flinkstate.WithPathMap(f.PathMap))
				if errors.Is(err, flinkstate.ErrRewrite) {
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", f.Name, err)
					continue
				}
				dir := t.TempDir()
				if _, err := p.WriteDir(t.Context(), filepath.Join(dir, "savepoint")); err != nil {
					t.Errorf("%s: %v", f.Name, err)
					continue
				}
				is := g.Read(t, dir, "savepoint")
				is.Kind = f.Kind
				for _, d := range is.Check() {
					t.Errorf("%s, rewritten: %s", f.Name, d)
				}
				n++
				for tp, c := range r.Next {
					if v, _ := c.Value(); !slices.ContainsFunc(is.Positions, func(p golden.Position) bool {
						return p.OperatorID == src.OperatorID && p.Topic == tp.Topic && p.Partition == tp.Partition && p.Cluster == cluster && p.Next != nil && *p.Next == v
					}) {
						t.Errorf("%s, rewritten: Flink does not read %d for %v", f.Name, v, tp)
					}
				}
			}
		}
	}
	return n
}

// The state of a release that cannot be asked about it is read by one that can read the same format.
func compareOld(t *testing.T, r Release, o GeneratorOptions) {
	reader, err := FindRelease("1.14.6")
	if err != nil {
		t.Fatal(err)
	}
	g := StartGenerator(t, reader, o)
	for _, kind := range []string{"savepoint", "stop", "checkpoint"} {
		for name, threshold := range map[string]int{"inline": 1024, "files": 0} {
			t.Run(kind+"/"+name, func(t *testing.T) { agree(t, g.MakeOld(t, r, kind, threshold)) })
		}
	}
}

// agree fails t where our reader and Flink's classes differ, or where they are asked about next to nothing.
func agree(t *testing.T, f golden.Fixture) {
	for _, d := range f.Check() {
		t.Errorf("%s: %s", f.Name, d)
	}
	if len(f.Operators) < 2 {
		t.Errorf("%s has %d operators", f.Name, len(f.Operators))
	}
	read := slices.ContainsFunc(f.Positions, func(p golden.Position) bool { return p.Next != nil })
	t.Logf("%s: metadata %d, %d operators, %d positions, some read %v, target %v", f.Name, f.MetadataVersion, len(f.Operators), len(f.Positions), read, f.CrossCheck.Verdict.All)
}
