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
		Acceptable: offsetmap.Exact,
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
		ID:         "config/interceptors",
		Title:      "No interceptor changes or drops records",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "interceptor.classes of the consumer (source.consumer. or consumer.) and of the producer (producer.override.)",
		Why:        "An interceptor sees every record and may leave it out or change it; the offset counts as copied all the same.",
		Remedy:     `Remove the key; where the interceptor only looks on, accept the key.`,
		Judge:      withConfig(interceptors),
	}, {
		ID:         "config/check-crcs",
		Title:      "Damaged records are not copied",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "check.crcs of the consumer (default true)",
		Why:        "Without the check a batch that was damaged on the disk or on the way is copied as it is, with a new and right checksum.",
		Remedy:     `Remove "source.consumer.check.crcs" and "consumer.check.crcs".`,
		Judge:      withConfig(checkCRCs),
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

func interceptors(_ *Case, s settings, r *Reporter) {
	const name = "interceptor.classes"
	judge := func(v, key string, err error) {
		switch {
		case err != nil:
			r.Unmade(key, err)
		case v != "":
			r.Block(key, "%s is %q", key, v)
		}
	}
	judge(s.consumer(name))
	v, _, err := s.get(producerPrefix + name)
	judge(v, producerPrefix+name, err)
}

func checkCRCs(_ *Case, s settings, r *Reporter) {
	v, key, err := s.consumer("check.crcs")
	if key == "" {
		return
	}
	on := false
	if err == nil {
		on, err = parseFlag(key, v)
	}
	switch {
	case err != nil:
		r.Unmade(key, err)
	case !on:
		r.Block(key, "%s is false", key)
	}
}

func exactlyOnce(_ *Case, s settings, r *Reporter) {
	const key, boundary = keyExactlyOnce, "transaction.boundary"
	required, err := s.exactlyOnce()
	if err == nil && !required {
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
