package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lockedCommand takes a lock as somebody else, and keeps it to the end of the story, as
// one does who was killed as far as the lock can tell.
func lockedCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2 && (args[0] == "file" || args[0] == "kafka"), "locked file PATH, or locked kafka CONNECTOR")
	ctx, cancel := within()
	defer cancel()
	var lock flinkmm2.Lock
	if args[0] == "file" {
		lock = flinkmm2.NewFileLock(ts.MkAbs(args[1]))
	} else {
		l, err := flinkmm2.NewKafkaLock(args[1], clientOptions(stageOf(ts).target.ListenAddrs())...)
		ts.Check(err)
		lock = l
	}
	held, err := lock.Acquire(ctx, flinkmm2.Owner{Connector: "mm2", By: "mo", Host: "node-7", Since: offsetmap.Time{}})
	ts.Check(err)
	ts.Defer(func() { _ = held.Release() })
}
