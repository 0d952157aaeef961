// Package fresh reads from a Kafka cluster what must not be a few seconds old:
// topic ids, partition sets and the bounds of logs, directly before something
// is decided, written or started.
//
// A kadm client answers Metadata from the cache of its kgo client for seconds
// (kgo.MetadataMinAge, 5 s by default), and its List*Offsets take the partition
// set from there. A topic that was just created again is then shown with its
// old id, and one that was just expanded with its old partitions, without a
// word. This package is the one place that reads past the cache. It also fetches
// what a consumer would pass over without a word (Fetch).
//
// What it returns is as new as the brokers that answered: a controller's change
// still takes its moment to reach every broker.
package fresh

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Admin is what this package calls. *kadm.Client satisfies it.
type Admin interface {
	Metadata(ctx context.Context, topics ...string) (kadm.Metadata, error)
	ListStartOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	// ListCommittedOffsets lists the last stable offsets.
	ListCommittedOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
}

// uncached makes the Metadata request of a kadm client go to a broker: the
// cache has no authorized operations, so kadm passes it by when they are asked
// for (kadm v1.20, Client.metadata). The answer also replaces what is cached,
// so that the ListOffsets that follows is sent to the leaders of now.
func uncached(ctx context.Context) context.Context {
	return kadm.WithAuthorizedOps(ctx)
}
