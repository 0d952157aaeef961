package connectrest

// WorkerInfo is what GET / answers.
type WorkerInfo struct {
	Version Version `json:"version"`
	Commit  string  `json:"commit"`
	// KafkaClusterID is the cluster of the worker's own bootstrap.servers: where
	// its internal topics are, and where a source connector's records go unless
	// producer.override.bootstrap.servers says otherwise.
	KafkaClusterID string `json:"kafka_cluster_id"`
}

// PluginInfo is one entry of GET /connector-plugins.
type PluginInfo struct {
	Class string `json:"class"`
	// Type is "source" or "sink", and in lists of all plugins also "converter",
	// "header_converter", "transformation" or "predicate".
	Type string `json:"type"`
	// Version is the plugin's own version, which may differ from the worker's,
	// or "undefined".
	Version string `json:"version"`
}
