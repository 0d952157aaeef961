package preflight

import (
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// DriverFlow is one direction that the connect-mirror-maker driver runs, with the
// configs that it gives to its connectors.
type DriverFlow struct {
	Source, Target string // aliases
	// Enabled says that records are copied. A flow that is not enabled is run for its
	// heartbeats (MirrorMakerConfig.clusterPairs).
	Enabled bool
	// Copying is the config of MirrorSourceConnector, Checkpoints that of
	// MirrorCheckpointConnector, Heartbeats that of MirrorHeartbeatConnector.
	Copying, Checkpoints, Heartbeats connectrest.Config
}

// LintDriver judges the properties of connect-mirror-maker.sh (mm2.properties), which
// make three connectors for each direction. It returns the flows that the driver would
// run, sorted, and what is wrong: with the file itself, in the area driver, and with
// the config of each flow that copies, as [Lint] says it. The scope of such a finding
// is the key behind its flow: "A->B.topics".
//
// The driver's workers have no REST API, so that no offsets can be carried over to
// them: what is found is for whoever makes connectors of such a file.
func LintDriver(properties map[string]string, v connectrest.Version) ([]DriverFlow, []offsetmap.Finding) {
	d := &driver{properties: properties, version: v}
	d.clusters = slices.DeleteFunc(splitList(properties["clusters"]), func(a string) bool { return a == "" })
	c := &Case{driver: d}
	c.Facts.Plugins = offsetmap.Known([]connectrest.PluginInfo{{Class: mirrorSource, Type: "source", Version: v.String()}})
	c.defined = fact(c.definedKeys())
	defined, _ := c.defined.Get()
	d.keys = connectorKeys(defined)
	flows := d.flows()
	d.running = flows
	var findings []offsetmap.Finding
	for _, check := range driverChecks() {
		r := Reporter{check: check}
		check.Judge(c, &r)
		findings = append(findings, r.findings...)
	}
	for _, f := range flows {
		if !f.Enabled {
			continue
		}
		for _, finding := range Lint(d.asRun(f.Copying), LintOptions{Version: v}) {
			flow := f.Source + "->" + f.Target + "."
			if d.ofConnect(flow, finding) {
				continue
			}
			finding.Scope = strings.TrimSuffix(flow+finding.Scope, ".")
			findings = append(findings, finding)
		}
	}
	slices.SortStableFunc(findings, offsetmap.Finding.Compare)
	return flows, findings
}

// driver is what the properties of connect-mirror-maker.sh say.
type driver struct {
	properties map[string]string
	version    connectrest.Version
	clusters   []string
	keys       map[string]bool // of its connectors, in this version
	running    []DriverFlow
}

// isOn is Boolean.parseBoolean.
func (d *driver) isOn(key, def string) bool {
	v, set := d.properties[key]
	if !set {
		v = def
	}
	return strings.EqualFold(v, "true")
}

// flows is MirrorMakerConfig.clusterPairs, with the configs of connectorBaseConfig.
func (d *driver) flows() []DriverFlow {
	const heartbeats = "emit.heartbeats.enabled"
	everywhere := "false"
	if d.isOn(heartbeats, "true") {
		everywhere = "true"
	}
	var out []DriverFlow
	aliases := slices.Compact(slices.Sorted(slices.Values(d.clusters)))
	for _, source := range aliases {
		for _, target := range aliases {
			flow := source + "->" + target + "."
			f := DriverFlow{Source: source, Target: target, Enabled: d.isOn(flow+"enabled", "false")}
			if source == target || !f.Enabled && !d.isOn(flow+heartbeats, everywhere) {
				continue
			}
			f.Copying = d.connector(f, "MirrorSourceConnector")
			f.Checkpoints = d.connector(f, "MirrorCheckpointConnector")
			f.Heartbeats = d.connector(f, "MirrorHeartbeatConnector")
			out = append(out, f)
		}
	}
	return out
}

// connector is MirrorMakerConfig.connectorBaseConfig: keys of the three connectors
// from the top, then those of the two clusters behind prefixes, then those of the flow.
func (d *driver) connector(f DriverFlow, class string) connectrest.Config {
	config := connectrest.Config{}
	for key, value := range d.properties {
		if d.keys[key] || strings.HasPrefix(key, "config.providers") || strings.HasPrefix(key, "replication.policy") {
			config[key] = value
		}
	}
	for side, alias := range map[string]string{"source.": f.Source, "target.": f.Target} {
		for key, value := range d.cluster(alias) {
			if isClient(key) {
				config[side+key] = value
			} else {
				config[side+"cluster."+key] = value
			}
		}
	}
	for key, value := range map[string]string{
		"name": class, "connector.class": policyPackage + class, keySourceAlias: f.Source, keyTargetAlias: f.Target,
	} {
		if _, set := config[key]; !set {
			config[key] = value
		}
	}
	flow := f.Source + "->" + f.Target + "."
	for key, value := range d.properties {
		if name, ok := strings.CutPrefix(key, flow); ok {
			config[name] = value
		}
	}
	if _, set := config["enabled"]; !set {
		config["enabled"] = "false"
	}
	return config
}

// cluster is MirrorMakerConfig.clusterProps: the properties behind an alias, and those
// that every client has from the top and for each client.
func (d *driver) cluster(alias string) map[string]string {
	out := map[string]string{}
	for key, value := range d.properties {
		if name, ok := strings.CutPrefix(key, alias+"."); ok {
			out[name] = value
		}
	}
	missing := func(key, value string) {
		if _, set := out[key]; !set {
			out[key] = value
		}
	}
	own := maps.Clone(out)
	for _, from := range []map[string]string{own, d.properties} {
		for key, value := range from {
			if !ofEveryClient(key) {
				continue
			}
			for _, kind := range []string{"producer.", "consumer.", "admin."} {
				missing(kind+key, value)
			}
			missing(key, value)
		}
	}
	return out
}

// isClient is the pattern that tells a client's properties from a cluster's.
func isClient(key string) bool {
	return strings.HasPrefix(key, "consumer") || strings.HasPrefix(key, "producer") || strings.HasPrefix(key, "admin")
}

// ofEveryClient is MirrorClientConfig.CLIENT_CONFIG_DEF.
func ofEveryClient(key string) bool {
	return key == "bootstrap.servers" || key == "security.protocol" || strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "sasl.")
}

// connectorKeys is MirrorMakerConfig.allConfigNames.
func connectorKeys(defined definedKeys) map[string]bool {
	out := map[string]bool{}
	for key := range defined.source {
		out[key] = defined.has(key)
	}
	for _, of := range []mirrordef.Definition{mirrordef.Checkpoint, mirrordef.Heartbeat} {
		for key := range defined.clients[of] {
			out[key] = out[key] || defined.clientHas(of, key)
		}
	}
	return out
}

// asRun is a flow's config with what the driver's workers add: byte arrays, unless the
// properties have other converters (MirrorMakerConfig.workerConfig).
func (d *driver) asRun(config connectrest.Config) connectrest.Config {
	out := maps.Clone(config)
	for _, key := range []string{"key.converter", "value.converter", "header.converter"} {
		if _, set := out[key]; !set {
			out[key] = "org.apache.kafka.connect.converters.ByteArrayConverter"
		}
	}
	return out
}

// ofConnect reports whether a finding is about what a config of Connect does not read,
// while the driver reads it, or driver/unknown-key says that nothing does.
func (d *driver) ofConnect(flow string, f offsetmap.Finding) bool {
	switch f.Check {
	case "config/unknown-key", "config/key-without-effect", "config/worker-key":
		return true
	case "config/unread-prefix":
		_, ofFlow := d.properties[flow+f.Scope]
		return !ofFlow
	}
	return false
}
