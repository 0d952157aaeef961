package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintKeyChecks are about keys that nothing reads.
func lintKeyChecks() []Check {
	return []Check{{
		ID:         "config/unknown-key",
		Title:      "Every key is one that is read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "every key, against what the worker's plugin defines or the built-in table of the version, and behind the prefixes of clients against their own definitions",
		Why:        "Unknown keys never fail: what they were meant to do is not done. A misspelled one of those that decide what is copied, from where and how leaves the default in force.",
		Remedy:     "Correct the key as the finding suggests, or remove it. If a class of your own reads it, accept the finding.",
		Judge:      withConfig(unknownKeys),
	}, {
		ID:         "config/key-of-other-version",
		Title:      "Every key is one of this version of MirrorMaker 2",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "keys that other versions of MirrorSourceConnector have, by the built-in table of 3.4 to 4.3",
		Why:        "A key that does not exist yet, or no longer, is ignored without a word. topics.blacklist is gone since 4.0: what it left out is copied.",
		Remedy:     "Use the key of this version that the finding names, or remove it.",
		Judge:      withConfig(keysOfOtherVersions),
	}, {
		ID:         "config/worker-key",
		Title:      "No setting of the worker stands in the connector's config",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "keys of the worker's own file, such as rest.*, offset.flush.*, offset.storage.*, group.id and bootstrap.servers",
		Why:        "A worker reads them from its own file alone. Where they were meant to change how offsets are committed or where records go, nothing has changed.",
		Remedy:     "Set it in the worker's file, or, for a client, under the prefix that the finding names.",
		Judge:      withConfig(workerKeys),
	}, {
		ID:         "config/offset-syncs-keys",
		Title:      "No key of offset-syncs stands beside their being off",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "emit.offset-syncs.enabled=false from 3.9 on, with keys that begin with offset-syncs.topic. or offset-syncs-",
		Why:        "From 3.9 a worker refuses a config that has both (400). A connector that was created before goes on, until the first change of its config.",
		Remedy:     `Remove every key that begins with "offset-syncs".`,
		Judge:      withConfig(offsetSyncsKeys),
	}}
}

// readAnyway reports whether a key is the matter of another check, or of a class of
// its own.
func (d definedKeys) readAnyway(key string) bool {
	return d.has(key) || d.everHad(key) || ownKey(key) || unread(key) != "" || withoutEffect(d, key) != "" || d.ofWorker(key) ||
		strings.HasPrefix(key, "offset-syncs.topic.") || strings.HasPrefix(key, "offset-syncs-") // config/offset-syncs-keys
}

func unknownKeys(c *Case, s settings, r *Reporter) {
	d, ok := needs(r, "", c.defined)
	if !ok {
		return
	}
	r.Saw("", "%d keys, %s", len(s.m), d.toldBy())
	if d.unasked != nil { // the table stands in, and says less
		r.Unmade("", d.unasked)
	}
	for _, key := range s.sortedKeys() {
		if d.readAnyway(key) {
			continue
		}
		p, name, prefixed := client(key)
		if prefixed && d.clientHas(p.of, name) {
			continue
		}
		what := fmt.Sprintf("nothing reads %s %s", key, d.toldBy())
		if prefixed {
			what = fmt.Sprintf("the %s has no setting %s %s", p.of, name, d.toldBy())
			if _, other := d.clients[p.of][name]; other {
				what += ", though other versions have it"
			}
		}
		if own := s.foreignClasses(); len(own) > 0 {
			what += ", unless " + strings.Join(own, " or ") + " does"
		}
		near := d.nearest(key)
		switch {
		case len(near) == 0:
			r.Warn(key, "%s", what)
		case near[0].typos <= mostTypos && slices.ContainsFunc(near, func(n suggestion) bool { return decides(n.key) && !s.says(n.key) }):
			r.Block(key, "%s; %s", what, meant(near))
		default:
			r.Warn(key, "%s; %s", what, meant(near))
		}
	}
}

// nearest returns what an unknown key may have been meant for. A setting of a client
// without its prefix is that setting.
func (d definedKeys) nearest(key string) []suggestion {
	var out []suggestion
	for _, full := range bare(d, key) {
		out = append(out, suggestion{key: full})
	}
	if out == nil {
		out = suggest(key, d.candidates(key))
	}
	return out
}

func meant(near []suggestion) string {
	const most = 3
	var keys []string
	for _, n := range near[:min(len(near), most)] {
		keys = append(keys, n.key)
	}
	return "did you mean " + strings.Join(keys, ", or ") + "?"
}

// candidates are the keys that an unknown one may have been meant for.
func (d definedKeys) candidates(key string) []string {
	var out []string
	if d.worker != nil {
		out = slices.Collect(maps.Keys(d.worker))
	} else {
		for k := range d.source {
			if d.has(k) {
				out = append(out, k)
			}
		}
	}
	p, _, prefixed := client(key)
	for _, of := range clientPrefixes() {
		switch {
		case prefixed && of != p, !prefixed && !slices.Contains([]string{"source.consumer.", producerPrefix}, of.prefix):
			continue
		}
		for name := range d.clients[of.of] {
			if full := of.prefix + name; d.clientHas(of.of, name) && unread(full) == "" {
				out = append(out, full)
			}
		}
	}
	return out
}

// bare returns the keys by which a setting reaches the clients that have it.
func bare(d definedKeys, name string) []string {
	var out []string
	for _, p := range clientPrefixes()[:3] {
		if p.prefix != "consumer." && d.clientHas(p.of, name) {
			out = append(out, p.prefix+name)
		}
	}
	return out
}

// decides reports whether a key is one of those without which records may be lost,
// repeated or misplaced.
func decides(key string) bool {
	if name, ok := strings.CutPrefix(key, producerPrefix); ok {
		return slices.Contains([]string{"bootstrap.servers", "acks", "enable.idempotence", "max.in.flight.requests.per.connection", "max.request.size"}, name)
	}
	for _, prefix := range []string{"source.consumer.", "consumer."} {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			return slices.Contains([]string{keyReset, keyIsolation, keyGroup, "check.crcs"}, name)
		}
	}
	return slices.Contains([]string{
		"topics", "topics.exclude", keySourceAlias, keyTargetAlias, keySourceBootstrap, "replication.policy.class", "replication.policy.separator",
		"key.converter", "value.converter", "header.converter", "errors.tolerance", "refresh.topics.enabled", "sync.topic.configs.enabled",
		"emit.offset-syncs.enabled", "offset-syncs.topic.location", keyExactlyOnce,
	}, key)
}

// says reports whether the config has a key, or the other prefix of a consumer's.
func (s settings) says(key string) bool {
	if name, ok := strings.CutPrefix(key, "source.consumer."); ok {
		_, from, _ := s.consumer(name)
		return from != ""
	}
	_, set := s.m[key]
	return set
}

func keysOfOtherVersions(c *Case, s settings, r *Reporter) {
	d, ok := needs(r, "", c.defined)
	if !ok {
		return
	}
	for _, key := range s.sortedKeys() {
		if d.has(key) || !d.everHad(key) {
			continue
		}
		switch since, until := d.bounds(key); {
		case d.gone(key) && !d.version.AtLeast(since[0], since[1]):
			r.Warn(key, "%s exists from %d.%d on, and MirrorMaker 2 %s does not read it%s", key, since[0], since[1], d.version, insteadOfNew(key))
		case d.gone(key):
			text := fmt.Sprintf("%s is gone since %d.%d, and MirrorMaker 2 %s does not read it%s", key, until[0], until[1], d.version, insteadOfOld(key))
			if key == "topics.blacklist" && !s.says("topics.exclude") {
				r.Block(key, "%s; the topics that it was to leave out are copied", text)
				continue
			}
			r.Warn(key, "%s", text)
		default:
			r.Warn(key, "the worker's plugin does not define %s, which MirrorMaker 2 has in other versions", key)
		}
	}
}

// gone reports whether this version of MirrorMaker 2 is known, and lacks a key that
// others have.
func (d definedKeys) gone(key string) bool {
	return d.version.Known() && !slices.ContainsFunc(d.source[key], func(s mirrordef.Span) bool { return holds(s, d.version) })
}

// bounds returns the first version that has a key, and the first after it that does
// not.
func (d definedKeys) bounds(key string) (since, until mirrordef.Version) {
	spans := d.source[key]
	return spans[0].Since, spans[len(spans)-1].Until
}

func insteadOfNew(key string) string {
	switch key {
	case "emit.offset-syncs.enabled":
		return "; before, offset-syncs are always written: set offset-syncs.topic.location to target"
	case "heartbeats.replication.enabled":
		return "; before, heartbeats topics are always copied"
	case "tasks.max.enforce", "connector.plugin.version":
		return "; remove it"
	}
	return ""
}

func insteadOfOld(key string) string {
	switch key {
	case "topics.blacklist":
		return "; the key is topics.exclude"
	case "config.properties.blacklist":
		return "; the key is config.properties.exclude"
	case "add.source.alias.to.metrics", "use.incremental.alter.configs", "auto.include.jmx.reporter":
		return "; what it switched on is always done"
	}
	return ""
}

// ofWorker reports whether a key is one of the worker's file, and none that
// anything in a connector's config is called by.
func (d definedKeys) ofWorker(key string) bool {
	span, known := d.clients[mirrordef.Worker][key]
	return known && holds(span, d.version) && !d.has(key) && !d.everHad(key) && withoutEffect(d, key) == ""
}

func workerKeys(c *Case, s settings, r *Reporter) {
	d, ok := needs(r, "", c.defined)
	if !ok {
		return
	}
	for _, key := range s.sortedKeys() {
		if !d.ofWorker(key) {
			continue
		}
		if instead := bare(d, key); len(instead) > 0 {
			r.Warn(key, "%s is a setting of the worker's own file; of the connector's clients it is %s", key, strings.Join(instead, ", or "))
			continue
		}
		r.Warn(key, "%s is a setting of the worker's own file, which nothing reads here", key)
	}
}

func offsetSyncsKeys(c *Case, s settings, r *Reporter) {
	v, err := c.Facts.MirrorVersion()
	if err != nil || !v.AtLeast(3, 9) {
		return // config/offset-syncs, which cannot do without the version
	}
	if emit, err := s.flag("emit.offset-syncs.enabled", "true"); err != nil || emit {
		return // config/offset-syncs
	}
	for _, key := range s.sortedKeys() {
		if strings.HasPrefix(key, "offset-syncs.topic.") || strings.HasPrefix(key, "offset-syncs-") {
			r.Block(key, "%s is set beside emit.offset-syncs.enabled=false, which MirrorMaker 2 %s refuses", key, v)
		}
	}
}
