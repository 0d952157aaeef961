package preflight

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// mirrorSource is the class of the connector.
const mirrorSource = "org.apache.kafka.connect.mirror.MirrorSourceConnector"

func workerChecks() []Check {
	return []Check{{
		ID:         "worker/unknown",
		Title:      "The Connect worker answers",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET / of the worker",
		Why:        "The plan records the worker's version and cluster.",
		Remedy:     "Mend the worker's URL, credentials or network; a worker that just starts needs some seconds.",
		Judge: func(c *Case, r *Reporter) {
			if _, ok := c.Facts.Worker.Get(); !ok {
				r.Unknown("", c.Facts.Worker.Err())
			}
		},
	}, workerVersionCheck(), {
		ID:         "worker/plugin",
		Title:      "The worker has MirrorSourceConnector, in its own version",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connector-plugins",
		Why:        "Without the plugin nothing is copied. With one of another version, defaults and known keys are those of the plugin, not of the worker.",
		Remedy:     "Put Kafka's connect-mirror and connect-mirror-client jars on the worker's classpath or plugin.path; prefer those of the worker's version.",
		Judge:      workerPlugin,
	}, {
		ID:         "worker/producer-cluster",
		Title:      "The data producer writes to the target cluster",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "kafka_cluster_id of GET /, or the cluster behind producer.override.bootstrap.servers, against the target's id",
		Why:        "Records go where the worker's producer points; target.cluster.bootstrap.servers serves the admin client alone. On the source it is an endless echo: 10 records became 24,662 in 5 s.",
		Remedy:     `Use a worker whose bootstrap.servers is the target, or set "producer.override.bootstrap.servers" (and its security) in the connector's config.`,
		Judge:      producerCluster,
	}, {
		ID:         "worker/producer-override",
		Title:      "Where the producer is overridden, the worker allows it",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "producer.override.bootstrap.servers",
		Why:        "connector.client.config.override.policy must allow bootstrap.servers: All does, the default since 3.0; None and Principal refuse the config with a 400. Offsets and configs stay in the worker's own cluster.",
		Remedy:     "Nothing. The setting is in the worker's config file, which no API shows.",
		Judge:      withConfig(producerOverride),
	}}
}

func workerVersionCheck() Check {
	return Check{
		ID:         "worker/version",
		Title:      "Worker and MirrorMaker 2 are Kafka 3.6 or later",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the version in GET /, which decides the REST API, and that of the MirrorSourceConnector plugin, which decides the copying",
		Why:        "Before 3.6 offsets cannot be altered at all (KIP-875). 3.7 is the first that creates a connector STOPPED (KIP-980): before, a connector has to start once, and what it starts with must copy nothing. MirrorMaker 2 up to 3.6.1 begins a partition without an offset at 0 and not by the reset rule (KAFKA-13988), which is the same for what a plan clears.",
		Remedy:     "Upgrade the worker; on 3.6 nothing has to be done, since runbook create lets the connector start with a config that copies nothing and stops it before it gets its own. Where a vendor's version is one that is not understood, find out the Kafka version behind it and accept the check by name. A plan holds for the versions that it was made with: after an upgrade make a new one.",
		Judge:      workerVersion,
	}
}

func workerVersion(c *Case, r *Reporter) {
	c.Facts.reportWorkerVersion(r)
	if _, ok := c.Facts.Plugins.Get(); ok && c.hasPlugin() {
		v, err := c.Facts.MirrorVersion()
		tooOld(r, "plugin", "the plugin MirrorSourceConnector", v, err)
	}
}

// WorkerVersion returns what check worker/version finds of the worker alone, for
// who writes to it before there is a connector.
func (f Facts) WorkerVersion() []offsetmap.Finding {
	r := Reporter{check: workerVersionCheck()}
	f.reportWorkerVersion(&r)
	return r.findings
}

func (f Facts) reportWorkerVersion(r *Reporter) {
	const scope = "worker"
	w, ok := f.Worker.Get()
	if !ok {
		return // worker/unknown
	}
	var err error
	if !w.Version.Known() {
		_, err = connectrest.ParseVersion(w.Version.String())
	}
	if !tooOld(r, scope, "the worker", w.Version, err) && !w.Version.AtLeast(3, 7) {
		r.Warn(scope, "the worker is %s, which creates no connector STOPPED: it is created with enabled=false and topics that match none, stopped, and given its config only then", w.Version)
	}
}

// tooOld reports a version that blocks.
func tooOld(r *Reporter, scope, what string, v connectrest.Version, err error) bool {
	switch {
	case err != nil:
		r.Unmade(scope, err)
	case !v.AtLeast(3, 6):
		r.Block(scope, "%s is %s, older than 3.6", what, v)
	default:
		return false
	}
	return true
}

func (c *Case) hasPlugin() bool {
	plugins, _ := c.Facts.Plugins.Get()
	return slices.ContainsFunc(plugins, func(p connectrest.PluginInfo) bool { return p.Class == mirrorSource })
}

func workerPlugin(c *Case, r *Reporter) {
	if _, ok := c.Facts.Plugins.Get(); !ok {
		r.Unknown("", c.Facts.Plugins.Err())
		return
	}
	if !c.hasPlugin() {
		r.Block("", "the worker has no plugin %s", mirrorSource)
		return
	}
	w, ok := c.Facts.Worker.Get()
	v, err := c.Facts.MirrorVersion()
	if ok && err == nil && w.Version.Known() && v.Compare(w.Version) != 0 {
		r.Warn("", "the plugin is %s, the worker %s: MirrorMaker 2 behaves as %s", v, w.Version, v)
	}
}

func producerCluster(c *Case, r *Reporter) {
	source, target, ok := c.clusters()
	_, exists := c.Facts.Connector.Get()
	if !ok || !exists {
		return // source/unknown, target/unknown, connector/absent
	}
	id, known := c.Facts.ProducerReached.Get()
	switch {
	case !known:
		r.Unknown("", c.Facts.ProducerReached.Err())
	case id == source.ClusterID:
		r.Block("", "the data producer reaches the source %s itself: every record would be copied to where it came from, for ever (endless echo)", id)
	case id != target.ClusterID:
		r.Block("", "the data producer reaches cluster %s, the target is %s", id, target.ClusterID)
	}
}

func producerOverride(c *Case, s settings, r *Reporter) {
	if s.m[keyProducerBootstrap] == "" {
		return
	}
	own := "unknown"
	if w, ok := c.Facts.Worker.Get(); ok {
		own = w.KafkaClusterID
	}
	id, ok := c.Facts.ProducerReached.Get()
	if !ok {
		id = "a cluster that could not be found out"
	}
	r.Info(keyProducerBootstrap, "it leads the data producer to %s; the worker's own cluster, where offsets and configs are kept, is %s. The worker's connector.client.config.override.policy must allow it", id, own)
}
