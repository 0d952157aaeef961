// Package lab is the real stage of the tests: a source broker, a target broker and a distributed Kafka Connect worker
// with MirrorMaker 2, each a JVM on 127.0.0.1 made of the artifacts that Apache Kafka publishes. Only tests import it.
//
// A test that owns its stage calls [Start]. A package with several such tests starts one stage for all of them:
//
//	var stage lab.Shared
//
//	func TestMain(m *testing.M) { os.Exit(stage.Main(m).Run()) }
//
//	func TestCutover(t *testing.T) {
//		l := stage.Get(t)
//		orders := l.TopicName(t, "orders") // no other test of the package gets this name
//		...
//	}
//
// Both first call [Require]: where Java, Maven or the network is missing the test says so and skips, and
// FLINKMM2_REQUIRE=jvm turns the skip into a failure. Maven resolves the jars of a release once into a cache
// (jars/fetch.sh), so later runs need neither Maven nor the network.
//
// A stage grows by [Lab.StartWorker] and by [Lab.StartNode], whose broker may hold partitions that are gone with it.
//
// When Start or Get returns, the brokers and the worker are ready. When a test fails, the last lines of every log are
// part of its output. At the end of the test, or of the package for [Shared], all processes are killed; on Linux also
// when the test binary dies of a panic, a timeout or a signal.
//
// The lab does not create topics, produce records or speak to Connect for its callers: they use the clients under test.
package lab
