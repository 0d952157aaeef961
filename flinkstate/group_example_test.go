package flinkstate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// The group of a job that runs is as empty as that of one that has ended. Two looks
// over a window that is longer than the interval of its checkpoints tell them apart.
func ExampleGroupReader_Watch() {
	ctx := context.Background()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	checkpoint := func(at int64) error {
		var offsets kadm.Offsets
		offsets.AddOffset("orders", 0, at, -1)
		return admin.CommitAllOffsets(ctx, "orders-copy", offsets)
	}
	if err := checkpoint(1000); err != nil {
		fmt.Println(err)
		return
	}

	runs := true
	reader := flinkstate.NewGroupReader(admin, flinkstate.WithRequestor(client), flinkstate.WithGroupClock(nil, func(context.Context, time.Duration) error {
		if !runs {
			return nil
		}
		return checkpoint(1050) // while the reader waits
	}))
	group, movement, err := reader.Watch(ctx, time.Nanosecond, "orders-copy", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(group.GroupDescription)
	for _, m := range movement.Moved {
		fmt.Println(movement.Verdict, m.TopicPartition, m.From, "to", m.To)
	}
	runs = false
	if _, movement, err = reader.Watch(ctx, time.Nanosecond, "orders-copy", "orders"); err == nil {
		fmt.Println(movement.Verdict)
	}
	// Output:
	// classic group orders-copy is Empty, without members or protocol
	// moving orders-0 1000 to 1050
	// stood-still
}
