package flinkmm2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// CheckpointKind is the kind of what Watch keeps in a CheckpointStore.
const CheckpointKind = "ProofCheckpoint"

// CheckpointStore keeps how far a proof has come: JSON with offsets and counts,
// and nothing of what records contain. CheckpointSchema says its form.
type CheckpointStore interface {
	// Load returns what was saved last, or an error that is fs.ErrNotExist when
	// nothing was.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces what was saved, all of it or not at all.
	Save(ctx context.Context, checkpoint []byte) error
}

// FileCheckpoint keeps a checkpoint in a file, as WriteFile writes it.
func FileCheckpoint(path string) CheckpointStore { return fileCheckpoint(path) }

type fileCheckpoint string

func (f fileCheckpoint) Load(context.Context) ([]byte, error) { return os.ReadFile(string(f)) }

func (f fileCheckpoint) Save(_ context.Context, checkpoint []byte) error {
	return WriteFile(string(f), checkpoint)
}

// checkpoint is what is kept.
type checkpoint struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	CreatedAt  offsetmap.Time `json:"createdAt"`
	Plan       string         `json:"plan"` // digest
	Connector  string         `json:"connector"`
	// TargetTopics are the target's topics: offsets of one that was created again
	// say nothing. The source's are in the plan.
	TargetTopics []targetTopic         `json:"targetTopics"` // sorted
	Partitions   []partitionCheckpoint `json:"partitions"`   // sorted
}

type targetTopic struct {
	Topic string            `json:"topic"`
	ID    offsetmap.TopicID `json:"id"`
}

type partitionCheckpoint struct {
	offsetmap.TopicPartition
	proof.Mark
}

// goOn lets a proof go on from what a store has, and keeps in it how far the
// proof comes. A checkpoint that is not of this plan or of these topics is an
// error: whoever wants to begin at C again gives another store.
func (m *Migration) goOn(ctx context.Context, plan *offsetmap.Plan, store CheckpointStore, o *proof.Options) error {
	names := map[string]bool{}
	for _, p := range o.Partitions {
		names[p.Target.Topic] = true
	}
	topics := slices.Sorted(maps.Keys(names))
	found, err := fresh.Topics(ctx, m.cfg.Target.Admin, topics...)
	if err != nil {
		return fmt.Errorf("the target's topics: %w", err)
	}
	targets := make([]targetTopic, len(topics))
	for i, name := range topics {
		if t := found.Topics[name]; t.Err != nil {
			return fmt.Errorf("target topic %s: %w", name, t.Err)
		}
		targets[i] = targetTopic{name, found.Topics[name].ID}
	}
	kept := checkpoint{
		APIVersion: offsetmap.APIVersion, Kind: CheckpointKind,
		Plan: plan.Digest, Connector: plan.Body.Connector.Name, TargetTopics: targets,
	}
	raw, err := store.Load(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("load: %w", err)
	default:
		if err := kept.resume(raw, o.Partitions); err != nil {
			return err
		}
	}
	o.Marks = func(marks []proof.PartitionMark) {
		kept.CreatedAt, kept.Partitions = offsetmap.At(m.now()), make([]partitionCheckpoint, 0, len(marks))
		for _, p := range marks {
			kept.Partitions = append(kept.Partitions, partitionCheckpoint{p.Source, p.Mark})
		}
		data, err := json.Marshal(kept)
		if err == nil {
			// What stood when the watch was interrupted is worth keeping as well.
			err = store.Save(context.WithoutCancel(ctx), append(data, '\n'))
		}
		if err != nil { // the proof itself does not need it
			m.log.WarnContext(ctx, "the checkpoint of the proof is not kept, so another watch begins where it was last", "connector", m.cfg.Connector, "error", err)
		}
	}
	return nil
}

// resume gives each partition where an earlier watch stood, when that was one of
// what c describes.
func (c *checkpoint) resume(raw []byte, partitions []proof.Partition) error {
	var old checkpoint
	if err := offsetmap.DecodeKind(raw, c.Kind, &old); err != nil {
		return err
	}
	if old.Plan != c.Plan || old.Connector != c.Connector {
		return fmt.Errorf("it is of plan %s and connector %q, not of plan %s and connector %q", old.Plan, old.Connector, c.Plan, c.Connector)
	}
	if len(old.TargetTopics) != len(c.TargetTopics) {
		return fmt.Errorf("it has %d target topics, and the plan %d", len(old.TargetTopics), len(c.TargetTopics))
	}
	for i, is := range c.TargetTopics {
		switch was := old.TargetTopics[i]; {
		case was.Topic != is.Topic:
			return fmt.Errorf("it has the target topic %s where the plan has %s", was.Topic, is.Topic)
		case was.ID != is.ID:
			return fmt.Errorf("target topic %s has the id %s and had %s: it was created again", is.Topic, is.ID, was.ID)
		}
	}
	at := map[offsetmap.TopicPartition]int{}
	for i, p := range partitions {
		at[p.Source] = i
	}
	for _, p := range old.Partitions {
		i, known := at[p.TopicPartition]
		if !known || partitions[i].From != nil {
			return fmt.Errorf("%s is none of the plan's partitions, or stands there twice", p.TopicPartition)
		}
		partitions[i].From = &p.Mark
	}
	return nil
}
