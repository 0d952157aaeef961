package connectrest

// Config is a connector's configuration as the worker stores it: flat, all
// values strings, "name" among the keys. Config-provider references such as
// ${file:/run/secrets/mm2:password} are shown unresolved.
type Config map[string]string

// CreateRequest is the body of POST /connectors.
type CreateRequest struct {
	Name   string `json:"name"`
	Config Config `json:"config"`
	// InitialState is [StateStopped], [StatePaused] or [StateRunning] (Kafka
	// 3.7, KIP-980). Empty leaves it to the worker, which starts the connector
	// at once.
	InitialState State `json:"initial_state,omitempty"`
}
