package connectrest

import "log/slog"

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

// LogValue returns the connector with its configuration redacted.
func (c ConnectorInfo) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", c.Name), slog.Any("config", c.Config), slog.Int("tasks", len(c.Tasks)), slog.String("type", c.Type))
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

// LogValue returns the task with its configuration redacted.
func (t TaskInfo) LogValue() slog.Value {
	return slog.GroupValue(slog.String("connector", t.ID.Connector), slog.Int("task", t.ID.Task), slog.Any("config", t.Config))
}
