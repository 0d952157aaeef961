package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	tailLines = 40
	tailBytes = 64 << 10
)

// logFile is the path of a file that takes what a process prints, run after run.
type logFile string

// open returns the file for appending, and where it ends now.
func (l logFile) open() (f *os.File, end int64, err error) {
	f, err = os.OpenFile(string(l), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// from returns the log from an offset on. A log that cannot be read is said in place of its text, because all that
// read it either show it or look for a line in it.
func (l logFile) from(offset int64) string {
	f, err := os.Open(string(l))
	if err != nil {
		return fmt.Sprintf("(the log cannot be read: %v)", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, 1<<62))
	if err != nil {
		return fmt.Sprintf("%s(the log cannot be read: %v)", text, err)
	}
	return string(text)
}

// size is where the log ends now, 0 if there is none.
func (l logFile) size() int64 {
	info, err := os.Stat(string(l))
	if err != nil {
		return 0
	}
	return info.Size()
}

// tail returns the last lines after an offset, with a heading.
func (l logFile) tail(offset int64) string {
	cut := max(offset, l.size()-tailBytes)
	text := bytes.TrimRight([]byte(l.from(cut)), "\n")
	lines := bytes.Split(text, []byte("\n"))
	if cut > offset && len(lines) > 1 {
		lines = lines[1:] // begins in the middle
	}
	if n := len(lines) - tailLines; n > 0 {
		lines = lines[n:]
	}
	return fmt.Sprintf("last lines of %s:\n%s", string(l), bytes.Join(lines, []byte("\n")))
}
