package offsetmap_test

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Three partitions of one topic: one that the job has read, one whose C has
// expired, and one that the state never names. Nothing is guessed: two block,
// and both are told.
func ExampleResolve() {
	offset := func(v int64) offsetmap.NextOffset {
		c, err := offsetmap.Next(v)
		if err != nil {
			panic(err)
		}
		return c
	}
	orders := func(p int32) offsetmap.TopicPartition {
		return offsetmap.TopicPartition{Topic: "orders", Partition: p}
	}
	measured := func(p int32, start, end int64) offsetmap.Measured {
		return offsetmap.Measured{
			TopicPartition: orders(p), TargetTopic: "orders", TargetEnd: offset(0),
			Range: offsetmap.Range{Start: offset(start), End: offset(end), Stable: offset(end)},
		}
	}
	in := offsetmap.Input{
		Origin: offsetmap.FromSavepoint,
		Positions: []offsetmap.Position{
			{TopicPartition: orders(0), Next: offset(1000)},
			{TopicPartition: orders(1), Next: offset(1000)},
		},
		Measured:  []offsetmap.Measured{measured(0, 900, 1200), measured(1, 1200, 1500), measured(2, 0, 70)},
		Isolation: offsetmap.ReadUncommitted,
	}
	_, findings := offsetmap.Resolve(in)
	fmt.Println(offsetmap.Blocked(findings))

	// A person lets both through: the loss with its count, the unread
	// partition by its name.
	in.Acceptances = []offsetmap.Acceptance{
		{Check: "source/offset-expired", Scope: "orders-1:200", By: "ana", Reason: "older than the audit needs"},
		{Check: "source/position-missing", Scope: "orders-2", By: "ana", Reason: "added last week, never subscribed"},
	}
	rows, findings := offsetmap.Resolve(in)
	fmt.Println(offsetmap.Blocked(findings))
	for _, r := range rows {
		fmt.Printf("%s: C = %s by %s, %s, lost %d\n", r, r.Next, r.Rule, r.Write, r.Lost)
	}
	// Output:
	// blocked by 2 findings
	//   source/offset-expired orders-1:200: C = 1000 is below the log start 1200: 200 offsets have expired and cannot be copied
	//   source/position-missing orders-2: the state never names the partition; log start 0, log end 70; copying would begin at the log start
	// <nil>
	// orders-0: C = 1000 by stored, set 999, lost 0
	// orders-1: C = 1200 by expired-accepted, set 1199, lost 200
	// orders-2: C = 0 by unnamed-accepted, clear, lost 0
}
