// Package golden holds savepoints and checkpoints against what Flink's own classes read in them. A fixture is a folder
// with the state and expected.json, the answer, both made by the program in internal/flinklab/generator:
//
//	f, err := golden.Load("testdata/savepoints/flink-2.2-stop-p2")
//	...
//	for _, difference := range f.Check() {
//		t.Error(difference)
//	}
//
// Only tests import it. It needs no JVM: package flinklab runs the jobs.
package golden
