package flinkstate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Check holds the savepoint in the local folder dir to what WriteDir writes: nil says
// that no byte of any of its files differs. The files of the old savepoint are read
// again for that.
func (p *PreparedRewrite) Check(ctx context.Context, dir string) error {
	dir, err := localPath(dir)
	if err == nil {
		err = p.reopen(func(s *store) error { return p.check(ctx, s, dir) })
	}
	return legible(err)
}

func (p *PreparedRewrite) check(ctx context.Context, s *store, dir string) error {
	files := append([]copiedFile{{name: metadataName, content: p.metadata}}, p.files...)
	for i := range files {
		f := &files[i]
		want, done := io.Reader(bytes.NewReader(f.content)), func() error { return nil }
		if f.content == nil {
			var err error
			if want, done, err = s.part(ctx, *f, File{}); err != nil {
				return fmt.Errorf("state file %s: %w", shown.Name(f.from), err)
			}
		}
		wanted, err := sumOf(want)
		if err := errors.Join(err, done()); err != nil {
			return fmt.Errorf("state file %s: %w", shown.Name(f.from), err)
		}
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		is, err := os.Open(name)
		if err != nil {
			return err
		}
		got, err := sumOf(&counted{in: is, ctx: ctx, sum: sha256.New()})
		if err := errors.Join(err, is.Close()); err != nil {
			return err
		}
		if got != wanted {
			return fmt.Errorf("%s is not what is to be written there", shown.Name(name))
		}
	}
	return nil
}

func sumOf(in io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	_, err = io.Copy(h, in)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// compare holds what was read of the new savepoint to the old one and to what was
// decided, and returns its files.
func (p *PreparedRewrite) compare(is *Snapshot, err error) ([]File, error) {
	if err != nil {
		return nil, err
	}
	want := p.wanted()
	i := slices.IndexFunc(is.Sources, func(s Source) bool { return s.OperatorID == p.operator })
	if i < 0 {
		return nil, fmt.Errorf("operator %s is no source any more", p.operator)
	}
	got := is.Sources[i].Partitions
	if len(got) != len(want) {
		return nil, fmt.Errorf("the source has %d partitions, not %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			return nil, fmt.Errorf("%v is %+v, not %+v", want[i].TopicPartition, got[i], want[i])
		}
	}
	for _, s := range is.Sources {
		if j := slices.IndexFunc(p.snapshot.Sources, func(o Source) bool { return o.OperatorID == s.OperatorID }); s.OperatorID != p.operator && (j < 0 || !reflect.DeepEqual(p.snapshot.Sources[j], s)) {
			return nil, fmt.Errorf("source %s differs", s.OperatorID)
		}
	}
	if len(is.Sources) != len(p.snapshot.Sources) || is.Kind != p.snapshot.Kind || is.CheckpointID != p.snapshot.CheckpointID || is.MetadataVersion != p.snapshot.MetadataVersion {
		return nil, errors.New("its kind, number or sources differ")
	}
	return is.Files, p.compareStates(is)
}

// compareStates holds the states of all operators to have the elements that they had.
func (p *PreparedRewrite) compareStates(is *Snapshot) error {
	type key struct{ operator, state string }
	want := map[key]int{}
	for _, op := range p.snapshot.Operators {
		for _, s := range op.States {
			k := key{op.ID, s.Name}
			if want[k] = s.Elements; s.Name == committerState && p.dropping[op.ID] {
				want[k] = 0
			}
			if op.ID == p.operator && (s.Name == readerState || s.Name == legacyState) {
				for i := range p.changes {
					if p.changes[i].How == SplitAdded {
						want[k]++
					}
				}
			}
		}
	}
	for _, op := range is.Operators {
		for _, s := range op.States {
			k := key{op.ID, s.Name}
			if n, there := want[k]; !there || n != s.Elements {
				return fmt.Errorf("operator %s: state %q has %d elements, not %d", op.ID, s.Name, s.Elements, n)
			}
			delete(want, k)
		}
	}
	for k := range want {
		return fmt.Errorf("operator %s: state %q is not there any more", k.operator, k.state)
	}
	return nil
}

// wanted are the positions of the source as they shall be.
func (p *PreparedRewrite) wanted() []offsetmap.Position {
	i := slices.IndexFunc(p.snapshot.Sources, func(s Source) bool { return s.OperatorID == p.operator })
	ps := slices.Clone(p.snapshot.Sources[i].Partitions)
	at := make(map[offsetmap.TopicPartition]int, len(ps)) // of the clusters of a source just one is rewritten
	for i := range ps {
		if ps[i].Cluster == p.cluster {
			at[ps[i].TopicPartition] = i
		}
	}
	for i := range p.changes {
		c := &p.changes[i]
		j, there := at[c.TopicPartition]
		held := offsetmap.Position{TopicPartition: c.TopicPartition, Cluster: c.Cluster, Next: c.To, Stop: c.Stop}
		switch {
		case c.How == SplitKept || c.How == SplitUnchanged:
		case c.How == SplitFromEnumerator:
			ps[j].Start, ps[j].Unread = c.To, offsetmap.Marker(0)
		case there:
			ps[j] = held
		default:
			ps = append(ps, held)
		}
	}
	slices.SortFunc(ps, func(a, b offsetmap.Position) int {
		return cmp.Or(a.Compare(b.TopicPartition), cmp.Compare(a.Cluster, b.Cluster))
	})
	return ps
}
