// Gotest runs the tests of every module of this repository by go test and says at the end, whatever their number, which
// tests were skipped and why: go test itself keeps a skip to itself unless it is asked for every line.
//
//	go run ./scripts/gotest [-packages all|lab|plain] [-no-skips] [-check-list|-update-list] [-ran FILE] [-- FLAGS OF GO TEST]
//	go run ./scripts/gotest -none-left FILE
//
// lab are the packages whose tests start real brokers and workers, plain the others. With -no-skips a skipped test
// fails the run. What failed is named again at the end, and the last line is "N passed, N failed, N skipped", subtests
// included.
//
// With -check-list the tests of these packages must be those of .ci/tests.txt, each run and passed: one that vanished,
// skipped, failed or is new fails the run. -update-list writes them there, of each package in which all passed. -ran
// adds the names of the packages to a file, and -none-left, which tests nothing, fails if a package of the list is not
// in that file, so that several runs together are held to the whole list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := os.Getwd()
	code := 2
	if err == nil {
		code, err = run(ctx, root, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	if code != 0 {
		os.Exit(code)
	}
}

// options are what the command line asks for.
type options struct {
	packages              selection
	noSkips               bool
	checkList, updateList bool
	ran, noneLeft         string
	goTest                []string
}

// parseOptions returns flag.ErrHelp where the flag set has said what is wrong.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("gotest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	which := flags.String("packages", "all", "all, lab (whose tests start real brokers and workers) or plain (the others)")
	flags.BoolVar(&o.noSkips, "no-skips", false, "a skipped test fails the run")
	flags.BoolVar(&o.checkList, "check-list", false, "the tests must be those of "+listFile)
	flags.BoolVar(&o.updateList, "update-list", false, "write the tests to "+listFile+", of each package in which all pass")
	flags.StringVar(&o.ran, "ran", "", "add the names of the packages to this `file`")
	flags.StringVar(&o.noneLeft, "none-left", "", "test nothing; every package of "+listFile+" must be in this `file`, which -ran has written")
	if err := flags.Parse(args); err != nil {
		return o, flag.ErrHelp
	}
	o.packages, o.goTest = selection(*which), flags.Args()
	if !slices.Contains([]selection{selectAll, selectLab, selectPlain}, o.packages) {
		return o, fmt.Errorf("-packages=%s: want all, lab or plain", *which)
	}
	if o.checkList && o.updateList {
		return o, errors.New("-check-list and -update-list: want one of them")
	}
	if o.noneLeft != "" && (flags.NFlag() > 1 || flags.NArg() > 0) {
		return o, errors.New("-none-left tests nothing, and goes with no other flag")
	}
	if o.checkList || o.updateList {
		for _, arg := range o.goTest {
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(arg, "-"), "test."), "=")
			if strings.HasPrefix(arg, "-") && slices.Contains([]string{"run", "skip", "short", "list"}, name) {
				return o, fmt.Errorf("%s leaves tests out, and %s lists all of them", arg, listFile)
			}
		}
	}
	return o, nil
}

// run returns the exit status: 0 passed, 1 a test failed, none ran or they are not those of the list, 2 the tests could
// not be run.
func run(ctx context.Context, root string, args []string, stdout, stderr io.Writer) (int, error) {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 2, nil
	} else if err != nil {
		return 2, err
	}
	if o.noneLeft != "" {
		return noneLeft(root, o.noneLeft, stdout)
	}
	modules, err := findModules(root)
	if err != nil {
		return 2, err
	}
	rep := newReport(stdout)
	usesList := o.checkList || o.updateList || o.ran != ""
	var selected, existing []string
	for _, dir := range modules {
		these := []string{"./..."}
		if o.packages != selectAll || usesList {
			packages, err := listPackages(ctx, dir)
			if err != nil {
				return 2, err
			}
			selected, existing = append(selected, packages.of(o.packages)...), append(existing, packages.of(selectAll)...)
			if o.packages != selectAll {
				these = packages.of(o.packages)
			}
		}
		if len(these) == 0 {
			continue
		}
		if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
			fmt.Fprintf(stdout, "module %s\n", rel)
		}
		if err := test(ctx, dir, append(slices.Clone(o.goTest), these...), rep, stderr); err != nil {
			return 2, err
		}
	}
	listCode := 0
	if usesList {
		if listCode, err = o.holdToList(ctx, root, selected, existing, rep); err != nil {
			return 2, err
		}
	}
	return max(rep.finish(o.noSkips), listCode), nil
}

// holdToList does what the flags of the list ask for once all tests have ended, and returns the exit status.
func (o options) holdToList(ctx context.Context, root string, selected, existing []string, rep *report) (int, error) {
	w, err := newWhole(ctx, root, selected, existing, rep)
	if err == nil && o.ran != "" {
		err = addLines(o.ran, w.selected)
	}
	switch {
	case err != nil:
		return 2, err
	case o.checkList:
		return w.check(root, o.packages, rep.out)
	case o.updateList:
		return w.update(root, rep.out)
	default:
		return 0, nil
	}
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
