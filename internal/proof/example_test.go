package proof_test

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The copier repeats one record and loses another.
func ExampleComparer() {
	record := func(offset int64, value string) *kgo.Record {
		return &kgo.Record{Offset: offset, Value: []byte(value), Timestamp: time.UnixMilli(1_000)}
	}
	d := proof.NewDigester()
	c := proof.NewComparer()
	for i, value := range []string{"a", "b", "c", "d"} {
		c.Source(d.Print(record(400+int64(i), value), proof.Kept))
	}
	c.End()
	for i, value := range []string{"a", "b", "b", "d"} {
		c.Target(d.Print(record(17+int64(i), value), proof.Kept))
	}
	end, _ := offsetmap.Next(21)
	c.Settle(end)

	r := c.Result()
	fmt.Printf("copied %d, missing %d, repeated %d\n", r.Copied, r.Missing, r.Repeated)
	for _, e := range r.Examples {
		fmt.Printf("%s: source %s, target %s\n", e.Fault, e.Source, e.Target)
	}
	// Output:
	// copied 3, missing 1, repeated 1
	// missing: source 402, target none
	// repeated: source 401, target 19
}
