package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flinkmm2/flinkmm2"
)

// The files of state.dir. A person, a Job that retries and the next step all
// find them by these names.
const (
	journalFile = "journal.jsonl"
	planFile    = "plan.json"
	proofFile   = "proof.json"
	// checkpointFile is how far a proof has come, for watch --resume.
	checkpointFile = "proof.checkpoint.json"
	// afterRestartFile is the proof after a restart, which a later watch does not replace.
	afterRestartFile = "restart-proof.json"
	restartFile      = "restart.json" // how everything stood before a restart
	boundaryFile     = "boundary.json"
	positionsFile    = "positions.json"
	preflightFile    = "preflight.json"
	acceptanceFile   = "acceptance.json"
	evidenceFile     = "evidence.tar"
	lockFile         = "lock" // held while a step changes something
)

// backupFile is the name of the backup with the digest: offsets-0123456789ab.json.
// There may be one for each plan that was applied, and none replaces another.
func backupFile(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return "offsets-" + hex[:min(len(hex), 12)] + ".json"
}

// shardFile is the name of a file of one shard: proof-0-of-4.json.
func shardFile(name string, s flinkmm2.Shard) string {
	if s.Of == 0 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d-of-%d%s", strings.TrimSuffix(name, ext), s.Index, s.Of, ext)
}

// openState makes the folder when it is not there, and returns its path.
func (m *migration) openState() (string, error) {
	if err := os.MkdirAll(m.State.Dir, 0o700); err != nil {
		return "", fmt.Errorf("%s: state.dir: %w", m.path, err)
	}
	return m.State.Dir, nil
}
