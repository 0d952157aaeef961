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
// GET / is the id of that cluster.
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
// offset starts. Answers were recorded from workers of 3.4.1, 3.5.1, 3.6.2,
// 3.7.2, 3.8.1, 3.9.2 and 4.3.1.
//
// # Things that go wrong
//
// [Worker.Inject] switches a [Fault] on: answers that are lost, late, cut or
// written by a proxy, rebalances, stale reads, tasks that linger, and the bugs
// that a test of a migration must notice, such as a record that is dropped or a
// copy that starts one record too late. [Worker.Kill] ends the worker as SIGKILL
// does, and [Worker.Restart] starts it again under the same URL.
//
// # What it does not do
//
// One worker only: no forwarding and no rebalance but the ones injected. No
// connector but MirrorSourceConnector, and of that no sync of topic configs or
// ACLs, no transforms, no exactly-once. No TLS and no credentials on the REST
// API. Regular expressions are those of Go, so lookaround and back references,
// which Java has, fail the connector with a trace that says so. The keys of a
// connector that configure security (security.protocol, ssl.*, sasl.*) are not
// read: [WithKafkaOptions] configures every client.
package connecttest
