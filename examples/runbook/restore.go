package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
)

// keepBackup writes the backup that apply makes into the folder.
func (a *app) keepBackup(dir string) func(context.Context, *flinkmm2.OffsetsBackup) error {
	return func(_ context.Context, b *flinkmm2.OffsetsBackup) error {
		document, err := b.Encode()
		if err != nil {
			return err
		}
		a.backup = filepath.Join(dir, backupFile(b.Digest))
		return flinkmm2.WriteFile(a.backup, document)
	}
}

func (a *app) restoreCommand() *cobra.Command {
	digest, by := "", osUser()
	cmd := a.step("restore", "Put back what Connect held before a plan was written",
		`restore makes Connect hold exactly what a backup of apply holds
(state.dir/offsets-DIGEST.json): each of its offsets, and none for any other
partition of the alias. It is a person's act: --digest names the backup, whole.

It is not the way back of a plan: rollback is, which knows what the plan wrote and
how far the connector has copied. restore is for offsets that somebody has damaged.
The connector must be STOPPED, and nothing may move for at least
connect.flushTimeout and a second. An offset that goes back, or becomes absent, is
accepted one by one in the file (restore/rewind), since records come again.

It writes offsets to Connect, reads them back, and writes lines to
state.dir/journal.jsonl. It can be run again. Afterwards no plan of before can be
applied, started or rolled back; it starts nothing.`,
		"runbook -f migration.yaml plan --replace",
		func(ctx context.Context) error {
			approval, err := approvalOf("backup", digest, by, "it stands in its file")
			if err != nil {
				return err
			}
			return a.restore(ctx, approval)
		})
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the backup that is meant (required)")
	cmd.Flags().StringVar(&by, "by", by, "who gives the word")
	if err := cmd.MarkFlagRequired("digest"); err != nil {
		panic(errors.Join(errors.New("restore has no flag digest"), err)) // a slip of this file
	}
	return cmd
}

func (a *app) restore(ctx context.Context, word flinkmm2.Approval) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	defer s.close()
	backup, err := findBackup(s.dir, word.Digest)
	if err != nil {
		return err
	}
	done, err := s.steps.Restore(ctx, backup, flinkmm2.RestoreOptions{Approval: word, Acceptances: s.accepted(ofRestore)})
	if err != nil {
		return err
	}
	if err := a.printValue(done, func(w io.Writer) {
		if len(done.Changed) > 0 {
			line(w, "PARTITION", "BEFORE", "STORED")
			for _, c := range done.Changed {
				line(w, c.TopicPartition, dash(c.Before), dash(c.Stored))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Connect holds exactly the backup: %d partitions, %d of them written\nbackup %s, of before plan %s\n", done.Partitions, len(done.Changed), done.Digest, backup.Body.Plan)
	}); err != nil {
		return err
	}
	a.next("plan", "--replace")
	return nil
}

// findBackup reads the backup with the digest, or says which there are.
func findBackup(dir, digest string) (*flinkmm2.OffsetsBackup, error) {
	b, err := flinkmm2.ReadOffsetsBackup(filepath.Join(dir, backupFile(digest)))
	switch {
	case err == nil && b.Digest == digest:
		return b, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "offsets-*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var have []string
	for _, f := range files {
		b, err := flinkmm2.ReadOffsetsBackup(f)
		if err != nil {
			have = append(have, err.Error())
			continue
		}
		have = append(have, fmt.Sprintf("%s of %s, before plan %s", b.Digest, b.Body.CreatedAt, b.Body.Plan))
	}
	if len(have) == 0 {
		return nil, &blockedError{err: fmt.Errorf("there is no backup in %s: apply keeps one before it writes", dir)}
	}
	return nil, &blockedError{err: fmt.Errorf("there is no backup %s in %s; there is\n  %s", digest, dir, strings.Join(have, "\n  "))}
}
