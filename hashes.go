package flinkmm2

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// hashed reports a snapshot by which no savepoint can be told from another: a plan
// says which files it was made from, and the journal which of them were handed back.
func hashed(s *flinkstate.Snapshot) error {
	for _, f := range s.Files {
		if f.SHA256 == "" {
			return fmt.Errorf("snapshot %q: the SHA-256 of %q is not known, and a plan names its files by that: read it without flinkstate.WithoutHashes",
				withoutUser(s.Location), withoutUser(f.Name))
		}
	}
	return nil
}
