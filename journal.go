package flinkmm2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Journal keeps what was done to a migration, by whom, when, and under which
// plan. It is opened before the first act and lies beside the plan. The start
// record in it holds the target's ends, without which nothing can be proven
// afterwards.
//
// FileJournal is the one that most users want.
type Journal interface {
	// Append returns nil only when the entry is durable.
	Append(ctx context.Context, e Entry) error
	// Read returns all entries, oldest first. A journal that was never written
	// is empty, not an error.
	Read(ctx context.Context) ([]Entry, error)
}

// Entry is one line of a journal. An act that changes something has an entry of
// PhaseBegin before it and one of another phase behind it; a begin without its
// end says that the outcome is unknown. What changes nothing (plan, the record of
// a start) has one entry.
type Entry struct {
	At        time.Time      `json:"at"`
	Act       string         `json:"act"` // create, plan, apply, start, resume, stop, restore, delete, rollback, restore-backup, commit-boundary, rewrite-savepoint
	Phase     Phase          `json:"phase"`
	Plan      string         `json:"plan,omitempty"` // digest; empty before there is a plan
	Connector string         `json:"connector"`
	By        string         `json:"by"`
	Approved  string         `json:"approvedBy,omitempty"` // of a start and its resume, and of a restore-backup: who gave the word; of a commit-boundary and a rewrite-savepoint: who attested Flink's end
	Group     string         `json:"group,omitempty"`      // of a commit-boundary: the consumer group
	Savepoint string         `json:"savepoint,omitempty"`  // of a plan, a commit-boundary and a rewrite-savepoint: "sha256:" and the hash of the _metadata that the plan was made from
	Rewritten string         `json:"rewritten,omitempty"`  // of a rewrite-savepoint: the same of the new savepoint
	Content   string         `json:"content,omitempty"`    // of a rewrite-savepoint: "sha256:" and a digest of all that it changes, files beside _metadata included
	Backup    string         `json:"backup,omitempty"`     // of an apply: digest of the OffsetsBackup that was kept before it; of a restore-backup: of what is put back
	Detail    string         `json:"detail,omitempty"`
	Ends      []PartitionEnd `json:"targetEnds,omitempty"` // of a start: the target's ends before the first resume
	Baseline  *Baseline      `json:"baseline,omitempty"`   // of a start: what stood beside the records before the first resume
	AfterTorn bool           `json:"afterTorn,omitempty"`  // the line before this one was cut short by a crash
}

// Phase is how far an act has come.
type Phase string

const (
	PhaseBegin   Phase = "begin"
	PhaseDone    Phase = "done"
	PhaseFailed  Phase = "failed"  // the act was refused, or ended in an error that Detail tells; a commit-boundary: nothing of it was carried out, nor will be
	PhaseUnknown Phase = "unknown" // the answer was lost and could not be read back; a commit-boundary: some of it was carried out, or may be yet
)

// PartitionEnd is the end of one target partition, under the name of its source
// partition.
type PartitionEnd struct {
	offsetmap.TopicPartition
	End offsetmap.NextOffset `json:"end"`
}

// FileJournal is a Journal in one file: a JSON object a line, appended and
// synced, mode 0600.
type FileJournal struct {
	path string
	mu   sync.Mutex
}

// NewFileJournal returns the journal at path. The first Append makes the file,
// and its folder when that is missing.
func NewFileJournal(path string) *FileJournal { return &FileJournal{path: path} }

// Append writes one line and syncs it. When a crash has cut the last line
// short, the new one begins on a line of its own and says so.
func (j *FileJournal) Append(_ context.Context, e Entry) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	fresh := info.Size() == 0
	if !fresh {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return fmt.Errorf("journal %s: %w", j.path, err)
		}
		e.AfterTorn = last[0] != '\n'
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if e.AfterTorn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	if fresh {
		return localfs.SyncDir(filepath.Dir(j.path))
	}
	return nil
}

// Read returns the entries. A line that a crash or a full disk cut short is left
// out, when it is the last or the entry after it says so: its Append never
// succeeded, so an act that it would have announced was never begun, and one
// whose end it would have told stands as begun. Any other line that does not
// read is an error that names it.
func (j *FileJournal) Read(context.Context) ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	raw, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var entries []Entry
	var torn error // the first of unreadable lines, which must be the last or be explained by the next entry
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
			torn = fmt.Errorf("journal %s: line %d: %w", j.path, n+1, bad)
		case bad != nil:
		default:
			torn = nil
			entries = append(entries, e)
		}
	}
	if torn != nil && raw[len(raw)-1] == '\n' {
		return nil, torn
	}
	return entries, nil
}
