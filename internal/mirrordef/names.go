package mirrordef

import (
	_ "embed"
	"fmt"
	"strings"
)

// Definition is whose keys they are.
type Definition string

const (
	Consumer   Definition = "consumer"   // ConsumerConfig
	Producer   Definition = "producer"   // ProducerConfig
	Admin      Definition = "admin"      // AdminClientConfig
	Worker     Definition = "worker"     // DistributedConfig
	Driver     Definition = "driver"     // MirrorMakerConfig: connect-mirror-maker.sh
	Checkpoint Definition = "checkpoint" // MirrorCheckpointConnector
	Heartbeat  Definition = "heartbeat"  // MirrorHeartbeatConnector
)

// namesTable was dumped by testdata/Keys.java from the classes of 3.5.1, 3.6.2,
// 3.7.2, 3.8.1, 3.9.2, 4.0.2, 4.1.2, 4.2.1 and 4.3.1.
//
//go:embed keys.tsv
var namesTable string

// Names returns the names of the keys of each definition, with the versions that
// have them.
func Names() (map[Definition]map[string]Span, error) { return parseNames(namesTable) }

func parseNames(table string) (map[Definition]map[string]Span, error) {
	all := map[Definition]map[string]Span{}
	for _, d := range []Definition{Consumer, Producer, Admin, Worker, Driver, Checkpoint, Heartbeat} {
		all[d] = map[string]Span{}
	}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if i == 0 {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("keys.tsv line %d: %d fields, want 4", i+1, len(f))
		}
		of, known := all[Definition(f[0])]
		if !known {
			return nil, fmt.Errorf("keys.tsv line %d: there is no definition %q", i+1, f[0])
		}
		span, err := parseSpan(f[2], f[3])
		if err != nil {
			return nil, fmt.Errorf("keys.tsv line %d: %w", i+1, err)
		}
		if _, twice := of[f[1]]; twice {
			return nil, fmt.Errorf("keys.tsv line %d: %s stands twice", i+1, f[1])
		}
		of[f[1]] = span
	}
	return all, nil
}
