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
	// the plan was edited: its content has the digest sha256:6a252c186e2f3afe36514e5fe1c501f605fa57371a6f77f0e7d4111f34a47b9d, the file says sha256:345bd62fc157f73709873032983ef93f4c5505213985b295d17759edb26af2ff
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
	stored := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
	logs := map[offsetmap.TopicPartition]offsetmap.Range{}
	for _, r := range plan.Body.Rows {
		stored[r.TopicPartition] = r.Write.Result()
		logs[r.TopicPartition] = r.Range()
	}
	m, err := offsetmap.Source(1149)
	if err != nil {
		fmt.Println(err)
		return
	}
	stored[offsetmap.TopicPartition{Topic: "orders", Partition: 0}] = m
	rows, findings := plan.Reverse(stored, logs)
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
