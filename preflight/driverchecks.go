package preflight

import (
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// driverChecks are made by [LintDriver] alone.
func driverChecks() []Check {
	return []Check{{
		ID:         "driver/clusters",
		Title:      "Every cluster has an alias of its own, and addresses",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "clusters, and ALIAS.bootstrap.servers of each",
		Why:        "The driver makes a flow for each pair of aliases. Without two of them, or without addresses, it copies nothing or ends at its start.",
		Remedy:     "Set clusters to the aliases, and bootstrap.servers behind each alias, as in east.bootstrap.servers.",
		Judge:      ofDriver(driverClusters),
	}, {
		ID:         "driver/flow",
		Title:      "Flows have an arrow and are enabled",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "keys such as A->B.enabled, and those that name two aliases otherwise",
		Why:        "A flow is enabled by A->B.enabled=true alone. A key without the arrow, or with an alias that clusters does not have, is read by nobody: what it enables or narrows stays off, or wide.",
		Remedy:     "Write the key as east->west.topics, with the aliases of clusters before and behind the arrow.",
		Judge:      ofDriver(driverFlowKeys),
	}, {
		ID:         "driver/loop",
		Title:      "No topic is copied in both directions under its own name",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "flows in both directions with IdentityReplicationPolicy, and the topics of each",
		Why:        "The policy keeps names, so that a copy is not known for one (KAFKA-9726): every record goes back and forth for ever.",
		Remedy:     "Use DefaultReplicationPolicy, or give the two directions topics that have none in common.",
		Judge:      ofDriver(driverLoop),
	}, {
		ID:         "driver/unknown-key",
		Title:      "Every property is one that the driver reads",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "every property, by the definitions of the driver, its three connectors, its workers and their clients",
		Why:        "Unknown properties never fail: what they were meant to do is not done.",
		Remedy:     "Correct the property as the finding suggests, or remove it.",
		Judge:      ofDriver(driverUnknownKeys),
	}, {
		ID:         "driver/default-on",
		Title:      "Nothing runs that nobody asked for",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "emit.heartbeats.enabled and emit.checkpoints.enabled, which are true by default",
		Why:        "The driver runs a heartbeat connector for each pair of clusters, also where no flow is enabled, and a checkpoint connector beside each flow. They create topics on the clusters.",
		Remedy:     "Set emit.heartbeats.enabled=false and emit.checkpoints.enabled=false where only records are to be copied.",
		Judge:      ofDriver(driverDefaults),
	}, {
		ID:         "driver/no-rest",
		Title:      "Offsets can be carried over",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "that it is the driver which runs the connectors",
		Why:        "The driver's workers have no REST API for users: no connector can be created STOPPED there, and no stored offset altered, so that a flow starts at the first record of every partition.",
		Remedy:     "Run MirrorSourceConnector on a Connect cluster: `runbook config generate` makes its config.",
		Judge: ofDriver(func(d *driver, _ *Case, r *Reporter) {
			if slices.ContainsFunc(d.running, func(f DriverFlow) bool { return f.Enabled }) {
				r.Warn("", "the driver takes no offsets from outside")
			}
		}),
	}}
}

func ofDriver(judge func(*driver, *Case, *Reporter)) func(*Case, *Reporter) {
	return func(c *Case, r *Reporter) {
		if c.driver == nil {
			r.NotAsked()
			return
		}
		judge(c.driver, c, r)
	}
}

func driverClusters(d *driver, _ *Case, r *Reporter) {
	const key = "clusters"
	switch {
	case len(d.clusters) == 0:
		r.Block(key, "%s is not set", key)
	case len(slices.Compact(slices.Sorted(slices.Values(d.clusters)))) < 2:
		r.Block(key, "%s is %q, and a flow needs two", key, d.properties[key])
	}
	for i, alias := range d.clusters {
		if slices.Contains(d.clusters[:i], alias) {
			r.Block(alias, "%s has the alias %s twice", key, alias)
		} else if strings.TrimSpace(d.properties[alias+".bootstrap.servers"]) == "" {
			r.Block(alias+".bootstrap.servers", "the cluster %s has no addresses", alias)
		}
	}
}

// flowKey returns the aliases of a key of a flow, and what comes behind them.
func flowKey(key string) (source, target, name string, ok bool) {
	source, rest, ok := strings.Cut(key, "->")
	if !ok {
		return "", "", "", false
	}
	target, name, ok = strings.Cut(rest, ".")
	return source, target, name, ok
}

// lostArrow returns the flow that a key was meant for which names two aliases with
// something else between them.
func (d *driver) lostArrow(key string) (meant string, ok bool) {
	for _, source := range d.clusters {
		for _, target := range d.clusters {
			rest, begins := strings.CutPrefix(key, source)
			if source == target || !begins {
				continue
			}
			between, name, found := strings.Cut(rest, target+".")
			if found && between != "->" && strings.Trim(between, "-_>= .:/") == "" {
				return source + "->" + target + "." + name, true
			}
		}
	}
	return "", false
}

func driverFlowKeys(d *driver, _ *Case, r *Reporter) {
	for _, key := range slices.Sorted(maps.Keys(d.properties)) {
		if meant, ok := d.lostArrow(key); ok {
			r.Block(key, "nothing reads %s; did you mean %s?", key, meant)
			continue
		}
		if source, target, _, ok := flowKey(key); ok {
			switch {
			case !slices.Contains(d.clusters, source):
				r.Block(key, "nothing reads %s: clusters has no %q", key, source)
			case !slices.Contains(d.clusters, target):
				r.Block(key, "nothing reads %s: clusters has no %q", key, target)
			case source == target:
				r.Block(key, "nothing reads %s: a flow has two clusters", key)
			}
		}
	}
	if len(d.clusters) > 1 && !slices.ContainsFunc(d.running, func(f DriverFlow) bool { return f.Enabled }) {
		r.Block("", "no flow is enabled: nothing is copied")
	}
}

func driverLoop(d *driver, _ *Case, r *Reporter) {
	for i, there := range d.running {
		for _, back := range d.running[i+1:] {
			if there.Source != back.Target || there.Target != back.Source || !there.Enabled || !back.Enabled {
				continue
			}
			scope := there.Source + "->" + there.Target
			p, errThere := policyOf(settings{there.Copying})
			q, errBack := policyOf(settings{back.Copying})
			if errThere != nil || errBack != nil || !p.identity || !q.identity {
				continue // names change, or config/replication-policy says that they are not known
			}
			switch topic, common, err := d.common(there, back, p, q); {
			case err != nil:
				r.Unmade(scope, err)
			case common:
				r.Block(scope, "both directions copy topics such as %s, under the same name", topic)
			default:
				r.Warn(scope, "both directions are enabled, and keep names; that no topic is copied by both is not shown")
			}
		}
	}
}

// common returns a topic that both flows copy: one that either names, or any.
func (d *driver) common(there, back DriverFlow, p, q policy) (string, bool, error) {
	one, err := newSelector(settings{there.Copying}, p, d.version)
	if err != nil {
		return "", false, err
	}
	two, err := newSelector(settings{back.Copying}, q, d.version)
	if err != nil {
		return "", false, err
	}
	names := []string{"orders"} // a name like any, where both lists take every topic
	for _, f := range []DriverFlow{there, back} {
		for _, entry := range splitList(f.Copying["topics"]) {
			names = append(names, example(entry))
		}
	}
	for _, name := range names {
		if name != "" && one.judge(name).copied && two.judge(name).copied {
			return name, true, nil
		}
	}
	return "", false, nil
}

// example is a name that a regex of simple form matches: order.* is matched by order.
func example(entry string) string {
	entry = strings.Trim(entry, "^$")
	for _, open := range []string{".*", ".+", `\`} {
		entry = strings.ReplaceAll(entry, open, "")
	}
	if !topicText.MatchString(entry) {
		return ""
	}
	return entry
}

func driverDefaults(d *driver, _ *Case, r *Reporter) {
	for _, key := range []string{"emit.heartbeats.enabled", "emit.checkpoints.enabled"} {
		if _, set := d.properties[key]; !set && len(d.running) > 0 {
			r.Info(key, "%s is not set, and is true by default", key)
		}
	}
}

// driverUnknownKeys holds each property against who could read it.
func driverUnknownKeys(d *driver, c *Case, r *Reporter) {
	defined, ok := needs(r, "", c.defined)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(d.properties)) {
		if _, lost := d.lostArrow(key); lost || d.reads(defined, key) {
			continue
		}
		_, _, name, isFlow := flowKey(key)
		if !isFlow {
			name = key
			for _, alias := range d.clusters {
				if rest, ok := strings.CutPrefix(key, alias+"."); ok {
					name = rest
				}
			}
		}
		switch instead, known := fromDocuments()[name]; {
		case known:
			r.Warn(key, "nothing reads %s; %s", key, instead)
		case name == key && isClient(key):
			r.Warn(key, "the driver reads settings of clients behind an alias alone: ALIAS.%s", key)
		default:
			if near := suggest(name, d.known(defined)); len(near) > 0 {
				r.Warn(key, "nothing reads %s; %s", key, strings.ReplaceAll(meant(near), "did you mean ", "did you mean "+strings.TrimSuffix(key, name)))
				continue
			}
			r.Warn(key, "nothing reads %s", key)
		}
	}
}

// reads reports whether the driver, or what it starts, reads a property.
func (d *driver) reads(defined definedKeys, key string) bool {
	if d.keys[key] || defined.clientHas(mirrordef.Driver, key) || ofEveryClient(key) {
		return true
	}
	// MirrorMakerConfig.workerConfig takes these from the top.
	for _, prefix := range []string{"offset.storage", "config.storage", "status.storage", "key.converter", "value.converter", "header.converter", "task", "worker", "replication.policy", "config.providers"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	if source, target, name, ok := flowKey(key); ok {
		if !slices.Contains(d.clusters, source) || !slices.Contains(d.clusters, target) {
			return true // driver/flow
		}
		p, setting, prefixed := client(name)
		return d.keys[name] || ownKey(name) || prefixed && defined.clientHas(p.of, setting) || unread(name) != ""
	}
	for _, alias := range d.clusters {
		name, ok := strings.CutPrefix(key, alias+".")
		if !ok {
			continue
		}
		for _, p := range []clientPrefix{{"producer.", mirrordef.Producer}, {"consumer.", mirrordef.Consumer}, {"admin.", mirrordef.Admin}, {"", mirrordef.Worker}, {"", mirrordef.Admin}} {
			if setting, ok := strings.CutPrefix(name, p.prefix); ok && defined.clientHas(p.of, setting) {
				return true
			}
		}
	}
	return false
}

// known are the names that a property may have been meant for.
func (d *driver) known(defined definedKeys) []string {
	out := slices.Collect(maps.Keys(defined.source))
	for _, of := range []mirrordef.Definition{mirrordef.Checkpoint, mirrordef.Heartbeat, mirrordef.Driver} {
		for name := range defined.clients[of] {
			if defined.clientHas(of, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
