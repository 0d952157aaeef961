// Package connecttest runs a Kafka Connect worker in memory, for the tests of
// programs that speak to one, as net/http/httptest does for HTTP.
//
//	worker, err := connecttest.NewWorker(ctx, targetBrokers)
//	...
//	defer worker.Close()
//	client, err := connectrest.New(worker.URL)
//
// The worker serves the Connect REST API over real HTTP with the status codes,
// texts and states of a real distributed worker. Its MirrorSourceConnector
// really copies records between two Kafka clusters: it consumes from the source
// with a Kafka client, starts each partition at M + 1, where M is the source
// offset that the worker holds for it, and produces to the target. Any broker
// does; github.com/twmb/franz-go/pkg/kfake needs nothing installed.
//
// # What stands where
//
// The brokers given to [NewWorker] are the worker's own bootstrap.servers. As on
// a real worker the data producer writes there, whatever the connector's
// target.cluster.bootstrap.servers says, unless the connector has
// producer.override.bootstrap.servers; and kafka_cluster_id in the answer to
// GET / is the id of that cluster. Two clusters of kfake have the same id unless
// kfake.ClusterID gives them others, and source and target are then taken for one.
//
// Source offsets are kept under the connector's name and the exact partition
// map, and outlive the connector: a connector that is created again under the
// same name finds them. They are kept in memory, not in a topic, so what a test
// wants to know of them it asks for over HTTP.
//
// # Versions
//
// [WithVersion] chooses the Kafka version whose behaviour is shown, from 3.4.0
// on, 4.3.1 by default: which endpoints and request fields exist, which topics
// are never copied, which keys a connector knows, where a partition without an
// offset starts. What a version does not have is answered as it answers: a PATCH
// of offsets with 405 on 3.5, an initial_state with 500 before 3.7.
//
// One suite of cases runs on this package and on real workers of 3.5.1, 3.6.2,
// 3.7.2, 3.8.1, 3.9.2, 4.0.2, 4.1.2 and 4.3.1; where they differ, this package is
// wrong. docs/connect-conformance.md of the repository has the table.
//
// # Several workers
//
// [Worker.StartFollower] adds a worker to the cluster. It answers reads from what
// it knows and forwards to the leader what only the leader may do. Faults of one
// worker are not those of the other, so a test can have one stale view, one wrong
// address ([WithAdvertisedAddress]), or a leader that is gone.
//
// # Things that go wrong
//
// [Worker.Inject] switches a [Fault] on, for requests that [Requests] selects or
// for one record:
//
//   - rebalances and stale configuration: [Rebalance]
//   - a leader out of reach: [ForwardingFailure], or a [Follower] and [Worker.Kill]
//   - answers that are lost, cut, late, or given up: [LoseAnswer], [LoseRequest],
//     [CutAnswer], [Delay], [RequestTimeout]
//   - answers that are not the worker's: [ProxyPage], [Starting], [Answer]
//   - writes that are done in part or after their answer: [PartialWrite],
//     [RequestTimeout] with WorkAfter
//   - reads that are behind: [StaleOffsets], [ShortOffsets], [UnreadableOffsets]
//   - tasks that outlive their stop: [SlowStop], [StragglingCommit], [NotStopped]
//   - a worker that copies although it was told not to: [IgnoreInitialState]
//   - bugs that a test of a migration must notice: [WrongSeek], [IgnoreAlias],
//     [DropRecord], [RepeatRecord], [AlterRecord], [SwapRecords],
//     [SilencePartition], [FailTask]
//
// [Injected.Hits] says whether a fault took effect. [Worker.Kill] ends the worker
// as SIGKILL does, and [Worker.Restart] starts it again under the same URL.
//
// # What it does not do
//
// No rebalance but the one injected, and no election: connectors and tasks run on
// the leader, and a follower never becomes one. No connector but
// MirrorSourceConnector, and of that no sync of topic configs or ACLs, no
// transforms, no exactly-once. No TLS and no credentials on the REST API: a test of
// those puts an httptest.Server before it that demands them and hands on what is
// left with httputil.ReverseProxy. Regular expressions are those of Go, so
// lookaround and back references, which Java has, fail the connector with a trace
// that says so. The keys of a connector that configure security
// (security.protocol, ssl.*, sasl.*) are not read:
// [WithKafkaOptions] configures every client. Log levels are remembered and do
// nothing. Of a JSON object that names a member twice the last one counts, which
// real workers refuse for the list of offsets.
package connecttest
