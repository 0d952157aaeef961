package offsetmap_test

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A plan file is read strictly: it says which plan it is, and until when it may
// be applied.
func ExampleReadPlan() {
	f, err := os.Open("testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	plan, err := offsetmap.ReadPlan(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Body.Connector.Name, len(plan.Body.Rows), "partitions")
	fmt.Println(plan.CheckExpiry(time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)))
	// Output:
	// orders-mirror 9 partitions
	// <nil>
}

// One digit in a plan was changed by hand.
func ExampleReadPlan_edited() {
	raw, err := os.ReadFile("testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	edited := bytes.Replace(raw, []byte(`"targetEnd":90`), []byte(`"targetEnd":91`), 1)
	_, err = offsetmap.ReadPlan(bytes.NewReader(edited))
	fmt.Println(err)

	withAMemberMore := bytes.Replace(raw, []byte(`"lost":0`), []byte(`"lost":0,"skip":true`), 1)
	_, err = offsetmap.ReadPlan(bytes.NewReader(withAMemberMore))
	fmt.Println(err)
	// Output:
	// the plan was edited: its content has the digest sha256:70cc0134a584913bb17e7291b2931ac6e642c7f43e385d8fccb27e466eac0830, it says sha256:da032d5e06d9e98df3741960b4b325f30625aefac98dea4f454036476f685176
	// not a usable plan: body.rows[0].skip: unknown
}

// What Connect shows after the write is held against the plan.
func ExamplePlan_Diff() {
	f, err := os.Open("testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	plan, err := offsetmap.ReadPlan(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	stored := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
	for _, r := range plan.Body.Rows {
		stored[r.TopicPartition] = r.Write.Result()
	}
	fmt.Println("equal:", plan.Diff(stored).Equal())

	m, err := offsetmap.Source(1024)
	if err != nil {
		fmt.Println(err)
		return
	}
	stored[offsetmap.TopicPartition{Topic: "orders", Partition: 0}] = m
	for _, r := range plan.Diff(stored).Only(offsetmap.Moved, offsetmap.Unplanned) {
		fmt.Println(r)
	}
	// Output:
	// equal: true
	// orders-0: stored 1024, planned 999, at the time of the plan none: writing the plan would go back and copy records again
}

// The way back: where Flink goes on after MirrorMaker 2 has copied for a while.
func ExamplePlan_Reverse() {
	f, err := os.Open("testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	plan, err := offsetmap.ReadPlan(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := offsetmap.Return{
		Stored:   map[offsetmap.TopicPartition]offsetmap.SourceOffset{},
		Measured: map[offsetmap.TopicPartition]offsetmap.Measured{},
		Ends:     map[offsetmap.TopicPartition]offsetmap.NextOffset{},
	}
	for _, r := range plan.Body.Rows {
		now.Stored[r.TopicPartition] = r.Write.Result()
		now.Ends[r.TopicPartition] = r.TargetEnd
		now.Measured[r.TopicPartition] = offsetmap.Measured{
			TopicPartition: r.TopicPartition, TopicID: r.TopicID, Range: r.Range(), TargetEnd: r.TargetEnd,
		}
	}
	// 150 records of orders-0 were copied.
	orders := offsetmap.TopicPartition{Topic: "orders", Partition: 0}
	copied := now.Measured[orders]
	if now.Stored[orders], err = offsetmap.Source(1149); err != nil {
		fmt.Println(err)
		return
	}
	if copied.TargetEnd, err = offsetmap.Next(240); err != nil {
		fmt.Println(err)
		return
	}
	now.Measured[orders] = copied
	rows, findings := plan.Reverse(now)
	if err := offsetmap.Blocked(findings); err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows[:3] {
		fmt.Printf("%s: Flink goes on at %s, %d copied\n", r.TopicPartition, r.Next, r.Copied)
	}
	// Output:
	// ledger.eu_v1-0: Flink goes on at 9007199254740993, 0 copied
	// orders-0: Flink goes on at 1150, 150 copied
	// orders-1: Flink goes on at 0, 0 copied
}
