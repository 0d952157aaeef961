package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const (
	// staleFor bounds how long an offset below the plan's may be one that a worker
	// answers from before the write (see connectrest.Client.AwaitOffsets).
	staleFor = 10 * time.Second
	// firstCopied is how many offsets from C on are looked at, to know whether the
	// connector began there.
	firstCopied = 5
	// copiedWithin bounds how long records are read for it.
	copiedWithin = time.Minute
)

// overtakenSinceResume looks once more behind the resume: Connect has no lock, and a write of
// another plan, with another journal, may have come in between. It returns what it
// could not tell, and a *RefusedError, noted in the journal, when somebody wrote.
func (m *Migration) overtakenSinceResume(ctx context.Context, plan *offsetmap.Plan) (doubts []offsetmap.Finding, err error) {
	var found []offsetmap.Finding
	var ahead offsetsByPartition
	_, err = m.cfg.Connect.AwaitOffsets(ctx, m.cfg.Connector, func(all []connectrest.Offset) error {
		stored, err := mirrorOffsets(plan.Body.Connector.SourceAlias, all)
		if err != nil {
			return err
		}
		found, ahead = engine.SinceResume(plan, stored)
		if len(found) > 0 {
			return fmt.Errorf("%d offsets are not the plan's", len(found))
		}
		return nil
	}, min(m.readBack, staleFor))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(found) == 0 && err != nil:
		return nil, &RefusedError{Act: string(engine.Start), kind: ErrNotKnown, Before: []string{string(engine.Resume)}, Findings: []offsetmap.Finding{
			undecided("", "the connector runs, and whether it has begun at the plan's offsets could not be found out: "+err.Error()),
		}}
	case len(ahead) > 0:
		written, open := m.written(ctx, plan, ahead)
		found, doubts = append(found, written...), open
	}
	if len(found) == 0 {
		return doubts, ctx.Err()
	}
	slices.SortStableFunc(found, offsetmap.Finding.Compare)
	texts := make([]string, 0, len(found))
	for _, f := range found[:min(len(found), 20)] {
		texts = append(texts, strings.TrimSpace(f.Scope+" "+f.Detail))
	}
	noted := m.journal(context.WithoutCancel(ctx), Entry{Act: actOvertaken, Phase: PhaseDone, Plan: plan.Digest, Detail: strings.Join(texts, "\n")})
	return nil, errors.Join(&RefusedError{Act: string(engine.Start), Findings: found, Before: []string{string(engine.Resume)}, kind: ErrMoved}, noted)
}

// written tells the offsets that somebody wrote from those that MirrorMaker 2 has
// committed: it commits only what the target has taken, so the records up to them are
// there, the first from C on among them.
func (m *Migration) written(ctx context.Context, plan *offsetmap.Plan, ahead offsetsByPartition) (found, doubts []offsetmap.Finding) {
	ctx, cancel := context.WithTimeout(ctx, copiedWithin)
	defer cancel()
	request, err := m.copiedRequest(ctx, plan)
	doubt := func(tp offsetmap.TopicPartition, why string) {
		doubts = append(doubts, undecided(tp.String(), fmt.Sprintf("Connect holds %s already; whether MirrorMaker 2 has copied that far, or somebody wrote it, cannot be told: %s", ahead[tp], why)))
	}
	if err == nil && m.delivery == nil {
		err = errors.New("nobody is given who reads records")
	}
	began := map[offsetmap.TopicPartition]int64{} // an added partition at 0
	for _, r := range plan.Body.Rows {
		began[r.TopicPartition], _ = r.Next.Value()
	}
	first, last := endsByPartition{}, endsByPartition{}
	for tp, stored := range ahead {
		if end := request.Ranges[tp].End; !end.IsNone() && stored.Next().Compare(end) > 0 {
			found = append(found, engine.OvertakenAt(tp.String(), fmt.Sprintf("Connect holds %s, and the source ends at %s", stored, end)))
			continue
		}
		first[tp], last[tp] = stored.Next(), stored.Next()
		if c, _ := offsetmap.Next(began[tp] + firstCopied); c.Compare(first[tp]) < 0 {
			first[tp] = c
		}
	}
	for _, upTo := range []endsByPartition{first, last} {
		if err != nil || len(upTo) == 0 {
			break
		}
		request.Positions = request.Positions[:0]
		for tp, c := range upTo {
			request.Positions = append(request.Positions, offsetmap.Position{TopicPartition: tp, Next: c})
		}
		slices.SortFunc(request.Positions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
		var held map[offsetmap.TopicPartition]preflight.Delivery
		if held, err = m.delivery.Deliveries(ctx, request); err != nil {
			break
		}
		for _, tp := range slices.SortedFunc(maps.Keys(upTo), offsetmap.TopicPartition.Compare) {
			switch d := held[tp]; d.Outcome {
			case preflight.Delivered, preflight.NothingBefore:
			case preflight.NotDelivered:
				found = append(found, engine.OvertakenAt(tp.String(), fmt.Sprintf("Connect holds %s, and of %d records before offset %s the target lacks %d", ahead[tp], d.Looked, upTo[tp], d.Missing)))
				delete(last, tp)
			default:
				doubt(tp, d.Reason)
				delete(last, tp)
			}
		}
	}
	if err != nil {
		for _, tp := range slices.SortedFunc(maps.Keys(last), offsetmap.TopicPartition.Compare) {
			doubt(tp, err.Error())
		}
	}
	return found, doubts
}

// copiedRequest asks for what the target holds of the plan's topics.
func (m *Migration) copiedRequest(ctx context.Context, plan *offsetmap.Plan) (preflight.DeliveryRequest, error) {
	targetOf, sources := map[string]string{}, map[string]bool{}
	for _, r := range plan.Body.Rows {
		targetOf[r.Topic], sources[r.Topic] = r.TargetTopic, true
	}
	measured, ok := (&observer{m: m, plan: plan}).look(ctx).Measured.Get()
	if !ok {
		return preflight.DeliveryRequest{}, errors.New("the source could not be measured")
	}
	ranges := make(map[offsetmap.TopicPartition]offsetmap.Range, len(measured))
	for tp, p := range measured {
		ranges[tp] = p.Range
	}
	return preflight.DeliveryRequest{
		Ranges: ranges, TargetTopic: func(topic string) string { return targetOf[topic] }, Isolation: plan.Body.Isolation,
		MayBeCompacted:       compacted(ctx, m.cfg.Target.Admin, slices.Sorted(maps.Values(targetOf))),
		SourceMayBeCompacted: compacted(ctx, m.cfg.Source.Admin, slices.Sorted(maps.Keys(sources))),
	}, nil
}

// compacted reports which topics are, or may be.
func compacted(ctx context.Context, admin Admin, topics []string) func(string) bool {
	keeps := map[string]bool{}
	described, _ := admin.DescribeTopicConfigs(ctx, topics...) // what is not told may be
	for _, d := range described {
		i := slices.IndexFunc(d.Configs, func(c kadm.Config) bool { return c.Key == "cleanup.policy" })
		keeps[d.Name] = d.Err == nil && i >= 0 && !strings.Contains(d.Configs[i].MaybeValue(), "compact")
	}
	return func(topic string) bool { return !keeps[topic] }
}

func undecided(scope, detail string) offsetmap.Finding {
	return offsetmap.Finding{Check: engine.Overtaken, Severity: offsetmap.Warn, Scope: scope, Detail: detail, Acceptable: offsetmap.Never, Unmade: true}
}
