package flinklab

import (
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

const (
	pollEvery = 20 * time.Millisecond
	// mark begins the lines that a program prints for us, among what its libraries log.
	mark = "@flinklab "
)

// talk is a program that takes commands, one a line, and answers each with a line whose first word says what it is.
type talk struct {
	process *lab.Process
	read    int // how much of the log has been looked at for answers
}

// start returns when the program has said ready.
func start(t testing.TB, name, ready string, args ...string) *talk {
	t.Helper()
	c := &talk{}
	c.process = lab.StartProgram(t, lab.Program{
		Name: name, Args: args,
		Ready: func(log string) bool { return strings.Contains(log, mark+ready+"\n") },
	})
	c.await(t, answerWithin, ready)
	return c
}

// ask sends a command and returns what stands behind the first word of its answer, which has to be answer.
func (c *talk) ask(t testing.TB, command, answer string) string {
	t.Helper()
	c.process.Tell(t, command)
	return c.await(t, answerWithin, answer)
}

// await returns what stands behind the word of the next line for us, which has to be that word.
func (c *talk) await(t testing.TB, within time.Duration, word string) string {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		// Asked before the log is read: an answer may be the last line of a process.
		running := c.process.Running()
		if line, ok := c.next(); ok {
			got, rest, _ := strings.Cut(line, " ")
			if got != word {
				t.Fatalf("%s: waiting for %s: %s", c.process.Name(), word, line)
			}
			return rest
		}
		if !running {
			t.Fatalf("%s: waiting for %s: the program has ended", c.process.Name(), word)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waiting for %s: no answer within %s", c.process.Name(), word, within)
		}
		time.Sleep(pollEvery)
	}
}

// next returns the next whole line for us.
func (c *talk) next() (string, bool) {
	for log := c.process.Log(); ; {
		line, _, whole := strings.Cut(log[c.read:], "\n")
		if !whole {
			return "", false
		}
		c.read += len(line) + 1
		if text, ours := strings.CutPrefix(line, mark); ours {
			return text, true
		}
	}
}
