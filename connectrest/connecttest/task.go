package connecttest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// task is one MirrorSourceTask with the WorkerSourceTask around it.
type task struct {
	inst       *instance
	w          *Worker
	mirror     *mirrorConfig
	log        *slog.Logger
	number     int
	partitions []topicPartition
	status     *status // guarded by w.mu

	// polling ends when the task is asked to stop, writing when it is abandoned or
	// the process killed.
	polling context.Context //nolint:containedctx // the task is what lives that long
	stop    context.CancelFunc
	writing context.Context //nolint:containedctx // see above
	abandon context.CancelFunc
	done    chan struct{}

	converters converters
	consumer   consumerSettings
	seekBy     int64
	source     *kgo.Client // consumer, nil while no partition has a position
	data       *kgo.Client // producer
	syncs      *offsetSyncs
	next       map[topicPartition]int64       // position, for a partition that is reset
	held       map[topicPartition]*kgo.Record // kept back by SwapRecords
	silent     map[topicPartition][]*kgo.Record

	mu      sync.Mutex
	acked   map[topicPartition]int64 // handled since the last commit
	failed  error
	resumed chan struct{} // nil unless paused; closed on resume
}

func newTask(inst *instance, p *process, number int, parts []topicPartition) *task {
	t := &task{
		inst: inst, w: inst.c.w, mirror: inst.mirror, log: inst.log.With("task", number),
		number: number, partitions: parts,
		status: &status{state: stateRunning},
		done:   make(chan struct{}),
		next:   make(map[topicPartition]int64),
		held:   make(map[topicPartition]*kgo.Record),
		silent: make(map[topicPartition][]*kgo.Record),
		acked:  make(map[topicPartition]int64),
	}
	t.writing, t.abandon = context.WithCancel(p.hard)
	t.polling, t.stop = context.WithCancel(t.writing)
	if inst.isPaused {
		t.pause()
	}
	return t
}

func (t *task) start(p *process) {
	p.tasks.Go(func() { t.run(p) })
}

// run is AbstractWorkerSourceTask.doRun: copy until stopped or failed, then a
// last commit in either case.
func (t *task) run(p *process) {
	defer t.abandon() // releases the contexts
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		t.flushRegularly()
	}()
	err := t.copy()
	t.stop() // ends the flushing, also when the task failed by itself
	<-flushed
	t.closeClients()
	if p.hard.Err() != nil {
		close(t.done)
		return
	}
	if !errors.Is(err, context.Canceled) {
		t.log.Error("task failed", "error", err)
		t.setStatus(stateFailed, traceOf(err))
		t.commit()
		close(t.done)
		return
	}
	if late := t.w.faults.stragglingCommit(t.mirror.name); late > 0 {
		close(t.done)
		if sleep(p.hard, late) == nil {
			t.commit()
		}
		return
	}
	if slow := t.w.faults.slowStop(t.mirror.name); slow > 0 && sleep(p.hard, slow) != nil {
		close(t.done)
		return
	}
	t.commit()
	close(t.done)
}

func (t *task) closeClients() {
	for _, cl := range []*kgo.Client{t.source, t.data} {
		if cl != nil {
			cl.Close()
		}
	}
	t.syncs.close()
}

func (t *task) setStatus(state, trace string) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	*t.status = status{state, trace}
	t.w.notify()
}

// flushRegularly is SourceTaskOffsetCommitter.
func (t *task) flushRegularly() {
	for sleep(t.polling, t.w.opts.flushInterval) == nil {
		t.commit()
	}
}

// commit stores the offset of the last record that was handled of each
// partition.
func (t *task) commit() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.acked) == 0 {
		return
	}
	entries := make([]offsetEntry, 0, len(t.acked))
	for tp, m := range t.acked {
		entries = append(entries, offsetEntry{wrapPartition(t.mirror.sourceAlias, tp), javaMap{"offset": m}})
	}
	clear(t.acked)
	t.w.offsets.write(t.mirror.name, entries)
}

// storedOffsets is what the task finds in the offset store: M of its partitions.
func (t *task) storedOffsets() map[topicPartition]int64 {
	anyAlias := t.w.faults.ignoresAlias()
	found := make(map[topicPartition]int64)
	for _, tp := range t.partitions {
		m, ok := t.w.offsets.mirrorSource(t.mirror.name, t.mirror.sourceAlias, tp)
		if anyAlias {
			m, ok = t.w.offsets.mirrorSourceAnyAlias(t.mirror.name, tp)
		}
		if ok {
			found[tp] = m
		}
	}
	return found
}

// open builds the clients, in the order of the real ones: the framework's
// producer first.
func (t *task) open() error {
	o := t.w.opts
	overrides := t.mirror.raw.overrides()
	bootstrap := t.w.bootstrap
	if b, ok := overrides["bootstrap.servers"]; ok {
		bootstrap = b
	}
	settings, err := producerOptions(overrides)
	if err != nil {
		return err
	}
	t.data, err = o.newClient(bootstrap, fmt.Sprintf("connector-producer-%s-%d", t.mirror.name, t.number), settings...)
	if err == nil {
		err = resolvable(t.polling, t.data, t.mirror.adminTimeout)
	}
	if err != nil {
		return &javaError{
			"org.apache.kafka.common.KafkaException", "Failed to construct kafka producer\nCaused by: org.apache.kafka.common.config.ConfigException: " + err.Error(),
			"org.apache.kafka.clients.producer.KafkaProducer.<init>",
		}
	}
	if t.converters, err = readConverters(t.mirror.raw); err != nil {
		return err
	}
	if t.syncs, err = t.newOffsetSyncs(); err != nil {
		return err
	}
	if t.consumer, err = t.mirror.readConsumer(); err != nil {
		return err
	}
	t.seekBy = t.w.faults.seekBy()
	admin, err := o.newClient(t.consumer.bootstrap, t.mirror.clientID("replication-consumer"))
	if err != nil {
		return &javaError{
			"org.apache.kafka.common.KafkaException", "Failed to construct kafka consumer\nCaused by: org.apache.kafka.common.config.ConfigException: " + err.Error(),
			"org.apache.kafka.clients.consumer.KafkaConsumer.<init>",
		}
	}
	defer admin.Close()
	at, err := positions{t, kadm.NewClient(admin)}.findStart(t.polling)
	if err != nil || len(at) == 0 {
		return err
	}
	t.next = at
	t.source, err = o.newClient(t.consumer.bootstrap, t.mirror.clientID("replication-consumer"), t.consumerOptions(at)...)
	return err
}

func (t *task) consumerOptions(at map[topicPartition]int64) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumePartitions(startOffsets(at)),
		// This package applies auto.offset.reset itself: the client's own rules
		// for a position outside the log are not those of the Java consumer.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(500 * time.Millisecond),
		kgo.KeepRetryableFetchErrors(),
	}
	if t.consumer.committed {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	return opts
}

func startOffsets(at map[topicPartition]int64) map[string]map[int32]kgo.Offset {
	offsets := make(map[string]map[int32]kgo.Offset)
	for tp, pos := range at {
		if offsets[tp.topic] == nil {
			offsets[tp.topic] = make(map[int32]kgo.Offset)
		}
		offsets[tp.topic][tp.partition] = kgo.NewOffset().At(pos)
	}
	return offsets
}

// pause lets the task stop polling and keep its clients.
func (t *task) pause() {
	t.mu.Lock()
	if t.resumed == nil {
		t.resumed = make(chan struct{})
	}
	t.mu.Unlock()
	t.switchState(stateRunning, statePaused)
}

func (t *task) resume() {
	t.mu.Lock()
	if t.resumed != nil {
		close(t.resumed)
		t.resumed = nil
	}
	t.mu.Unlock()
	t.switchState(statePaused, stateRunning)
}

// switchState changes the shown state, but not of a task that failed.
func (t *task) switchState(from, to string) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.status.state == from {
		t.status.state = to
		t.w.notify()
	}
}

// awaitUnpause waits while the task is paused.
func (t *task) awaitUnpause() error {
	t.mu.Lock()
	resumed := t.resumed
	t.mu.Unlock()
	if resumed == nil {
		return nil
	}
	select {
	case <-resumed:
		return nil
	case <-t.polling.Done():
		return t.polling.Err()
	}
}
