package preflight_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// cut lets brokers break the connection on requests with the key.
func cut(c *kfake.Cluster, key kmsg.Key) (mend func()) {
	var off atomic.Bool
	c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, errors.New("connection cut"), !off.Load()
	})
	return func() { off.Store(true) }
}

// deny lets brokers answer for one partition with an error.
func deny(c *kfake.Cluster, key kmsg.Key, topic string, partition int32, err *kerr.Error) (mend func()) {
	return c.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: topic, Partitions: []int32{partition}, Err: err, Count: -1}).Remove
}

// open begins a transaction on a partition of the source and leaves it open.
func (l *lab) open(topic string, partition int32, n int) (commit func()) {
	l.t.Helper()
	return l.openOn(l.source, "tx-"+topic, topic, partition, n)
}

func (l *lab) openOn(c *kfake.Cluster, id, topic string, partition int32, n int) (commit func()) {
	l.t.Helper()
	cl := l.connect(c, kgo.TransactionalID(id))
	l.must(cl.BeginTransaction())
	for range n {
		l.must(cl.ProduceSync(l.t.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: []byte("t")}).FirstErr())
	}
	return func() { l.must(cl.EndTransaction(l.t.Context(), kgo.TryCommit)) }
}

// commit commits an offset to the old job's group, which is read from then on.
func (l *lab) commit(topic string, partition int32, c int64) {
	l.t.Helper()
	var o kadm.Offsets
	o.AddOffset(topic, partition, c, -1)
	l.must(kadm.NewClient(l.from).CommitAllOffsets(l.t.Context(), "flink", o))
	l.probe.Group = "flink"
}

func (l *lab) remove(c *kfake.Cluster, topic string) {
	l.t.Helper()
	l.must(c.DeleteTopic(topic))
}

func brokerBreakages() map[string]breakage {
	return map[string]breakage{
		"source/unknown": func(l *lab) func() { return cut(l.source, kmsg.Metadata) },
		"source/topic-missing": func(l *lab) func() {
			l.probe.Topics = append(l.probe.Topics, "orders-archive")
			return func() { l.create(l.source, "orders-archive", 1) }
		},
		"source/open-transaction": func(l *lab) func() { return l.open("orders", 0, 3) },
		"source/group-ahead": func(l *lab) func() {
			l.commit("orders", 0, 7)
			return func() { l.commit("orders", 0, 5) }
		},
		"source/group-unknown": func(l *lab) func() {
			l.commit("orders", 0, 5)
			return cut(l.source, kmsg.OffsetFetch)
		},
		"source/group-absent": func(l *lab) func() {
			l.probe.Group = "flink"
			return func() { l.commit("orders", 0, 5) }
		},
		"source/group-compared": func(l *lab) func() {
			l.commit("orders", 0, 5)
			return func() { l.probe.Group = "" }
		},
		"source/group-unproven": func(l *lab) func() {
			l.commit("orders", 0, 5)
			l.question.Origin = offsetmap.FromGroup
			return func() { l.lookTwice(time.Minute) }
		},
		"source/group-missing": func(l *lab) func() {
			l.commit("orders", 0, 5)
			l.question.Origin = offsetmap.FromGroup
			return func() { l.commit("orders", 1, 10) }
		},
		"source/group-active": func(l *lab) func() {
			l.commit("orders", 0, 5)
			return l.join("flink")
		},
		"target/unknown": func(l *lab) func() { return cut(l.target, kmsg.Metadata) },
		"target/same-cluster": func(l *lab) func() {
			right := l.probe.Target
			l.probe.Target = l.probe.Source
			return func() { l.probe.Target = right }
		},
		"target/topic-missing": func(l *lab) func() {
			l.remove(l.target, "orders")
			return func() { l.create(l.target, "orders", 2) }
		},
		"target/partition-count": func(l *lab) func() {
			l.remove(l.target, "orders")
			l.create(l.target, "orders", 1)
			return func() {
				l.remove(l.target, "orders")
				l.create(l.target, "orders", 2)
			}
		},
		"target/name-collision": func(l *lab) func() {
			l.create(l.source, "eu.orders", 1)
			l.probe.Topics = append(l.probe.Topics, "eu.orders")
			l.create(l.target, "eu_orders", 1)
			return func() { l.remove(l.target, "eu_orders") }
		},
		"target/open-transaction": func(l *lab) func() { return l.openOn(l.target, "fl-0-9", "orders", 0, 3) },
		"target/end-unknown": func(l *lab) func() {
			return deny(l.target, kmsg.ListOffsets, "orders", 1, kerr.KafkaStorageError)
		},
	}
}

// meddling is an admin client whose cluster changes between two of its calls.
type meddling struct {
	*kadm.Client
	before func()
}

func (m meddling) ListCommittedOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	m.before()
	return m.Client.ListCommittedOffsets(ctx, topics...)
}

func ruleBreakages() map[string]breakage {
	positions := func(change ...offsetmap.Position) breakage {
		return func(l *lab) func() {
			right := l.question.Positions
			l.question.Positions = append(append([]offsetmap.Position{}, right[:3-len(change)]...), change...)
			return func() { l.question.Positions = right }
		}
	}
	// The last position, payments-0, has no record; tested are partitions that do.
	filled := func(p offsetmap.Position) breakage {
		return func(l *lab) func() {
			l.produce("payments", 0, 4)
			return positions(p)(l)
		}
	}
	marked := func(m offsetmap.Marker) offsetmap.Position {
		return offsetmap.Position{TopicPartition: tp("payments", 0), Unread: m}
	}
	accept := func(l *lab, check, scope string) func() {
		return func() {
			l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: check, Scope: scope, By: "ann", Reason: "looked at it"})
		}
	}
	return map[string]breakage{
		"source/offset-expired": func(l *lab) func() {
			l.must(l.source.DeleteRecords("orders", 0, 7))
			return accept(l, "source/offset-expired", "orders-0:2")
		},
		"source/offset-beyond-end": positions(at("payments", 0, 1)),
		"source/offset-above-stable": func(l *lab) func() {
			commit := l.open("payments", 0, 3)
			l.question.Positions[2] = at("payments", 0, 2)
			return commit
		},
		"source/unread":         filled(marked(offsetmap.Latest)),
		"source/marker-unknown": positions(marked(offsetmap.Unknown)),
		"source/unread-earliest": func(l *lab) func() {
			filled(marked(offsetmap.Earliest))(l)
			return accept(l, "source/unread-earliest", "payments-0")
		},
		"source/unread-expired": func(l *lab) func() {
			l.produce("payments", 0, 4)
			l.must(l.source.DeleteRecords("payments", 0, 4))
			l.question.Positions[2] = marked(offsetmap.Earliest)
			return func() { l.question.Positions[2] = at("payments", 0, 4) }
		},
		"source/position-missing": func(l *lab) func() {
			l.produce("payments", 0, 4)
			l.question.Positions = l.question.Positions[:2]
			return accept(l, "source/position-missing", "payments")
		},
		"source/partition-missing": positions(at("payments", 7, 1)),
		"source/no-partition": func(l *lab) func() {
			topics := l.probe.Topics
			l.probe.Topics = nil
			return func() { l.probe.Topics = topics }
		},
		"source/split-bounded": func(l *lab) func() {
			l.question.Positions[0].Stop = next(9)
			return func() { l.question.Positions[0].Stop = offsetmap.NextOffset{} }
		},
		"source/group-moved": func(l *lab) func() {
			l.question.Origin = offsetmap.FromGroup
			l.question.Positions = l.question.Positions[:1]
			l.commit("orders", 0, 6)
			return func() { l.commit("orders", 0, 5) }
		},
		"source/range-unknown": func(l *lab) func() {
			return deny(l.source, kmsg.ListOffsets, "orders", 0, kerr.KafkaStorageError)
		},
		"source/range-inconsistent": func(l *lab) func() {
			l.must(l.source.DeleteRecords("orders", 0, 5))
			right := l.probe.Source
			l.probe.Source = meddling{right.(*kadm.Client), func() {
				l.remove(l.source, "orders")
				l.create(l.source, "orders", 2)
			}}
			return func() { l.probe.Source = right }
		},
		"plan/origin-unknown": func(l *lab) func() {
			l.question.Origin = ""
			return func() { l.question.Origin = offsetmap.FromSavepoint }
		},
		"plan/isolation-unknown": func(l *lab) func() {
			right := l.question.Attestations.Isolation
			l.question.Attestations.Isolation = nil
			return func() { l.question.Attestations.Isolation = right }
		},
		"plan/position-invalid": func(l *lab) func() {
			l.question.Positions[0].Unread = offsetmap.Latest
			return func() { l.question.Positions[0].Unread = 0 }
		},
		"plan/partition-invalid": func(l *lab) func() {
			long := strings.Repeat("x", 249)
			l.create(l.source, long, 1)
			l.probe.Topics = append(l.probe.Topics, long)
			l.set("topics", ".*", "replication.policy.class", "") // "source." in front makes it too long
			return func() { l.set("replication.policy.class", identity) }
		},
		"plan/duplicate-position": func(l *lab) func() {
			right := l.question.Positions
			l.question.Positions = append(append([]offsetmap.Position{}, right...), at("orders", 0, 6))
			return func() { l.question.Positions = right }
		},
		"plan/acceptance-unused": func(l *lab) func() {
			accept(l, "source/offset-expired", "orders-0:2")()
			return func() { l.question.Acceptances = nil }
		},
		"plan/acceptance-incomplete": func(l *lab) func() {
			l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/offset-expired", Scope: "orders-0:2", By: "ann"}}
			return func() { l.question.Acceptances = nil }
		},
	}
}
