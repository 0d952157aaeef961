package preflight

import (
	"errors"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// recordConfigChecks are about what happens to a record on its way.
func recordConfigChecks() []Check {
	return []Check{{
		ID:         "config/converters",
		Title:      "Keys, values and headers are copied byte for byte",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "key.converter, value.converter and header.converter",
		Why:        "Where one is left out the worker's own decides, which no API shows. SimpleHeaderConverter, its default for headers, writes binary headers as base64; JsonConverter wraps values and fails on a null one.",
		Remedy:     `Set all three to "org.apache.kafka.connect.converters.ByteArrayConverter".`,
		Judge:      withConfig(converters),
	}, {
		ID:         "config/errors-tolerance",
		Title:      "No record is skipped that cannot be written",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "errors.tolerance (default none)",
		Why:        "With all, a record that the producer cannot write is skipped and its offset committed: it is lost without a word.",
		Remedy:     `Set "errors.tolerance": "none", or remove it.`,
		Judge:      withConfig(errorsTolerance),
	}, {
		ID:         "config/transforms",
		Title:      "No transform changes or drops records",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "transforms and predicates",
		Why:        "A filter drops records, a router sends them to another topic, and the proof compares records as they are.",
		Remedy:     `Remove "transforms" and "predicates".`,
		Judge:      withConfig(transforms),
	}, {
		ID:         "config/topic-creation",
		Title:      "Topics are not created by the Connect framework",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "topic.creation.* (KIP-158)",
		Why:        "MirrorMaker 2 creates topics by itself, with the source's partitions and configs. With these keys the framework does, with others.",
		Remedy:     `Remove "topic.creation.*", and create the target topics beforehand.`,
		Judge: withConfig(func(_ *Case, s settings, r *Reporter) {
			for _, key := range s.sortedKeys() {
				if strings.HasPrefix(key, "topic.creation.") {
					r.Warn(key, "%s is set", key)
				}
			}
		}),
	}, {
		ID:         "config/exactly-once",
		Title:      "Exactly-once fits the isolation level",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "exactly.once.support, transaction.boundary and the effective isolation level",
		Why:        "MirrorMaker 2 supports exactly-once with read_committed alone, and no boundaries of the connector's own. It writes control records to the target and needs rights on transactional ids there.",
		Remedy:     `Set "source.consumer.isolation.level": "read_committed" if the old job read so; else remove "exactly.once.support".`,
		Judge:      withConfig(exactlyOnce),
	}}
}

func converters(_ *Case, s settings, r *Reporter) {
	const class = "org.apache.kafka.connect.converters.ByteArrayConverter"
	for _, key := range []string{"key.converter", "value.converter", "header.converter"} {
		switch v, set, err := s.get(key); {
		case err != nil:
			r.Unmade(key, err)
		case !set && key == "header.converter":
			r.Block(key, "%s is not set: the worker's own decides, by default SimpleHeaderConverter, which writes binary headers as base64", key)
		case !set:
			r.Block(key, "%s is not set: the worker's own decides, which cannot be seen", key)
		case !slices.Contains([]string{class, "ByteArrayConverter", "ByteArray"}, v): // plugin aliases
			r.Block(key, "%s is %s", key, v)
		}
	}
}

func errorsTolerance(_ *Case, s settings, r *Reporter) {
	const key = "errors.tolerance"
	switch v, err := s.or(key, "none"); {
	case err != nil:
		r.Unmade(key, err)
	case !strings.EqualFold(v, "none"):
		r.Block(key, "%s is %q: what cannot be written is skipped", key, v)
	}
}

func transforms(_ *Case, s settings, r *Reporter) {
	for _, key := range []string{"transforms", "predicates"} {
		if v := strings.TrimSpace(s.m[key]); v != "" {
			r.Block(key, "%s is %q", key, v)
		}
	}
}

func exactlyOnce(_ *Case, s settings, r *Reporter) {
	const key, boundary = "exactly.once.support", "transaction.boundary"
	v, err := s.or(key, "requested")
	if err == nil && v != "required" {
		return
	}
	level, _, errLevel := s.consumer(keyIsolation)
	edge, errEdge := s.or(boundary, "poll")
	switch err := errors.Join(err, errLevel, errEdge); {
	case err != nil:
		r.Unmade(key, err)
	case level != string(offsetmap.ReadCommitted):
		r.Block(key, "%s is required, but the connector does not read read_committed", key)
	case strings.EqualFold(edge, "connector"):
		r.Block(boundary, "%s is %q, which MirrorSourceConnector does not have", boundary, edge)
	default:
		r.Info(key, "%s is required: each poll is a transaction, so the target holds control records, and no record is copied twice after a crash", key)
	}
}
