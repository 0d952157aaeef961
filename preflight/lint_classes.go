package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintClassChecks are about code that the config names.
func lintClassChecks() []Check {
	return []Check{{
		ID:         "config/foreign-class",
		Title:      "No code of others decides what is copied and created",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "topic.filter.class, config.property.filter.class, forwarding.admin.class and metric.reporters",
		Why:        "A filter decides which topics are copied, a forwarding admin whether topics are created, expanded and configured on the target: by their own code, which is not evaluated here, and with keys of their own.",
		Remedy:     "Remove the key, or read the class: the checks of topics take Kafka's own for granted.",
		Judge: withConfig(func(_ *Case, s settings, r *Reporter) {
			for _, class := range s.foreign() {
				r.Warn(class.key, "%s is %s", class.key, class.name)
			}
		}),
	}, {
		ID:         "config/plugin-version",
		Title:      "The connector has the version that was tried",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "connector.plugin.version and *.converter.plugin.version (4.1 and later, KIP-891)",
		Why:        "A worker may have a plugin in several versions. The key chooses one, or a range of them, whose defaults and keys are those of that version.",
		Remedy:     "Judge the config for the version that `curl <WORKER>/connectors/<CONNECTOR>/status` shows.",
		Judge: withConfig(func(_ *Case, s settings, r *Reporter) {
			for _, key := range s.sortedKeys() {
				if key == "connector.plugin.version" || strings.HasSuffix(key, ".converter.plugin.version") {
					r.Warn(key, "%s is %q", key, s.m[key])
				}
			}
		}),
	}}
}

// foreignClass is a class that a config names and that is not Kafka's own.
type foreignClass struct{ key, name string }

// foreign lists them, by key.
func (s settings) foreign() []foreignClass {
	own := map[string][]string{
		"topic.filter.class":           {filterDefault},
		"config.property.filter.class": {policyPackage + "DefaultConfigPropertyFilter"},
		"forwarding.admin.class":       {"org.apache.kafka.clients.admin.ForwardingAdmin"},
		"metric.reporters":             {"org.apache.kafka.common.metrics.JmxReporter"},
	}
	var out []foreignClass
	for _, key := range s.sortedKeys() {
		known, names := own[key]
		if !names {
			continue
		}
		for _, class := range splitList(s.m[key]) {
			if class != "" && !slices.Contains(known, class) {
				out = append(out, foreignClass{key, class})
			}
		}
	}
	return out
}

// foreignClasses names every class of others that may read keys of its own.
func (s settings) foreignClasses() []string {
	var out []string
	for _, c := range s.foreign() {
		out = append(out, fmt.Sprintf("%s (%s)", c.name, c.key))
	}
	const policy = "replication.policy.class"
	if v := strings.TrimSpace(s.m[policy]); v != "" && !strings.HasPrefix(v, policyPackage) {
		out = append(out, fmt.Sprintf("%s (%s)", v, policy))
	}
	return out
}
