package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Build compiles examples/runbook into a folder and returns the program.
func Build(ctx context.Context, dir string) (string, error) {
	return build(ctx, filepath.Join(dir, "runbook"))
}

func build(ctx context.Context, program string, flags ...string) (string, error) {
	args := append([]string{"build", "-C", filepath.Join("..", "examples", "runbook"), "-o", program}, flags...)
	if out, err := exec.CommandContext(ctx, "go", append(args, ".")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building examples/runbook: %w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// Commit names the last change of what the program is built from, as far as git knows it.
func Commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "log", "-1", "--abbrev=12", "--format=%h", "--", "..",
		":(exclude)../faults", ":(exclude)../docs", ":(exclude)../internal/cutover", ":(exclude)../internal/lab", ":(exclude)../go.work*", ":(exclude)../.*").Output()
	if err != nil || len(out) == 0 {
		return "not known"
	}
	return strings.TrimSpace(string(out))
}

// Ended says how a run of the program ended.
type Ended struct {
	// Exit is its exit status, -1 where a signal has ended it.
	Exit int `json:"exit"`
	// Says is what it printed last that is no hint.
	Says string `json:"says,omitempty"`

	stdout, stderr string
}

// process is a run of the program that goes on.
type process struct {
	cmd         *exec.Cmd
	out, errs   bytes.Buffer
	ended       chan struct{}
	once        sync.Once
	interrupted bool // valid once ended is closed
}

// within bounds one run of the program, which gives a request to Connect 100 s.
const within = 5 * time.Minute

// begin starts the program in a folder, with more of an environment.
func begin(ctx context.Context, program, dir string, env []string, args ...string) (*process, error) {
	return launch(ctx, dir, env, program, append([]string{"-f", "migration.yaml"}, args...)...)
}

// beginLimited starts it so that no file may grow beyond so many bytes.
func beginLimited(ctx context.Context, program, dir string, bytes int, args ...string) (*process, error) {
	return launch(ctx, dir, nil, "prlimit", append([]string{fmt.Sprintf("--fsize=%d", bytes), program, "-f", "migration.yaml"}, args...)...)
}

// limit lets a process that runs write no file beyond so many bytes.
func limit(ctx context.Context, pid, bytes int) error {
	out, err := exec.CommandContext(ctx, "prlimit", fmt.Sprintf("--pid=%d", pid), fmt.Sprintf("--fsize=%d", bytes)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("prlimit: %w: %s", err, out)
	}
	return nil
}

func launch(ctx context.Context, dir string, env []string, program string, args ...string) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.out, &p.errs
	p.cmd.Env = append(append(os.Environ(), "TZ=UTC"), env...)
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		_ = p.cmd.Wait() // its state says how
		p.interrupted = ctx.Err() != nil
		close(p.ended)
	}()
	return p, nil
}

// kill ends it as kill -9 does, and returns when it is gone.
func (p *process) kill() {
	p.once.Do(func() { _ = p.cmd.Process.Kill() }) // fails only if it is gone
	<-p.ended
}

func (p *process) await() (Ended, error) {
	<-p.ended
	e := Ended{Exit: p.cmd.ProcessState.ExitCode(), stdout: p.out.String(), stderr: p.errs.String()}
	e.Says = lastWord(e.stderr)
	if p.interrupted {
		return e, errors.New("the program did not end within its bound; it says: " + e.stderr)
	}
	return e, nil
}

// lastWord is what the program says of how it ended, or the last line that tells what
// happened rather than what to do next.
func lastWord(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "runbook: ") {
			last = line
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") { // the first of its findings
				last += ": " + strings.TrimSpace(lines[i+1])
			}
			break
		}
		if line != "" && !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "next:") {
			last = line
		}
	}
	const most = 240
	if r := []rune(last); len(r) > most {
		last = string(r[:most]) + "…"
	}
	return last
}
