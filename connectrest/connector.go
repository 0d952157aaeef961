package connectrest

// ConnectorInfo is what GET /connectors/NAME and POST /connectors answer. It
// does not say in which state the connector is: see [Status].
type ConnectorInfo struct {
	Name   string `json:"name"`
	Config Config `json:"config"`
	// Tasks lists the tasks that are configured. A worker alters offsets only
	// once it is empty.
	Tasks []TaskID `json:"tasks"`
	// Type is "source" or "sink", or "unknown" for a moment after a worker's
	// restart.
	Type string `json:"type"`
}

// TaskID names one task of a connector.
type TaskID struct {
	Connector string `json:"connector"`
	Task      int    `json:"task"`
}

// TaskInfo is one task with the configuration that the connector gave it, from
// GET /connectors/NAME/tasks.
type TaskInfo struct {
	ID     TaskID `json:"id"`
	Config Config `json:"config"`
}
