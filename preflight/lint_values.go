package preflight

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintValueChecks are about single values.
func lintValueChecks() []Check {
	return []Check{{
		ID:         "config/invalid-value",
		Title:      "Every value is of the type of its key",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "numbers and booleans of the config, and keys that have no default, by the built-in table of the version",
		Why:        "A worker refuses the config (400).",
		Remedy:     "Correct the value.",
		Judge:      withConfig(invalidValues),
	}, {
		ID:         "config/errors-log-messages",
		Title:      "Records are not written to the worker's log",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "errors.log.enable and errors.log.include.messages",
		Why:        "With both, keys and values of records that failed stand in the log of the worker, for everybody who reads logs.",
		Remedy:     `Remove "errors.log.include.messages"; topic, partition and offset are logged without it.`,
		Judge:      withConfig(errorsLogMessages),
	}, {
		ID:         "config/exactly-once-offsets",
		Title:      "Source offsets are kept where the worker's own are",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "offsets.storage.topic, and producer.override.bootstrap.servers with exactly-once",
		Why:        "With exactly-once the connector's offsets go to that topic, on the cluster of its producer (KIP-618); the worker's own topic is read where the other has none. A backup of the worker's topic alone does not hold them.",
		Remedy:     `Remove "offsets.storage.topic", unless offsets are kept apart on purpose.`,
		Judge:      withConfig(exactlyOnceOffsets),
	}, {
		ID:         "config/exactly-once-worker",
		Title:      "Where exactly-once is required, the workers have it",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "exactly.once.support=required",
		Why:        "It needs exactly.once.source.support=enabled in the file of every worker, which no API shows, and rights on the transactional ids GROUP-CONNECTOR-TASK and connect-cluster-GROUP on the target. Without them the tasks fail at their start.",
		Remedy:     "Set exactly.once.source.support=enabled on every worker (first preparing, then enabled, in two rolling restarts), and allow the transactional ids: `kafka-acls.sh --bootstrap-server <WORKERS-CLUSTER> --add --allow-principal <PRINCIPAL> --transactional-id <CONNECT-GROUP> --resource-pattern-type prefixed --operation Write --operation Describe`.",
		Judge:      withConfig(exactlyOnceWorker),
	}, {
		ID:         "config/action-reload",
		Title:      "The connector restarts only when somebody restarts it",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "config.action.reload (default restart) beside references to config providers",
		Why:        "Where a provider says for how long its value is good, the worker restarts the connector by itself when that time is up: what was not committed is copied twice.",
		Remedy:     `Set "config.action.reload": "none" where the provider's values expire, and restart after a change of secrets.`,
		Judge:      withConfig(actionReload),
	}, {
		ID:         "config/admin-timeout",
		Title:      "Listing the topics may take as long as it needs",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "admin.timeout.ms (default 60000)",
		Why:        "At its start the connector lists the topics of both clusters, and goes on without them when the time is up: RUNNING, without tasks, with one line in the log, until the next refresh (refresh.topics.interval.seconds).",
		Remedy:     `Remove "admin.timeout.ms", or set more than the slowest listing takes.`,
		Judge:      withConfig(adminTimeout),
	}, {
		ID:         "config/poll-timeout",
		Title:      "A task that is stopped ends in time",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "consumer.poll.timeout.ms (default 1000) against a worker's task.shutdown.graceful.timeout.ms (default 5000)",
		Why:        "A task sees that it is to stop between two polls. One that takes longer than the worker waits is left to itself, and commits offsets after the connector shows STOPPED.",
		Remedy:     `Remove "consumer.poll.timeout.ms".`,
		Judge:      withConfig(pollTimeout),
	}, {
		ID:         "config/separator",
		Title:      "The separator tells alias and topic apart",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "replication.policy.separator (default a dot) and the aliases, where the policy puts the alias in front",
		Why:        "MirrorMaker 2 takes what stands before the first separator of a name for the alias. Where an alias holds it, a copy is not known for one, so that two mirrors copy it back and forth. A separator that no topic name may hold makes every target topic impossible.",
		Remedy:     "Choose aliases without the separator before anything is stored: the source's alias is part of the stored offsets.",
		Judge:      withConfig(separator),
	}}
}

func invalidValues(c *Case, s settings, r *Reporter) {
	table, err := mirrordef.Source()
	if err != nil {
		r.Unmade("", err)
		return
	}
	version, _ := c.Facts.MirrorVersion()
	seen := map[string]bool{}
	for _, k := range table {
		if !holds(k.Span, version) || seen[k.Name] {
			continue
		}
		seen[k.Name] = true
		v, set, err := s.get(k.Name)
		switch {
		case err != nil: // only the worker resolves it
		case set:
			if want := k.Wants(v); want != "" {
				r.Block(k.Name, "%s is %s, want %s", k.Name, strconv.Quote(offsetmap.RedactSetting(k.Name, v)), want)
			}
		case k.Required && k.Name != "name" && k.Name != "connector.class" && k.Name != keySourceAlias: // connector/class, config/source-alias
			r.Block(k.Name, "%s is not set, and has no default", k.Name)
		}
	}
}

func errorsLogMessages(_ *Case, s settings, r *Reporter) {
	const enable, messages = "errors.log.enable", "errors.log.include.messages"
	on, err := s.flag(enable, "false")
	with, errWith := s.flag(messages, "false")
	if (on || err != nil) && (with || errWith != nil) {
		r.Warn(messages, "%s is %q, %s is %q", enable, s.m[enable], messages, s.m[messages])
	}
}

func exactlyOnceOffsets(_ *Case, s settings, r *Reporter) {
	const key = "offsets.storage.topic"
	if v := s.m[key]; v != "" {
		r.Warn(key, "with exactly-once offsets are kept in the topic %s", v)
	}
	if once, err := s.exactlyOnce(); (once || err != nil) && s.m[keyProducerBootstrap] != "" {
		r.Warn(keyProducerBootstrap, "with %s required offsets are kept on the cluster that it leads to, not on the worker's own", keyExactlyOnce)
	}
}

func exactlyOnceWorker(_ *Case, s settings, r *Reporter) {
	if once, err := s.exactlyOnce(); !once && err == nil {
		return
	}
	r.Warn(keyExactlyOnce, "%s is %q; that exactly.once.source.support is enabled on the workers is not shown", keyExactlyOnce, s.m[keyExactlyOnce])
}

func actionReload(_ *Case, s settings, r *Reporter) {
	const key = "config.action.reload"
	if v, err := s.or(key, "restart"); err == nil && v == "none" {
		return
	}
	n := 0
	for _, v := range s.m {
		if reference(v) != "" {
			n++
		}
	}
	if n > 0 {
		r.Info(key, "%d values refer to config providers, and the connector restarts when one of them expires", n)
	}
}

// milliseconds returns a LONG that means a time. What is no number is
// config/invalid-value's matter, and what only the worker resolves nobody's.
func (s settings) milliseconds(key, def string) (time.Duration, bool) {
	v, err := s.or(key, def)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(v, 10, 64)
	return time.Duration(n) * time.Millisecond, err == nil
}

func adminTimeout(_ *Case, s settings, r *Reporter) {
	const key, usual = "admin.timeout.ms", "60000"
	if d, ok := s.milliseconds(key, usual); ok && d < time.Minute {
		r.Warn(key, "%s is %s, less than the default of %s", key, s.m[key], usual)
	}
}

func pollTimeout(_ *Case, s settings, r *Reporter) {
	const key, grace = "consumer.poll.timeout.ms", 5 * time.Second
	if d, ok := s.milliseconds(key, "1000"); ok && d >= grace {
		r.Warn(key, "%s is %s, and a worker waits %s by default for a task to end", key, s.m[key], grace)
	}
}

// topicText is what a topic name may be made of.
var topicText = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

func separator(c *Case, s settings, r *Reporter) {
	const key = "replication.policy.separator"
	p, ok := c.policy.Get()
	if !ok {
		return // config/replication-policy
	}
	if !topicText.MatchString(p.separator) {
		if p.identity {
			r.Warn(key, "%s is %q, which no topic name may hold", key, p.separator)
			return
		}
		r.Block(key, "%s is %q, which no topic name may hold", key, p.separator)
		return
	}
	if p.identity {
		return // names are kept
	}
	for _, alias := range []struct{ key, value string }{{keySourceAlias, p.source}, {keyTargetAlias, p.alias}} {
		if strings.Contains(alias.value, p.separator) {
			r.Warn(alias.key, "%s", fmt.Sprintf("%s is %q, which holds the separator %q", alias.key, alias.value, p.separator))
		}
	}
}
