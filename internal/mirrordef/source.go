package mirrordef

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Key is one key of MirrorSourceConnector's ConfigDef, those that the framework
// adds among them.
type Key struct {
	Name, Kind, Importance, Group, Width, DisplayName string
	Required                                          bool
	Order                                             int
	Span
	Default *string // nil where it has none
}

// sourceTable was dumped from GET /connector-plugins/MirrorSourceConnector/config
// of workers of 3.4.1, 3.5.1, 3.6.2, 3.7.2, 3.8.1, 3.9.2, 4.0.2, 4.1.2 and 4.3.1.
//
//go:embed source.tsv
var sourceTable string

// Source returns the keys of MirrorSourceConnector, in the order of its
// ConfigDef. A key whose definition changed stands once for each span.
func Source() ([]Key, error) { return parseSource(sourceTable) }

// SourceAt returns the keys that a version has.
func SourceAt(v Version) ([]Key, error) {
	all, err := Source()
	var keys []Key
	for _, k := range all {
		if k.Holds(v) {
			keys = append(keys, k)
		}
	}
	return keys, err
}

// parseSource reads the table: a line of names, then one line for each key and
// each of its definitions, with the versions that have it.
func parseSource(table string) ([]Key, error) {
	var keys []Key
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if i == 0 {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 11 {
			return nil, fmt.Errorf("source.tsv line %d: %d fields, want 11", i+1, len(f))
		}
		k := Key{
			Name: f[0], Kind: f[1], Required: f[2] == "required", Importance: f[3],
			Group: f[4], Width: f[6], DisplayName: f[7],
		}
		var err error
		if k.Order, err = strconv.Atoi(f[5]); err != nil {
			return nil, fmt.Errorf("source.tsv line %d: %w", i+1, err)
		}
		if k.Span, err = parseSpan(f[8], f[9]); err != nil {
			return nil, fmt.Errorf("source.tsv line %d: %w", i+1, err)
		}
		if v, ok := strings.CutPrefix(f[10], "string:"); ok {
			k.Default = &v
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Wants says what a value must be where it is not: by the key's type and, where it
// has few values, by those. It is empty for a value that the type takes. It looks at
// neither classes nor lists.
func (k Key) Wants(value string) string {
	value = strings.TrimSpace(value)
	bits := 0
	switch k.Kind {
	case "BOOLEAN":
		if !strings.EqualFold(value, "true") && !strings.EqualFold(value, "false") {
			return "true or false"
		}
	case "SHORT":
		bits = 16
	case "INT":
		bits = 32
	case "LONG":
		bits = 64
	case "DOUBLE":
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return "a number"
		}
	}
	if bits > 0 {
		switch n, err := strconv.ParseInt(value, 10, bits); {
		case err != nil:
			return fmt.Sprintf("a whole number of %d bits", bits)
		case k.Name == "tasks.max" && n < 1:
			return "at least 1"
		}
	}
	return k.wantsOneOf(value)
}

// wantsOneOf holds a value against the few that its key takes (the validators of
// ConnectorConfig, SourceConnectorConfig and MirrorConnectorConfig).
func (k Key) wantsOneOf(value string) string {
	exact := map[string][]string{
		"config.action.reload":        {"none", "restart"},
		"errors.tolerance":            {"none", "all"},
		"offset-syncs.topic.location": {"source", "target"},
	}
	anyCase := map[string][]string{
		"exactly.once.support": {"required", "requested"},
		"transaction.boundary": {"poll", "interval", "connector"},
		"security.protocol":    {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"},
	}
	if slices.Contains(exact[k.Name], value) {
		return ""
	}
	for _, choice := range anyCase[k.Name] {
		if strings.EqualFold(value, choice) {
			return ""
		}
	}
	if all := append(exact[k.Name], anyCase[k.Name]...); len(all) > 0 {
		return "one of " + strings.Join(all, ", ")
	}
	return ""
}
