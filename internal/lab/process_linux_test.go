package lab

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcessesDieWithTheTestBinary(t *testing.T) {
	for _, how := range []string{"panic", "interrupt", "killed"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), dieEnv+"="+how, "TMPDIR="+t.TempDir())
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := 0
			lines := bufio.NewScanner(out)
			for pid == 0 && lines.Scan() {
				if s, ok := strings.CutPrefix(lines.Text(), "child "); ok {
					if pid, err = strconv.Atoi(s); err != nil {
						t.Fatal(err)
					}
				}
			}
			switch how {
			case "interrupt":
				err = cmd.Process.Signal(os.Interrupt)
			case "killed":
				err = cmd.Process.Kill()
			}
			if err != nil {
				t.Error(err)
			}
			for lines.Scan() {
				_ = lines.Text() // Wait wants the pipe read to its end
			}
			if err := cmd.Wait(); err == nil || pid == 0 {
				t.Fatalf("the helper ended with %v and child %d, want an error and a child", err, pid)
			}
			for deadline := time.Now().Add(30 * time.Second); alive(t, pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("process %d outlived the test binary", pid)
				}
			}
		})
	}
}

// alive says whether a process is there and no zombie.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}
