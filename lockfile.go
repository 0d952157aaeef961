package flinkmm2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// FileLock is a Lock for those who share a folder: the lock of a file (flock). It ends
// with the process that holds it, however that ends. Where a system or a file system has
// no such locks, Acquire is an error.
type FileLock struct{ path string }

// NewFileLock returns the lock of the file at path, which is made when it is not there and
// is left behind, empty.
func NewFileLock(path string) *FileLock { return &FileLock{path} }

// Acquire takes the lock, and writes into the file who holds it.
func (l *FileLock) Acquire(_ context.Context, who Owner) (Held, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	h := &heldFile{f, l.path}
	if err := h.take(who); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return h, nil
}

type heldFile struct {
	*os.File
	path string
}

func (h *heldFile) take(who Owner) error {
	ok, err := localfs.TryLock(h.File)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if !ok {
		locked := &LockedError{Lock: h.path, Holder: Owner{}.String()}
		var holder Owner
		if text, err := io.ReadAll(io.LimitReader(h, 1<<16)); err == nil && json.Unmarshal(text, &holder) == nil {
			locked.Holder = holder.String()
		}
		return locked
	}
	text, err := json.Marshal(who)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := h.Truncate(0); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if _, err := h.WriteAt(append(text, '\n'), 0); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// Check finds out whether the file was taken away, so that another can lock a new one.
func (h *heldFile) Check(context.Context) error {
	ours, err := h.Stat()
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	now, err := os.Stat(h.path)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(ours, now):
		return fmt.Errorf("%w: %s was taken away", ErrLockLost, h.path)
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// Release empties the file and gives the lock back.
func (h *heldFile) Release() error {
	return errors.Join(h.Truncate(0), h.Close())
}
