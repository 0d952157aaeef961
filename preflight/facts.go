package preflight

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Facts is what was seen of the world at one moment.
type Facts struct {
	At     time.Time
	Name   string   // the connector's
	Topics []string // the source topics of the migration, sorted

	Source offsetmap.Fact[Cluster]
	Target offsetmap.Fact[Cluster]
	// Ranges holds every partition of Topics that the source has. A bound that
	// could not be measured is none.
	Ranges map[offsetmap.TopicPartition]offsetmap.Range
	// TargetTails holds every partition of the target topics that exist, under
	// the target's names. A bound that could not be measured is none.
	TargetTails map[offsetmap.TopicPartition]Tail
	// Open lists the open transactions of partitions of Ranges whose last stable
	// offset lies below the end. Absent: there is no such partition.
	Open offsetmap.Fact[[]OpenTransaction]
	// TargetOpen is the same of TargetTails.
	TargetOpen offsetmap.Fact[[]OpenTransaction]

	// GroupID names the old job's consumer group; empty when none is to be read.
	GroupID string
	// Group holds what it has committed of Topics. Absent: the brokers know no such
	// group, or it has committed nothing of them.
	Group offsetmap.Fact[map[offsetmap.TopicPartition]offsetmap.NextOffset]
	GroupFacts

	// FlinkJob is the old job as Flink was asked about it.
	FlinkJob flinkrest.Job
	// Flink is what a server of Flink says of the job. Absent: none was given to ask.
	Flink offsetmap.Fact[flinkrest.Evidence]

	Worker  offsetmap.Fact[connectrest.WorkerInfo]
	Plugins offsetmap.Fact[[]connectrest.PluginInfo]
	// Connector holds the config and the ids of the tasks. Absent: the worker
	// says that it has no connector of that name.
	Connector offsetmap.Fact[connectrest.ConnectorInfo]
	Status    offsetmap.Fact[connectrest.Status]
	// Active lists the topics that the connector has written since they were
	// last reset (KIP-558). Absent: there is no connector, or the worker does not
	// track them.
	Active offsetmap.Fact[[]string]
	// Stored lists the Connect offsets under the connector's name, raw. Absent:
	// there is no connector.
	Stored offsetmap.Fact[[]connectrest.Offset]

	// ProducerReached is the id of the cluster that the data producer writes to.
	ProducerReached offsetmap.Fact[string]
	// SourceReached is the id of the cluster that the connector reads from.
	SourceReached offsetmap.Fact[string]

	// Surroundings is nil after [Probe.Observe], which does not read them.
	Surroundings *Surroundings

	unmeasured, unended *fresh.UnmeasuredError
	given               connectrest.Config // see config
	noGroup             error              // why Group is absent
	measuredAt          time.Time          // when the ends of logs had been read
}

// config is the connector's, and while there is none what it is to have; nil where neither
// is known.
func (f Facts) config() connectrest.Config {
	if info, ok := f.Connector.Get(); ok {
		return info.Config
	}
	if f.Connector.IsAbsent() {
		return f.given
	}
	return nil
}

// Tail is where the log of one partition ended.
type Tail struct {
	End offsetmap.NextOffset // the high watermark
	// Stable is the last stable offset, measured after End: below End a
	// transaction is open that has a record before End.
	Stable offsetmap.NextOffset
}

// PluginVersion returns the version of the MirrorSourceConnector plugin as the
// worker writes it. It decides how the connector behaves, and may differ from
// the worker's own. A worker may have several (KIP-891): the status says which
// one the connector is. The error says why the version is not known.
func (f Facts) PluginVersion() (string, error) {
	plugins, ok := f.Plugins.Get()
	if !ok {
		return "", f.Plugins.Err()
	}
	var versions []string
	for _, p := range plugins {
		if p.Class == mirrorSource && !slices.Contains(versions, p.Version) {
			versions = append(versions, p.Version)
		}
	}
	status, _ := f.Status.Get()
	switch {
	case len(versions) == 0:
		return "", errors.New("the worker does not list the plugin " + mirrorSource)
	case len(versions) == 1:
		return versions[0], nil
	case status.Connector.Version != "":
		return status.Connector.Version, nil
	default:
		return "", fmt.Errorf("the worker has the plugin %s in the versions %q, and does not say which one the connector is", mirrorSource, versions)
	}
}

// MirrorVersion returns PluginVersion as a version of Kafka. A vendor's that is
// none is a connectrest.ErrVersion.
func (f Facts) MirrorVersion() (connectrest.Version, error) {
	text, err := f.PluginVersion()
	if err != nil {
		return connectrest.Version{}, err
	}
	return connectrest.ParseVersion(text)
}

func fact[T any](v T, err error) offsetmap.Fact[T] {
	if err != nil {
		return offsetmap.NotKnown[T](err)
	}
	return offsetmap.Known(v)
}

// connectorFact makes a fact of an answer about one connector: absent when the
// worker says that it is not there. A worker that has no such function, or may
// have none, leaves it unknown.
func connectorFact[T any](v T, err error) offsetmap.Fact[T] {
	if errors.Is(err, connectrest.ErrNotFound) {
		return offsetmap.Absent[T]()
	}
	return fact(v, err)
}

// measured parts what was measured from why the rest was not.
func measured[T any](m map[offsetmap.TopicPartition]T, err error) (map[offsetmap.TopicPartition]T, *fresh.UnmeasuredError) {
	var unmeasured *fresh.UnmeasuredError
	errors.As(err, &unmeasured) // the only error that fresh gives beside a map
	return m, unmeasured
}

func sortedUnique(s []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(s)))
}
