package flinklab

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// The sources are embedded, because a test binary may run far away from the source tree.
//
//go:embed generator
var generatorFS embed.FS

// madeWithin is for the slowest scenario, which waits for tasks to finish.
const madeWithin = 4 * time.Minute

// Release is a Flink release with a Kafka connector that was built for it.
type Release struct {
	Flink, Connector string
	// Profiles are those of generator/pom.xml for which the release has artifacts, separated by commas.
	Profiles string
}

// Releases returns those that the generator runs with, as generator/versions.tsv lists them.
func Releases() ([]Release, error) {
	text, err := generatorFS.ReadFile("generator/versions.tsv")
	if err != nil {
		return nil, err
	}
	var out []Release
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("versions.tsv: %q has %d fields, want 3", strings.TrimSpace(line), len(fields))
		}
		out = append(out, Release{Flink: fields[0], Connector: fields[1], Profiles: strings.Trim(fields[2], "-")})
	}
	return out, nil
}

// FindRelease returns the release of a Flink version, with another connector than usual if that follows behind a slash.
func FindRelease(name string) (Release, error) {
	flink, connector, other := strings.Cut(name, "/")
	all, err := Releases()
	if err != nil {
		return Release{}, err
	}
	var names []string
	for _, r := range all {
		if r.Flink == flink {
			if other {
				r.Connector = connector
			}
			return r, nil
		}
		names = append(names, r.Flink)
	}
	return Release{}, fmt.Errorf("flink version %q: generator/versions.tsv has %s", flink, strings.Join(names, ", "))
}

// old reports whether the release is older than KafkaSource and its reading: the generator has a job of its own for it,
// and another release reads what that leaves.
func (r Release) old() bool {
	return strings.HasPrefix(r.Flink, "1.10.") || strings.HasPrefix(r.Flink, "1.11.")
}

// GeneratorOptions say where a [Generator] works.
type GeneratorOptions struct {
	// Bootstrap is a cluster on which no other generator runs: the names of its topics are fixed.
	Bootstrap string
	// Out is the folder that gets the fixtures.
	Out string
	// StateRoot is where the jobs keep their state while they run. It stands in the absolute paths that fixtures hold.
	StateRoot string
}

// Generator runs jobs of one Flink release on real brokers, takes their savepoints and checkpoints, and has the classes
// of the release read them.
type Generator struct {
	talk    *talk
	release Release
	options GeneratorOptions
}

// StartGenerator starts one, which ends with t. It calls [Require] itself.
func StartGenerator(t testing.TB, r Release, o GeneratorOptions) *Generator {
	t.Helper()
	Require(t)
	dir := fetchGenerator(t, r)
	args := append(reflection(), "-Xmx700m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classPath(dir),
		"generator.Generator", r.Flink, r.Connector, o.Bootstrap, o.Out, o.StateRoot)
	return &Generator{talk: start(t, "generator-"+r.Flink, "READY", args...), release: r, options: o}
}

// fetchGenerator returns the folder of a release, which generator/fetch.sh fills first if it is not there.
func fetchGenerator(t testing.TB, r Release) string {
	t.Helper()
	dir, err := runGeneratorScript(t.Context(), r, t.TempDir())
	if err != nil {
		lab.RequireParts(t, lab.Flink, err.Error())
	}
	return dir
}

func runGeneratorScript(ctx context.Context, r Release, scratch string) (string, error) {
	sources, err := fs.Sub(generatorFS, "generator")
	if err != nil {
		return "", err
	}
	dir, err := lab.RunScript(ctx, sources, scratch, r.Flink, r.Connector, r.Profiles)
	if err != nil {
		return "", fmt.Errorf("making the generator for Flink %s: %w", r.Flink, err)
	}
	return dir, nil
}

func classPath(dir string) string {
	return filepath.Join(dir, "classes") + string(filepath.ListSeparator) + filepath.Join(dir, "jars", "*")
}

// reflection opens what old releases and the generator itself reach into.
func reflection() []string {
	out := []string{"--add-exports=java.base/sun.net.util=ALL-UNNAMED"}
	for _, name := range []string{
		"java.lang", "java.lang.reflect", "java.lang.invoke", "java.util", "java.util.concurrent", "java.util.concurrent.atomic",
		"java.net", "java.io", "java.nio", "sun.nio.ch", "java.text", "java.time", "java.math",
	} {
		out = append(out, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	return out
}

// Scenarios returns those that the release can run.
func (g *Generator) Scenarios(t testing.TB) []string {
	t.Helper()
	return strings.Fields(g.talk.ask(t, "list", "SCENARIOS"))
}

// Make runs the job of a scenario and returns the fixture that it left.
func (g *Generator) Make(t testing.TB, scenario string) golden.Fixture {
	t.Helper()
	g.talk.process.Tell(t, "make "+scenario)
	return g.made(t)
}

// MakeOld runs the job of a release before 1.12, takes its state as kind says (stop, savepoint or checkpoint), and has
// the generator's own release read it. The files are as small as they come, or each of its own.
func (g *Generator) MakeOld(t testing.TB, old Release, kind string, threshold int) golden.Fixture {
	t.Helper()
	dir := fetchGenerator(t, old)
	name := fmt.Sprintf("flink-%s-legacy-%s", old.Flink[:strings.LastIndexByte(old.Flink, '.')], kind)
	if threshold == 0 {
		name += "-files"
	}
	state := filepath.Join(g.options.StateRoot, name)
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	g.talk.ask(t, "old-topics "+name, "DONE")
	job := start(t, "flink-"+old.Flink, "STARTED", append(reflection(), "-Xmx700m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", classPath(dir), "generator.OldJob", g.options.Bootstrap, state, name+"-in", name+"-target", "2", kind, strconv.Itoa(threshold))...)
	pointer := job.await(t, madeWithin, "POINTER")
	g.talk.process.Tell(t, fmt.Sprintf("old-fixture %s %s %s %s", name, old.Flink, kind, pointer))
	return g.made(t)
}

// Read has the classes of the release read the savepoint in the folder of that name in dir, and returns it as a fixture.
func (g *Generator) Read(t testing.TB, dir, name string) golden.Fixture {
	t.Helper()
	g.talk.ask(t, "read "+filepath.Join(dir, name), "DONE")
	f, err := golden.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.Pointer = name
	return f
}

func (g *Generator) made(t testing.TB) golden.Fixture {
	t.Helper()
	f, err := golden.Load(filepath.Join(g.options.Out, g.talk.await(t, madeWithin, "MADE")))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
