package lab

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shell is a Process that runs a script instead of a JVM and is ready once it printed READY.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	dir := t.TempDir()
	program(t, dir, "run", script)
	p := &Process{
		name: "shell", argv: []string{filepath.Join(dir, "run")}, log: logFile(filepath.Join(dir, "log")),
		ports: ports{reserve: reservePort}, configure: func() error { return nil },
	}
	p.probe = func(context.Context) bool { return strings.Contains(p.log.from(p.since), "READY") }
	t.Cleanup(p.shut)
	return p
}

func TestProcessThatEndsWhileStartingIsReportedWithItsLog(t *testing.T) {
	p := shell(t, `i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "line $i"; done; exit 3`)
	err := p.start(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	s := err.Error()
	if !strings.Contains(s, "shell: ended while starting: exit status 3") || !strings.Contains(s, "\nline 60") || !strings.Contains(s, "\nline 21\n") {
		t.Errorf("error: %v", err)
	}
	if strings.Contains(s, "line 20\n") {
		t.Errorf("more than the last lines: %v", err)
	}
}

func TestProcessThatNeverGetsReadyIsKilledAtTheBound(t *testing.T) {
	p := shell(t, `echo waiting; exec sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	p.probe = func(context.Context) bool {
		if strings.Contains(p.log.from(0), "waiting") {
			cancel()
		}
		return false
	}
	err := p.start(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "shell: not ready") || !strings.Contains(err.Error(), "waiting") {
		t.Errorf("error: %v", err)
	}
	if p.Running() {
		t.Error("it still runs")
	}
}

func TestProcessLifeCycle(t *testing.T) {
	p := shell(t, `trap 'echo orderly; exit 0' TERM; echo READY; while :; do sleep 0.01; done`)
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Suspend(t)
	p.Continue(t)
	p.Stop(t)
	if p.Running() || !strings.Contains(p.Log(), "orderly") {
		t.Errorf("running: %t, log: %s", p.Running(), p.Log())
	}
	for name, f := range map[string]func(testing.TB){"stop": p.Stop, "kill": p.Kill, "suspend": p.Suspend, "continue": p.Continue} {
		if got := judge(t, f); got.outcome != "failed" || !strings.Contains(got.message, "it is not running") {
			t.Errorf("%s of a stopped process: %s %s", name, got.outcome, got.message)
		}
	}
	p.Start(t)
	if got := judge(t, p.Start); got.outcome != "failed" || !strings.Contains(got.message, "start: it is running") {
		t.Errorf("start of a running process: %s %s", got.outcome, got.message)
	}
	p.Kill(t)
	if p.Running() || strings.Count(p.Log(), "READY") != 2 || strings.Count(p.Log(), "orderly") != 1 {
		t.Errorf("running: %t, log: %s", p.Running(), p.Log())
	}
}

func TestTakenPortIsExchangedUntilTheAddressIsKnown(t *testing.T) {
	p := shell(t, `echo run >>"$0.runs"; [ $(wc -l <"$0.runs") -gt 2 ] && { echo READY; exec sleep 600; }
		echo 'java.net.BindException: Address already in use'; exit 1`)
	configured := 0
	p.configure = func() error { configured++; return nil }
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if configured != 2 {
		t.Errorf("configured anew %d times, want 2", configured)
	}
}

func TestTakenPortIsWaitedForOnceTheAddressIsKnown(t *testing.T) {
	p := shell(t, `echo run >>"$0.runs"; [ $(wc -l <"$0.runs") -eq 2 ] && { echo 'java.net.BindException: Address already in use'; exit 1; }
		echo READY; exec sleep 600`)
	p.configure = func() error { return errors.New("the address changes") }
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Kill(t)
	p.Start(t)
	if log := p.Log(); strings.Count(log, "READY") != 2 || strings.Count(log, "BindException") != 1 {
		t.Errorf("log: %s", log)
	}
}

func TestTakenPortIsNotTriedForEver(t *testing.T) {
	p := shell(t, `echo run >>"$0.runs"; echo 'java.net.BindException: Address already in use'; exit 1`)
	if err := p.start(t.Context()); err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("error: %v", err)
	}
	if runs := strings.Count(p.Log(), "BindException"); runs != maxStarts {
		t.Errorf("started %d times, want %d", runs, maxStarts)
	}
}

func TestPortsAreFreeToListenOnByNumber(t *testing.T) {
	p := ports{reserve: reservePort}
	t.Cleanup(p.release)
	first, err := p.take(2)
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.take(2)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range append(first, second...) {
		if seen[port] {
			t.Errorf("port %d was given twice: %v, %v", port, first, second)
		}
		seen[port] = true
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}

func TestLogTailIsBounded(t *testing.T) {
	p := shell(t, `i=0; while [ $i -lt 300 ]; do i=$((i+1)); printf '%01000d\n' $i; done; echo READY; exec sleep 600`)
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	tail := p.log.tail(0)
	if lines := strings.Split(tail, "\n"); len(lines) != tailLines+1 || lines[tailLines] != "READY" || len(lines[1]) != 1000 {
		t.Errorf("%d lines: %.100s", len(lines), tail)
	}
	p.Kill(t)
	before := p.log.size()
	p.Start(t)
	p.Kill(t)
	if tail := p.log.tail(before + 1000); strings.Count(tail, "READY") != 1 {
		t.Errorf("tail of the second run: %.100s", tail)
	}
}

func TestLogThatCannotBeReadSaysSo(t *testing.T) {
	if got := logFile(filepath.Join(t.TempDir(), "none")).tail(0); !strings.Contains(got, "the log cannot be read") {
		t.Errorf("tail: %q", got)
	}
}

func TestFailedTestShowsTheLogSinceItBegan(t *testing.T) {
	p := shell(t, `echo "READY for $$"; exec sleep 600`)
	l := &Lab{processes: []*Process{p}, shared: true}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSpace(p.Log())
	for _, failed := range []bool{false, true} {
		v := judge(t, func(t testing.TB) { l.showLogsIfFailed(t) })
		p.Kill(v)
		p.Start(t)
		v.failed = failed
		for _, f := range v.cleanup {
			f()
		}
		switch {
		case !failed && v.message != "":
			t.Errorf("a passed test shows %q", v.message)
		case failed && (!strings.Contains(v.message, "READY for ") || strings.Contains(v.message, first)):
			t.Errorf("a failed test shows %q", v.message)
		}
	}
}
