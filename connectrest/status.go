package connectrest

// State is a state of a connector or of a task (Kafka's AbstractStatus.State).
// States that this package does not know are kept as the worker wrote them.
type State string

// The states that Kafka 3.7 to 4.3 show. STOPPED is of connectors only.
const (
	StateUnassigned State = "UNASSIGNED"
	StateRunning    State = "RUNNING"
	StatePaused     State = "PAUSED"
	StateFailed     State = "FAILED"
	StateRestarting State = "RESTARTING"
	StateStopped    State = "STOPPED"
)

// Status is what GET /connectors/NAME/status answers. It comes from the status
// topic as the worker that was asked has read it, so it may be old for an
// instant: right after a stop the connector is STOPPED while its tasks are
// still RUNNING.
type Status struct {
	Name      string          `json:"name"`
	Connector ConnectorStatus `json:"connector"`
	Tasks     []TaskStatus    `json:"tasks"`
	// Type is as in [ConnectorInfo].
	Type string `json:"type"`
}

// cleanStatus takes the client's own credentials out of the traces, and makes fit for
// errors what they name. What a connector's configuration holds may still be in a
// trace: see [Config.Scrub].
func cleanStatus(s *Status) func(scrub func(string) string) {
	return func(scrub func(string) string) {
		c := &s.Connector
		c.State, c.WorkerID, c.Trace = State(word(scrub(string(c.State)))), word(c.WorkerID), scrub(c.Trace)
		for i := range s.Tasks {
			s.Tasks[i].clean(scrub)
		}
	}
}

func (t *TaskStatus) clean(scrub func(string) string) {
	t.State, t.WorkerID, t.Trace = State(word(scrub(string(t.State)))), word(t.WorkerID), scrub(t.Trace)
}

// ConnectorStatus is the state of the connector itself.
type ConnectorStatus struct {
	State State `json:"state"`
	// WorkerID is the advertised host and port of the worker that runs it.
	WorkerID string `json:"worker_id"`
	// Trace is the stack trace of a FAILED connector.
	Trace string `json:"trace,omitempty"`
	// Version is the version of the connector plugin, from Kafka 4.1 (KIP-891).
	Version string `json:"version,omitempty"`
}

// TaskStatus is the state of one task.
type TaskStatus struct {
	ID       int    `json:"id"`
	State    State  `json:"state"`
	WorkerID string `json:"worker_id"`
	// Trace is the stack trace of a FAILED task.
	Trace string `json:"trace,omitempty"`
	// Version is as in [ConnectorStatus].
	Version string `json:"version,omitempty"`
}
