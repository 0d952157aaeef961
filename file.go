package flinkmm2

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// WriteFile writes data to path all or not at all: to a temporary file beside
// it, synced, then renamed over it, mode 0600. A reader sees the old content
// or the new, never half.
func WriteFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, errors.Join(err, f.Close(), os.Remove(f.Name())))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return localfs.SyncDir(filepath.Dir(path))
}

// WritePlan writes a plan as WriteFile does.
func WritePlan(path string, p *offsetmap.Plan) error {
	data, err := p.Encode()
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return WriteFile(path, data)
}

// ReadPlan reads a plan file strictly; see offsetmap.ReadPlan.
func ReadPlan(path string) (*offsetmap.Plan, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	p, err := offsetmap.ReadPlan(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
