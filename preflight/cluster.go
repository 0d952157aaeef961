package preflight

import (
	"context"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Cluster is what the brokers of a cluster said of it and of its topics.
type Cluster struct {
	ClusterID string
	Brokers   []int32 // their node ids, sorted
	// Topics holds all topics that the client may see, and those that it asked for
	// by name, also where they do not exist or could not be read: see Topic.Err.
	Topics map[string]Topic
}

// Topic is one topic of a Cluster.
type Topic struct {
	Name string
	// ID is zero where the brokers know no topic ids (before Kafka 2.8, KIP-516).
	ID         offsetmap.TopicID
	Internal   bool    // the brokers' own, such as __consumer_offsets
	Partitions []int32 // sorted
	Leaderless []int32 // those of Partitions that have no leader, sorted
	// Replicas holds the brokers that each of Partitions is assigned to, in their order,
	// and InSync those of them that are in sync.
	Replicas, InSync [][]int32
	// Err says why nothing is known of the topic. It is
	// kerr.UnknownTopicOrPartition for one that does not exist.
	Err error
}

// Missing reports whether the brokers said that the topic does not exist.
func (t Topic) Missing() bool { return fresh.Topic(t).Missing() }

// replicas returns the brokers that hold a partition, and those in sync.
func (t Topic) replicas(partition int32) (all, inSync []int32) {
	i, found := slices.BinarySearch(t.Partitions, partition)
	if !found || i >= len(t.Replicas) || i >= len(t.InSync) {
		return nil, nil
	}
	return t.Replicas[i], t.InSync[i]
}

// has reports whether the cluster has the partition.
func (c Cluster) has(tp offsetmap.TopicPartition) bool {
	return fresh.Topic(c.Topics[tp.Topic]).Has(tp.Partition)
}

// existing returns those of the names that are topics of the cluster.
func (c Cluster) existing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		t, there := c.Topics[name]
		return !there || t.Err != nil
	})
}

// readCluster reads all topics of a cluster, and asks by name for those of the
// names that are not among them: brokers leave out of the list of all topics
// what a client may not see, and only by name they say that it is denied.
func readCluster(ctx context.Context, admin Admin, names []string) (Cluster, error) {
	all, err := fresh.Topics(ctx, admin)
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{ClusterID: all.ClusterID, Brokers: all.Brokers, Topics: make(map[string]Topic, len(all.Topics))}
	for name, t := range all.Topics {
		c.Topics[name] = Topic(t)
	}
	unlisted := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, listed := c.Topics[name]
		return listed
	})
	if len(unlisted) == 0 {
		return c, nil
	}
	asked, err := fresh.Topics(ctx, admin, unlisted...)
	for _, name := range unlisted {
		t, answered := asked.Topics[name]
		if !answered {
			t = fresh.Topic{Name: name, Err: err}
		}
		c.Topics[name] = Topic(t)
	}
	return c, nil
}
