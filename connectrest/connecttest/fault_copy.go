package connecttest

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Record names one record of the source cluster.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
}

// WrongSeek starts partitions with a stored source offset M at M + 1 + By: By -1
// copies the last record a second time, By 1 leaves one out. It takes effect
// when tasks start.
type WrongSeek struct{ By int64 }

// IgnoreAlias lets tasks that start take a partition's offset of any
// source.cluster.alias, the largest if there are several. A real task reads only
// its own alias.
type IgnoreAlias struct{}

// DropRecord leaves one record out. Its offset counts as copied.
type DropRecord struct{ Record }

// RepeatRecord writes one record twice.
type RepeatRecord struct{ Record }

// AlterRecord changes one record before it is written.
type AlterRecord struct {
	Record

	// Change alters the record that is about to be written to the target.
	// By default its value gets one more byte.
	Change func(*kgo.Record)
}

// SwapRecords writes one record after the next one of its partition.
type SwapRecords struct{ Record }

// SilencePartition copies nothing of one partition, while its task stays
// RUNNING. When the fault is removed the copy goes on where it was.
type SilencePartition struct {
	Topic     string
	Partition int32
}

// FailTask lets a task fail, with a trace, before it writes the record.
type FailTask struct{ Record }

// SlowStop lets tasks that are stopped linger before their last commit: the
// connector is STOPPED and the tasks are still shown RUNNING. A task that takes
// longer than the worker's graceful timeout is abandoned: it leaves the status,
// and commits when it is done.
type SlowStop struct {
	Connector string // empty: every connector
	For       time.Duration
}

// StragglingCommit lets tasks that are stopped leave the status at once and make
// their last commit later, over whatever was written in between.
type StragglingCommit struct {
	Connector string // empty: every connector
	After     time.Duration
}

func (WrongSeek) fault()        {}
func (IgnoreAlias) fault()      {}
func (DropRecord) fault()       {}
func (RepeatRecord) fault()     {}
func (AlterRecord) fault()      {}
func (SwapRecords) fault()      {}
func (SilencePartition) fault() {}
func (FailTask) fault()         {}
func (SlowStop) fault()         {}
func (StragglingCommit) fault() {}

// recordFault returns the fault that one source record hits, nil for none, and
// counts it.
func (s *faultSet) recordFault(r Record) Fault {
	for _, i := range s.snapshot() {
		var at Record
		switch f := i.fault.(type) {
		case DropRecord:
			at = f.Record
		case RepeatRecord:
			at = f.Record
		case AlterRecord:
			at = f.Record
		case SwapRecords:
			at = f.Record
		case FailTask:
			at = f.Record
		default:
			continue
		}
		if at == r {
			i.hits.Add(1)
			return i.fault
		}
	}
	return nil
}

// silenced reports whether a partition is silenced.
func (s *faultSet) silenced(tp topicPartition) bool {
	_, i := find(s, func(f SilencePartition) bool { return topicPartition{f.Topic, f.Partition} == tp })
	if i == nil {
		return false
	}
	i.hits.Add(1)
	return true
}

// seekBy is what tasks add to M + 1.
func (s *faultSet) seekBy() int64 {
	f, i := find(s, func(WrongSeek) bool { return true })
	if i == nil {
		return 0
	}
	i.hits.Add(1)
	return f.By
}

func (s *faultSet) ignoresAlias() bool {
	_, i := find(s, func(IgnoreAlias) bool { return true })
	if i == nil {
		return false
	}
	i.hits.Add(1)
	return true
}

func (s *faultSet) slowStop(connector string) time.Duration {
	f, i := find(s, func(f SlowStop) bool { return f.Connector == "" || f.Connector == connector })
	if i == nil {
		return 0
	}
	i.hits.Add(1)
	return f.For
}

func (s *faultSet) stragglingCommit(connector string) time.Duration {
	f, i := find(s, func(f StragglingCommit) bool { return f.Connector == "" || f.Connector == connector })
	if i == nil {
		return 0
	}
	i.hits.Add(1)
	return f.After
}
