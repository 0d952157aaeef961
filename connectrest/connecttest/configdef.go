package connecttest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
)

// config is a connector's configuration as it was sent. A nil value is JSON
// null, which some versions store.
type config map[string]*string

// get returns the value of key, and false where there is none or null.
func (c config) get(key string) (string, bool) {
	if v := c[key]; v != nil {
		return *v, true
	}
	return "", false
}

func (c config) clone() config {
	return maps.Clone(c)
}

func (c config) equal(d config) bool {
	if len(c) != len(d) {
		return false
	}
	for k, v := range c {
		w, ok := d[k]
		if !ok || (v == nil) != (w == nil) || (v != nil && *v != *w) {
			return false
		}
	}
	return true
}

// String is how the worker prints the configuration in messages: a copy that
// ConfigTransformer made.
func (c config) String() string {
	m := make(javaMap, len(c))
	for k, v := range c {
		if v == nil {
			m[k] = nil
		} else {
			m[k] = *v
		}
	}
	return m.print(m.copyKeys())
}

// configKey is one key of MirrorSourceConnector's ConfigDef, with the keys that
// the framework adds.
type configKey struct {
	name, kind, importance, group, width, displayName string
	required                                          bool
	order                                             int
	fallback                                          *string // default value
}

// configKeys returns the keys that a version knows, in the order of its
// ConfigDef.
func (v version) configKeys() ([]configKey, error) {
	defined, err := mirrordef.SourceAt(mirrordef.Version{v.major, v.minor, v.patch})
	keys := make([]configKey, len(defined))
	for i, k := range defined {
		keys[i] = configKey{
			name: k.Name, kind: k.Kind, importance: k.Importance, group: k.Group, width: k.Width, displayName: k.DisplayName,
			required: k.Required, order: k.Order, fallback: k.Default,
		}
	}
	return keys, err
}

// value returns what key is set to, or its default in this version, or "".
func (o *options) value(c config, key string) string {
	if s, ok := c.get(key); ok {
		return strings.TrimSpace(s)
	}
	for _, k := range o.keys {
		if k.name == key && k.fallback != nil {
			return *k.fallback
		}
	}
	return ""
}

// parse returns what ConfigDef says against a value of this kind. nullAfter
// reports that the value counts as null for the validators that follow.
func (k configKey) parse(s string) (message string, nullAfter bool) {
	trimmed := strings.TrimSpace(s)
	bits := 0
	switch k.kind {
	case "BOOLEAN":
		if !strings.EqualFold(trimmed, "true") && !strings.EqualFold(trimmed, "false") {
			return k.invalid(s, "Expected value to be either true or false"), true
		}
	case "SHORT":
		bits = 16
	case "INT":
		bits = 32
	case "LONG":
		bits = 64
	case "DOUBLE":
		if _, err := strconv.ParseFloat(trimmed, 64); err != nil {
			return k.invalid(s, "Not a number of type DOUBLE"), true
		}
	case "CLASS":
		if !slices.Contains(knownClasses, trimmed) && k.name != "ssl.engine.factory.class" && !strings.HasPrefix(k.name, "sasl.") {
			return k.invalid(s, fmt.Sprintf("Class %s could not be found.", trimmed)), true
		}
	}
	if bits > 0 {
		if _, err := strconv.ParseInt(trimmed, 10, bits); err != nil {
			return k.invalid(s, "Not a number of type "+k.kind), true
		}
	}
	return "", false
}

func (k configKey) invalid(value, why string) string {
	return fmt.Sprintf("Invalid value %s for configuration %s: %s", value, k.name, why)
}

// splitList is ConfigDef's parsing of a LIST.
func splitList(s string) []string {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

const (
	byteArrayConverter    = "org.apache.kafka.connect.converters.ByteArrayConverter"
	jsonConverter         = "org.apache.kafka.connect.json.JsonConverter"
	simpleHeaderConverter = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
	mirrorPackage         = "org.apache.kafka.connect.mirror."
	mirrorSourceConnector = mirrorPackage + "MirrorSourceConnector"
	defaultPolicyClass    = mirrorPackage + "DefaultReplicationPolicy"
	identityPolicyClass   = mirrorPackage + "IdentityReplicationPolicy"
)

// knownClasses are the classes that this package can stand in for.
var knownClasses = []string{
	byteArrayConverter, jsonConverter, simpleHeaderConverter,
	defaultPolicyClass, identityPolicyClass,
	mirrorPackage + "DefaultTopicFilter", mirrorPackage + "DefaultConfigPropertyFilter",
	"org.apache.kafka.clients.admin.ForwardingAdmin",
}
