package lab

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// Program is a JVM beside a stage: other software that a test runs against the stage's brokers.
type Program struct {
	// Name is that of the process and of its log.
	Name string
	// Args follow the launcher and the flags that every JVM of the lab has: more flags, the main class, its arguments.
	Args []string
	// Ready says, by what the program has printed, whether it can be used.
	Ready func(log string) bool
}

// StartProgram starts p, which ends with t, and returns when it is ready. [Process.Tell] writes to its standard input.
// If t fails, the last lines of its log are part of the output. The caller has asked for its stage before.
func StartProgram(t testing.TB, p Program) *Process {
	t.Helper()
	java, err := FindJava()
	if err != nil {
		t.Fatal(err)
	}
	proc := &Process{
		name: p.Name, argv: slices.Concat([]string{java}, jvmFlags(), p.Args), talks: true,
		log: logFile(filepath.Join(t.TempDir(), p.Name+".log")), configure: func() error { return nil },
	}
	proc.probe = func(context.Context) bool { return p.Ready(proc.log.from(proc.since)) }
	t.Cleanup(proc.shut)
	if err := proc.start(t.Context()); err != nil {
		t.Fatal(err) // with its log
	}
	t.Cleanup(func() { showLogIfFailed(t, proc, 0) })
	return proc
}
