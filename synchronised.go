package flinkmm2

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// noSynchronisation holds what stands beside the records against the baseline of the
// start. What has moved is named. It is said to be this flow's doing where only that
// could have moved it, and left open where anybody could.
func noSynchronisation(f acceptanceFacts, j *judgement) {
	config := configNow(f, j)
	if f.journal.record == nil {
		j.lacks("the journal has no start record of the plan")
		return
	}
	base := f.journal.record.Baseline
	if base == nil {
		j.lacks("the start record of %s has no baseline, as records of an earlier version have none: what moved since cannot be known", offsetmap.At(f.journal.record.At))
		return
	}
	since := offsetmap.At(f.journal.record.At)
	moved := func(what string, was Fingerprints, is offsetmap.Fact[map[string]string]) (names []string, known bool) {
		now, ok := is.Get()
		switch {
		case was.Unknown != "":
			j.lacks("%s at the start are not known: %s", what, was.Unknown)
			return nil, false
		case !ok:
			j.lacks("%s of now are not known: %v", what, is.Err())
			return nil, false
		}
		if names = was.moved(now); len(names) == 0 {
			j.saw("%s are as they were at the start of %s", what, since)
		}
		return names, true
	}
	own, _ := preflight.FlowTopicsOf(config)
	checkpoints := false
	for _, side := range []struct {
		what string
		was  Fingerprints
		is   offsetmap.Fact[map[string]string]
		own  []string
	}{
		{"the ends of offset-syncs and checkpoints on the source", base.SourceFlowTopics, f.standing.sourceFlowTopics, []string{own.SyncsOnSource}},
		{"the ends of offset-syncs and checkpoints on the target", base.TargetFlowTopics, f.standing.targetFlowTopics, []string{own.SyncsOnTarget, own.Checkpoints}},
	} {
		names, known := moved(side.what, side.was, side.is)
		checkpoints = checkpoints || !known
		for _, name := range names {
			expected := offsetSyncsExpected(f.plan)
			switch {
			case name == own.SyncsOnTarget && expected != "":
				j.lacks("%s: %s, which is this flow's, has moved since the start, as the plan says that it would: %s", side.what, name, expected)
			case slices.Contains(side.own, name):
				j.denies("%s: %s, which is this flow's, has moved since the start", side.what, name)
				checkpoints = true
			case config == nil, side.was.Grouped:
				j.lacks("%s: %s has moved, and whether it is this flow's is not known", side.what, name)
				checkpoints = true
			default:
				j.saw("%s: %s has moved since the start; it is another flow's", side.what, name)
			}
		}
	}
	if names, _ := moved("the settings of the target topics", base.TopicConfigs, f.standing.topicConfigs); len(names) > 0 {
		j.lacks("the settings of %d target topics have changed since the start of %s, and nothing shows who has done it: %s", len(names), since, someOf(names))
	}
	if names, _ := moved("the rights on the target topics", base.ACLs, f.standing.acls); len(names) > 0 {
		j.lacks("the rights on %d target topics have changed since the start of %s, and nothing shows who has done it: %s", len(names), since, someOf(names))
	}
	names, _ := moved("the offsets of the target's groups without a member", base.Groups, f.standing.groups)
	switch {
	case len(names) == 0:
	case checkpoints || hasCompanion(f):
		j.lacks("the offsets of %d groups without a member have moved since the start of %s: %s", len(names), since, someOf(names))
	default:
		j.saw("the offsets of %d groups without a member have moved since the start of %s: %s. There is no MirrorCheckpointConnector and this flow has no checkpoints, so that MirrorMaker 2 has not done it here; a consumer that came and went does", len(names), since, someOf(names))
	}
}

// offsetSyncsExpected says why offset-syncs had to be written to the target by the plan, or
// nothing where it has no such word. What nobody can have otherwise, or somebody has
// accepted, is no fault that was found: it keeps the point from being shown, and a person
// may answer for it.
func offsetSyncsExpected(plan *offsetmap.Plan) string {
	for _, found := range plan.Body.Findings {
		switch {
		case found.Check == "config/offset-syncs-unavoidable":
			return found.Detail
		case found.Check == "config/offset-syncs" && found.Accepted != nil:
			return text("%s accepted that %s", []any{found.Accepted.By, found.Detail})
		}
	}
	return ""
}

// configNow returns the connector's config when it is the plan's.
func configNow(f acceptanceFacts, j *judgement) map[string]string {
	info, ok := f.connector.Get()
	if !ok {
		j.lacks("the connector's config is not known: %v", f.connector.Err())
		return nil
	}
	if digest, err := offsetmap.ConfigDigest(info.Config); err != nil || digest != f.plan.Body.Connector.Config {
		j.lacks("the connector's config is not the plan's any more: %s", switches(info.Config))
	} else {
		j.saw("the connector's config is the plan's: %s", switches(info.Config))
	}
	return info.Config
}

// hasCompanion reports whether a connector of MirrorMaker 2 is there that could commit
// for groups, or may be.
func hasCompanion(f acceptanceFacts) bool {
	others, ok := f.others.Get()
	if !ok {
		return true
	}
	for _, c := range others {
		if _, is := preflight.Companion(c.Info.Config); is {
			return true
		}
	}
	return false
}
