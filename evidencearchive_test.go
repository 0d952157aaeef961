package flinkmm2_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

// entry is a file of an archive.
type tarFile struct {
	head    tar.Header
	content []byte
}

func unpackTar(t *testing.T, archive []byte) (out []tarFile) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tarFile{*h, content})
	}
}

func packTar(t *testing.T, files []tarFile) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		if f.head.Typeflag == tar.TypeReg {
			f.head.Size = int64(len(f.content))
		}
		if err := w.WriteHeader(&f.head); err != nil {
			t.Fatal(err)
		}
		if f.head.Typeflag == tar.TypeReg {
			if _, err := w.Write(f.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// headOf returns the list of contents of an archive.
func headOf(t *testing.T, archive []byte) []byte {
	t.Helper()
	return unpackTar(t, archive)[0].content
}

func refusedArchive(t *testing.T, name string, archive []byte) {
	t.Helper()
	if _, err := flinkmm2.ReadEvidence(bytes.NewReader(archive)); !errors.Is(err, flinkmm2.ErrEvidence) || flinkmm2.ExitStatus(err) != flinkmm2.ExitMoved {
		t.Errorf("%s: %v", name, err)
	}
}

// Whatever is altered in an archive after it was packed is found.
func archivesAltered(t *testing.T, p *packed, archive []byte) {
	if again := p.archive(); !bytes.Equal(again, archive) {
		t.Error("the same files give other bytes")
	}
	files := unpackTar(t, archive)
	if len(files) != 1+len(p.files) || !slices.IsSortedFunc(files[1:], func(a, b tarFile) int { return strings.Compare(a.head.Name, b.head.Name) }) {
		t.Errorf("%d files in the archive", len(files))
	}
	// A byte of each member at a step that meets every place of a header and of a line.
	at := 0
	for _, f := range files {
		end := at + 512 + (len(f.content)+511)/512*512
		step := max(1, (end-at)/40)
		for i := at; i < end; i += step {
			altered := slices.Clone(archive)
			altered[i] ^= 0x10
			refusedArchive(t, f.head.Name, altered)
		}
		at = end
	}
	for i := at; i < len(archive); i += 64 {
		altered := slices.Clone(archive)
		altered[i] = 1
		refusedArchive(t, "the end", altered)
		refusedArchive(t, "cut off", archive[:i])
	}
	refusedArchive(t, "more behind it", append(slices.Clone(archive), 0))
	refusedArchive(t, "a second archive behind it", append(slices.Clone(archive), archive...))
	refusedArchive(t, "empty", nil)

	reg := func(name, content string) tarFile {
		return tarFile{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}, []byte(content)}
	}
	link := func(kind byte, name, to string) tarFile {
		return tarFile{tar.Header{Typeflag: kind, Name: name, Linkname: to, Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}, nil}
	}
	changed := func(i int, change func(*tarFile)) []tarFile {
		out := slices.Clone(files)
		change(&out[i])
		return out
	}
	hostile := map[string][]tarFile{
		"as it was":          files,
		"the head is behind": append(slices.Clone(files[1:]), files[0]),
		"two heads":          append(slices.Clone(files), files[0]),
		"no head":            files[1:],
		"two in other order": append([]tarFile{files[0], files[2], files[1]}, files[3:]...),
		"one lacks":          slices.Delete(slices.Clone(files), 3, 4),
		"one twice":          append(slices.Clone(files), files[3]),
		"one that is not listed": append(slices.Clone(files),
			reg("proof-0-of-2.json", `{"apiVersion":"flinkmm2/v1","kind":"Proof","shard":{"index":0,"of":2}}`)),
		"a way up":         append(slices.Clone(files), reg("../../etc/passwd", "x")),
		"an absolute path": append(slices.Clone(files), reg("/etc/passwd", "x")),
		"a symlink":        append(slices.Clone(files), link(tar.TypeSymlink, "report.md", "/etc/passwd")),
		"a hard link":      append(slices.Clone(files), link(tar.TypeLink, "report.md", "plan.json")),
		"a folder":         append(slices.Clone(files), link(tar.TypeDir, "a/", "")),
		"a device":         append(slices.Clone(files), link(tar.TypeChar, "report.md", "")),
		"another time":     changed(1, func(f *tarFile) { f.head.ModTime = time.Unix(1, 0) }),
		"another owner":    changed(1, func(f *tarFile) { f.head.Uid = 7 }),
		"another mode":     changed(1, func(f *tarFile) { f.head.Mode = 0o777 }),
		"another format":   changed(1, func(f *tarFile) { f.head.Format = tar.FormatPAX; f.head.PAXRecords = map[string]string{"A.b": "c"} }),
	}
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		raw := packTar(t, hostile[name])
		if name == "as it was" {
			if !bytes.Equal(raw, archive) {
				t.Error("the archive is not packed again as it was: the cases below may fail for another reason")
			}
			continue
		}
		refusedArchive(t, name, raw)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(archive)
	_ = z.Close()
	refusedArchive(t, "compressed", zipped.Bytes())
}

// A file with a hole is large, and its archive small.
func TestEvidenceOfHolesIsNotUnpacked(t *testing.T) {
	pax := "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n33 GNU.sparse.name=evidence.json\n35 GNU.sparse.realsize=99999999999\n"
	var out bytes.Buffer
	header := func(name string, kind byte, content string) {
		var one bytes.Buffer
		w := tar.NewWriter(&one)
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, content)
		_ = w.Flush()
		raw := one.Bytes()
		if kind != tar.TypeReg {
			raw[156] = kind
			for i := range 8 {
				raw[148+i] = ' '
			}
			sum := 0
			for _, b := range raw[:512] {
				sum += int(b)
			}
			copy(raw[148:], []byte{byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
		}
		out.Write(raw)
	}
	header("x", tar.TypeXHeader, pax)
	header("evidence.json", tar.TypeReg, "1\n99999999998\n1\n"+strings.Repeat("\x00", 512-16)+"x")
	out.Write(make([]byte, 1024))
	h, err := tar.NewReader(bytes.NewReader(out.Bytes())).Next()
	if err != nil || h.Size != 99999999999 {
		t.Fatalf("the archive is not what it is to be: %+v, %v", h, err)
	}
	refusedArchive(t, "a hole", out.Bytes())
}

func FuzzReadEvidence(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 1024))
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "evidence.json", Size: 2, Format: tar.FormatUSTAR})
	_, _ = w.Write([]byte("{}"))
	_ = w.Close()
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := flinkmm2.ReadEvidence(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := e.Encode(&again); err != nil || !bytes.Equal(again.Bytes(), raw) {
			t.Errorf("what was read is not what is packed: %v", err)
		}
		_, _ = e.Audit()
	})
}
