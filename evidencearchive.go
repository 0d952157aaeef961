package flinkmm2

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// maxArchive bounds an archive that is read, in bytes. A plan of 100,000 partitions
// has some 60 MB, and the report and the proof of it about as much.
const maxArchive = 2 << 30

// Encode writes the bundle as a tar archive (USTAR, not compressed): evidence.json,
// which lists the others, then those by name. The same files give the same bytes.
func (e *Evidence) Encode(w io.Writer) error {
	head, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	t := tar.NewWriter(w)
	add := func(name string, content []byte) error {
		// Of no time and of nobody, so that nothing of the machine is in it.
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	if err := add(evidenceHead, append(head, '\n')); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	for _, f := range e.Body.Files {
		if err := add(f.Name, e.contents[f.Name]); err != nil {
			return fmt.Errorf("evidence: %s: %w", f.Name, err)
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}

// ReadEvidence reads an archive of Encode. It writes nothing anywhere, and takes no
// archive but one that Encode would write of the same files, byte by byte: another
// content, size, order or attribute of any file, one too many or too few, a link, a path
// or a padding that is not empty is an ErrEvidence.
func ReadEvidence(r io.Reader) (*Evidence, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxArchive+1))
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	if len(raw) > maxArchive {
		return nil, fmt.Errorf("read evidence: %w: more than %d bytes", ErrEvidence, maxArchive)
	}
	e, err := decodeEvidence(raw)
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w: %w", ErrEvidence, err)
	}
	return e, nil
}

func decodeEvidence(raw []byte) (*Evidence, error) {
	said := &Evidence{}
	var files []EvidenceFile
	var total int64
	for t := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if total += h.Size; h.Typeflag != tar.TypeReg || h.Format != tar.FormatUSTAR || total > int64(len(raw)) {
			return nil, fmt.Errorf("%q is no plain file of the archive", h.Name) // one with holes would be larger than the archive
		}
		if len(files) > maxEvidence {
			return nil, fmt.Errorf("more than %d files", maxEvidence)
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", h.Name, err)
		}
		if h.Name != evidenceHead {
			files = append(files, EvidenceFile{h.Name, content})
			continue
		}
		if said.Kind != "" || len(files) > 0 {
			return nil, fmt.Errorf("%s is not the first file", evidenceHead)
		}
		if err := offsetmap.DecodeKind(content, EvidenceKind, said); err != nil {
			return nil, fmt.Errorf("%s: %w", evidenceHead, err)
		}
	}
	if said.Kind == "" {
		return nil, fmt.Errorf("there is no %s", evidenceHead)
	}
	listed := map[string]EvidenceMember{}
	for _, f := range said.Body.Files {
		listed[f.Name] = f
	}
	is, err := NewEvidence(said.Body.Tool, files...)
	if err != nil {
		return nil, err
	}
	for _, f := range is.Body.Files {
		was, ok := listed[f.Name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s is not in the list of contents", f.Name)
		case was != f:
			return nil, fmt.Errorf("%s is a %s of %d bytes with SHA-256 %s, by the list of contents a %s of %d with %s", f.Name, f.Role, f.Size, f.SHA256, was.Role, was.Size, was.SHA256)
		}
		delete(listed, f.Name)
	}
	if len(listed) > 0 {
		return nil, fmt.Errorf("what the list of contents has lacks: %s", strings.Join(slices.Sorted(maps.Keys(listed)), ", "))
	}
	if is.Digest != said.Digest {
		return nil, fmt.Errorf("the content has the digest %s, the list of contents says %s", is.Digest, said.Digest)
	}
	again := &sameBytes{want: raw}
	if err := is.Encode(again); err != nil {
		return nil, err
	}
	if len(again.want) > 0 {
		return nil, fmt.Errorf("%d bytes stand behind the archive", len(again.want))
	}
	return is, nil
}

// sameBytes is a writer of what is there already.
type sameBytes struct {
	want []byte
	at   int
}

func (s *sameBytes) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(s.want, p) {
		return 0, fmt.Errorf("the archive is not as it was packed, between the bytes %d and %d", s.at, s.at+len(p))
	}
	s.want, s.at = s.want[len(p):], s.at+len(p)
	return len(p), nil
}
