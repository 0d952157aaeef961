// Quickstart replaces a Flink job by MirrorMaker 2, from a real savepoint to the
// proof, with nothing installed but Go: the brokers and the Connect worker run
// inside this program.
//
//	go run ./examples/quickstart
//
// The exit status is 0 only when every record was proven to be on the target.
// FLINKMM2_QUICKSTART_DROP=orders-8:9 makes the worker lose one record on the
// way, which turns the run red.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The savepoint of a Flink 1.20 job with a KafkaSource over the 60 partitions of
// topic orders, stopped with savepoint.
//
//go:embed savepoint/_metadata
var files embed.FS

const (
	topic      = "orders"
	partitions = 60
	connector  = "flink-to-mm2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Getenv("FLINKMM2_QUICKSTART_DROP"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
	}
	os.Exit(flinkmm2.ExitStatus(err))
}

func run(ctx context.Context, drop string) error {
	dir, err := os.MkdirTemp("", "flinkmm2-quickstart-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := newStage(ctx, drop)
	if err != nil {
		return err
	}
	defer s.close()

	say("1", "read where the stopped job stood: a savepoint of Flink 1.20, without a JVM")
	snapshot, err := readSavepoint()
	if err != nil {
		return err
	}
	positions := snapshot.Sources[0].Partitions
	read := 0
	for _, p := range positions {
		if !p.Next.IsNone() {
			read++
		}
	}
	tell("metadata version %d, operator %s: %d partitions, %d of them read, %d still without a record",
		snapshot.MetadataVersion, snapshot.Sources[0].OperatorID, len(positions), read, len(positions)-read)

	say("2", "two Kafka clusters with topic orders, and a Connect worker on the target")
	if err := s.fill(ctx, positions); err != nil {
		return err
	}
	tell("the target holds what the job copied; %d records have come to the source since it stopped", s.produced)

	m, err := s.migration(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return err
	}
	plan, err := planned(ctx, m, snapshot, filepath.Join(dir, "plan.json"))
	if err != nil {
		return err
	}
	if err := startedAndProven(ctx, s, m, plan); err != nil {
		return err
	}
	return refusal(ctx, s, snapshot, dir)
}

func readSavepoint() (*flinkstate.Snapshot, error) {
	sub, err := fs.Sub(files, "savepoint")
	if err != nil {
		return nil, err
	}
	return flinkstate.Read(sub, ".")
}

// planned takes the steps that change nothing but Connect's offsets of a
// connector that is STOPPED.
func planned(ctx context.Context, m *flinkmm2.Migration, snapshot *flinkstate.Snapshot, path string) (*offsetmap.Plan, error) {
	say("3", "create the connector STOPPED")
	created, err := m.Create(ctx)
	if err != nil {
		return nil, err
	}
	tell("%s is STOPPED and has no task; its config is %s", created.Name, short(created.ConfigDigest))

	say("4", "plan: decide every partition, check both clusters, the worker and the config")
	plan, err := m.MakePlan(ctx, flinkmm2.PlanRequest{Snapshot: snapshot, Attestations: attested()})
	if err != nil {
		return nil, err
	}
	if err := flinkmm2.WritePlan(path, plan); err != nil {
		return nil, err
	}
	if plan, err = flinkmm2.ReadPlan(path); err != nil {
		return nil, err
	}
	for _, r := range plan.Body.Rows {
		if r.Partition == 8 || r.Partition == 16 {
			tell("%-9s C = %-4s log %s..%s  Connect offset: %s", r.TopicPartition, r.Next, r.LogStart, r.LogEnd, r.Write)
		}
	}
	for _, f := range plan.Body.Findings {
		if f.Check == "boundary/delivered-evidence" {
			tell("%s", f.Detail)
		}
	}
	tell("%d partitions, sealed as %s", len(plan.Body.Rows), short(plan.Digest))

	say("5", "apply: write M = C - 1 to Connect, read everything back; then once more")
	for range 2 {
		applied, err := m.Apply(ctx, plan)
		if err != nil {
			return nil, err
		}
		tell("%d of %d partitions written", len(applied.Written), applied.Partitions)
	}
	if _, err := m.Verify(ctx, plan); err != nil {
		return nil, err
	}
	tell("verified: Connect holds exactly the plan, and nothing runs yet")
	return plan, nil
}

func startedAndProven(ctx context.Context, s *stage, m *flinkmm2.Migration, plan *offsetmap.Plan) error {
	say("6", "start: a person gives the digest of the plan (this program plays the person)")
	started, err := m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "quickstart"})
	if err != nil {
		return err
	}
	tell("RUNNING with %d tasks, which proves nothing yet", started.Tasks)
	if err := s.produceMore(ctx); err != nil {
		return err
	}
	tell("%d more records come to the source, in every partition", partitions*since)

	say("7", "watch: read both clusters and compare, record by record, from C on")
	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: 20 * time.Second})
	if proof != nil {
		tell("%d partitions, %d records: missing %d, altered %d, out of order %d, duplicates %d",
			len(proof.Partitions), proof.Records, proof.Missing, proof.Altered, proof.OutOfOrder, proof.Repeated)
	}
	if err != nil {
		return err
	}
	if s.dropped != nil && s.dropped.Hits() == 0 {
		return errors.New("FLINKMM2_QUICKSTART_DROP names a record that was never to be copied: take an offset from C on")
	}
	tell("PROVEN: from C on, every record of the source is on the target, in order, unaltered")
	return nil
}

// refusal shows what the library does not do: the source drops records that were
// never copied, and the plan is refused instead of starting behind the hole.
func refusal(ctx context.Context, s *stage, snapshot *flinkstate.Snapshot, dir string) error {
	say("8", "a refusal: records of orders-8 expire before a second migration is planned")
	if err := s.expire(ctx, 8, 20); err != nil {
		return err
	}
	m, err := s.second(filepath.Join(dir, "second.jsonl"))
	if err != nil {
		return err
	}
	if _, err := m.Create(ctx); err != nil {
		return err
	}
	_, err = m.MakePlan(ctx, flinkmm2.PlanRequest{Snapshot: snapshot, Attestations: attested()})
	var blocked *offsetmap.BlockedError
	if !errors.As(err, &blocked) {
		return fmt.Errorf("a plan over expired records must be blocked, got: %w", err)
	}
	for _, f := range blocked.Findings {
		if f.Check == "source/offset-expired" {
			tell("%s", f)
			tell("there is no plan, and no offset was written; a program would exit with %d", flinkmm2.ExitStatus(err))
			return nil
		}
	}
	return fmt.Errorf("the expired records were not named: %w", err)
}

func say(step, text string) { fmt.Printf("\n%s. %s\n", step, text) }

func tell(format string, args ...any) { fmt.Printf("   "+format+"\n", args...) }

// short cuts a digest to what a person compares.
func short(digest string) string { return digest[:min(len(digest), 19)] + "..." }
