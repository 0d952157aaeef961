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
	"runtime/debug"
	"syscall"
)

// collectAt is what GOGC is when the environment does not say. A program that runs for
// milliseconds saves a sixth of them by collecting less often, and takes no more
// memory by it: what it reads into is in use to its end.
const collectAt = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
