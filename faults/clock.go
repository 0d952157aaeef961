package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clocksJump moves the wall clock of the program's process by an hour, both ways, when it
// sends a request. Its monotonic clock goes on, as when a machine's time is set.
func clocksJump() []Cell {
	var cells []Cell
	for _, w := range []struct {
		step string
		at   request
	}{
		{"plan", request{"GET /connectors/{name}/offsets", 1}},
		{"apply", request{"PATCH /connectors/{name}/offsets", 1}},
		{"start", request{"GET /", 2}},
		{"start", request{"PUT /connectors/{name}/resume", 1}},
		{"rollback before the start", request{"PATCH /connectors/{name}/offsets", 1}},
		{"rollback after the start", request{"PUT /connectors/{name}/stop", 1}},
		{"hand back to a group", request{"GET /", 2}},
	} {
		for _, jump := range []int{-3600, 3600} {
			how := "forward"
			if jump < 0 {
				how = "back"
			}
			cells = append(cells, Cell{
				Step: w.step, Fault: "clock of the program set " + how + " by an hour", When: "at " + w.at.String(), family: "clock", memory: true,
				run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.clockJumps(ctx, w.step, w.at, jump) },
			})
		}
	}
	return cells
}

// clockJumps runs a step whose clock jumps, and the same step again with a clock that is
// right. A plan that was made at a wrong time may be refused then; another one is made.
func (tr *trial) clockJumps(ctx context.Context, step string, at request, seconds int) (*Outcome, error) {
	if err := tr.upTo(ctx, step); err != nil {
		return nil, err
	}
	args, err := tr.args(step)
	if err != nil {
		return nil, err
	}
	jumped := filepath.Join(tr.dir, "jumped")
	tr.front.Meet(func(e *Exchange) bool {
		if e.Kind == at.kind && e.Nth == at.nth {
			if err := os.WriteFile(jumped, nil, 0o600); err != nil {
				tr.note("%v", err)
			}
			time.Sleep(50 * time.Millisecond) // it looks every millisecond
			tr.note("the clock is set by %+d s", seconds)
		}
		return false
	})
	p, err := begin(ctx, tr.Jumping, tr.dir, []string{fmt.Sprintf("FAULTS_CLOCK=%s,%d", jumped, seconds)}, args...)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	if out.First, err = tr.ended(p, args); err != nil {
		return out, err
	}
	tr.front.Meet(nil)
	if _, err := os.Stat(jumped); err != nil {
		return out, fmt.Errorf("%s sent no %s: %w", step, at, err)
	}
	return out, tr.goOn(ctx, step, out)
}

// BuildJumping compiles examples/runbook with a clock that jumps: nothing else of it, nor
// of the standard library, differs. The variable FAULTS_CLOCK of its environment holds the
// path of a file and a number of seconds, by which the wall clock is off as soon as the
// file exists.
func BuildJumping(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		return "", err
	}
	const is = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	patched := bytes.Replace(source, []byte(is), []byte(is+"\tsec += jumpedBy()\n"), 1)
	if bytes.Equal(patched, source) {
		return "", errors.New("time.Now of this release of Go is not the one that is known: a clock cannot be made to jump")
	}
	overlay := map[string]string{}
	for name, text := range map[string][]byte{"time.go": patched, "jump.go": []byte(jump)} {
		to := filepath.Join(dir, "overlay-"+name)
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return "", err
		}
		overlay[filepath.Join(folder, name)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	return build(ctx, filepath.Join(dir, "runbook-jumping"), "-overlay", file)
}

// jump becomes a file of package time.
const jump = `package time

import (
	"sync/atomic"
	"syscall"
)

var jumpFile, jumpSeconds = jumpOf()

func jumpOf() (file string, seconds int64) {
	text, _ := syscall.Getenv("FAULTS_CLOCK")
	for i := len(text) - 1; i > 0; i-- {
		if text[i] != ',' {
			continue
		}
		n, sign := int64(0), int64(1)
		for _, c := range []byte(text[i+1:]) {
			if c == '-' {
				sign = -1
			} else {
				n = 10*n + int64(c-'0')
			}
		}
		return text[:i], sign * n
	}
	return "", 0
}

var jumped atomic.Int64

func init() {
	if jumpFile != "" {
		go await()
	}
}

// await looks for the file: the clock is also read where the runtime allows no system call.
func await() {
	var s syscall.Stat_t
	for syscall.Stat(jumpFile, &s) != nil {
		Sleep(Millisecond)
	}
	jumped.Store(jumpSeconds)
}

func jumpedBy() int64 { return jumped.Load() }
`
