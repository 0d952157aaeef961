package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The connectors that MirrorMaker 2 has beside the one that copies.
const (
	checkpointConnector = "MirrorCheckpointConnector"
	heartbeatConnector  = "MirrorHeartbeatConnector"
)

func otherConnectorChecks() []Check {
	const (
		looks = "the other connectors of the same workers: config, state, and the topics that each has written (KIP-558)"
		scope = ". The scope is the connector"
	)
	return []Check{
		{
			ID:         "connector/double-writer",
			Title:      "No other connector writes to the target topics",
			Severity:   offsetmap.Block,
			Acceptable: offsetmap.Exact,
			Looks:      looks + "; which topics a MirrorSourceConnector selects, and how it names them" + scope,
			Why:        "Two connectors that copy the same topics write each record twice. Another writer's records lie among those that are compared after the start.",
			Remedy:     "Stop the other one (`curl -X PUT <WORKER>/connectors/<OTHER>/stop`), or take the topics out of its topics. Where it is meant to write there, accept it by name. One that has written there before and does not any more: `curl -X PUT <WORKER>/connectors/<OTHER>/topics/reset`.",
			Judge:      aroundWorkers(doubleWriter),
		},
		{
			ID:         "connector/reverse-flow",
			Title:      "No other connector copies the target topics back",
			Severity:   offsetmap.Block,
			Acceptable: offsetmap.Exact,
			Looks:      looks + "; whether a MirrorSourceConnector reads the target topics from the target and writes them to the source under the names of the source topics. Workers of other clusters are not seen" + scope,
			Why:        "With names that stay the same (IdentityReplicationPolicy) nothing tells a copy from an original: each record goes round for ever, and both topics grow without end.",
			Remedy:     "Stop the other one (`curl -X PUT <WORKER>/connectors/<OTHER>/stop`), take the topics out of its topics, or use a policy that prefixes names for one direction.",
			Judge:      aroundWorkers(reverseFlow),
		},
		companionCheck("checkpoint", checkpointConnector, "It translates and, with sync.group.offsets.enabled, overwrites the offsets of consumer groups on the target, by way of offset-syncs that this migration does not write."),
		companionCheck("heartbeat", heartbeatConnector, "It writes a topic heartbeats that MirrorSourceConnectors copy whatever their topics say, before 4.0 always."),
	}
}

// companionCheck is about one of the two connectors that MirrorMaker 2 has beside the
// one that copies.
func companionCheck(name, class, why string) Check {
	return Check{
		ID:         "connector/" + name,
		Title:      "There is no " + class,
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the class of each other connector of the same workers. The scope is the connector",
		Why:        why + " The old job had nothing of the kind.",
		Remedy:     "Delete it (`curl -X DELETE <WORKER>/connectors/<OTHER>`), or stop it (`curl -X PUT <WORKER>/connectors/<OTHER>/stop`). Where it belongs to another flow, accept it by name.",
		Judge: aroundWorkers(func(_ *Case, s *Surroundings, r *Reporter) {
			others, ok := needs(r, "", s.Connectors)
			if !ok {
				return
			}
			for _, o := range others {
				if simpleClass(o.Config["connector.class"]) == class {
					o.report(r, "it is a "+class)
				}
			}
		}),
	}
}

// simpleClass is the class without its package and as an alias is completed: a worker
// takes MirrorCheckpoint too (PluginUtils.simpleName, prunedName).
func simpleClass(class string) string {
	class = strings.TrimSpace(class[strings.LastIndex(class, ".")+1:])
	if class != "" && !strings.HasSuffix(class, "Connector") {
		class += "Connector"
	}
	return class
}

// report blocks, or warns of what is held back.
func (o OtherConnector) report(r *Reporter, what string) {
	if o.idle() {
		r.Warn(o.Name, "%s, and is %s", what, o.Status.Connector.State)
		return
	}
	r.Block(o.Name, "%s, and is %s with %d tasks", what, o.Status.Connector.State, len(o.Status.Tasks))
}

func doubleWriter(c *Case, s *Surroundings, r *Reporter) {
	policy, named := c.policy.Get()
	target, known := c.Facts.Target.Get()
	if !named || !known {
		r.NotAsked() // config/replication-policy, connector/absent or target/unknown blocks
		return
	}
	others, ok := needs(r, "", s.Connectors)
	if !ok {
		return
	}
	ours := map[string]bool{}
	for _, t := range c.Facts.Topics {
		ours[policy.target(t)] = true
	}
	for _, o := range others {
		r.Saw(o.Name, "%s, %s", simpleClass(o.Config["connector.class"]), o.Status.Connector.State)
		if o.Type == "sink" {
			continue
		}
		id, known := o.Writes.Get()
		if known && id != target.ClusterID {
			continue
		}
		where := ""
		if !known {
			where = fmt.Sprintf(" (to which cluster is not known: %v)", o.Writes.Err())
		}
		if o.mirrors() {
			selects, err := c.writesOf(o, ours)
			if err != nil {
				r.Unmade(o.Name, fmt.Errorf("which topics it copies: %w", err))
				continue
			}
			if len(selects) > 0 {
				o.report(r, fmt.Sprintf("it copies to %s%s", listed(selects), where))
				continue
			}
		}
		active, tracked := o.Active.Get()
		active = slices.DeleteFunc(slices.Clone(active), func(t string) bool { return !ours[t] })
		switch {
		case len(active) > 0:
			o.report(r, fmt.Sprintf("it has written to %s%s", listed(active), where))
		case tracked || o.mirrors():
		case o.Active.Err() != nil:
			r.Unmade(o.Name, fmt.Errorf("which topics it has written: %w", o.Active.Err()))
		default:
			r.Warn(o.Name, "not proven: the workers do not track which topics it writes (topic.tracking.enable)")
		}
	}
}

// writesOf are those of the names that another MirrorSourceConnector writes to, if its
// source has topics for them.
func (c *Case) writesOf(o OtherConnector, names map[string]bool) ([]string, error) {
	mm2, err := c.Facts.MirrorVersion()
	if err != nil {
		return nil, err
	}
	of := settings{o.Config}
	policy, err := policyOf(of)
	if err != nil {
		return nil, err
	}
	selects, err := newSelector(of, policy, mm2)
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range names {
		for _, from := range []string{name, strings.TrimPrefix(name, policy.source+policy.separator)} {
			if policy.target(from) == name && selects.judge(from).copied {
				out = append(out, name)
			}
		}
	}
	return sortedUnique(out), nil
}

func reverseFlow(c *Case, s *Surroundings, r *Reporter) {
	policy, named := c.policy.Get()
	source, knownSource := c.Facts.Source.Get()
	target, knownTarget := c.Facts.Target.Get()
	if !named || !knownSource || !knownTarget {
		r.NotAsked()
		return
	}
	others, ok := needs(r, "", s.Connectors)
	if !ok {
		return
	}
	// A copy that comes back must have the name of a topic that is copied.
	ours := map[string]bool{}
	for _, t := range c.Facts.Topics {
		if policy.target(t) == t {
			ours[t] = true
		}
	}
	for _, o := range others {
		writes, knownWrites := o.Writes.Get()
		reads, knownReads := o.Reads.Get()
		if !o.mirrors() || knownWrites && writes != source.ClusterID || knownReads && reads != target.ClusterID {
			continue
		}
		back, err := c.writesOf(o, ours)
		switch {
		case err != nil:
			r.Unmade(o.Name, fmt.Errorf("which topics it copies: %w", err))
		case len(back) == 0:
		case knownWrites && knownReads:
			o.report(r, fmt.Sprintf("it copies %s from the target to the source", listed(back)))
		default:
			o.report(r, fmt.Sprintf("it copies %s under the same names, and between which clusters is not known (%v)", listed(back), cmp.Or(o.Writes.Err(), o.Reads.Err())))
		}
	}
}

// listed names some of many.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more topics", strings.Join(names[:most], ", "), len(names)-most)
}
