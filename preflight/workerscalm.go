package preflight

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const checkRebalancing = "worker/rebalancing"

func workersCalmChecks() []Check {
	return []Check{{
		ID:         checkRebalancing,
		Title:      "The workers are calm",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the workers' group on their cluster, twice over a stated time: state, members, leader, assignment, scheduled rebalance; and connectors and tasks that nobody runs. The scope is the connector, or none",
		Why:        "During a rebalance the REST API answers with a conflict, what was stopped may still run on a worker that is leaving, and a change may be carried out although its answer is lost.",
		Remedy:     "Wait until workers neither come nor go (a rolling restart, an autoscaler), and state for how long they must have been calm: connect.calm in the migration file, WithCalm in Go. `kafka-consumer-groups.sh --bootstrap-server <WORKERS-CLUSTER> --describe --group <CONNECT-GROUP> --state` shows the group.",
		Judge:      aroundWorkers(rebalancing),
	}}
}

func rebalancing(c *Case, s *Surroundings, r *Reporter) {
	report, _ := s.Workers.Get()
	for _, name := range unassigned(report) {
		r.Block(name, "nobody runs it, or one of its tasks (UNASSIGNED): a rebalance is not over, or there is no worker for it")
	}
	_, source := c.Facts.Source.Get()
	_, target := c.Facts.Target.Get()
	if !source || !target { // source/unknown or target/unknown blocks
		r.NotAsked()
		return
	}
	looks, _ := s.ConnectGroup.Get()
	reportGroup(looks, s.ConnectGroup.Err(), r)
}

func reportGroup(looks ConnectLooks, err error, r *Reporter) {
	switch {
	case errors.Is(err, errGroupUnseen):
		r.Warn("", "not proven: %v", err)
		return
	case err != nil:
		r.Unmade("", err)
		return
	}
	g := looks.First
	r.Saw("", "group %s is %s with %d members", g.ID, g.State, len(g.Members))
	switch {
	case g.State != groupStable:
		r.Block("", "group %s is %s", g.ID, g.State)
		return
	case looks.Over == 0:
		r.Warn("", "not proven: group %s was looked at once, and was %s then", g.ID, g.State)
	case looks.movedBetween() != "":
		r.Block("", "group %s has moved within %s: %s", g.ID, looks.Over, looks.movedBetween())
		return
	default:
		r.Saw("", "it stood still for %s", looks.Over)
	}
	last := g
	if looks.Over > 0 {
		last = looks.Later
	}
	for _, m := range last.Members {
		if m.Delay > 0 {
			r.Block("", "group %s waits for a worker that is gone: its tasks are given to others after %s, in a rebalance", g.ID, m.Delay.Round(time.Second))
			return
		}
	}
}

// unassigned are the connectors of the workers that nobody runs, or of which a task
// nobody runs, sorted.
func unassigned(report connectrest.ProbeReport) []string {
	var out []string
	for _, w := range report.Workers {
		for name, c := range w.Connectors {
			is := func(state connectrest.State) bool { return state == connectrest.StateUnassigned }
			if is(c.Status.Connector.State) || slices.ContainsFunc(c.Status.Tasks, func(t connectrest.TaskStatus) bool { return is(t.State) }) {
				out = append(out, name)
			}
		}
	}
	return sortedUnique(out)
}

// Rebalancing looks at the workers' group twice over Calm, for a step that is about to
// write. It returns what check worker/rebalancing finds, sorted, and nothing where Calm
// is not set.
func (p Probe) Rebalancing(ctx context.Context) []offsetmap.Finding {
	if p.Calm <= 0 {
		return nil
	}
	r := Reporter{check: workersCalmChecks()[0]}
	looks, err := p.calmNow(ctx)
	reportGroup(looks, err, &r)
	return r.findings
}

func (p Probe) calmNow(ctx context.Context) (ConnectLooks, error) {
	var f Facts
	f.Worker = fact(p.Connect.Info(ctx))
	if err := f.Worker.Err(); err != nil {
		return ConnectLooks{}, err
	}
	f.Target, f.Source = fact(readCluster(ctx, p.Target, nil)), fact(readCluster(ctx, p.Source, nil))
	admin, err := p.workerAdmin(f)
	if err != nil {
		return ConnectLooks{}, err
	}
	report, err := p.Connect.Probe(ctx)
	if err != nil {
		return ConnectLooks{}, err
	}
	_, again, err := p.lookAtGroup(ctx, admin, addressesOf(report))
	if err != nil {
		return ConnectLooks{}, err
	}
	return again()
}
