package lab

import "time"

// DefaultVersion is the newest Kafka release whose broker, Connect runtime and MirrorMaker 2 are all published.
const DefaultVersion = "4.3.1"

// Newest3 is the newest release of the line before, which many clusters run.
const Newest3 = "3.9.2"

// The cluster ids are fixed so that a log line or an error names a cluster that a reader recognizes:
// source-cluster-1 and target-cluster-1, in the base64url of a Kafka Uuid.
const (
	SourceClusterID = "c291cmNlLWNsdXN0ZXItMQ"
	TargetClusterID = "dGFyZ2V0LWNsdXN0ZXItMQ"
)

// Properties are settings of a broker or a worker. They win over what the lab sets by itself.
type Properties map[string]string

// Options say what [Start] starts. The zero value is a stage of [DefaultVersion] with the lab's own settings.
type Options struct {
	// Version is the Kafka release of brokers and worker, e.g. 3.9.2. By default, [DefaultVersion].
	Version string
	// Users are the passwords of users, by name. With any, the brokers hold ACLs, by which who comes without a login is a
	// super user, and have a listener for them, [Broker.Login].
	Users map[string]string
	// Tiered gives the brokers remote storage (KIP-405): LocalTieredStorage, with which Kafka tests its own, in a folder for
	// each. They look several times a second for what is to be moved there. Only topics with remote.storage.enable have
	// segments there, and brokers of [Lab.StartNode] have none.
	Tiered bool
	// Source and Target are extra settings of the brokers.
	Source, Target Properties
	// Worker are extra settings of the worker.
	Worker Properties
	// OffsetFlushInterval is how often the worker commits source offsets. By default, 10 s (Kafka's own default is 60 s).
	OffsetFlushInterval time.Duration
	// Front is told the name of each broker, source or target, and the address of a listener beside the one that the
	// workers use. What it returns is what this listener advertises, and [Broker.Front]: the address of a proxy. Whoever
	// comes by it stays behind the proxy. By default there is no such listener.
	Front func(name, address string) (advertised string, err error)
}

// WorkerOptions say what [Lab.StartWorker] starts. The zero value is a second worker of the lab's own Connect cluster.
type WorkerOptions struct {
	// Version is the Kafka release of the worker; the brokers stay as they are. By default, that of the lab.
	Version string
	// Bootstrap is the cluster that keeps the worker's topics and receives what its connectors produce: a worker on the
	// source's bootstrap shows what happens to a worker on the wrong cluster. By default, the target.
	Bootstrap string
	// Group is Connect's group.id and the prefix of its three topics. Workers of one group on one cluster share their
	// connectors. By default, that of the lab's first worker.
	Group string
	// Properties are extra settings of the worker.
	Properties Properties
	// OffsetFlushInterval is as in [Options].
	OffsetFlushInterval time.Duration
}
