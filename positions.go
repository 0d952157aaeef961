package flinkmm2

import (
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// PositionsKind is the kind of a Positions file.
const PositionsKind = "Positions"

// Positions is a file that says where an old job stood: for each source and
// partition the next offset to read, or why there is none.
type Positions struct {
	APIVersion      string           `json:"apiVersion"`
	Kind            string           `json:"kind"`
	From            offsetmap.Origin `json:"from"`
	Location        string           `json:"location"`
	MetadataVersion int              `json:"metadataVersion"`
	CheckpointID    int64            `json:"checkpointId"`
	// SnapshotKind is what Flink wrote the state for. A plan holds it against the
	// attestation of how the job ended.
	SnapshotKind flinkstate.SnapshotKind `json:"snapshotKind"`
	Sources      []flinkstate.Source     `json:"sources"`
	Warnings     []flinkstate.Warning    `json:"warnings"` // what makes positions unfit stands here, and blocks a plan
}

// Export makes a Positions file of a snapshot. It decides nothing.
func Export(s *flinkstate.Snapshot) *Positions {
	p := &Positions{
		APIVersion: offsetmap.APIVersion, Kind: PositionsKind, From: offsetmap.FromSavepoint, Location: s.Location,
		MetadataVersion: s.MetadataVersion, CheckpointID: s.CheckpointID, SnapshotKind: s.Kind, Sources: s.Sources, Warnings: s.Warnings,
	}
	if p.Warnings == nil {
		p.Warnings = []flinkstate.Warning{}
	}
	return p
}

// Encode returns the positions as a file.
func (p *Positions) Encode() ([]byte, error) { return encodeFile(p) }
