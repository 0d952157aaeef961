// Fuzzcorpus keeps of the inputs that fuzzing found those that reach code which no other reaches, in the package's
// testdata/fuzz, where every later test run tries them:
//
//	go run ./scripts/fuzzcorpus [-limit BYTES] PACKAGE
//
// PACKAGE is a folder such as ./flinkstate. Inputs that are there already stay: one may be a failure of old. The others
// come from the cache of go test -fuzz and are judged by the statements of the package that they run. -limit bounds the
// bytes of all inputs of the package; the smallest are tried first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzzcorpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("fuzzcorpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	limit := flags.Int64("limit", 256<<10, "most bytes of all inputs of the package")
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp
	}
	if flags.NArg() != 1 || *limit < 0 {
		fmt.Fprintln(stderr, "usage: fuzzcorpus [-limit BYTES] PACKAGE")
		return flag.ErrHelp
	}
	p, err := build(ctx, flags.Arg(0))
	if err != nil {
		return err
	}
	defer p.close()
	left := *limit
	for _, t := range p.targets {
		kept, err := t.kept()
		if err != nil {
			return err
		}
		for _, in := range kept {
			left -= in.size
		}
	}
	if left < 0 {
		return fmt.Errorf("the inputs that are kept already have %d bytes more than the limit of %d", -left, *limit)
	}
	for i, t := range p.targets {
		// What is left is shared, so that one target of whole files does not take the
		// room of all.
		before := left / int64(len(p.targets)-i)
		share := before
		took, err := t.merge(ctx, &share)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		left -= before - share
		fmt.Fprintf(stdout, "%s: %s\n", t.name, took)
	}
	fmt.Fprintf(stdout, "%d of %d bytes used\n", *limit-left, *limit)
	return nil
}
