package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one stage for all tests of a package, started by the first test that asks for it. Set Options, if at all,
// before that. It belongs in a variable of the test package, and its Main in the package's TestMain.
type Shared struct {
	Options Options

	mu      sync.Mutex
	managed bool
	dir     string
	lab     *Lab   // nil until the first test asks for it
	cannot  string // why the stage cannot run on this machine
	err     error  // why it did not start although it could
}

// Runner is what [testing.M] and [Shared.Main] have in common.
type Runner interface{ Run() int }

// Main returns a Runner that runs m and then stops the stage, if a test started it:
//
//	os.Exit(stage.Main(m).Run())
//	goleak.VerifyTestMain(stage.Main(m))
func (s *Shared) Main(m Runner) Runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.managed = true
	return runner(func() int {
		code := m.Run()
		if err := s.close(); err != nil {
			fmt.Fprintln(os.Stderr, "lab:", err) //nolint:forbidigo // no test is left to say it
			code = max(code, 1)
		}
		return code
	})
}

type runner func() int

func (r runner) Run() int { return r() }

// Get returns the stage, complete: what an earlier test stopped or killed is started again. Where the stage cannot run
// it ends t as [Require] does; where it did not start, every test that asks for it fails.
func (s *Shared) Get(t testing.TB) *Lab {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.managed {
		t.Fatal("lab: this package's TestMain does not run Shared.Main, so nothing would stop the stage")
	}
	options := s.Options
	options.Version = cmp.Or(options.Version, DefaultVersion)
	require(t, JVM, options.Version)
	// The first test that asks must not take the stage away from the others when it ends.
	ctx := context.WithoutCancel(t.Context())
	if s.lab == nil && s.cannot == "" {
		s.create(ctx, t, options)
	}
	if s.cannot != "" {
		unavailable(t, JVM, s.cannot)
	}
	if s.err != nil {
		t.Fatalf("the shared stage did not start: %v", s.err)
	}
	if err := s.lab.startStopped(ctx); err != nil {
		t.Fatal(err)
	}
	s.lab.showLogsIfFailed(t)
	return s.lab
}

func (s *Shared) create(ctx context.Context, t testing.TB, o Options) {
	t.Helper()
	dir, err := os.MkdirTemp("", "flinkmm2-lab-")
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dir
	l, err := prepare(ctx, dir, o, reservePort)
	if err != nil {
		s.cannot = err.Error()
		return
	}
	l.shared = true
	s.lab = l
	if s.err = l.open(ctx, o); s.err != nil {
		l.close()
	}
}

func (s *Shared) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lab != nil {
		s.lab.close()
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// startStopped starts whatever of the stage's own three processes is not running.
func (l *Lab) startStopped(ctx context.Context) error {
	for _, p := range []*Process{l.Source.Process, l.Target.Process, l.Worker.Process} {
		if p.Running() {
			continue
		}
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	return nil
}
