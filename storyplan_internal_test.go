package flinkmm2

import (
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func known[T any](f offsetmap.Fact[T]) bool {
	_, ok := f.Get()
	return ok
}

// plan makes a plan of what stands in the world, as MakePlan does, and notes it in the
// journal. By default C is 400, 0 and 1000: something to copy, all, and nothing.
//
//	PARTITION=C
//	savepoint=HEX           the first byte of its hash
//	group=PARTITION=OFFSET  what the old job's group has committed
//	accept=CHECK:SCOPE
//	earlier=PARTITION=M     an earlier wave's partition
//	topic=TOPIC             it has this topic alone, by default orders
//	after=NAME              the plan of an earlier wave
//	unnoted                 the plan is made with another journal
func (s *story) plan(args []string) {
	at := endsByPartition{storyPartition(0): storyNext("400"), storyPartition(1): storyNext("0"), storyPartition(2): storyNext("1000")}
	savepoint, noted := "ab", true
	var group *offsetmap.Group
	committed := endsByPartition{}
	acceptances := []offsetmap.Acceptance{}
	earlier := []offsetmap.EarlierPlan{}
	topic := "orders"
	stored, _ := s.world.Stored.Get()
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		where, what, _ := strings.Cut(value, "=")
		switch key {
		case "savepoint":
			savepoint = value
		case "group":
			group = &offsetmap.Group{ID: "copy"}
			committed[storyTP(where)] = storyNext(what)
			s.world.Group = offsetmap.Known(committed)
		case "accept":
			check, scope, _ := strings.Cut(value, ":")
			acceptances = append(acceptances, offsetmap.Acceptance{Check: check, Scope: scope, By: "ann", Reason: "audit writes too"})
		case "earlier":
			earlier = append(earlier, offsetmap.EarlierPlan{
				Digest:     "sha256:" + strings.Repeat("ea", 32),
				Partitions: []offsetmap.EarlierPartition{{TopicPartition: storyTP(where), Offset: storySource(what)}},
			})
		case "topic":
			topic = value
		case "after":
			earlier = append(earlier, s.named([]string{value}).AsEarlier(stored.Offsets))
		case "unnoted":
			noted = false
		default:
			at[storyTP(key)] = storyNext(value)
		}
	}
	rows := s.rows(topic, at, committed)
	config, ok := s.world.Config.Get()
	if !ok {
		config = storyConfig
	}
	active, _ := s.world.Active.Get()
	sealed, err := offsetmap.Seal(offsetmap.Body{
		Tool:      offsetmap.Tool{Name: "story", Version: "1"},
		CreatedAt: offsetmap.At(s.world.Now), ExpiresAt: offsetmap.At(s.world.Now.Add(time.Hour)),
		Source: offsetmap.Cluster{ID: "source-id"}, Target: offsetmap.Cluster{ID: "target-id"},
		Connector: offsetmap.Connector{Name: storyConnector, SourceAlias: storyAlias, Config: config, ActiveTopics: append([]string{}, active...)},
		Worker:    offsetmap.Worker{Version: "4.3.1", PluginVersion: "4.3.1", ClusterID: "target-id", ProducerClusterID: "target-id"},
		Savepoint: &offsetmap.Savepoint{
			Location: "sp", MetadataVersion: 4, OperatorID: "30198ea1e33432d6307d761dd131f28a",
			Files: []offsetmap.File{{Name: "_metadata", SHA256: strings.Repeat(savepoint, 32)}},
		},
		Group: group, Isolation: offsetmap.ReadUncommitted, Attestations: storyAttested(), Acceptances: acceptances, Earlier: earlier, Rows: rows,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.plans[args[0]] = sealed
	if noted {
		s.append(Entry{Act: actPlan, Phase: PhaseDone, Plan: sealed.Digest, Savepoint: savepointID(sealed.Body.Savepoint)})
	}
}

func (s *story) rows(topic string, at, committed endsByPartition) []offsetmap.Row {
	in := offsetmap.Input{Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted}
	measured, _ := s.world.Measured.Get()
	stored, _ := s.world.Stored.Get()
	for tp, m := range measured {
		if tp.Topic != topic {
			continue
		}
		m.Backup, m.Group = stored.Offsets[tp], committed[tp]
		in.Measured = append(in.Measured, m)
		in.Positions = append(in.Positions, offsetmap.Position{TopicPartition: tp, Next: at[tp]})
	}
	rows, findings := offsetmap.Resolve(in)
	if err := offsetmap.Blocked(findings); err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func storyAttested() offsetmap.Attestations {
	const by, reason = "ann", "so"
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
			ClustersAndTopics: offsetmap.Attest("source to target", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}
}
