package fresh

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ErrNoClusterID says that a cluster did not tell its id, which brokers do
// since 0.10.1 (KIP-78).
var ErrNoClusterID = errors.New("the brokers tell no cluster id")

// Cluster is what one Metadata answer said.
type Cluster struct {
	ClusterID string
	Brokers   []int32 // their node ids, sorted
	// Topics holds every topic that was asked for, also those that do not exist
	// or could not be read: see Topic.Err.
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
func (t Topic) Missing() bool { return errors.Is(t.Err, kerr.UnknownTopicOrPartition) }

// Has reports whether the topic has the partition.
func (t Topic) Has(partition int32) bool {
	_, found := slices.BinarySearch(t.Partitions, partition)
	return found
}

// Topics reads the cluster's id and the named topics, or all topics that the
// client may see when none is named. No topic is created by asking for it.
//
// An error means that nothing was learned, apart from ErrNoClusterID, with
// which the topics are returned. What went wrong with one topic alone stands in
// its Err.
func Topics(ctx context.Context, admin Admin, topics ...string) (Cluster, error) {
	meta, err := admin.Metadata(uncached(ctx), topics...)
	var denied *kadm.AuthError
	if errors.As(err, &denied) && len(topics) > 1 {
		// kadm fails the whole request when one topic is denied. One by one, the
		// denied ones have a name.
		return oneByOne(ctx, admin, topics)
	}
	if err != nil {
		return Cluster{}, fmt.Errorf("read metadata: %w", err)
	}
	return clusterOf(meta)
}

func clusterOf(meta kadm.Metadata) (Cluster, error) {
	c := Cluster{ClusterID: meta.Cluster, Brokers: slices.Sorted(slices.Values(meta.Brokers.NodeIDs())), Topics: make(map[string]Topic, len(meta.Topics))}
	for name, d := range meta.Topics {
		t := Topic{Name: name, ID: offsetmap.TopicID(d.ID), Internal: d.IsInternal, Err: d.Err}
		for p, pd := range d.Partitions {
			t.Partitions = append(t.Partitions, p)
			// Other errors of a partition, such as REPLICA_NOT_AVAILABLE, leave it
			// with a leader.
			if pd.Leader < 0 || errors.Is(pd.Err, kerr.LeaderNotAvailable) {
				t.Leaderless = append(t.Leaderless, p)
			}
		}
		slices.Sort(t.Partitions)
		slices.Sort(t.Leaderless)
		for _, p := range t.Partitions {
			t.Replicas, t.InSync = append(t.Replicas, d.Partitions[p].Replicas), append(t.InSync, d.Partitions[p].ISR)
		}
		c.Topics[name] = t
	}
	if c.ClusterID == "" {
		return c, ErrNoClusterID
	}
	return c, nil
}

func oneByOne(ctx context.Context, admin Admin, topics []string) (Cluster, error) {
	all := Cluster{Topics: make(map[string]Topic, len(topics))}
	for _, name := range topics {
		c, err := Topics(ctx, admin, name)
		var denied *kadm.AuthError
		switch {
		case errors.As(err, &denied):
			all.Topics[name] = Topic{Name: name, Err: err}
			continue
		case err != nil && !errors.Is(err, ErrNoClusterID):
			return Cluster{}, err
		}
		all.ClusterID, all.Brokers = c.ClusterID, c.Brokers
		all.Topics[name] = c.Topics[name]
	}
	if all.ClusterID == "" {
		return all, ErrNoClusterID
	}
	return all, nil
}
