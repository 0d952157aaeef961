package connectrest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// The body that is written while it is sent is that of OffsetsBody, its length is
// known before, and each attempt sends all of it.
func TestBodyOfOffsetsIsStreamedWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var offsets []Offset
		for i := range rapid.IntRange(1, 40).Draw(t, "entries") {
			topic, err := json.Marshal(rapid.StringN(0, 30, -1).Draw(t, "topic"))
			if err != nil {
				t.Fatal(err)
			}
			o := Offset{Partition: json.RawMessage(fmt.Sprintf(`{"p":%d,"t":%s}`, i, topic)), Offset: json.RawMessage("null")}
			if rapid.Bool().Draw(t, "set") {
				o.Offset = json.RawMessage(fmt.Sprintf(`{"offset":%d}`, rapid.Int64Min(0).Draw(t, "offset")))
			}
			offsets = append(offsets, o)
		}
		body := sendOffsets(offsets)
		for range 2 {
			r, err := body()
			if err != nil {
				t.Fatal(err)
			}
			length := r.(interface{ Len() int }).Len()
			if err := iotest.TestReader(r, joined(offsets)); err != nil {
				t.Fatal(err)
			}
			if length != len(joined(offsets)) || length != bodySize(offsets) {
				t.Fatalf("the length was said to be %d, it is %d", length, len(joined(offsets)))
			}
		}
		r, _ := body()
		sent, err := io.ReadAll(r)
		var decoded OffsetsBody
		if err != nil || json.Unmarshal(sent, &decoded) != nil || DiffOffsets(offsets, decoded.Offsets) != nil {
			t.Fatalf("sent %s, %v", sent, err)
		}
	})
}

func joined(offsets []Offset) []byte {
	var b bytes.Buffer
	b.WriteString(`{"offsets":[`)
	for i, o := range offsets {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"partition":%s,"offset":%s}`, o.Partition, o.Offset)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}
