package cutover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// stood says where the old job stood in one partition.
func stood(topic string, partition int32, c int64) offsetmap.Position {
	next, err := offsetmap.Next(c)
	if err != nil {
		panic(fmt.Sprintf("a scenario with C = %d: %v", c, err))
	}
	return offsetmap.Position{TopicPartition: topicPartition{Topic: topic, Partition: partition}, Next: next}
}

func unread(topic string, partition int32, m offsetmap.Marker) offsetmap.Position {
	return offsetmap.Position{TopicPartition: topicPartition{Topic: topic, Partition: partition}, Unread: m}
}

// snapshot is what flinkstate would read of a job that stood there. The topics
// of a stage have names of their own, so no savepoint of a real job fits; the
// quickstart and the Flink stage read real ones.
func snapshot(positions ...offsetmap.Position) *flinkstate.Snapshot {
	slices.SortFunc(positions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	return &flinkstate.Snapshot{
		Location: "savepoint-suite/_metadata", MetadataVersion: 4, CheckpointID: 7, Kind: flinkstate.KindStopWithSavepoint,
		Files:     []flinkstate.File{{Name: "_metadata", Size: 1, SHA256: strings.Repeat("0123456789abcdef", 4)}},
		Operators: []flinkstate.Operator{{ID: "30198ea1e33432d6307d761dd131f28a", Parallelism: 1, MaxParallelism: 128}},
		Sources: []flinkstate.Source{{
			OperatorID: "30198ea1e33432d6307d761dd131f28a", Kind: flinkstate.KafkaSource, Parallelism: 1,
			Discovery: flinkstate.DiscoveryFinished, Partitions: positions,
		}},
	}
}

func attested() offsetmap.Attestations {
	const by, reason = "suite", "the scenario made it so"
	return offsetmap.Attestations{
		CopyOnly:       offsetmap.Attest(true, by, reason),
		FlinkStopped:   offsetmap.Attest(offsetmap.StoppedWithSavepoint, by, reason),
		AutoRestartOff: offsetmap.Attest(true, by, reason),
		SinkGuarantee:  offsetmap.Attest(offsetmap.SinkAtLeastOnce, by, reason),
		Isolation:      offsetmap.Attest(offsetmap.ReadUncommitted, by, reason),
		RollbackWindow: offsetmap.Attest("1h", by, reason),
		MaxDuplicates:  offsetmap.Attest(int64(0), by, reason),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     offsetmap.Attest("Flink 1.20", by, reason),
			SinkEvidence:      offsetmap.Attest("the output of flink stop", by, reason),
			ClustersAndTopics: offsetmap.Attest("embedded-source to embedded-target, or c291cmNlLWNsdXN0ZXItMQ to dGFyZ2V0LWNsdXN0ZXItMQ", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}
}

func request(s *flinkstate.Snapshot, accept ...offsetmap.Acceptance) flinkmm2.PlanRequest {
	return flinkmm2.PlanRequest{Snapshot: s, Attestations: attested(), Acceptances: accept}
}
