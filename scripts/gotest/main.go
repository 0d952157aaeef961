// Gotest runs the tests of every module of this repository by go test and says at the end, whatever their number, which
// tests were skipped and why: go test itself keeps a skip to itself unless it is asked for every line.
//
//	go run ./scripts/gotest [-packages all|lab|plain] [-no-skips] [-- FLAGS OF GO TEST]
//
// lab are the packages whose tests start real brokers and workers, plain the others. With -no-skips a skipped test
// fails the run. The last line is "N passed, N failed, N skipped", subtests included.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	if code != 0 {
		os.Exit(code)
	}
}

// run returns the exit status: 0 passed, 1 a test failed or none ran, 2 the tests could not be run.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	flags := flag.NewFlagSet("gotest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	which := flags.String("packages", "all", "all, lab (whose tests start real brokers and workers) or plain (the others)")
	noSkips := flags.Bool("no-skips", false, "a skipped test fails the run")
	if err := flags.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // the flag set has said it
	}
	if !slices.Contains([]string{"all", "lab", "plain"}, *which) {
		return 2, fmt.Errorf("-packages=%s: want all, lab or plain", *which)
	}
	root, err := os.Getwd()
	if err != nil {
		return 2, err
	}
	modules, err := findModules(root)
	if err != nil {
		return 2, err
	}
	rep := newReport(stdout)
	for _, dir := range modules {
		packages, err := selectPackages(ctx, dir, *which)
		if err != nil {
			return 2, err
		}
		if len(packages) == 0 {
			continue
		}
		if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
			fmt.Fprintf(stdout, "module %s\n", rel)
		}
		if err := test(ctx, dir, append(flags.Args(), packages...), rep, stderr); err != nil {
			return 2, err
		}
	}
	return rep.finish(*noSkips), nil
}

// test runs go test in a module. A test that fails is the report's business, not an error.
func test(ctx context.Context, dir string, args []string, rep *report, stderr io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	// An interrupt goes to go test, which lets the tests clean up; a kill would leave them behind.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := rep.read(out)
	if readErr != nil {
		cancel()
	}
	if err := cmd.Wait(); err != nil && readErr == nil && !rep.failed() {
		// No test failed: flags that go test does not know, a package that is not there.
		return fmt.Errorf("go test in %s: %w", dir, err)
	}
	return readErr
}
