package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// wave is what a step on one of several waves under a connector is given beside its
// plan.
type wave struct {
	wanted      string // digest of the config to put
	givenUp     []*offsetmap.Plan
	acceptances []offsetmap.Acceptance
}

func (w wave) digests() []string {
	var out []string
	for _, p := range w.givenUp {
		out = append(out, p.Digest)
	}
	return out
}

// topics are those of the waves that were given up, sorted.
func (w wave) topics() []string {
	topics := map[string]bool{}
	for _, p := range w.givenUp {
		for _, r := range p.Body.Rows {
			topics[r.Topic] = true
		}
	}
	return slices.Sorted(maps.Keys(topics))
}

// WidenOptions says what Widen and Continue may leave out of account.
type WidenOptions struct {
	// GivenUp are the plans of later waves that were rolled back: what Connect still holds
	// of their topics is explained by them, and so is that Flink has their boundary. They
	// have no topic in common with the wave itself.
	GivenUp []*offsetmap.Plan
	// Acceptances let findings through: of Widen widen/other-setting and those of the area
	// config, of Continue continue/offset-expired and continue/other-log.
	Acceptances []offsetmap.Acceptance
}

// Widened is the outcome of Widen.
type Widened struct {
	Digest       string `json:"digest"` // of the plan whose wave it is about
	ConfigDigest string `json:"configDigest"`
	Put          bool   `json:"put"` // false: the connector had the config already
	// Added are the topics of the source that the config selects beside those before,
	// sorted; nothing of them is copied until a plan of them is started.
	Added []string `json:"added"`
	// Halted are the topics that stand still now, sorted: those of the plan and of the
	// waves before it. They go on with the start of the next wave, or by Continue.
	Halted []string `json:"halted"`
}

// Widen gives the connector the config of Config.ConnectorConfig, so that another wave
// of topics can be planned under it. It comes after the start of the plan, which is that
// of the newest wave; MakePlan with PlanRequest.Earlier, Apply, Verify and Start follow.
//
// It checks the config, stops the connector, waits until no task is left and nothing has
// moved for longer than the worker's flush timeout, puts the config, and reads back that
// the connector has it and is STOPPED. It is the only step that ever changes a config,
// and never does while the connector runs: a topic that comes to a connector that runs is
// copied from its first record. It can be run again.
//
// The same way leads back when the next wave is given up: with the config of the plan.
//
// What blocks is an *offsetmap.BlockedError, and a world that has moved an ErrMoved; then
// the connector may be STOPPED already, which the error says.
func (m *Migration) Widen(ctx context.Context, plan *offsetmap.Plan, o WidenOptions) (*Widened, error) {
	return locked(ctx, m, string(engine.Widen), func(ctx context.Context) (*Widened, error) { return m.widenLocked(ctx, plan, o) })
}

func (m *Migration) widenLocked(ctx context.Context, plan *offsetmap.Plan, o WidenOptions) (*Widened, error) {
	out, err := m.widen(ctx, plan, o)
	if _, says := errors.AsType[*RefusedError](err); err != nil && !says {
		return nil, fmt.Errorf("%s: %w", engine.Widen, err)
	}
	return out, err
}

func (m *Migration) widen(ctx context.Context, plan *offsetmap.Plan, o WidenOptions) (*Widened, error) {
	if m.given == nil {
		return nil, errors.New("no connector config was given")
	}
	wanted, err := offsetmap.ConfigDigest(m.given)
	if err != nil {
		return nil, err
	}
	w := wave{wanted: wanted, givenUp: o.GivenUp}
	if err := errors.Join(m.usable(plan), m.gaveUp(ctx, plan, o.GivenUp)); err != nil {
		return nil, err
	}
	added, err := m.mayBeGiven(ctx, plan, o.Acceptances)
	if err != nil {
		return nil, err
	}
	return m.widenTo(ctx, plan, w, added)
}

func (m *Migration) widenTo(ctx context.Context, plan *offsetmap.Plan, w wave, added []string) (*Widened, error) {
	r, err := m.walk(ctx, engine.Widen, plan, "", w)
	if err != nil {
		return nil, err
	}
	out := &Widened{Digest: plan.Digest, ConfigDigest: w.wanted, Put: slices.Contains(r.acts, string(engine.PutConfig)), Added: append([]string{}, added...), Halted: []string{}}
	if c, _ := r.seen.Connector.Get(); c.State == string(connectrest.StateStopped) {
		out.Halted = slices.Sorted(maps.Keys(engine.WaveTopics(plan)))
	}
	return out, nil
}

// gaveUp holds that later plans are of this connector, were rolled back, and are about
// other topics.
func (m *Migration) gaveUp(ctx context.Context, plan *offsetmap.Plan, later []*offsetmap.Plan) error {
	topics := engine.WaveTopics(plan)
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return preflight.Blocked([]offsetmap.Finding{unreadable(err)})
	}
	for _, p := range later {
		if err := m.usable(p); err != nil {
			return fmt.Errorf("a plan that was given up: %w", err)
		}
		if !m.wentBack(entries, p.Digest) {
			return fmt.Errorf("%w: plan %s was not given up: the journal has no finished rollback of it since it was last started", ErrMoved, p.Digest)
		}
		for _, r := range p.Body.Rows {
			if topics[r.Topic] {
				return fmt.Errorf("%w: plan %s, which was given up, has topic %s too", ErrMoved, p.Digest, r.Topic)
			}
		}
	}
	return nil
}

// wentBack reports whether a rollback of the plan ended well, and it was not resumed since.
func (m *Migration) wentBack(entries []Entry, digest string) (back bool) {
	for _, e := range entries {
		switch {
		case e.Connector != m.cfg.Connector || e.Plan != digest || e.Phase == PhaseFailed:
		case e.Act == actRollback:
			back = e.Phase == PhaseDone
		case e.Act == actResume:
			back = false
		}
	}
	return back
}

// mayBeGiven judges the config before anything is stopped for it, and returns the topics
// that it selects beside those before.
func (m *Migration) mayBeGiven(ctx context.Context, plan *offsetmap.Plan, acceptances []offsetmap.Acceptance) ([]string, error) {
	topics := engine.WaveTopics(plan)
	for _, t := range m.cfg.Topics {
		topics[t] = true
	}
	facts := m.probe(slices.Sorted(maps.Keys(topics))).Observe(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var findings []offsetmap.Finding
	version, err := facts.MirrorVersion()
	if err != nil {
		return nil, fmt.Errorf("%w: the version of MirrorMaker 2: %w", ErrNotKnown, err)
	}
	for _, f := range preflight.Lint(m.given, preflight.LintOptions{Version: version, Topics: slices.Sorted(maps.Keys(topics))}) {
		if !f.Unmade { // the next preflight makes what needs a cluster
			findings = append(findings, f)
		}
	}
	findings = append(findings, otherSettings(facts.OtherConfig(m.given))...)
	if alias := m.given["source.cluster.alias"]; alias != plan.Body.Connector.SourceAlias {
		findings = append(findings, offsetmap.Finding{
			Check: "offsets/foreign", Severity: offsetmap.Block, Scope: alias, Acceptable: offsetmap.Never,
			Detail: fmt.Sprintf("the config has source.cluster.alias %q, and what Connect holds is stored under %q: no task would read it", alias, plan.Body.Connector.SourceAlias),
		})
	}
	added, err := facts.NewlyCopied(m.given)
	if err != nil {
		return nil, fmt.Errorf("%w: which topics the config selects: %w", ErrNotKnown, err)
	}
	for _, topic := range added {
		if len(m.cfg.Topics) > 0 && !topics[topic] {
			findings = append(findings, offsetmap.Finding{
				Check: "config/topics-unplanned", Severity: offsetmap.Block, Scope: topic, Acceptable: offsetmap.ByScope,
				Detail: fmt.Sprintf("the connector would copy the topic %s, which is not in the migration", topic),
			})
		}
	}
	return added, preflight.Blocked(offsetmap.Accept(findings, slices.Concat(plan.Body.Acceptances, acceptances)))
}

// otherSettings are the differences between two configs, but for those in which topics are
// copied, and in how many tasks.
func otherSettings(differences []offsetmap.Finding) []offsetmap.Finding {
	free := []string{"topics", "topics.exclude", "topics.blacklist", "tasks.max"}
	var out []offsetmap.Finding
	for _, d := range differences {
		if !slices.Contains(free, d.Scope) {
			out = append(out, offsetmap.Finding{Check: "widen/other-setting", Severity: offsetmap.Block, Scope: d.Scope, Detail: d.Detail, Acceptable: offsetmap.Exact})
		}
	}
	return out
}

// putConfig gives the STOPPED connector its config, and reads back that it has it and is
// STOPPED. One that is not is stopped at once: somebody resumed it at that moment.
func (m *Migration) putConfig(ctx context.Context, plan *offsetmap.Plan, o *observer, seen engine.Observed) error {
	stored, _ := seen.Stored.Get()
	intent := Entry{
		Act: actWiden, Plan: plan.Digest, Detail: "config " + o.wave.wanted, Request: m.request(http.MethodPut, "/config"),
		Stood: stoodAt(engine.WaveTopics(plan), stored.Offsets),
	}
	return m.actAfter(ctx, o.entries, intent, func(ctx context.Context) error {
		if _, err := m.cfg.Connect.ReplaceConfig(ctx, m.cfg.Connector, m.given); err != nil {
			return err
		}
		if err := m.awaitConfig(ctx); err != nil {
			return err
		}
		status, err := m.firstStatus(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%w: whether connector %s is still STOPPED: %w", ErrOutcomeUnknown, m.cfg.Connector, err)
		case status.Connector.State == connectrest.StateStopped:
			return nil
		}
		stopped := "it was stopped again at once"
		if err := m.cfg.Connect.Stop(ctx, m.cfg.Connector); err != nil {
			stopped = fmt.Sprintf("and could not be stopped: %v", err)
		}
		return &RefusedError{
			Act: string(engine.Widen), kind: ErrMoved, Before: []string{string(engine.Stop), string(engine.PutConfig)},
			Findings: []offsetmap.Finding{{
				Check: "connector/topics-widened", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
				Detail: fmt.Sprintf("somebody has resumed connector %s: with its new config it was %s, %s; what the config selects beside the topics of the plan may have been copied from its first record", m.cfg.Connector, status.Connector.State, stopped),
			}},
		}
	})
}

// awaitConfig waits until the worker shows the config that it took.
func (m *Migration) awaitConfig(ctx context.Context) error {
	const pause = 100 * time.Millisecond
	for deadline := m.now().Add(m.readBack); ; {
		info, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector)
		if err == nil && maps.Equal(info.Config.Redacted(), m.given.Redacted()) {
			return nil
		}
		if !m.now().Before(deadline) {
			return errors.Join(fmt.Errorf("%w: the worker took the config of connector %s, and %s later does not show it", ErrOutcomeUnknown, m.cfg.Connector, m.readBack), err)
		}
		if err := m.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// stoodAt sums up for topics what Connect holds, also that it holds nothing.
func stoodAt(topics map[string]bool, stored offsetsByPartition) map[string]string {
	all, out := engine.StoodAt(stored), make(map[string]string, len(topics))
	for t := range topics {
		out[t] = all[t]
	}
	return out
}
