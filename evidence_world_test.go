package flinkmm2_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// packed is the files of a migration that was started, proven and accepted, and which
// files of it each test changes before they are packed again.
type packed struct {
	*testing.T
	files map[string][]byte
}

var packer = offsetmap.Tool{Name: "runbook", Version: "v1"}

// planted is the secret of the connector's config, which must be in no file.
const planted = "planted-secret"

// keptInFiles is a migration whose journal and backup are kept in a folder.
func keptInFiles(t *testing.T) (w *wayBack, journal string, backup func() []byte) {
	t.Helper()
	w = preparedOn(t, newestWorker, map[string]string{"producer.override.sasl.jaas.config": `x required password="` + planted + `";`})
	journal = filepath.Join(t.TempDir(), "journal.jsonl")
	w.journal = flinkmm2.NewFileJournal(journal)
	var file []byte
	w.options = append(w.options, flinkmm2.WithActor("li"), flinkmm2.WithBackup(func(_ context.Context, b *flinkmm2.OffsetsBackup) (err error) {
		file, err = b.Encode()
		return err
	}))
	w.steps = w.migration(w.source.admin)
	return w, journal, func() []byte { return file }
}

func accepted(t *testing.T) *packed {
	t.Helper()
	w, journal, backup := keptInFiles(t)
	ctx := t.Context()
	positions := encoded(t, flinkmm2.Export(w.requestFrom("20", "32").Snapshot))
	if err := w.steps.RecordPositions(ctx, positions); err != nil {
		t.Fatal(err)
	}
	w, proof := copied(t, w)
	list, err := w.steps.AcceptanceList(ctx, w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: words(), Between: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	return &packed{t, map[string][]byte{
		"plan.json": encoded(t, w.plan), "positions.json": positions, "journal.jsonl": raw, "backup.json": backup(),
		"proof.json": encoded(t, proof), "acceptance.json": encoded(t, list), "report.html": []byte("<p>" + w.plan.Digest),
		"report.json": []byte(`{"apiVersion":"flinkmm2/v1","kind":"Report","plan":{"digest":"` + w.plan.Digest + `"}}`),
	}}
}

func encoded(t *testing.T, file interface{ Encode() ([]byte, error) }) []byte {
	t.Helper()
	text, err := file.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with is the same files with one changed, or taken out when it is nil.
func (p *packed) with(name string, content []byte) *packed {
	files := maps.Clone(p.files)
	if files[name] = content; content == nil {
		delete(files, name)
	}
	return &packed{p.T, files}
}

// replaced is the same files with a text of one replaced, which must be there.
func (p *packed) replaced(name, from, to string) *packed {
	p.Helper()
	if !bytes.Contains(p.files[name], []byte(from)) {
		p.Fatalf("%s has no %s", name, from)
	}
	return p.with(name, bytes.Replace(p.files[name], []byte(from), []byte(to), 1))
}

// rewritten is the same files with a journal that somebody wrote anew, so that each line
// follows the one before.
func (p *packed) rewritten(change func([]flinkmm2.Entry) []flinkmm2.Entry) *packed {
	p.Helper()
	path := filepath.Join(p.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, p.files["journal.jsonl"], 0o600); err != nil {
		p.Fatal(err)
	}
	entries, err := flinkmm2.NewFileJournal(path).Read(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	anew := path + ".new"
	for _, e := range change(entries) {
		if err := flinkmm2.NewFileJournal(anew).Append(p.Context(), e); err != nil {
			p.Fatal(err)
		}
	}
	raw, err := os.ReadFile(anew)
	if err != nil {
		p.Fatal(err)
	}
	return p.with("journal.jsonl", raw)
}

func (p *packed) evidence() *flinkmm2.Evidence {
	p.Helper()
	var files []flinkmm2.EvidenceFile
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		files = append(files, flinkmm2.EvidenceFile{Name: name, Content: p.files[name]})
	}
	e, err := flinkmm2.NewEvidence(packer, files...)
	if err != nil {
		p.Fatal(err)
	}
	return e
}

func (p *packed) archive() []byte {
	p.Helper()
	var out bytes.Buffer
	if err := p.evidence().Encode(&out); err != nil {
		p.Fatal(err)
	}
	return out.Bytes()
}
