package flinkstate_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Offsets of a frozen job expire one by one: what is gone is missing, never 0 and
// never left out.
func TestPC02OffsetsThatExpiredAfterTheJobStopped(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 100})
	saved := []offsetmap.Position{{TopicPartition: orders(0), Next: c(100)}, {TopicPartition: orders(1), Next: c(200)}}
	reader := flinkstate.NewGroupReader(admin, flinkstate.WithRequestor(client))

	got, err := reader.Read(t.Context(), "copy", "orders")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(1)}, got.Missing); diff != "" || len(got.Positions) != 1 {
		t.Errorf("positions %v; missing (-want +got):\n%s", got.Positions, diff)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Code != flinkstate.CommitMissing {
		t.Fatalf("warnings %v", got.Warnings)
	}
	for _, part := range []string{"orders-1", "expired", "offsets.retention.minutes", "own last commit", "savepoint", "better source"} {
		if !strings.Contains(got.Warnings[0].Text, part) {
			t.Errorf("%q does not say %q", got.Warnings[0].Text, part)
		}
	}
	compared := fmt.Sprint([]flinkstate.Compared(flinkstate.Compare(saved, got.Committed())))
	if diff := cmp.Diff("[equal missing]", compared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if _, err := admin.DeleteGroups(t.Context(), "copy"); err != nil {
		t.Fatal(err)
	}
	if got, err := reader.Read(t.Context(), "copy", "orders"); !errors.Is(err, flinkstate.ErrNoGroup) || got != nil {
		t.Errorf("the whole group is gone: %+v, %v", got, err)
	}
	if compared := flinkstate.Compare(saved, nil); compared.String() != "2 missing" {
		t.Errorf("against nothing: %s", compared)
	}
}

// The requests do not grow with the topics, nor does the time with their square.
func TestTwoThousandTopicsAreReadInAFewRequests(t *testing.T) {
	t.Parallel()
	const topics, partitions = 2000, 3
	names := make([]string, topics)
	for i := range names {
		names[i] = fmt.Sprintf("topic-%04d", i)
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, names...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	offsets := map[offsetmap.TopicPartition]int64{}
	for i, name := range names {
		for p := range int32(partitions) {
			if i > 0 || p > 0 {
				offsets[offsetmap.TopicPartition{Topic: name, Partition: p}] = int64(i)
			}
		}
	}
	commit(t, admin, "copy", offsets)

	var total, fetches atomic.Int64
	cluster.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		total.Add(1)
		if kmsg.Key(r.Key()) == kmsg.OffsetFetch {
			fetches.Add(1)
		}
		return nil, nil, false
	})
	for name, asked := range map[string][]string{"all": nil, "named": names} {
		total.Store(0)
		fetches.Store(0)
		got, err := flinkstate.NewGroupReader(admin, flinkstate.WithRequestor(client)).Read(t.Context(), "copy", asked...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Positions) != topics*partitions-1 || len(got.Missing) != 1 || got.Missing[0].Topic != names[0] {
			t.Errorf("%s: %d positions, missing %v", name, len(got.Positions), got.Missing)
		}
		// DescribeGroups, OffsetFetch for all and by name, Metadata, and what the
		// client itself looks up.
		if total.Load() > 10 || fetches.Load() != 2 {
			t.Errorf("%s: %d requests, %d of them OffsetFetch", name, total.Load(), fetches.Load())
		}
	}
}
