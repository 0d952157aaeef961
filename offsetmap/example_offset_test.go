package offsetmap_test

import (
	"encoding/json"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// C is the next record to read, M the last one handled: what Flink stores as
// 1000 Connect must hold as 999.
func ExampleNextOffset_Write() {
	for _, v := range []int64{1000, 1, 0} {
		c, err := offsetmap.Next(v)
		if err != nil {
			fmt.Println(err)
			return
		}
		w, err := c.Write()
		if err != nil {
			fmt.Println(err)
			return
		}
		raw, err := json.Marshal(w)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("C = %s: %s, to Connect %s\n", c, w, raw)
	}
	// Output:
	// C = 1000: set 999, to Connect {"offset":999}
	// C = 1: set 0, to Connect {"offset":0}
	// C = 0: clear, to Connect null
}

// The marker of a split that has read nothing is no offset.
func ExampleNext() {
	_, err := offsetmap.Next(-2)
	fmt.Println(err)
	// Output: not an offset: next offset -2 is negative
}

// None is not 0, and nothing comes after it.
func ExampleSourceOffset_Next() {
	m, err := offsetmap.Source(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var absent offsetmap.SourceOffset
	fmt.Println(m.Next(), absent.Next())
	// Output: 1 none
}

// The last dash parts topic and partition.
func ExampleParseTopicPartition() {
	tp, err := offsetmap.ParseTopicPartition("orders-2024-01-0")
	fmt.Println(tp.Topic, tp.Partition, err)
	// Output: orders-2024-01 0 <nil>
}
