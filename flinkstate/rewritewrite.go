package flinkstate

import (
	"bytes"
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
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// Rewritten is a savepoint that [PreparedRewrite.WriteDir] has written.
type Rewritten struct {
	// Location is the absolute path of its folder.
	Location string `json:"location"`
	// Changes is what became of each split of the source, by partition.
	Changes []SplitChange `json:"changes"`
	// Files holds its files, by name, _metadata among them.
	Files []File `json:"files"`
}

// WriteDir writes the savepoint into the local folder to, which must not exist. It is
// written beside it, synced, read back and held to what was decided, and renamed then:
// on an error nothing is left. A process that is killed may leave a folder beside it,
// of the same name but for a dot before it and ".partial" at its end, which nothing uses.
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
	to = fullPath(to)
	if _, err := os.Lstat(to); err == nil {
		return nil, fmt.Errorf("%s: %w: a savepoint is written into a folder of its own", shown.Name(to), fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if !utf8.ValidString(to) {
		return nil, fmt.Errorf("the path %q is not UTF-8: no plan could name it", to)
	}
	parent := filepath.Dir(to)
	if err := p.outside(parent); err != nil {
		return nil, err
	}
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
	files, err := p.compare(ReadDir(temp, WithSinkFiles(), WithMaxFileSize(p.maxBytes)))
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

// outside refuses a folder that lies in the old savepoint: that would be changed, and
// who deletes it deletes both.
func (p *PreparedRewrite) outside(parent string) error {
	if p.home == "" {
		return nil
	}
	home, err := os.Stat(p.home)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return err
	}
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if os.SameFile(info, home) {
			return fmt.Errorf("%s lies in the old savepoint, %s, which stays as it is: name a folder beside it", shown.Name(parent), shown.Name(p.home))
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
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
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return localfs.SyncDir(name)
	})
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
	part := &counted{in: io.LimitReader(file, f.stream.size), ctx: ctx, sum: sha256.New()}
	return part, func() error {
		more, _ := file.Read(make([]byte, 1))
		err := file.Close()
		sum := hex.EncodeToString(part.sum.Sum(nil))
		switch {
		case part.n != f.stream.size:
			return fmt.Errorf("%d bytes of it could be read, the metadata names %d", part.n, f.stream.size)
		case f.stream.kind != streamSegment && more > 0: // Flink reads a file to its end
			return fmt.Errorf("it has more than the %d bytes that the metadata names", f.stream.size)
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
