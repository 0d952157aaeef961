package connecttest

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// offsetSyncs writes pairs of source and target offsets to the offset-syncs
// topic (OffsetSyncWriter). A nil one writes nothing.
type offsetSyncs struct {
	topic  string
	lagMax int64
	client *kgo.Client

	mu      sync.Mutex
	last    map[topicPartition]syncState
	pending []*kgo.Record
	proven  bool // a sync was written
}

type syncState struct{ upstream, downstream, synced int64 }

// syncBlock is max.block.ms of the producer of syncs. While it waits for the
// topic's metadata it blocks the data producer's callbacks, so a topic that
// could not be created stalls the copy while everything is RUNNING.
const syncBlock = 60 * time.Second

func (t *task) newOffsetSyncs() (*offsetSyncs, error) {
	m := t.mirror
	if !m.emitSyncs {
		return nil, nil
	}
	side := "source"
	if m.syncsOnTarget {
		side = "target"
	}
	settings, err := producerOptions(nil)
	if err != nil {
		return nil, err
	}
	cl, err := t.w.opts.newClient(clientConfig(m.raw, side, "producer")["bootstrap.servers"], m.clientID("offset-syncs-"+side+"-producer"), settings...)
	if err != nil {
		return nil, configException("%v", err)
	}
	return &offsetSyncs{topic: m.offsetSyncsTopic(), lagMax: m.offsetLagMax, client: cl, last: make(map[topicPartition]syncState)}, nil
}

// observe is PartitionState.update: a sync for the first record, for every
// offset.lag.max records, for a gap in the source, and for a target that was
// truncated.
func (s *offsetSyncs) observe(tp topicPartition, upstream, downstream int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, known := s.last[tp]
	due := !known || downstream-(st.synced+1) >= s.lagMax || upstream-st.upstream != 1 || downstream < st.downstream
	st.upstream, st.downstream = upstream, downstream
	if due {
		st.synced = downstream
		s.pending = append(s.pending, s.record(tp, upstream, downstream))
	}
	s.last[tp] = st
}

// record is OffsetSync.serialize: without versions, unlike MirrorMaker's other
// records.
func (s *offsetSyncs) record(tp topicPartition, upstream, downstream int64) *kgo.Record {
	key := binary.BigEndian.AppendUint16(nil, uint16(len(tp.topic)))
	key = append(key, tp.topic...)
	key = binary.BigEndian.AppendUint32(key, uint32(tp.partition))
	value := binary.BigEndian.AppendUint64(nil, uint64(upstream))
	value = binary.BigEndian.AppendUint64(value, uint64(downstream))
	return &kgo.Record{Topic: s.topic, Partition: 0, Key: key, Value: value}
}

// send writes the syncs that are due. A failure is no failure of the task.
func (s *offsetSyncs) send(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	for _, r := range pending {
		wait, cancel := context.WithTimeout(ctx, syncBlock)
		err := s.client.ProduceSync(wait, r).FirstErr()
		cancel()
		s.mu.Lock()
		s.proven = s.proven || err == nil
		s.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// unproven reports whether syncs are to be written and none was yet.
func (s *offsetSyncs) unproven() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.proven
}

func (s *offsetSyncs) close() {
	if s != nil {
		s.client.Close()
	}
}
