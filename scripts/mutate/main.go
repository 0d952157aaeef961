// Mutate changes the comparisons, the logic and the arithmetic of packages, one
// place at a time, and asks each package's own tests whether they notice.
//
//	go run ./scripts/mutate [-allowed FILE] [-table FILE] [-only TEXT] [-from FILE] [-budget TIME] [-list] PACKAGE...
//
// All mutants of a package are compiled into one test binary, each behind its
// number, so that a mutant costs the run of a few tests and no compilation. A first
// run of each test tells which mutants it reaches: only those tests are asked, the
// quick ones first. Tests with real brokers, workers or browsers are left out.
//
// A mutant that no test kills fails the run, unless the allowed file lists it with
// the reason why no test can: it is equivalent. A line there whose mutant is gone, or
// is killed, fails the run too. -table writes the counts, and the mutants that are
// listed. -only takes those alone whose name has the text, -from those that a file names, -budget
// finds candidates soon, and -list runs no test.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"
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
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	if code != 0 {
		os.Exit(code)
	}
}

// options are what the command line asks for.
type options struct {
	allowed, table, only string
	from                 string
	list                 bool
	budget               time.Duration
	workers              int
	packages             []string
}

func run(ctx context.Context, root string, args []string, stdout, stderr io.Writer) (int, error) {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.allowed, "allowed", "", "file of the mutants that may live, each with the reason")
	flags.StringVar(&o.table, "table", "", "page that the table is written to")
	flags.StringVar(&o.only, "only", "", "takes the mutants alone whose name has the text")
	flags.StringVar(&o.from, "from", "", "takes the mutants alone that the file names, one a line")
	flags.BoolVar(&o.list, "list", false, "lists the mutants and runs no test")
	flags.DurationVar(&o.budget, "budget", 0, "asks only so much of the tests' time for each mutant: what lives then may be killed by the rest")
	flags.IntVar(&o.workers, "workers", 2, "how many mutants are tried at once")
	if err := flags.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // the flag set has said what is wrong
	}
	o.packages = flags.Args()
	switch {
	case len(o.packages) == 0:
		return 2, fmt.Errorf("no package is given: say, for example, go run ./scripts/mutate offsetmap")
	case o.workers < 1:
		return 2, fmt.Errorf("-workers %d: want 1 or more", o.workers)
	case o.table != "" && (o.only != "" || o.from != "" || o.budget != 0):
		return 2, fmt.Errorf("-table with -only, -from or -budget: the table would not be of all mutants and all tests")
	case o.budget < 0:
		return 2, fmt.Errorf("-budget %s: it is negative", o.budget)
	}
	may, err := readAllowed(o.allowed)
	if err != nil {
		return 2, err
	}
	head := ""
	if o.table != "" { // a run takes long, so this is known before it
		if head, err = beforeTable(o.table); err != nil {
			return 2, err
		}
	}
	chosen, err := choose(o)
	if err != nil {
		return 2, err
	}
	var all []result
	for _, pkg := range o.packages {
		r, err := one(ctx, root, strings.TrimPrefix(strings.Trim(pkg, "/"), "./"), o, chosen, stdout)
		if err != nil {
			return 1, err
		}
		all = append(all, r)
	}
	if o.list {
		return 0, nil
	}
	if o.table != "" {
		if err := os.WriteFile(o.table, []byte(head+begin+table(all, may)), 0o644); err != nil { //nolint:gosec // a page for everybody
			return 1, err
		}
	}
	wrong := may.differences(all, chosen)
	for _, w := range wrong {
		fmt.Fprintln(stdout, w)
	}
	if len(wrong) > 0 {
		return 1, nil
	}
	return 0, nil
}

// choose says which mutants are tried.
func choose(o options) (func(name string) bool, error) {
	if o.from == "" {
		return func(name string) bool { return strings.Contains(name, o.only) }, nil
	}
	raw, err := os.ReadFile(o.from)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		named[strings.TrimSpace(line)] = true
	}
	return func(name string) bool { return named[name] && strings.Contains(name, o.only) }, nil
}

// result is what became of the mutants of a package.
type result struct {
	pkg      string
	mutants  []mutant
	verdicts []verdict
}

func one(ctx context.Context, root, pkg string, o options, chosen func(name string) bool, stdout io.Writer) (result, error) {
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b, err := build(ctx, root, pkg, work)
	if err != nil {
		return result{}, err
	}
	if o.list {
		for _, m := range b.mutants {
			fmt.Fprintln(stdout, m.name)
		}
		return result{}, nil
	}
	from := time.Now()
	s, err := explore(ctx, b, work)
	if err != nil {
		return result{}, err
	}
	fmt.Fprintf(stdout, "%s: %d mutants, %d tests that reach any, read in %s\n", pkg, len(b.mutants), len(s.tests), time.Since(from).Round(time.Second))
	s.budget = o.budget
	r := result{pkg: pkg}
	var ids []int
	for i, m := range b.mutants {
		if chosen(m.name) {
			r.mutants, ids = append(r.mutants, m), append(ids, i+1)
		}
	}
	r.verdicts = make([]verdict, len(ids))
	var mu sync.Mutex
	var failure error
	var group sync.WaitGroup
	slots := make(chan struct{}, o.workers)
	for i, id := range ids {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			v, err := s.try(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if r.verdicts[i] = v; err != nil {
				failure = err
			} else if v == lived || v == notReached {
				fmt.Fprintf(stdout, "  line %d, %s: %s\n", r.mutants[i].line, v, r.mutants[i].name)
			}
		})
	}
	group.Wait()
	fmt.Fprintf(stdout, "%s: %s after %s\n", pkg, r.counts(), time.Since(from).Round(time.Second))
	return r, failure
}
