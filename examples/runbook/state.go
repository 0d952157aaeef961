package main

import (
	"fmt"
	"os"
)

// The files of state.dir. A person, a Job that retries and the next step all
// find them by these names.
const (
	journalFile = "journal.jsonl"
	planFile    = "plan.json"
	proofFile   = "proof.json"
	// checkpointFile is how far a proof has come, for watch --resume.
	checkpointFile = "proof.checkpoint.json"
	boundaryFile   = "boundary.json"
	positionsFile  = "positions.json"
	preflightFile  = "preflight.json"
	acceptanceFile = "acceptance.json"
)

// openState makes the folder when it is not there, and returns its path.
func (m *migration) openState() (string, error) {
	if err := os.MkdirAll(m.State.Dir, 0o700); err != nil {
		return "", fmt.Errorf("%s: state.dir: %w", m.path, err)
	}
	return m.State.Dir, nil
}
