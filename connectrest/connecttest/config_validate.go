package connecttest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keyReport is what validation says about one key.
type keyReport struct {
	key    configKey // zero for a key without a definition
	name   string    // in full: a converter's key has the prefix
	value  *string
	errors []string
}

// validateConfig is AbstractHerder.validateConnectorConfig for
// MirrorSourceConnector: the reports of every defined key, in the order of the
// ConfigDef, then of keys that only a check knows.
func (o *options) validateConfig(c config) []keyReport {
	var reports []keyReport
	for _, k := range o.keys {
		reports = append(reports, o.checkKey(k, c))
	}
	report := func(name string) *keyReport {
		i := slices.IndexFunc(reports, func(r keyReport) bool { return r.name == name })
		if i < 0 {
			reports = append(reports, keyReport{name: name, value: c[name]})
			i = len(reports) - 1
		}
		return &reports[i]
	}
	complain := func(name, message string) {
		r := report(name)
		r.errors = append(r.errors, message)
	}

	if s, _ := c.get("exactly.once.support"); s == "required" {
		if clientConfig(c, "source", "consumer")["isolation.level"] != readCommitted {
			complain("exactly.once.support", "MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is configured with "+
				"isolation.level set to 'read_committed'; otherwise, records from aborted and uncommitted transactions will be replicated from the source cluster to the target cluster.")
		} else {
			complain("exactly.once.support", "This worker does not have exactly-once source support enabled.")
		}
	}
	if s, _ := c.get("emit.offset-syncs.enabled"); s == "false" && o.version.hasEmitOffsetSyncs() && c.hasPrefix("offset-syncs.topic.", "offset-syncs-") {
		complain("emit.offset-syncs.enabled", "MirrorSourceConnector can't setup offset-syncs feature while emit.offset-syncs.enabled set to false")
	}
	reports = append(reports, o.checkConverters(c)...)
	for _, key := range c.sortedKeys() {
		if setting, ok := strings.CutPrefix(key, producerOverride); ok && o.overridePolicy == OverrideNone {
			complain(key, fmt.Sprintf("The 'None' policy does not allow '%s' to be overridden in the connector configuration.", setting))
		}
		if c[key] == nil && !slices.ContainsFunc(reports, func(r keyReport) bool { return r.name == key }) {
			complain(key, "Null value can not be supplied as the configuration value.")
		}
	}
	for _, key := range []string{"transforms", "predicates"} {
		if s, _ := c.get(key); len(splitList(s)) > 0 {
			complain(key, fmt.Sprintf("connecttest runs no %s, so it refuses %s=%s", key, key, s))
		}
	}
	return reports
}

// checkKey parses one key and runs its validator.
func (o *options) checkKey(k configKey, c config) keyReport {
	r := keyReport{key: k, name: k.name, value: k.fallback}
	raw, present := c[k.name]
	switch {
	case present && raw == nil:
		r.value = nil
	case present:
		r.value = raw
		message, nullAfter := k.parse(*raw)
		if message != "" {
			r.errors = append(r.errors, message)
		}
		if nullAfter {
			r.value = nil
		}
	case k.required:
		r.errors = append(r.errors, fmt.Sprintf(`Missing required configuration "%s" which has no default value.`, k.name))
		return r
	}
	if message := o.validateValue(k, r.value, present); message != "" {
		r.errors = append(r.errors, message)
	}
	return r
}

// validators of single values; a list stands for "one of these".
var (
	exactChoices = map[string][]string{
		"config.action.reload":        {"none", "restart"},
		"errors.tolerance":            {"none", "all"},
		"offset-syncs.topic.location": {"source", "target"},
	}
	anyCaseChoices = map[string][]string{
		"exactly.once.support": {"REQUIRED", "REQUESTED"},
		"transaction.boundary": {"INTERVAL", "POLL", "CONNECTOR"},
		"security.protocol":    {"SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"},
	}
	uniqueLists = []string{"topics", "topics.exclude", "config.properties.exclude", "metric.reporters", "config.providers", "metric.names.formats"}
)

func (o *options) validateValue(k configKey, value *string, present bool) string {
	if k.name == "tasks.max" {
		if value == nil {
			return k.invalid("null", "Value must be non-null")
		}
		if n, err := strconv.Atoi(strings.TrimSpace(*value)); err == nil && n < 1 {
			return k.invalid(*value, "Value must be at least 1")
		}
	}
	if slices.Contains(uniqueLists, k.name) && o.version.refusesDuplicates() {
		if value == nil {
			if present {
				return fmt.Sprintf("Configuration '%s' values must not be null.", k.name)
			}
			return ""
		}
		list := splitList(*value)
		if slices.Contains(list, "") {
			return fmt.Sprintf("Configuration '%s' values must not be empty.", k.name)
		}
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != len(list) {
			return fmt.Sprintf("Configuration '%s' values must not be duplicated.", k.name)
		}
	}
	if value == nil {
		return ""
	}
	if k.name == "name" {
		if *value == "" {
			return k.invalid(*value, "String may not be empty")
		}
		var controls []string
		for _, r := range *value {
			if r < 0x20 || r == 0x7f {
				controls = append(controls, strconv.Itoa(int(r)))
			}
		}
		if controls != nil {
			return k.invalid(*value, "String may not contain control sequences but had the following ASCII chars: "+strings.Join(controls, ", "))
		}
	}
	if choices, ok := exactChoices[k.name]; ok && !slices.Contains(choices, *value) {
		return k.invalid(*value, "String must be one of: "+strings.Join(choices, ", "))
	}
	if choices, ok := anyCaseChoices[k.name]; ok && !slices.Contains(choices, strings.ToUpper(*value)) {
		return k.invalid(*value, "String must be one of (case insensitive): "+strings.Join(choices, ", "))
	}
	return ""
}

// invalidConfig is the 400 for a configuration with errors, nil for none.
func invalidConfig(reports []keyReport) *restError {
	var messages []string
	for _, r := range reports {
		messages = append(messages, r.errors...)
	}
	if len(messages) == 0 {
		return nil
	}
	return badRequest("Connector configuration is invalid and contains the following %d error(s):\n%s\n"+
		"You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`",
		len(messages), strings.Join(messages, "\n"))
}

func (c config) hasPrefix(prefixes ...string) bool {
	for k := range c {
		for _, p := range prefixes {
			if strings.HasPrefix(k, p) {
				return true
			}
		}
	}
	return false
}

func (c config) sortedKeys() []string {
	keys := make([]string, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
