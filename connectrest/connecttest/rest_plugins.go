package connecttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type pluginInfo struct {
	Class   string `json:"class"`
	Type    string `json:"type"`
	Version string `json:"version"`
}

// isMirrorSource reports whether a connector.class or plugin name stands for the
// one connector there is: by its name, simple name, or alias.
func isMirrorSource(class string) bool {
	return slices.Contains([]string{mirrorSourceConnector, "MirrorSourceConnector", "MirrorSource"}, class)
}

func (w *Worker) pluginDesc() string {
	return fmt.Sprintf("PluginDesc{klass=class %[1]s, name='%[1]s', version='%[2]s', encodedVersion=%[2]s, type=source, typeName='source', location='classpath'}",
		mirrorSourceConnector, w.opts.shownVersion)
}

func (w *Worker) listPlugins(r *request) (answer, *restError) {
	plugins := []pluginInfo{{mirrorSourceConnector, "source", w.opts.shownVersion}}
	if r.query.Has("connectorsOnly") && !r.flag("connectorsOnly") {
		for _, class := range []string{byteArrayConverter, jsonConverter} {
			plugins = append(plugins, pluginInfo{class, "converter", w.opts.shownVersion})
		}
		for _, class := range []string{byteArrayConverter, jsonConverter, simpleHeaderConverter} {
			kind := "header_converter"
			if class != simpleHeaderConverter && !w.opts.version.tellsHeaderConverters() {
				kind = "converter"
			}
			plugins = append(plugins, pluginInfo{class, kind, w.opts.shownVersion})
		}
	}
	return jsonAnswer(http.StatusOK, plugins), nil
}

// definition is ConfigKeyInfo, without the documentation.
func (w *Worker) definition(name string, k configKey) map[string]any {
	d := map[string]any{
		"name": name, "type": k.kind, "required": k.required, "default_value": k.fallback,
		"importance": k.importance, "documentation": "", "group": nil, "width": k.width,
		"display_name": k.displayName, "dependents": []string{},
	}
	if k.group != "-" {
		d["group"] = k.group
	}
	d[w.opts.version.definitionOrderKey()] = k.order
	return d
}

func (w *Worker) getPluginConfig(r *request) (answer, *restError) {
	if !isMirrorSource(r.name()) {
		return answer{}, notFound("Unknown plugin %s.", r.name())
	}
	var definitions []any
	for _, k := range w.opts.keys {
		definitions = append(definitions, w.definition(k.name, k))
	}
	return jsonAnswer(http.StatusOK, definitions), nil
}

// validatePlugin lists the defined keys only: unknown ones, and those that a
// prefix makes meaningful, are dropped without a word.
func (w *Worker) validatePlugin(r *request) (answer, *restError) {
	v, err := w.opts.version.readJSON(r.body)
	if err != nil {
		return answer{}, err
	}
	cfg, err := stringMap(v)
	if err != nil {
		return answer{}, err
	}
	if cfg == nil {
		return answer{}, internalError(`Cannot invoke "java.util.Map.get(Object)" because "connectorConfig" is null`)
	}
	trim := func(s string) string { return strings.TrimSuffix(s, "Connector") }
	class, ok := cfg.get("connector.class")
	switch {
	case ok && !strings.HasSuffix(trim(class), trim(r.name())):
		return answer{}, badRequest("Included connector type %s does not match request type %s", class, r.name())
	case !ok, !isMirrorSource(class):
		// The exception of the validation reaches the resource within another.
		return answer{}, internalError("org.apache.kafka.connect.runtime.rest.errors.BadRequestException: %s", w.checkConfig(cfg).message)
	}
	return jsonAnswer(http.StatusOK, w.validation(class, w.opts.validateConfig(cfg))), nil
}

// validation is ConfigInfos.
func (w *Worker) validation(class string, reports []keyReport) map[string]any {
	errorCount := 0
	var groups []string
	configs := []any{}
	for _, rep := range reports {
		errorCount += len(rep.errors)
		entry := map[string]any{"definition": nil}
		if rep.key.name != "" {
			entry["definition"] = w.definition(rep.name, rep.key)
			if rep.key.group != "-" && !slices.Contains(groups, rep.key.group) {
				groups = append(groups, rep.key.group)
			}
		}
		value := rep.value
		if rep.key.kind == "PASSWORD" && value != nil {
			hidden := "[hidden]"
			value = &hidden
		}
		entry["value"] = map[string]any{
			"name": rep.name, "value": value, "recommended_values": []string{},
			"errors": append([]string{}, rep.errors...), "visible": true,
		}
		configs = append(configs, entry)
	}
	return map[string]any{"name": class, "error_count": errorCount, "groups": groups, "configs": configs}
}
