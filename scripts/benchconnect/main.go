// Benchconnect holds what the client of Kafka Connect takes to alter offsets
// against curl, which sends the same bodies in the same parts, and prints both as
// Markdown.
//
//	go run ./scripts/benchconnect [-sizes 100,1000,10000,100000] [-part 1000] [-rounds 9]
//
// The server, a process of its own, reads each body and gives one fixed answer, so
// that nothing but the clients differs. curl is one process that sends prepared files
// over one connection, and is told not to wait for "100 Continue". The client is one
// process that makes a list of offsets, as curl finds it in its files, and then checks,
// cuts, encodes and sends it. They take turns in each round.
//
// Both are timed from the start of the process to its end, start-up and all. What is
// compared is that, less the time in which the client makes its list. Beside it stands
// what each takes within: the requests by curl's own clock, and the one call.
//
// The server says what it got: a round in which both did not send the same bytes ends
// the run. Nothing is read back, since curl would not either.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchconnect:", err)
		os.Exit(1)
	}
}

// children are what this program runs as processes of their own.
var children = map[string]func(ctx context.Context, args []string, out io.Writer) error{
	"serve": serve,
	"send":  send,
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 {
		if child, ok := children[args[0]]; ok {
			return child(ctx, args[1:], out)
		}
	}
	flags := flag.NewFlagSet("benchconnect", flag.ContinueOnError)
	sizes := flags.String("sizes", "100,1000,10000,100000", "numbers of partitions")
	part := flags.Int("part", 1000, "partitions in a part")
	rounds := flags.Int("rounds", 9, "how often each is run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *part < 1 || flags.NArg() > 0 {
		return fmt.Errorf("at least one round, one partition in a part, and no arguments but flags are wanted; got -rounds %d, -part %d and %q", *rounds, *part, flags.Args())
	}
	var all []result
	b, err := prepare(ctx, *part)
	if err != nil {
		return err
	}
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.Join(fmt.Errorf("-sizes: %q is no number of partitions", s), b.clean())
		}
		r, err := b.measure(ctx, n, *rounds, progress)
		if err != nil {
			return errors.Join(fmt.Errorf("%d partitions: %w", n, err), b.clean())
		}
		all = append(all, r)
	}
	b.report(ctx, out, all, *rounds)
	return b.clean()
}
