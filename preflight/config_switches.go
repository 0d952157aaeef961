package preflight

import (
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// switchConfigChecks are about what the connector must not do beside copying.
func switchConfigChecks() []Check {
	return []Check{{
		ID:         "config/disabled",
		Title:      "The connector is enabled",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "enabled (default true)",
		Why:        "With enabled=false it shows RUNNING, has no task and copies nothing.",
		Remedy:     `Remove "enabled".`,
		Judge: withConfig(func(_ *Case, s settings, r *Reporter) {
			switch on, err := s.flag("enabled", "true"); {
			case err != nil:
				r.Unmade("enabled", err)
			case !on:
				r.Block("enabled", "enabled is false")
			}
		}),
	}, {
		ID:         "config/topic-config-sync",
		Title:      "Topic configs are not carried over",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "sync.topic.configs.enabled (default true)",
		Why:        "It is on unless switched off, and every ten minutes overwrites the target's retention, compaction and sizes with the source's.",
		Remedy:     `Set "sync.topic.configs.enabled": "false".`,
		Judge:      withConfig(mustBeOff("sync.topic.configs.enabled")),
	}, {
		ID:         "config/acl-sync",
		Title:      "ACLs are not carried over",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "sync.topic.acls.enabled (default true)",
		Why:        "It is on unless switched off, leaves WRITE grants out and turns ALL into READ on the target.",
		Remedy:     `Set "sync.topic.acls.enabled": "false".`,
		Judge:      withConfig(mustBeOff("sync.topic.acls.enabled")),
	}, {
		ID:         "config/offset-syncs",
		Title:      "Offset-syncs are off, or cannot stall the copying",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "emit.offset-syncs.enabled from 3.9 (KIP-1031); before, offset-syncs.topic.location and offset-syncs.topic.replication.factor against the target's brokers",
		Why:        "The offset-syncs topic is written from the data producer's callback. Where it cannot be created (no right to write on the source, replication factor 3 on fewer brokers) copying stands still, RUNNING, without an error. Before 3.9 emit.offset-syncs.enabled is ignored without a word.",
		Remedy:     `3.9 and later: set "emit.offset-syncs.enabled": "false" and no key that begins with offset-syncs. Before: set "offset-syncs.topic.location": "target" and a feasible "offset-syncs.topic.replication.factor".`,
		Judge:      withConfig(offsetSyncs),
	}, {
		ID:         "config/offset-syncs-unavoidable",
		Title:      "No mapping of source and target offsets is written",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "the version of MirrorMaker 2",
		Why:        "Before 3.9 there is no switch: an offset-syncs topic is created and written in any case.",
		Remedy:     "Use a worker of 3.9 or later, or live with one small compacted topic: the acceptance list does not show then that no offset-sync was written, and somebody answers for that (acceptance, no-synchronisation).",
		Judge: withConfig(func(c *Case, _ settings, r *Reporter) {
			if v, err := c.Facts.MirrorVersion(); err == nil && !v.AtLeast(3, 9) {
				r.Warn("", "MirrorMaker 2 %s always writes offset-syncs", v)
			}
		}),
	}}
}

// mustBeOff demands that a switch which is on by default is off.
func mustBeOff(key string) func(*Case, settings, *Reporter) {
	return func(_ *Case, s settings, r *Reporter) {
		switch on, err := s.flag(key, "true"); {
		case err != nil:
			r.Unmade(key, err)
		case on && s.m[key] == "":
			r.Block(key, "%s is not set, and is on by default", key)
		case on:
			r.Block(key, "%s is true", key)
		}
	}
}

func offsetSyncs(c *Case, s settings, r *Reporter) {
	const emit, location, factor = "emit.offset-syncs.enabled", "offset-syncs.topic.location", "offset-syncs.topic.replication.factor"
	v, err := c.Facts.MirrorVersion()
	if err != nil {
		r.Unmade("", err)
		return
	}
	if v.AtLeast(3, 9) {
		mustBeOff(emit)(c, s, r)
		return
	}
	where, err := s.or(location, "source")
	switch {
	case err != nil:
		r.Unmade(location, err)
		return
	case !strings.EqualFold(where, "target"):
		r.Block(location, "MirrorMaker 2 %s writes offset-syncs to the %s (it does not know %s)", v, where, emit)
		return
	}
	text, err := s.or(factor, "3")
	if err != nil {
		r.Unmade(factor, err)
		return
	}
	target, ok := c.Facts.Target.Get()
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		r.Unmade(factor, err)
	case ok && n > len(target.Brokers):
		r.Block(factor, "%s is %d, the target has %d brokers: the topic cannot be created, and copying would stand still", factor, n, len(target.Brokers))
	}
}
