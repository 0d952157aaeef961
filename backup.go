package flinkmm2

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// OffsetsBackupKind is the kind of an OffsetsBackup file.
const OffsetsBackupKind = "ConnectOffsets"

// OffsetsBackup is everything that Connect held under a connector's name directly
// before a plan was written to it: the plan's partitions, and those of the waves
// before it. Restore puts it back.
type OffsetsBackup struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Digest     string     `json:"digest"` // offsetmap.Digest of the body
	Body       BackupBody `json:"body"`
}

// BackupBody is what the digest covers.
type BackupBody struct {
	CreatedAt   offsetmap.Time `json:"createdAt"`
	Plan        string         `json:"plan"` // digest of the plan that was about to be written
	SourceID    string         `json:"sourceClusterId"`
	TargetID    string         `json:"targetClusterId"`
	ProducerID  string         `json:"producerClusterId"` // of the cluster that the data producer reaches
	Connector   string         `json:"connector"`
	SourceAlias string         `json:"sourceAlias"`
	// Topics are the source topics that the entries name, sorted. An offset is one of
	// the log that has this id.
	Topics []BackupTopic `json:"topics"`
	// Offsets are the entries as Connect gave them, sorted by their partition in
	// canonical form. What is not here was absent.
	Offsets []connectrest.Offset `json:"offsets"`
}

// BackupTopic is a topic of the source as it was.
type BackupTopic struct {
	Topic string            `json:"topic"`
	ID    offsetmap.TopicID `json:"topicId"`
}

// WithBackup says who keeps the backup that Apply makes before the first write of
// a plan; nothing is written unless keep returns nil. It is called again for the
// same plan when nothing of that was written yet: who keeps it may keep the first.
// By default, nobody is, and the plan's own rows are all that is known of what
// Connect held.
func WithBackup(keep func(context.Context, *OffsetsBackup) error) Option {
	return func(m *Migration) { m.keepBackup = keep }
}

// backUp hands over what was seen, and returns the digest of it; none where it is not
// asked for, or where the plan has written before: what is there then is its own.
func (m *Migration) backUp(ctx context.Context, goal engine.Goal, plan *offsetmap.Plan, seen engine.Observed, f preflight.Facts) (string, error) {
	if h, _ := seen.History.Get(); goal != engine.Apply || m.keepBackup == nil || h.Written {
		return "", nil
	}
	b, err := m.backupOf(plan, f)
	if err == nil {
		err = m.keepBackup(ctx, b)
	}
	if err != nil {
		return "", fmt.Errorf("nothing was written, since the offsets before it could not be kept: %w", err)
	}
	return b.Digest, nil
}

func (m *Migration) backupOf(plan *offsetmap.Plan, f preflight.Facts) (*OffsetsBackup, error) {
	stored, ok := f.Stored.Get()
	source, known := f.Source.Get()
	if !ok || !known {
		return nil, fmt.Errorf("%w: the stored offsets, or the topics of the source", ErrNotKnown)
	}
	p := plan.Body
	b := BackupBody{
		CreatedAt: offsetmap.At(f.At), Plan: plan.Digest, SourceID: p.Source.ID, TargetID: p.Target.ID, ProducerID: p.Worker.ProducerClusterID,
		Connector: m.cfg.Connector, SourceAlias: p.Connector.SourceAlias, Topics: []BackupTopic{}, Offsets: []connectrest.Offset{},
	}
	for _, o := range stored {
		if !o.IsNull() { // shown for an instant after a deletion
			b.Offsets = append(b.Offsets, o)
		}
	}
	view, err := connectrest.MirrorSourceOffsets(b.SourceAlias, b.Offsets)
	if err != nil {
		return nil, err
	}
	topics := map[string]bool{}
	for tp := range view.Stored {
		topics[tp.Topic] = true
	}
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		b.Topics = append(b.Topics, BackupTopic{name, source.Topics[name].ID})
	}
	return sealBackup(b)
}

// sealBackup sorts the entries and takes the digest.
func sealBackup(b BackupBody) (*OffsetsBackup, error) {
	type named struct {
		name []byte
		connectrest.Offset
	}
	all := make([]named, 0, len(b.Offsets))
	for _, o := range b.Offsets {
		name, err := offsetmap.Canonical(o.Partition)
		if err != nil {
			return nil, fmt.Errorf("the entry %s: %w", o.Partition, err)
		}
		all = append(all, named{name, o})
	}
	slices.SortFunc(all, func(a, b named) int { return bytes.Compare(a.name, b.name) })
	b.Offsets = make([]connectrest.Offset, 0, len(all))
	for _, o := range all {
		b.Offsets = append(b.Offsets, o.Offset)
	}
	digest, err := b.digest()
	if err != nil {
		return nil, err
	}
	return &OffsetsBackup{APIVersion: offsetmap.APIVersion, Kind: OffsetsBackupKind, Digest: digest, Body: b}, nil
}

func (b BackupBody) digest() (string, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	return offsetmap.Digest(raw)
}

// Encode returns the backup as a file, one entry a line.
func (b *OffsetsBackup) Encode() ([]byte, error) {
	head := *b
	head.Body.Offsets = []connectrest.Offset{}
	out, err := json.MarshalIndent(head, "", "  ")
	if err != nil || len(b.Body.Offsets) == 0 {
		return append(out, '\n'), err
	}
	const empty = `"offsets": []`
	i := bytes.LastIndex(out, []byte(empty)) // it stands last, and in a text the quotes would be escaped
	file := bytes.NewBuffer(slices.Clone(out[:i]))
	file.WriteString(`"offsets": [`)
	for j, o := range b.Body.Offsets {
		line, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		if j > 0 {
			file.WriteByte(',')
		}
		file.WriteString("\n      ")
		file.Write(line)
	}
	file.WriteString("\n    ]")
	file.Write(out[i+len(empty):])
	file.WriteByte('\n')
	return file.Bytes(), nil
}

// ReadOffsetsBackup reads a backup file strictly: the version and kind of this
// package, every member there, once, and none unknown, entries in order, each of a
// partition of the alias, and content that has the digest. A content that has not is
// an offsetmap.ErrEdited.
func ReadOffsetsBackup(path string) (*OffsetsBackup, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read backup: %w", err)
	}
	b := &OffsetsBackup{}
	if err := offsetmap.DecodeKind(raw, OffsetsBackupKind, b); err != nil {
		return nil, fmt.Errorf("read backup %s: %w", path, err)
	}
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("read backup %s: %w", path, err)
	}
	return b, nil
}

// Check returns an error unless b is as Apply made it or ReadOffsetsBackup read it.
func (b *OffsetsBackup) Check() error {
	if b == nil {
		return errors.New("there is no backup")
	}
	if b.APIVersion != offsetmap.APIVersion || b.Kind != OffsetsBackupKind {
		return fmt.Errorf("apiVersion %q, kind %q: want %q and %q", b.APIVersion, b.Kind, offsetmap.APIVersion, OffsetsBackupKind)
	}
	sealed, err := sealBackup(b.Body)
	switch {
	case err != nil:
		return err
	case sealed.Digest != b.Digest:
		return fmt.Errorf("%w: its content has the digest %s, it says %s", offsetmap.ErrEdited, sealed.Digest, b.Digest)
	}
	_, err = b.stored()
	return err
}

// stored returns the offsets of the backup, each with the id of its topic. What is not
// of the alias no task ever read, so there is none in a backup.
func (b *OffsetsBackup) stored() (offsetsByPartition, error) {
	view, err := connectrest.MirrorSourceOffsets(b.Body.SourceAlias, b.Body.Offsets)
	if err != nil {
		return nil, err
	}
	if len(view.Foreign) > 0 {
		return nil, fmt.Errorf("offsets: an entry that is none of source alias %q: %s", b.Body.SourceAlias, view.Foreign[0])
	}
	if len(view.Stored) != len(b.Body.Offsets) {
		return nil, errors.New("offsets: an entry holds null, and what was absent has none")
	}
	ids := map[string]bool{}
	for i, t := range b.Body.Topics {
		if i > 0 && cmp.Compare(b.Body.Topics[i-1].Topic, t.Topic) >= 0 {
			return nil, fmt.Errorf("topics[%d]: %s stands behind %s: they are sorted, each once", i, t.Topic, b.Body.Topics[i-1].Topic)
		}
		ids[t.Topic] = true
	}
	for tp := range view.Stored {
		if !ids[tp.Topic] {
			return nil, fmt.Errorf("topics: %s is not there, and an offset is of it", tp.Topic)
		}
	}
	return view.Stored, nil
}
