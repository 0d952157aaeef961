package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ConnectTopics are the topics in which the workers of a Connect cluster keep their
// state, as the worker's own file names them: config.storage.topic, offset.storage.topic
// and status.storage.topic (DistributedConfig).
type ConnectTopics struct {
	Config, Offset, Status string
}

// Check returns an error unless each is the name of a topic and of one alone, or none is
// given.
func (t ConnectTopics) Check() error {
	if t == (ConnectTopics{}) {
		return nil
	}
	seen := map[string]string{}
	var errs []error
	for _, one := range t.each() {
		switch before, twice := seen[one.name]; {
		case one.name == "":
			errs = append(errs, fmt.Errorf("the worker's %s is not named, and others of its topics are", one.key))
		case twice:
			errs = append(errs, fmt.Errorf("the worker's %s and %s cannot both be %s", before, one.key, one.name))
		default:
			seen[one.name] = one.key
			if err := offsetmap.ValidateTopic(one.name); err != nil {
				errs = append(errs, fmt.Errorf("the worker's %s: %w", one.key, err))
			}
		}
	}
	return errors.Join(errs...)
}

type connectTopic struct{ key, name string }

func (t ConnectTopics) each() []connectTopic {
	return []connectTopic{{keyConfigTopic, t.Config}, {"offset.storage.topic", t.Offset}, {"status.storage.topic", t.Status}}
}

// keyConfigTopic is the setting that names the topic of which order matters.
const keyConfigTopic = "config.storage.topic"

// InternalTopic is one of [ConnectTopics] as the brokers have it.
type InternalTopic struct {
	Key string // the worker's setting that names it
	Topic
	Settings Settings // of the topic; nil where it does not exist
	Brokers  int      // of the cluster
}

// internalTopics reads the topics of the worker from the cluster that it belongs to.
func (p Probe) internalTopics(ctx context.Context, admin Admin) offsetmap.Fact[map[string]InternalTopic] {
	if p.ConnectTopics == (ConnectTopics{}) {
		return offsetmap.Absent[map[string]InternalTopic]()
	}
	fail := offsetmap.NotKnown[map[string]InternalTopic]
	if err := p.ConnectTopics.Check(); err != nil {
		return fail(err)
	}
	var names []string
	for _, one := range p.ConnectTopics.each() {
		names = append(names, one.name)
	}
	// The list of all leaves out what the client may not see.
	cluster, err := readCluster(ctx, admin, names)
	if err != nil {
		return fail(err)
	}
	settings := topicSettings(ctx, admin, offsetmap.Known(cluster), names)
	all, ok := settings.Get()
	if !ok {
		return fail(settings.Err())
	}
	out := map[string]InternalTopic{}
	for _, one := range p.ConnectTopics.each() {
		t := cluster.Topics[one.name]
		t.Name = one.name
		out[one.name] = InternalTopic{Key: one.key, Topic: t, Settings: all[one.name], Brokers: len(cluster.Brokers)}
	}
	return offsetmap.Known(out)
}

func internalTopicChecks() []Check {
	return []Check{{
		ID:         "worker/internal-topics",
		Title:      "The workers' own topics keep what is written to them",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the topics that connect.topics names, on the cluster that the worker belongs to: whether they exist, cleanup.policy, partitions, replicas, min.insync.replicas. The scope is the topic",
		Why:        "Stored offsets lie in one of them. Where its records are deleted by time, or are lost with a broker, the connector forgets where it stood and copies everything again. A config topic of several partitions has no order, by which workers come to differ. Where too few replicas are in sync no offset is stored any more.",
		Remedy:     "Where none is proven, name the topics (connect.topics in the migration file, Probe.ConnectTopics in Go; the worker's file has them as config.storage.topic, offset.storage.topic and status.storage.topic). `kafka-configs.sh --bootstrap-server <WORKERS-CLUSTER> --alter --entity-type topics --entity-name <SCOPE> --add-config cleanup.policy=compact` for the policy; kafka-reassign-partitions.sh for replicas. A config topic of several partitions is created anew while all workers are down, from a copy of its records.",
		Judge: aroundWorkers(func(c *Case, s *Surroundings, r *Reporter) {
			if _, _, known := c.clusters(); !known { // source/unknown, target/unknown
				r.NotAsked()
				return
			}
			topics, ok := s.InternalTopics.Get()
			switch {
			case s.InternalTopics.IsAbsent():
				r.Warn("", "not proven: nobody says which topics the workers keep their state in, and no API shows it")
			case errors.Is(s.InternalTopics.Err(), errGroupUnseen):
				r.Warn("", "not proven: %v", s.InternalTopics.Err())
			case !ok:
				r.Unmade("", s.InternalTopics.Err())
			}
			for _, name := range slices.Sorted(maps.Keys(topics)) {
				topics[name].judge(r)
			}
		}),
	}}
}

const (
	onlyCompact = "compact"
	// soundReplicas is the default of *.storage.replication.factor.
	soundReplicas = 3
)

func (t InternalTopic) judge(r *Reporter) {
	switch {
	case t.Missing():
		r.Block(t.Name, "there is no such topic on the cluster that the worker belongs to: connect.topics says that it is its %s", t.Key)
		return
	case t.Err != nil:
		r.Unmade(t.Name, t.Err)
		return
	case t.Settings == nil:
		r.Unmade(t.Name, errNoSettings)
		return
	}
	policy, err := t.Settings.text(keyCleanup)
	if err != nil {
		r.Unmade(t.Name, err)
		return
	}
	fewest := t.fewestReplicas()
	r.Saw(t.Name, "%s: %s %q, %d partitions, at least %d replicas", t.Key, keyCleanup, policy, len(t.Partitions), fewest)
	switch {
	case !slices.Equal(splitList(policy), []string{onlyCompact}):
		r.Block(t.Name, "%s is %q, and has to be compact alone for %s: what is older than the topic keeps is forgotten", keyCleanup, policy, t.Key)
	case t.Key == keyConfigTopic && len(t.Partitions) != 1:
		r.Block(t.Name, "%s has %d partitions, and must have one", t.Key, len(t.Partitions))
	case len(t.Leaderless) > 0:
		r.Block(t.Name, "%d of its %d partitions have no leader", len(t.Leaderless), len(t.Partitions))
	case fewest == 0:
		r.Unmade(t.Name, errors.New("the brokers do not tell its replicas"))
	case fewest == 1 && t.Brokers > 1:
		r.Block(t.Name, "%s has one replica on a cluster of %d brokers: it is lost with one of them", t.Key, t.Brokers)
	default:
		before := len(r.findings)
		if err := t.enoughInSync(t.Settings, r); err != nil {
			r.Unmade(t.Name, err)
		}
		if len(r.findings) == before && fewest < min(soundReplicas, t.Brokers) {
			r.Warn(t.Name, "%s has %d replicas on a cluster of %d brokers", t.Key, fewest, t.Brokers)
		}
	}
}

func (t InternalTopic) fewestReplicas() int {
	counts := make([]int, len(t.Partitions))
	for i, p := range t.Partitions {
		all, _ := t.replicas(p)
		counts[i] = len(all)
	}
	if len(counts) == 0 {
		return 0
	}
	return slices.Min(counts)
}
