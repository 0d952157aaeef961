package preflight

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// producerConfigChecks are about the producer that writes the copies. A worker
// makes it with acks=all, one request in flight, without idempotence and with
// endless retries (Worker.baseProducerConfigs, 3.7 to 4.3); what its own file
// says of it no API shows, and producer.override. wins over both.
func producerConfigChecks() []Check {
	return []Check{{
		ID:         "config/producer-acks",
		Title:      "A record counts as written once all replicas have it",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "producer.override.acks (a worker's default is all)",
		Why:        "With 0 or 1 a record is acknowledged, and its offset committed, before its replicas have it: when the leader fails it is lost without a word.",
		Remedy:     `Set "producer.override.acks": "all", which also wins over the worker's own file.`,
		Judge:      withConfig(producerAcks),
	}, {
		ID:         "config/producer-order",
		Title:      "A record that is sent again keeps its place",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "producer.override.max.in.flight.requests.per.connection (a worker's default is 1) and producer.override.enable.idempotence (its default is false)",
		Why:        "With several requests in flight and no idempotence, a batch that is sent again lands behind the one that followed it. The order of keys breaks, and on a compacted topic the older record is the one that stays.",
		Remedy:     `Remove "producer.override.max.in.flight.requests.per.connection", or set "producer.override.enable.idempotence": "true" beside it (then at most 5).`,
		Judge:      withConfig(producerOrder),
	}, {
		ID:         "config/producer-serializers",
		Title:      "The producer writes bytes as they are",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "producer.override.key.serializer and producer.override.value.serializer",
		Why:        "The worker gives the producer finished bytes. Any other serializer changes them, or fails on each.",
		Remedy:     `Remove "producer.override.key.serializer" and "producer.override.value.serializer".`,
		Judge:      withConfig(producerSerializers),
	}, {
		ID:         "config/producer-transactions",
		Title:      "The producer has no transactional id of its own",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "producer.override.transactional.id",
		Why:        "Without exactly-once no task begins a transaction: each fails at its start or at its first record, and tasks that share the id fence each other. With exactly-once the worker puts an id of its own in its place.",
		Remedy:     `Remove "producer.override.transactional.id". For transactions set exactly.once.source.support on the workers.`,
		Judge:      withConfig(producerTransactions),
	}, {
		ID:         "config/producer-timeouts",
		Title:      "The producer tries without end",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "producer.override.retries, .delivery.timeout.ms and .max.block.ms (a worker's defaults have no end)",
		Why:        "When the time is up the task fails, and nothing starts it again. No record is lost: the offset of the one that failed is not committed. What came after it may be on the target, and is copied a second time.",
		Remedy:     "Remove the keys, or watch for tasks that are FAILED and restart them: `curl -X POST <WORKER>/connectors/<CONNECTOR>/restart?includeTasks=true&onlyFailed=true`.",
		Judge:      withConfig(producerTimeouts),
	}}
}

func producerAcks(_ *Case, s settings, r *Reporter) {
	const key = producerPrefix + "acks"
	switch v, err := s.or(key, "all"); {
	case err != nil:
		r.Unmade(key, err)
	case v != "all" && v != "-1":
		r.Block(key, "%s is %q", key, v)
	}
}

func producerOrder(_ *Case, s settings, r *Reporter) {
	const key = producerPrefix + "max.in.flight.requests.per.connection"
	v, err := s.or(key, "1")
	if err != nil {
		r.Unmade(key, err)
		return
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		r.Unmade(key, fmt.Errorf("%s is %q, which is no number", key, v))
		return
	}
	if n <= 1 {
		return
	}
	switch idempotent, err := s.idempotent(); {
	case err != nil:
		r.Unmade(key, err)
	case !idempotent:
		r.Block(key, "%s is %d, without %s", key, n, keyIdempotence)
	}
}

// idempotent reports whether the data producer is: when the config says so, and
// when it requires exactly-once, where the worker sees to it
// (Worker.exactlyOnceSourceTaskProducerConfigs).
func (s settings) idempotent() (bool, error) {
	once, err := s.exactlyOnce()
	on, errOn := s.flag(keyIdempotence, "false")
	if once || on {
		return true, nil
	}
	return false, errors.Join(err, errOn)
}

func producerSerializers(_ *Case, s settings, r *Reporter) {
	const plain = "org.apache.kafka.common.serialization.ByteArraySerializer"
	for _, key := range []string{producerPrefix + "key.serializer", producerPrefix + "value.serializer"} {
		switch v, err := s.or(key, plain); {
		case err != nil:
			r.Unmade(key, err)
		case v != plain:
			r.Block(key, "%s is %s", key, v)
		}
	}
}

func producerTransactions(_ *Case, s settings, r *Reporter) {
	const key = producerPrefix + "transactional.id"
	if _, set := s.m[key]; !set {
		return
	}
	switch once, err := s.exactlyOnce(); {
	case err != nil:
		r.Unmade(key, err)
	case once:
		r.Warn(key, "%s is set, and has no effect: with %s the worker puts an id of its own in its place", key, keyExactlyOnce)
	default:
		r.Block(key, "%s is set, but %s is not required: no task begins a transaction", key, keyExactlyOnce)
	}
}

func producerTimeouts(_ *Case, s settings, r *Reporter) {
	const endless, endlessBlock = "2147483647", "9223372036854775807"
	for _, c := range []struct{ name, endless string }{{"retries", endless}, {"delivery.timeout.ms", endless}, {"max.block.ms", endlessBlock}} {
		key := producerPrefix + c.name
		switch v, err := s.or(key, c.endless); {
		case err != nil:
			r.Warn(key, "whether it has an end is not known: %v", err)
		case v != c.endless:
			r.Warn(key, "%s is %s: when that is used up, the task fails", key, v)
		}
	}
}
