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

// HealthStatus is how a worker says it is (Kafka's WorkerStatus). Values that
// this package does not know are kept as the worker wrote them.
type HealthStatus string

// The values that Kafka 3.9 to 4.3 answer.
const (
	HealthStarting  HealthStatus = "starting"
	HealthHealthy   HealthStatus = "healthy"
	HealthUnhealthy HealthStatus = "unhealthy"
)

// Health is what GET /health answers. It is about the worker's own round of
// work, and not about what its connectors copy.
type Health struct {
	Status HealthStatus `json:"status"`
	// Message says why, in the worker's words.
	Message string `json:"message"`
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
