package flinkstate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Rewritten is a savepoint that [PreparedRewrite.WriteDir] has written.
type Rewritten struct {
	// Location is the path of its folder.
	Location string `json:"location"`
	// Changes is what became of each split of the source, by partition.
	Changes []SplitChange `json:"changes"`
	// Files holds its files, by name, _metadata among them.
	Files []File `json:"files"`
}

// WriteDir writes the savepoint into the local folder to, which must not exist. It is
// written beside it, synced, read back and held to what was decided, and renamed then:
// on an error nothing is left.
//
// Flink is given the folder, or a copy of it in another place. It holds all that the
// savepoint needs; nothing of the old one is shared or changed.
func (p *PreparedRewrite) WriteDir(ctx context.Context, to string) (*Rewritten, error) {
	done, err := p.writeDir(ctx, to)
	return done, legible(err)
}

func (p *PreparedRewrite) writeDir(ctx context.Context, to string) (*Rewritten, error) {
	to, err := localPath(to)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(to); err == nil {
		return nil, fmt.Errorf("%s: %w: a savepoint is written into a folder of its own", shown.Name(to), fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	parent := filepath.Dir(to)
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(to)+"-*.partial")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is not there any more, or what failed before says more
	// Flink reads it, seldom as the same user.
	if err := os.Chmod(temp, 0o755); err != nil { //nolint:gosec // as Flink makes it
		return nil, err
	}
	if err := p.reopen(func(s *store) error { return p.copy(ctx, s, temp) }); err != nil {
		return nil, err
	}
	files, err := p.compare(ReadDir(temp, WithSinkFiles()))
	if err != nil {
		return nil, fmt.Errorf("what was written is not what was meant, and nothing is kept: %w", err)
	}
	if err := os.Rename(temp, to); err != nil {
		return nil, err
	}
	if err := localfs.SyncDir(parent); err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	return &Rewritten{Location: to, Changes: p.Changes(), Files: files}, nil
}

// copy writes all files, the metadata last.
func (p *PreparedRewrite) copy(ctx context.Context, s *store, dir string) error {
	known := map[string]File{}
	for _, f := range p.snapshot.Files {
		known[f.Name] = f
	}
	for _, f := range p.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as Flink makes it
			return err
		}
		in := io.Reader(bytes.NewReader(f.content))
		if f.content == nil {
			var done func() error
			var err error
			if in, done, err = s.part(ctx, f, known[f.from]); err != nil {
				return fmt.Errorf("state file %s: %w", shown.Name(f.from), err)
			}
			if err := errors.Join(writeSynced(name, in), done()); err != nil {
				return fmt.Errorf("state file %s: %w", shown.Name(f.from), err)
			}
			continue
		}
		if err := writeSynced(name, in); err != nil {
			return err
		}
	}
	if err := writeSynced(filepath.Join(dir, metadataName), bytes.NewReader(p.metadata)); err != nil {
		return err
	}
	return localfs.SyncDir(dir)
}

// part gives what a handle names of a file. done says whether that was all of it, and
// what it was when the savepoint was read.
func (s *store) part(ctx context.Context, f copiedFile, known File) (in io.Reader, done func() error, err error) {
	at, err := s.locate(&f.stream)
	if err != nil {
		return nil, nil, err
	}
	file, err := at.fsys.Open(at.name)
	if err != nil {
		return nil, nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(err, file.Close(), errors.New("it is no file"))
	}
	if _, err := io.CopyN(io.Discard, file, f.stream.start); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("it ends before byte %d", f.stream.start), file.Close())
	}
	part := &counted{in: io.Reader(file), ctx: ctx, sum: sha256.New()}
	part.in = io.LimitReader(part.in, f.stream.size)
	return part, func() error {
		err := file.Close()
		sum := hex.EncodeToString(part.sum.Sum(nil))
		switch {
		case part.n != f.stream.size:
			return fmt.Errorf("%d bytes of it could be read, the metadata names %d", part.n, f.stream.size)
		case f.stream.kind != streamSegment && known.SHA256 != "" && known.SHA256 != sum:
			return errors.New("it has changed since the savepoint was read")
		default:
			return err
		}
	}, nil
}

// counted counts and hashes what is read.
type counted struct {
	in  io.Reader
	ctx context.Context //nolint:containedctx // of one copy, which it ends
	sum hash.Hash
	n   int64
}

func (c *counted) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(b)
	c.n += int64(n)
	c.sum.Write(b[:n])
	return n, err
}

func writeSynced(name string, in io.Reader) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // Flink reads it
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
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
	return is.Files, nil
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
