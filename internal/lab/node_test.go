package lab

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestWhatLiesOnANodeHasNoLeaderWhileItIsGone(t *testing.T) {
	l := stage.Get(t)
	node := l.StartNode(t, l.Source, nil)
	cl := client(t, l.Source)
	topic := l.TopicName(t, "on-the-node")
	placed := kmsg.NewCreateTopicsRequestTopic()
	placed.Topic, placed.NumPartitions, placed.ReplicationFactor = topic, -1, -1
	for p, on := range []int32{1, node.ID} {
		at := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		at.Partition, at.Replicas = int32(p), []int32{on}
		placed.ReplicaAssignment = append(placed.ReplicaAssignment, at)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, placed)
	resp, err := req.RequestWith(t.Context(), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	leaders(t, cl, topic, 1, node.ID)
	produce(t, cl, topic, 1, 0, 5)
	node.Stop(t)
	leaders(t, cl, topic, 1, -1)
	node.Start(t)
	leaders(t, cl, topic, 1, node.ID)
	produce(t, cl, topic, 1, 5, 10)
}

// leaders waits until the partitions of the topic have those leaders.
func leaders(t *testing.T, cl *kgo.Client, topic string, want ...int32) {
	t.Helper()
	eventually(t, "the leaders of "+topic, func() bool {
		req := kmsg.NewPtrMetadataRequest()
		asked := kmsg.NewMetadataRequestTopic()
		asked.Topic = new(topic)
		req.Topics = append(req.Topics, asked)
		resp, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			return false
		}
		got := make([]int32, len(resp.Topics[0].Partitions))
		for _, p := range resp.Topics[0].Partitions {
			got[p.Partition] = p.Leader
		}
		return slices.Equal(want, got)
	})
}
