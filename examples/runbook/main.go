// Runbook is the operator's program: one subcommand for each step that takes a
// stopped Flink job's progress to MirrorMaker 2, and back.
//
//	runbook -f migration.yaml SUBCOMMAND
//
// It is thin over package flinkmm2, which holds the rules. This program reads
// migration.yaml, keeps the files of a migration in one folder, and says what
// comes next.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
