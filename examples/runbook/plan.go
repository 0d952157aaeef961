package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func (a *app) planCommand() *cobra.Command {
	replace := false
	cmd := a.step("plan", "Decide every partition and seal the decision",
		`plan decides C for every partition, runs every check of preflight, and seals the
outcome: all partitions are decided, or there is no plan. The connector must
exist, STOPPED: its stored offsets become the plan's backup.

It writes state.dir/plan.json, what the checks have looked at as preflight.json, and
a line to state.dir/journal.jsonl. It writes nothing to Connect or Kafka, and nothing over another plan unless --replace says
so; the plan that was replaced is kept beside the new one, since it holds the
backup of what it overwrote in Connect. Run again, it keeps a plan that would
decide the same, unless that one was rolled back or has been overtaken.`,
		"runbook -f migration.yaml show, and let a second person read it",
		func(ctx context.Context) error { return a.plan(ctx, replace) })
	cmd.Flags().BoolVar(&replace, "replace", false, "make a new plan although there is another one")
	return cmd
}

func (a *app) plan(ctx context.Context, replace bool) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	defer s.close()
	request, err := s.request(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, planFile)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if before != nil && !replace {
		kept, err := a.stillRight(ctx, s, path, request)
		if err != nil {
			return err
		}
		return a.planned(kept, path, "kept")
	}
	var judged findingsDocument
	request.Judged = func(r preflight.Report) { judged = s.findingsOf(r) }
	plan, err := s.steps.MakePlan(ctx, request)
	if err != nil {
		return err
	}
	if before != nil {
		name := filepath.Join(s.dir, "plan-"+short(before)+".json")
		if err := flinkmm2.WriteFile(name, before); err != nil {
			return err
		}
		a.note("the plan before is kept as %s", name)
	}
	if err := keepPreflight(s.dir, judged); err != nil {
		return err
	}
	if err := flinkmm2.WritePlan(path, plan); err != nil {
		return err
	}
	return a.planned(plan, path, "written")
}

// short names the content of a file.
func short(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

func (a *app) planned(plan *offsetmap.Plan, path, how string) error {
	document, err := plan.Encode()
	if err != nil {
		return err
	}
	var outlook bytes.Buffer
	if err := plannedOutlook(&outlook, filepath.Dir(path), plan); err != nil {
		return err
	}
	if err := a.print(document, func(w io.Writer) {
		planTable(w, plan)
		_, _ = outlook.WriteTo(w)
		fmt.Fprintf(w, "\nplan %s\nexpires %s\n", plan.Digest, plan.Body.ExpiresAt)
	}); err != nil {
		return err
	}
	a.note("%s: %s", how, path)
	a.next("show")
	return nil
}

// stillRight returns the plan in the file when a new one would decide the same.
// Every other plan is in the way.
func (a *app) stillRight(ctx context.Context, s *session, path string, request flinkmm2.PlanRequest) (*offsetmap.Plan, error) {
	inTheWay := func(format string, args ...any) error {
		return &blockedError{err: fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...)), next: []string{"plan", "--replace"}}
	}
	old, err := flinkmm2.ReadPlan(path)
	if err == nil {
		err = old.CheckExpiry(time.Now())
	}
	if err != nil {
		return nil, inTheWay("there is a plan already, and it is of no use any more: %w", err)
	}
	switch err := s.steps.CheckForward(ctx, old); {
	case errors.Is(err, flinkmm2.ErrMoved):
		return nil, inTheWay("there is a plan already, and it can be neither applied nor started any more: %w", err)
	case err != nil:
		return nil, fmt.Errorf("plan: %w", err)
	}
	switch differs, err := s.steps.Differs(ctx, old, request); {
	case err != nil:
		return nil, err
	case differs != "":
		return nil, inTheWay("there is another plan already, %s, made at %s: %s", old.Digest, old.Body.CreatedAt, differs)
	}
	return old, nil
}

func (a *app) showCommand() *cobra.Command {
	return a.step("show", "Show the plan",
		`show prints the plan of state.dir: what was found for each partition, what will
be written, what was attested and accepted by whom, and the digest by which a
person starts it. It checks the seal: an edited plan is refused.

RULE says how C came about: stored by the job; marked-empty or unnamed-empty, where
there was no record to read; or one that ends with -accepted, by an acceptance of
the file. WRITE is what Connect will hold: set M, or clear where C is 0. LOG is the
log start and the high watermark of the source, LOST the number of offsets before
C that have expired. POSSIBLE says until when MirrorMaker 2 can be started without losing
what the source deletes, and the old job be restored where it stood, as far as the checks
could tell when the plan was made.

It writes nothing and reaches no cluster.`,
		"runbook -f migration.yaml apply",
		func(ctx context.Context) error {
			// The state folder is made for other steps only.
			m, err := readMigration(a.file)
			if err != nil {
				return err
			}
			plan, err := readPlan(m.State.Dir)
			if err != nil {
				return err
			}
			document, err := plan.Encode()
			if err != nil {
				return err
			}
			var outlook bytes.Buffer
			if err := plannedOutlook(&outlook, m.State.Dir, plan); err != nil {
				return err
			}
			if err := a.print(document, func(w io.Writer) {
				showTable(w, plan)
				_, _ = outlook.WriteTo(w)
			}); err != nil {
				return err
			}
			if err := plan.CheckExpiry(time.Now()); err != nil {
				a.note("%v: it can be watched and rolled back, and neither applied nor started", err)
				a.next("plan", "--replace")
				return nil
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			a.nextOf(s.steps.CheckForward(ctx, plan))
			return nil
		})
}

// nextOf says how to go on with a plan, by what CheckForward returned for it.
func (a *app) nextOf(err error) {
	var refused *flinkmm2.RefusedError
	switch {
	case err == nil:
		a.next("apply")
	case errors.Is(err, flinkmm2.ErrNotKnown):
		a.note("whether it can still be applied or started is not known: %v", err)
	case errors.As(err, &refused):
		a.note("it can be watched and rolled back, and neither applied nor started: %v", err)
		a.next("plan", "--replace")
	default:
		a.note("it is of no use with this migration file: %v", err)
		a.next("plan", "--replace")
	}
}

var errNoPlan = errors.New("there is no plan yet")

// readPlan reads the plan of a state folder. That there is none yet is a reason
// to plan, not a failure.
func readPlan(dir string) (*offsetmap.Plan, error) {
	plan, err := flinkmm2.ReadPlan(filepath.Join(dir, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &blockedError{err: fmt.Errorf("%w: %w", errNoPlan, err), next: []string{"plan"}}
	}
	return plan, err
}

func planTable(w io.Writer, plan *offsetmap.Plan) {
	rowsTable(w, plan.Body.Rows, plan.Body.Group != nil)
	fmt.Fprintln(w)
	findingsTable(w, plan.Body.Findings)
}

// rowsTable shows the rows, and how a group that was read stands to them; of more
// than anybody reads, what they come to for each topic.
func rowsTable(w io.Writer, rows []offsetmap.Row, group bool) {
	if len(rows) > maxRows {
		topicsTable(w, rows)
		return
	}
	line(w, "PARTITION", "C", "RULE", "WRITE", "LOG", "LOST", "GROUP")
	compared := againstGroup(rows)
	for i, r := range rows {
		relation := "-"
		if group {
			relation = compared[i].String()
		}
		line(w, r.TopicPartition, r.Next, r.Rule, r.Write, r.LogStart.String()+".."+r.LogEnd.String(), r.Lost, relation)
	}
}

// againstGroup holds the group against where the old job stood in each row, which
// is C itself where it had no position. It has the order of the rows.
func againstGroup(rows []offsetmap.Row) flinkstate.Comparison {
	positions := make([]offsetmap.Position, 0, len(rows))
	committed := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, r := range rows {
		stood := r.Next
		if r.Found != nil && !r.Found.Next.IsNone() {
			stood = r.Found.Next
		}
		positions = append(positions, offsetmap.Position{TopicPartition: r.TopicPartition, Next: stood})
		committed[r.TopicPartition] = r.Group
	}
	return flinkstate.Compare(positions, committed)
}

func showTable(w io.Writer, plan *offsetmap.Plan) {
	b := plan.Body
	line(w, "plan", plan.Digest)
	line(w, "made", fmt.Sprintf("%s by %s %s", b.CreatedAt, b.Tool.Name, b.Tool.Version))
	line(w, "expires", b.ExpiresAt)
	line(w, "source", "cluster "+b.Source.ID)
	line(w, "target", "cluster "+b.Target.ID)
	line(w, "connector", fmt.Sprintf("%s, source alias %s, config %s", b.Connector.Name, b.Connector.SourceAlias, b.Connector.Config))
	line(w, "worker", fmt.Sprintf("Kafka %s, MirrorSourceConnector %s", b.Worker.Version, b.Worker.PluginVersion))
	if s := b.Savepoint; s != nil {
		line(w, "savepoint", fmt.Sprintf("%s, checkpoint %d, operator %s", s.Location, s.CheckpointID, s.OperatorID))
	}
	if b.Group != nil {
		line(w, "group", b.Group.ID)
	}
	attestationRows(w, b.Attestations)
	fmt.Fprintln(w)
	planTable(w, plan)
}

func attestationRows(w io.Writer, a offsetmap.Attestations) {
	attested(w, "copyOnly", a.CopyOnly)
	attested(w, "flinkStopped", a.FlinkStopped)
	attested(w, "autoRestartOff", a.AutoRestartOff)
	attested(w, "sinkGuarantee", a.SinkGuarantee)
	attested(w, "isolation", a.Isolation)
	attested(w, "checkpointing", a.Checkpointing)
	attested(w, "rollbackWindow", a.RollbackWindow)
	attested(w, "maxDuplicates", a.MaxDuplicates)
	c := a.Confirm
	attested(w, "confirm.flinkVersions", c.FlinkVersions)
	attested(w, "confirm.sinkEvidence", c.SinkEvidence)
	attested(w, "confirm.clustersAndTopics", c.ClustersAndTopics)
	attested(w, "confirm.targetNames", c.TargetNames)
	attested(w, "confirm.image", c.Image)
	attested(w, "confirm.kubernetes", c.Kubernetes)
	attested(w, "confirm.limits", c.Limits)
}

func attested[T any](w io.Writer, name string, a *offsetmap.Attestation[T]) {
	if a != nil {
		line(w, "attested", fmt.Sprintf("%s: %v, by %s: %s", name, a.Value, a.By, strings.TrimSpace(a.Reason)))
	}
}
