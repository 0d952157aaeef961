package flinkstate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// failing answers for one topic's committed offsets with an error.
type failing struct {
	*kadm.Client
	topic string
	err   error
}

func (f failing) FetchOffsets(ctx context.Context, group string) (kadm.OffsetResponses, error) {
	all, err := f.Client.FetchOffsets(ctx, group)
	for p, o := range all[f.topic] {
		o.Err = f.err
		all[f.topic][p] = o
	}
	return all, err
}

// A group may read what is none of the migration's. What it holds there, readable
// or not, says nothing of the topics that were asked for; of those everything does.
func TestAnUnreadableOffsetOfAnotherTopicLeavesTheGroupReadable(t *testing.T) {
	t.Parallel()
	payments := offsetmap.TopicPartition{Topic: "payments"}
	negative := func(t *testing.T, admin *kadm.Client) flinkstate.GroupAdmin {
		commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{payments: -5})
		return admin
	}
	unstable := func(_ *testing.T, admin *kadm.Client) flinkstate.GroupAdmin {
		return failing{admin, payments.Topic, kerr.UnstableOffsetCommit}
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, *kadm.Client) flinkstate.GroupAdmin
		text  string
	}{
		"negative": {negative, "payments-0: not an offset: next offset -5"},
		"unstable": {unstable, ": offsets in an open transaction of payments-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, client := groupBroker(t)
			commit(t, client, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5, orders(1): 6, orders(2): 7, payments: 8})
			commit(t, client, "other", map[offsetmap.TopicPartition]int64{payments: 8})
			admin := c.spoil(t, client)

			read := flinkstate.NewGroupReader(admin, flinkstate.WithStableTimeout(0)).Read
			got, err := read(t.Context(), "copy", "orders")
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Positions) != 3 || len(got.Missing)+len(got.Warnings) != 0 {
				t.Errorf("%+v", got)
			}
			for _, topics := range [][]string{{"payments"}, {"orders", "payments"}, nil} {
				if got, err := read(t.Context(), "copy", topics...); err == nil || !strings.Contains(err.Error(), c.text) {
					t.Errorf("asked for %q: %+v, error %v, want %q", topics, got, err, c.text)
				}
			}
			if _, err := read(t.Context(), "other", "orders"); !errors.Is(err, flinkstate.ErrNoCommit) || !strings.Contains(err.Error(), "1 of other topics") {
				t.Errorf("without a commit of the topic: %v", err)
			}
		})
	}
}
