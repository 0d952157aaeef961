package flinkmm2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// ErrJournalAltered says that lines of a journal were altered, taken out or put in
// after they had been written.
var ErrJournalAltered = errors.New("the journal was altered")

// FileJournal is a Journal in one file: a JSON object a line, appended and
// synced, mode 0600. Each line names a digest of all that stands before it, so
// that a line which was altered or taken out shows at the next. What was cut off
// at the end does not show by that, nor that somebody wrote the whole file anew.
//
// Several processes may append to one file: each holds the file's lock (flock)
// while it does, except on systems without such locks.
type FileJournal struct {
	path string
	mu   sync.Mutex
}

// NewFileJournal returns the journal at path. The first Append makes the file,
// and its folder when that is missing.
func NewFileJournal(path string) *FileJournal { return &FileJournal{path: path} }

// lockWait bounds the wait for another process that appends, which takes
// milliseconds unless it was stopped in the middle.
const lockWait = 30 * time.Second

// Append writes one line and syncs it. When a crash has cut the last line
// short, the new one begins on a line of its own and says so.
func (j *FileJournal) Append(ctx context.Context, e Entry) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }() // and gives the lock back
	if localfs.Locks {
		if err := lockFile(ctx, f, lockWait); err != nil {
			return fmt.Errorf("journal %s: %w", j.path, err)
		}
	}
	before, err := os.ReadFile(j.path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	var line []byte
	if e.AfterTorn = len(before) > 0 && before[len(before)-1] != '\n'; e.AfterTorn {
		line, before = append(line, '\n'), append(before, '\n')
	}
	e.Prev = sumText(sha256.Sum256(before))
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	line = append(append(line, text...), '\n')
	if _, err := f.Write(line); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	if len(before) == 0 {
		return localfs.SyncDir(filepath.Dir(j.path))
	}
	return nil
}

func sumText(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// lockFile waits for the lock of an open file.
func lockFile(ctx context.Context, f *os.File, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("another process has held its lock for %s", within))
	defer cancel()
	for {
		if ok, err := localfs.TryLock(f); ok || err != nil {
			return err
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return context.Cause(ctx)
		}
	}
}

// Read returns the entries. A line that a crash or a full disk cut short is left
// out, when it is the last or the entry after it says so: its Append never
// succeeded, so an act that it would have announced was never begun, and one
// whose end it would have told stands as begun. Any other line that does not
// read is an error that names it, and a line that is not what was written is
// ErrJournalAltered. Lines before the first with a digest are taken as they are.
func (j *FileJournal) Read(context.Context) ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	raw, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	entries, err := parseJournal(raw)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", j.path, err)
	}
	return entries, nil
}

// parseJournal reads what FileJournal has written.
func parseJournal(raw []byte) ([]Entry, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var entries []Entry
	var torn error // the first of unreadable lines, which must be the last or be explained by the next entry
	held := chain{before: sha256.New()}
	for n, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		var e Entry
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		bad := d.Decode(&e)
		if bad == nil && d.More() {
			bad = errors.New("more than one entry on a line")
		}
		switch {
		case torn != nil && bad == nil && !e.AfterTorn:
			return nil, torn
		case bad != nil && torn == nil: // a disk that is full cuts one after the other
			torn = fmt.Errorf("line %d: %w", n+1, bad)
		case bad != nil:
		default:
			torn = nil
			if err := held.hold(n+1, e.Prev); err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
		held.add(line)
	}
	if torn != nil && raw[len(raw)-1] == '\n' {
		return nil, torn
	}
	return entries, nil
}

// chain holds each line to the digest of all before it.
type chain struct {
	before hash.Hash
	held   int // the last line with a digest, which was right: those before it stand as written
}

func (c *chain) add(line []byte) {
	c.before.Write(line)
	c.before.Write([]byte{'\n'})
}

func (c *chain) hold(n int, prev string) error {
	switch {
	case prev == "" && c.held == 0: // of a program that wrote none
		return nil
	case prev == "":
		return fmt.Errorf("%w: line %d has no digest of the lines before it, and line %d has one", ErrJournalAltered, n, c.held)
	case prev != "sha256:"+hex.EncodeToString(c.before.Sum(nil)):
		what := "a line before it was altered, taken out or put in"
		if c.held > 0 {
			what = fmt.Sprintf("line %d was altered, or a line between them was altered, taken out or put in", c.held)
		}
		return fmt.Errorf("%w: line %d was written behind other lines than those that stand there: %s; put the file back as it was, from a copy", ErrJournalAltered, n, what)
	}
	c.held = n
	return nil
}
