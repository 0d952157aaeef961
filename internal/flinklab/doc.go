// Package flinklab runs a real Flink job for tests: in a JVM of its own it copies topics between the brokers of a stage
// of package lab, record by record as they are, and can be stopped in each of the ways that Flink knows. Only tests
// import it.
//
//	func TestCutover(t *testing.T) {
//		flinklab.Require(t)
//		l := stage.Get(t) // a lab.Shared
//		job := flinklab.Start(t, flinklab.Options{
//			Source: l.Source.Bootstrap, Target: l.Target.Bootstrap, Topics: []string{"orders"},
//			Group: "copy", Guarantee: offsetmap.SinkExactlyOnce,
//		})
//		...
//		savepoint := job.StopWithSavepoint(t, t.TempDir())
//
// The job is jars/CopyJob.java, a KafkaSource and a KafkaSink in Flink's MiniCluster. jars/fetch.sh has Maven resolve the
// jars of a release and a compiler, and compiles the job, once, into the cache of package lab: later runs need neither
// Maven nor the network. No run needs more than a Java runtime.
//
// Where something is missing a test skips and says what, or fails if FLINKMM2_REQUIRE lists flink.
package flinklab
