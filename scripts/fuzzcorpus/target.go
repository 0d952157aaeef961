package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package whose tests are built to say which statements they ran.
type pkg struct {
	dir     string // absolute
	binary  string
	work    string // where the tests run: the package's folder but for testdata/fuzz
	targets []*target
}

// target is one fuzz target.
type target struct {
	name   string
	p      *pkg
	corpus string // committed inputs
	cache  string // what go test -fuzz found
}

// input is a file of one input, as go test -fuzz writes it.
type input struct {
	name, path string
	size       int64
}

func build(ctx context.Context, dir string) (p *pkg, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "fuzzcorpus-")
	if err != nil {
		return nil, err
	}
	p = &pkg{dir: dir, work: work, binary: filepath.Join(work, "package.test")}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if _, err := p.command(ctx, dir, "go", "test", "-c", "-cover", "-covermode=set", "-o", p.binary, "."); err != nil {
		return nil, err
	}
	path, err := p.command(ctx, dir, "go", "list", "-f", "{{.ImportPath}}", ".")
	if err != nil {
		return nil, err
	}
	cache, err := p.command(ctx, dir, "go", "env", "GOCACHE")
	if err != nil {
		return nil, err
	}
	names, err := p.command(ctx, dir, p.binary, "-test.list", "^Fuzz")
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(names) {
		if strings.HasPrefix(name, "Fuzz") { // the last line is a summary
			p.targets = append(p.targets, &target{
				name: name, p: p, corpus: filepath.Join(dir, "testdata", "fuzz", name), cache: filepath.Join(cache, "fuzz", filepath.FromSlash(path), name),
			})
		}
	}
	if len(p.targets) == 0 {
		return nil, fmt.Errorf("%s has no fuzz target", dir)
	}
	return p, p.mirror()
}

func (p *pkg) close() { _ = os.RemoveAll(p.work) }

// mirror makes a folder that is the package's but for its corpus, so that a run
// sees the fixtures and only those inputs that it is to try. The fixtures are
// copied: who walks a folder does not follow a link to it.
func (p *pkg) mirror() error {
	inner := filepath.Join(p.work, "run", "testdata")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "testdata" {
			err = errors.Join(err, os.Symlink(filepath.Join(p.dir, e.Name()), filepath.Join(p.work, "run", e.Name())))
		}
	}
	fixtures, none := os.ReadDir(filepath.Join(p.dir, "testdata"))
	if none != nil && !errors.Is(none, fs.ErrNotExist) {
		return none
	}
	for _, e := range fixtures {
		from, to := filepath.Join(p.dir, "testdata", e.Name()), filepath.Join(inner, e.Name())
		switch {
		case e.Name() == "fuzz":
		case e.IsDir():
			err = errors.Join(err, os.CopyFS(to, os.DirFS(from)))
		default:
			err = errors.Join(err, os.Symlink(from, to))
		}
	}
	return err
}

func (p *pkg) command(ctx context.Context, dir string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// inputs lists the files of a folder, the smallest first.
func inputs(dir string) ([]input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []input
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			all = append(all, input{e.Name(), filepath.Join(dir, e.Name()), info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.size, b.size), strings.Compare(a.name, b.name))
	})
	return all, nil
}

func (t *target) kept() ([]input, error) { return inputs(t.corpus) }

// merge copies into the corpus what of the cache reaches more than all before it.
func (t *target) merge(ctx context.Context, left *int64) (string, error) {
	kept, err := t.kept()
	if err != nil {
		return "", err
	}
	found, err := inputs(t.cache)
	if err != nil {
		return "", err
	}
	reached, err := t.cover(ctx, kept)
	if err != nil {
		return "", err
	}
	before := len(reached)
	chosen, err := choose(reached, found, func(group []input) (statements, error) { return t.cover(ctx, group) })
	if err != nil {
		return "", err
	}
	added, over := 0, 0
	for _, in := range chosen {
		if in.size > *left {
			over++
			continue
		}
		content, err := os.ReadFile(in.path)
		if err == nil {
			err = os.MkdirAll(t.corpus, 0o750)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(t.corpus, in.name), content, 0o600)
		}
		if err != nil {
			return "", err
		}
		*left -= in.size
		added++
	}
	said := fmt.Sprintf("%d inputs were kept, %d of %d found reach more: %d statement blocks instead of %d", len(kept), added, len(found), len(reached), before)
	if over > 0 {
		said += fmt.Sprintf("; %d more do, but not within the limit", over)
	}
	return said, nil
}

// cover runs the target on its seeds and on a group of inputs, and returns which
// statements that ran.
func (t *target) cover(ctx context.Context, group []input) (statements, error) {
	run := filepath.Join(t.p.work, "run")
	corpus := filepath.Join(run, "testdata", "fuzz")
	if err := os.RemoveAll(corpus); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(corpus, t.name), 0o700); err != nil {
		return nil, err
	}
	for _, in := range group {
		if err := os.Symlink(in.path, filepath.Join(corpus, t.name, in.name)); err != nil {
			return nil, err
		}
	}
	profile := filepath.Join(t.p.work, "cover.out")
	if _, err := t.p.command(ctx, run, t.p.binary, "-test.run", "^"+t.name+"$", "-test.coverprofile", profile); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	return parseProfile(string(text))
}
