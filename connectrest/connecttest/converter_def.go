package connecttest

import (
	"strings"
)

// converterKeys are the settings of a converter class that the connector
// configures, read and checked on their own (AbstractHerder.validateConverterConfig).
// They were listed by workers of 3.8.1 to 4.3.1.
func (o *options) converterKeys(class string) []configKey {
	text := func(s string) *string { return &s }
	kind := configKey{name: "converter.type", kind: "STRING", required: true, importance: "LOW", group: "-", order: -1, width: "NONE", displayName: "converter.type"}
	switch class {
	case byteArrayConverter:
		return []configKey{kind}
	case jsonConverter:
		keys := []configKey{
			{name: "decimal.format", kind: "STRING", importance: "LOW", group: "Serialization", order: 0, width: "MEDIUM", displayName: "Decimal Format", fallback: text("BASE64")},
			kind,
			{name: "schemas.cache.size", kind: "INT", importance: "HIGH", group: "Schemas", order: 1, width: "MEDIUM", displayName: "Schema Cache Size", fallback: text("1000")},
			{name: "replace.null.with.default", kind: "BOOLEAN", importance: "LOW", group: "Serialization", order: 1, width: "MEDIUM", displayName: "Replace null with default", fallback: text("true")},
			{name: "schemas.enable", kind: "BOOLEAN", importance: "HIGH", group: "Schemas", order: 0, width: "MEDIUM", displayName: "Enable Schemas", fallback: text("true")},
		}
		if o.version.hasSchemaContent() {
			keys = append(keys, configKey{name: "schema.content", kind: "STRING", importance: "HIGH", group: "Schemas", order: 0, width: "MEDIUM", displayName: "Schema Content"})
		}
		return keys
	default:
		return nil
	}
}

// checkConverters reports on the converters' own settings, under their full
// names; messages have the short ones.
func (o *options) checkConverters(c config) []keyReport {
	if !o.version.checksConverters() {
		return nil
	}
	var reports []keyReport
	for _, role := range []string{"header", "key", "value"} {
		class, ok := c.get(role + ".converter")
		if !ok {
			continue
		}
		prefix := role + ".converter."
		own := config{"converter.type": &role}
		for k, v := range c {
			if setting, ok := strings.CutPrefix(k, prefix); ok {
				own[setting] = v
			}
		}
		for _, k := range o.converterKeys(strings.TrimSpace(class)) {
			r := o.checkKey(k, own)
			r.name = prefix + k.name
			reports = append(reports, r)
		}
	}
	return reports
}
