package flinkmm2

import (
	"context"
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// stood is where the old job stood, by what a plan is made from.
type stood struct {
	question  preflight.Question   // what it says of the job
	savepoint *offsetmap.Savepoint // nil when it is a group alone
}

// stood reads where the old job stood.
func (m *Migration) stood(ctx context.Context, req PlanRequest) (stood, error) {
	switch req.Origin {
	case "", offsetmap.FromSavepoint:
		return inSavepoint(req)
	case offsetmap.FromGroup:
		return m.inGroup(ctx, req)
	default:
		return stood{}, fmt.Errorf("positions come from %q, want %q or %q", req.Origin, offsetmap.FromSavepoint, offsetmap.FromGroup)
	}
}

func inSavepoint(req PlanRequest) (stood, error) {
	if req.Snapshot == nil {
		return stood{}, errors.New("no snapshot was given")
	}
	if err := hashed(req.Snapshot); err != nil {
		return stood{}, err
	}
	source, err := req.Snapshot.Source(req.Source)
	if err != nil {
		return stood{}, err
	}
	s := req.Snapshot
	return stood{
		question: preflight.Question{
			Origin:          offsetmap.FromSavepoint,
			Positions:       source.Partitions,
			Warnings:        s.Warnings,
			Kind:            s.Kind,
			KindReason:      s.KindReason,
			MetadataVersion: s.MetadataVersion,
			Location:        withoutUser(s.Location),
			CheckpointID:    s.CheckpointID,
			Operators:       s.Operators,
			Sinks:           s.Sinks,
		},
		savepoint: savepointOf(s, source),
	}, nil
}

// inGroup takes what the group has committed now for the positions. The checks hold it
// against what it has committed a moment later, and over the window.
func (m *Migration) inGroup(ctx context.Context, req PlanRequest) (stood, error) {
	switch {
	case req.Snapshot != nil, req.Source != "":
		return stood{}, errors.New("a plan from the group alone takes no snapshot, and no source of one: with a snapshot plan from that, and the group is held against it")
	case req.Group == "":
		return stood{}, errors.New("no consumer group was named to plan from")
	}
	group, err := m.groups().Read(ctx, req.Group, m.cfg.Topics...)
	if err != nil {
		return stood{}, err
	}
	return stood{question: preflight.Question{Origin: offsetmap.FromGroup, Positions: group.Positions}}, nil
}

// savepointOf is what a plan records of the snapshot.
func savepointOf(s *flinkstate.Snapshot, source flinkstate.Source) *offsetmap.Savepoint {
	out := &offsetmap.Savepoint{
		Location: withoutUser(s.Location), MetadataVersion: s.MetadataVersion, CheckpointID: s.CheckpointID,
		OperatorID: source.OperatorID, UID: source.UID,
	}
	for _, file := range s.Files {
		out.Files = append(out.Files, offsetmap.File{Name: withoutUser(file.Name), SHA256: file.SHA256})
	}
	return out
}

// withoutUser drops user and password from a URI that Flink has stored.
func withoutUser(location string) string { return offsetmap.RedactSetting("location", location) }
