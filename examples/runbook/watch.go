package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (a *app) watchCommand() *cobra.Command {
	f := watchFlags{within: 10 * time.Minute, until: "end"}
	cmd := a.step("watch", "Prove, record by record, that nothing is lost",
		`watch reads both clusters from C to the source's end as it is now, and compares
the whole sequences, partition by partition: what came first, what is missing,
repeated, altered or out of order. It waits until everything is there, or until
--within has passed.

--until says how far. With boundary the watch ends when the first record of each
partition is there, with records=N when N records are, and with caught-up when the
lag is gone, which may be never: --within is the bound. The proof says which it was.

It writes state.dir/proof.json, whatever the outcome, and a line with its SHA-256
to state.dir/journal.jsonl, and changes nothing anywhere. It ends with 0 only when everything is proven; with 7 when records are
missing or altered, or when Connect counts records that the target lacks; with 8
when time ran out, with 6 when nothing moves. It can be run as often as you like.

With --resume it keeps in state.dir/proof.checkpoint.json how far it has come, and
goes on from there when it is run again, as after it was killed: what was compared
is not read a second time, and need not be there any more.

With --shard 0/4 to 3/4 four runs, as the pods of an Indexed Job, watch a quarter of
the partitions each, and write state.dir/proof-0-of-4.json and so on; proof merge
joins them.

With --follow it goes on, a small verifier for as long as a way back must exist: every
minute (--every) it reads on to the source's end and replaces proof.json.
--bytes-per-second bounds what it costs the clusters. It ends with 7 at the first
round that shows a fault, else when the attested rollbackWindow has passed since the
start, or --for. With --resume as well it goes on after it was killed.

A restart of the workers on purpose is proven in two runs: --mark-restart before it,
which keeps state.dir/restart.json, and --after-restart when all tasks run again. The
second asks that each task runs in another process, that records came, that no
stored offset went back, and that no more came twice than one restart explains.`,
		"keep proof.json; or runbook -f migration.yaml rollback",
		nil)
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		a.reached = true
		if err := f.foreign(cmd.Flags().Changed); err != nil {
			return err
		}
		return a.watch(cmd.Context(), f)
	}
	return cmd
}

func (a *app) watch(ctx context.Context, f watchFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	return a.withPlan(func(s *session, plan *offsetmap.Plan) error {
		p := &progress{to: a.errs, live: isTerminal(a.errs), now: time.Now}
		o.Progress = p.show
		if f.resume {
			o.Checkpoint = flinkmm2.FileCheckpoint(filepath.Join(s.dir, shardFile(checkpointFile, o.Shard)))
		}
		proof, err := a.watched(ctx, s, plan, o, f)
		p.end()
		switch {
		case proof != nil:
		case isRefused(err) || !errors.Is(err, flinkmm2.ErrNotProven):
			return err
		default: // the journal knows of no start
			return &hintedError{err: err, next: []string{"start", "--digest", plan.Digest}}
		}
		err = a.proven(filepath.Join(s.dir, shardFile(proofFile, o.Shard)), proof, err)
		if err == nil && proof.Shard == nil && !f.mark {
			a.next("accept")
		}
		return err
	})
}

// watched watches once, or follows. After each round proof.json is replaced, and a
// line says how it stands.
func (a *app) watched(ctx context.Context, s *session, plan *offsetmap.Plan, o flinkmm2.WatchOptions, all watchFlags) (*flinkmm2.Proof, error) {
	f := all.follow
	switch {
	case all.mark:
		return a.markRestart(ctx, s, plan, o)
	case all.after:
		mark, err := flinkmm2.ReadRestartMark(filepath.Join(s.dir, restartFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &hintedError{err: fmt.Errorf("nothing was marked before the restart: %w", err), next: []string{"watch", "--mark-restart"}}
		}
		if err != nil {
			return nil, err
		}
		proof, err := s.steps.AfterRestart(ctx, plan, mark, o)
		return proof, errors.Join(err, keepAfterRestart(s.dir, proof))
	case !f.on:
		return s.steps.Watch(ctx, plan, o)
	}
	path := filepath.Join(s.dir, shardFile(proofFile, o.Shard))
	proof, err := s.steps.Follow(ctx, plan, flinkmm2.FollowOptions{
		Every: f.every, For: f.length, BytesPerSecond: f.bytesPerSecond, Shard: o.Shard, Checkpoint: o.Checkpoint,
		Round: func(p *flinkmm2.Proof, _ error) error {
			a.note("%s %s: %d records, %d copied, missing %d, pending %d, repeated %d", p.CreatedAt, p.Outcome, p.Records, p.Copied, p.Missing, p.Pending, p.Repeated)
			document, err := p.Encode()
			if err != nil {
				return err
			}
			return flinkmm2.WriteFile(path, document)
		},
	})
	if proof != nil && errors.Is(err, context.Canceled) {
		return proof, fmt.Errorf("%w; the last round stands in %s", err, path)
	}
	return proof, err
}

// keepAfterRestart keeps a proof for the acceptance list.
func keepAfterRestart(dir string, proof *flinkmm2.Proof) error {
	if proof == nil {
		return nil
	}
	document, err := proof.Encode()
	if err != nil {
		return err
	}
	return flinkmm2.WriteFile(filepath.Join(dir, afterRestartFile), document)
}

// markRestart keeps the mark of a restart that follows.
func (a *app) markRestart(ctx context.Context, s *session, plan *offsetmap.Plan, o flinkmm2.WatchOptions) (*flinkmm2.Proof, error) {
	mark, proof, err := s.steps.MarkRestart(ctx, plan, o)
	if err != nil {
		return proof, err
	}
	document, err := mark.Encode()
	if err != nil {
		return proof, err
	}
	path := filepath.Join(s.dir, restartFile)
	if err := flinkmm2.WriteFile(path, document); err != nil {
		return proof, err
	}
	a.note("written: %s, %d tasks; restart the workers one by one, and then:", path, len(mark.Tasks))
	a.next("watch", "--after-restart")
	return proof, nil
}

func isRefused(err error) bool {
	_, refused := errors.AsType[*flinkmm2.RefusedError](err)
	return refused
}

// proven prints and keeps a proof, and returns what it does not show.
func (a *app) proven(path string, proof *flinkmm2.Proof, verdict error) error {
	document, err := proof.Encode()
	if err != nil {
		return err
	}
	if err := flinkmm2.WriteFile(path, document); err != nil {
		return err
	}
	if err := a.print(document, func(w io.Writer) { proofTable(w, proof) }); err != nil {
		return err
	}
	a.note("written: %s", path)
	return verdict
}

func proofTable(w io.Writer, p *flinkmm2.Proof) {
	line(w, "PARTITION", "C", "FIRST", "END", "RECORDS", "COPIED", "MISSING", "ALTERED", "DISORDER", "REPEATED", "OUTCOME")
	for _, r := range p.Partitions {
		outcome := r.Outcome
		if r.Reason != "" {
			outcome += ": " + r.Reason
		}
		line(w, r.TopicPartition, r.Next, orDash(r.First), r.End, r.Records, r.Copied, r.Missing, r.Altered, r.OutOfOrder, r.Repeated, outcome)
	}
	if r := p.Restart; r != nil {
		fmt.Fprintf(w, "\nsince the mark of %s: %d records copied, %d repeated of at most %d\n", r.MarkedAt, r.Copied, r.Repeated, r.Allowed)
		for _, t := range r.Tasks {
			how := "restarted"
			if !t.Restarted {
				how = "not shown to have been restarted"
			}
			fmt.Fprintf(w, "task %d: %s -> %s, %s\n", t.ID, cmp.Or(t.Before, "none"), t.After, how)
		}
	}
	older, about := "", ""
	if p.Shard != nil {
		about = fmt.Sprintf("shard %s, ", p.Shard)
	}
	if p.Until != (flinkmm2.Until{}) {
		about += fmt.Sprintf("until %s, ", p.Until)
	}
	if p.Older > 0 {
		older = fmt.Sprintf(", older than what is remembered, or another writer's %d", p.Older)
	}
	fmt.Fprintf(w, "\n%s: %s%d partitions, %d records, %d copied, missing %d, altered %d, out of order %d, repeated %d%s, lost by acceptance %d\nplan %s\n",
		p.Outcome, about, len(p.Partitions), p.Records, p.Copied, p.Missing, p.Altered, p.OutOfOrder, p.Repeated, older, p.Lost, p.Plan)
}

// progress tells a person how far a watch is: in one line that is written over
// on a terminal, else in a line now and then, for a log.
type progress struct {
	to    io.Writer
	live  bool
	now   func() time.Time
	last  time.Time
	shown bool
}

// quiet is how long a log stays without a line.
const quiet = 10 * time.Second

func (p *progress) show(w flinkmm2.WatchProgress) {
	text := fmt.Sprintf("watching: %d of %d partitions decided, %d of %d records copied, missing %d", w.Decided, w.Partitions, w.Copied, w.Records, w.Missing)
	if p.live {
		fmt.Fprintf(p.to, "\r%s\x1b[K", text)
		p.shown = true
		return
	}
	now := p.now()
	if p.last.IsZero() {
		p.last = now
	}
	if now.Sub(p.last) >= quiet {
		p.last = now
		fmt.Fprintln(p.to, text)
	}
}

// end leaves the terminal on a line of its own.
func (p *progress) end() {
	if p.shown {
		fmt.Fprintln(p.to)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
