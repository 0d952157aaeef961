package flinkmm2

import (
	"errors"
	"fmt"
	"os"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// BoundaryKind is the kind of a Boundary file.
const BoundaryKind = "Boundary"

// Boundary says where Flink goes on after MirrorMaker 2 has run: for each
// partition C' = M + 1, and how far beyond that the target has everything already. It
// is a file of its own, since whoever brings Flink back
// needs it without this package.
type Boundary struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	CreatedAt  offsetmap.Time      `json:"createdAt"`
	Plan       string              `json:"plan"` // digest
	SourceID   string              `json:"sourceClusterId"`
	Connector  string              `json:"connector"`
	Partitions []offsetmap.Reverse `json:"partitions"` // sorted
	// Delivered has the same partitions; it is nil where the target was not looked at.
	Delivered []DeliveredPartition `json:"delivered,omitempty"`
}

// Encode returns the boundary as a file.
func (b *Boundary) Encode() ([]byte, error) { return encodeFile(b) }

// ReadBoundary reads a boundary file strictly: the version and kind of this
// package, every member there, once, and none unknown, and one C' for each
// partition, in order. The file
// has no digest of its own: CommitBoundary holds what it says to the world.
func ReadBoundary(path string) (*Boundary, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read boundary: %w", err)
	}
	b, err := decodeBoundary(raw)
	if err != nil {
		return nil, fmt.Errorf("read boundary %s: %w", path, err)
	}
	return b, nil
}

func decodeBoundary(raw []byte) (*Boundary, error) {
	b := &Boundary{}
	if err := offsetmap.DecodeKind(raw, BoundaryKind, b); err != nil {
		return nil, err
	}
	return b, b.check()
}

func (b *Boundary) check() error {
	if b.APIVersion != offsetmap.APIVersion || b.Kind != BoundaryKind {
		return fmt.Errorf("apiVersion %q, kind %q: want %q and %q", b.APIVersion, b.Kind, offsetmap.APIVersion, BoundaryKind)
	}
	if len(b.Partitions) == 0 {
		return errors.New("partitions: there is none, and every plan has some")
	}
	for i, p := range b.Partitions {
		switch {
		case p.Next.IsNone():
			return fmt.Errorf("partitions[%d]: %s has no next", i, p.TopicPartition)
		case i > 0 && b.Partitions[i-1].Compare(p.TopicPartition) >= 0:
			return fmt.Errorf("partitions[%d]: %s stands behind %s: they are sorted, each once", i, p.TopicPartition, b.Partitions[i-1].TopicPartition)
		}
	}
	return b.checkDelivered()
}
