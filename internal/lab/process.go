package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// readyWithin is many times what a start takes (about 7 s on an idle machine of two cores, 30 s on a loaded one).
	readyWithin = 3 * time.Minute
	// stopWithin bounds an orderly shutdown. It takes a second or two, but the REST server of a worker may wait a whole
	// minute for its own threads (seen with 4.3.1 on a loaded machine).
	stopWithin = 3 * time.Minute
	// leaveWithin bounds a shutdown that only has to be polite.
	leaveWithin = 10 * time.Second
	// maxStarts bounds how often a start is repeated because its port is taken.
	maxStarts = 5
	// portAgain is how long a start waits for a port that it cannot exchange.
	portAgain = 500 * time.Millisecond
	pollEvery = 50 * time.Millisecond
)

// Process is one JVM of the lab. Its methods fail the test that calls them when they cannot do their work; they are
// safe for concurrent use as long as only one of them starts or ends the process at a time.
type Process struct {
	name  string
	argv  []string
	log   logFile
	ports ports
	// configure writes the configuration, for ports that were just taken.
	configure func() error
	// probe says whether the process is ready to be used.
	probe func(context.Context) bool
	// talks is set for a process that reads what Tell writes.
	talks bool
	// known is set once the process was ready: others then know its address, so it has to keep it.
	known bool

	mu      sync.Mutex
	cmd     *exec.Cmd
	stdin   io.WriteCloser // nil unless it talks
	exited  chan struct{}  // closed when the process is gone
	exitErr error          // valid once exited is closed
	since   int64          // where the log of this run begins
}

// Name is source, target, worker-1, worker-2, …
func (p *Process) Name() string { return p.name }

// Log returns what the process has logged so far, over all its runs.
func (p *Process) Log() string { return p.log.from(0) }

// Running says whether the process is there, ready or not, suspended or not.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

func (p *Process) running() bool {
	if p.exited == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Start starts the process again after [Process.Stop] or [Process.Kill], on the same address and with the same data,
// and returns when it is ready.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	if p.Running() {
		t.Fatalf("%s: start: it is running", p.name)
	}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the process in order (SIGTERM) and returns when it is gone.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	exited := p.signal(t, syscall.SIGTERM)
	select {
	case <-exited:
	case <-time.After(stopWithin):
		t.Fatalf("%s: still there %s after SIGTERM\n%s", p.name, stopWithin, p.log.tail(0))
	}
}

// Kill ends the process at once (SIGKILL), as a crash does, and returns when it is gone.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	<-p.signal(t, syscall.SIGKILL)
}

// Suspend makes the process hang (SIGSTOP): its sockets stay open and nothing answers. It ends with
// [Process.Continue], and at the latest with the test.
func (p *Process) Suspend(t testing.TB) {
	t.Helper()
	p.signal(t, sigStop)
	t.Cleanup(func() {
		if p.Running() {
			p.signal(t, sigCont)
		}
	})
}

// Continue lets a suspended process run on.
func (p *Process) Continue(t testing.TB) {
	t.Helper()
	p.signal(t, sigCont)
}

// Tell writes a line to the standard input of a process of [StartProgram].
func (p *Process) Tell(t testing.TB, line string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin == nil {
		t.Fatalf("%s: nobody reads its standard input", p.name)
	}
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		t.Fatalf("%s: telling it %q: %v", p.name, line, err)
	}
}

func (p *Process) signal(t testing.TB, sig os.Signal) (exited <-chan struct{}) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		t.Fatalf("%s: %s: it is not running", p.name, sig)
	}
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatalf("%s: %s: %v", p.name, sig, err)
	}
	return p.exited
}

// start launches the process and waits until it is ready. A port that somebody else took meanwhile is exchanged for
// another one, or waited for if the address is known already.
func (p *Process) start(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := p.launch()
		if err == nil {
			err = p.awaitReady(ctx)
		}
		if err == nil {
			p.known = true
			return nil
		}
		p.end()
		if attempt == maxStarts || !portTaken.MatchString(p.log.from(p.since)) {
			return err
		}
		if p.known {
			select {
			case <-time.After(portAgain):
			case <-ctx.Done():
				return errors.Join(err, ctx.Err())
			}
		} else if err := p.configure(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
}

func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, since, err := p.log.open()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	defer func() { _ = out.Close() }()            // the child has it now
	cmd := exec.Command(p.argv[0], p.argv[1:]...) //nolint:noctx // outlives the context of its start; end kills it
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = procAttr()
	if p.talks {
		if p.stdin, err = cmd.StdinPipe(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	started, exited := make(chan error), make(chan struct{})
	go func() {
		// Linux kills the child when the thread that started it ends, not the process: this one stays until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.exitErr = cmd.Wait()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cmd, p.exited, p.since = cmd, exited, since
	return nil
}

func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.exited:
			return fmt.Errorf("%s: ended while starting: %w\n%s", p.name, p.exitErr, p.log.tail(p.since))
		case <-ctx.Done():
			return fmt.Errorf("%s: not ready (bound %s): %w\n%s", p.name, readyWithin, ctx.Err(), p.log.tail(p.since))
		case <-ticker.C:
		}
		if p.probe(ctx) {
			return nil
		}
	}
}

// end kills the process if it is there.
func (p *Process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		_ = p.cmd.Process.Kill() // fails only if the process is gone
		<-p.exited
	}
}

// leave ends the process in order if it goes soon, and else at once: a Connect worker that dies stays a member of its
// group for its session timeout, and the other workers wait for it.
func (p *Process) leave() {
	p.mu.Lock()
	running, exited := p.running(), p.exited
	if running {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if the process is gone
	}
	p.mu.Unlock()
	if running {
		select {
		case <-exited:
		case <-time.After(leaveWithin):
		}
	}
	p.shut()
}

// shut ends the process for good.
func (p *Process) shut() {
	p.end()
	p.ports.release()
}
