package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed helpers.go.txt
var helpers string

// binary is the test binary of a package that holds all its mutants.
type binary struct {
	pkg, dir, path string
	mutants        []mutant
}

// build compiles a package with its mutants, without a change to the tree.
func build(ctx context.Context, root, pkg, work string) (*binary, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles", "./"+pkg)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	listing, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list ./%s: %w", pkg, err)
	}
	mutants, sources, err := mutate(bytes.NewReader(listing), pkg)
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", pkg, err)
	}
	b := &binary{pkg: pkg, dir: filepath.Join(root, filepath.FromSlash(pkg)), path: filepath.Join(work, "mutants.test"), mutants: mutants}
	replace := map[string]string{}
	for _, s := range sources {
		to := filepath.Join(work, filepath.Base(s.path))
		if err := os.WriteFile(to, []byte(s.text), 0o600); err != nil {
			return nil, err
		}
		replace[s.path] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return nil, err
	}
	cmd = exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", file, "-o", b.path, "./"+pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s with its mutants: %w\n%s", pkg, err, out)
	}
	return b, nil
}

// outcome is how a run of tests ended.
type outcome int

const (
	passed outcome = iota
	failed
	timedOut
)

// environment keeps real brokers, workers and browsers out: each takes seconds. What
// properties are tried on is the same each time, and no failure of theirs is kept, which
// would be tried first the next time.
func environment(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FLINKMM2_") })
	return append(append(env, "JAVA_HOME=/nonexistent", "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=1ms"), extra...)
}

// run runs tests with a mutant on, 0 for none.
func (b *binary) run(ctx context.Context, tests []string, within time.Duration, env []string, flags ...string) (outcome, string, error) {
	patterns := make([]string, len(tests))
	for i, name := range tests {
		levels := strings.Split(name, "/")
		for j, l := range levels {
			levels[j] = "^" + regexp.QuoteMeta(l) + "$"
		}
		patterns[i] = strings.Join(levels, "/")
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// A mutant may ask for memory without end.
	args := append([]string{"-c", `ulimit -v 8000000; exec "$@"`, "sh", b.path, "-test.failfast", "-test.run", strings.Join(patterns, "|")}, flags...)
	cmd := exec.CommandContext(limited, "sh", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, environment(env...), time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, "", ctx.Err()
	case limited.Err() != nil:
		return timedOut, "", nil
	case errors.As(err, &exit):
		return failed, string(out), nil
	default:
		return passed, string(out), err
	}
}
