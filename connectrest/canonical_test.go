package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// reference is the canonical form by encoding/json alone.
func reference(raw []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return "", false
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", false
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), true
}

// What is read the plain way reads as encoding/json reads it, and what it takes for
// an object without a key twice is one, or for a MirrorSourceConnector's.
func FuzzCanonicalFormIsThatOfEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, "{}\x00", "{\x00}", `{"cluster":"source","topic":"orders","partition":0}`, `{"b":1,"a":-0,"c":null}`, `{"a":1,"a":1}`,
		`{"a":01}`, `{"a":-}`, `{"a":1.50}`, `{"a":1e3}`, `{"a":"\u0041"}`, `{"a":"é"}`, "{\"a\":\"\u2028\"}", `{"a":"<&>"}`, `{"a":true,"b":false}`,
		`{"a":trueX}`, `{"a":[1]}`, `{"a":{"b":1}}`, `{"a":1}{}`, `{"a":1,}`, `{,}`, `{"a"}`, `[]`, `null`, `"x"`, "", `{"a":"` + "\x7f" + `"}`,
		`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9}`, "{\"a\" :\t1 ,\r\n\"b\": 2}", "\v{}",
		`{"offset":9223372036854775807}`, `{"offset":-1}`, `{"offset":null}`, `{"cluster":"s","topic":"bad topic","partition":1}`, `{"cluster":"s","topic":"a","partition":-0}`,
		`{"cluster":"s","topic":"a","partition":2147483648}`, `{"cluster":1,"topic":"a","partition":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, valid := reference(raw)
		got, err := canonicalJSON(raw)
		if (err == nil) != valid || valid && got != want {
			t.Errorf("%q: got %q, %v; want %q, %v", raw, got, err, want, valid)
		}
		if got, plain := plainMirrorPartition(raw); plain {
			if want, err := anyMirrorPartition(raw); err != nil || got != want {
				t.Errorf("%q: got %v, want %v, %v", raw, got, want, err)
			}
		}
		if got, plain := plainMirrorOffset(raw); plain {
			if want, err := objectMembers(raw); err != nil || !bytes.Equal(got, want[mirrorOffset]) {
				t.Errorf("%q: got %s, want %s, %v", raw, got, want, err)
			}
		}
		if _, plain := appendPlain(nil, raw); plain {
			if _, err := objectMembers(raw); err != nil {
				t.Errorf("%q is taken for a plain object: %v", raw, err)
			}
		}
	})
}

// The common entry is looked at without an allocation: a list of 100,000 would
// otherwise leave several times its size to collect.
func TestPlainEntriesAreReadWithoutAllocations(t *testing.T) {
	raw := json.RawMessage(`{"cluster":"source","partition":17,"topic":"orders"}`)
	scratch := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := appendObject(scratch, raw); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A list that is found to be in order has no partition twice, whatever its entries
// look like; and the lists that MirrorSourceWrites makes are found to be so.
func TestListInOrderHasNoPartitionTwice(t *testing.T) {
	entry := func(p string) Offset {
		return Offset{Partition: json.RawMessage(p), Offset: json.RawMessage(`{"offset":1}`)}
	}
	for _, tt := range []struct {
		list []string
		want bool
	}{
		{[]string{`{"c":"s","t":"a","p":0}`, `{"c":"s","t":"a","p":2}`, `{"c":"s","t":"a","p":10}`, `{"c":"s","t":"b","p":0}`}, true},
		{[]string{`{"cluster":"s","topic":"a","partition":9}`, `{"cluster":"s","topic":"a","partition":10}`, `{"topic":"b", "cluster":"s","partition":0}`}, true},
		{[]string{`{"p":1}`, `{"p":1}`}, false},
		{[]string{`{"p":1}`, ` {"p" : 1}`}, false},
		{[]string{`{"p":10}`, `{"p":9}`}, false},
		{[]string{`{"p":9}`, `{"p":"a"}`, `{"p":9}`}, false},
		{[]string{`{"p":-1}`, `{"p":1}`}, false},
		{[]string{`{"p":null}`, `{"p":true}`}, false},
		{[]string{`{"p":1}`, `{"p":1,"q":1}`}, false},
		{[]string{`{"p":1}`, `{"q":2}`}, false},
		{[]string{`{"p":"a","q":2}`, `{"p":"b","q":1}`}, false},
		{[]string{`{"p":"\u0061"}`, `{"p":"b"}`}, false},
	} {
		var list []Offset
		for _, p := range tt.list {
			list = append(list, entry(p))
		}
		if got := plainAscending(list); got != tt.want {
			t.Errorf("%s: in order %v, want %v", tt.list, got, tt.want)
		}
	}
	for _, offset := range []string{"", "5", `"null"`, `{"a":1,"a":2}`} {
		if plainAscending([]Offset{{Partition: json.RawMessage(`{"p":1}`), Offset: json.RawMessage(offset)}}) {
			t.Errorf("an offset that cannot be written was taken: %q", offset)
		}
	}
}

// A large list is looked at in stretches: what is wrong where two meet is seen, too.
func TestLargeListOutOfOrderIsSeenWherever(t *testing.T) {
	const n = 40_000
	list := make([]Offset, n)
	for i := range list {
		list[i] = Offset{Partition: fmt.Appendf(nil, `{"p":%d}`, i), Offset: json.RawMessage("null")}
	}
	if !plainAscending(list) {
		t.Error("it is in order")
	}
	for _, at := range []int{1, 9_999, 10_000, 10_001, 13_334, 19_999, 20_000, 20_001, 26_668, 30_000, n - 1} {
		was := list[at].Partition
		if list[at].Partition = list[at-1].Partition; plainAscending(list) {
			t.Errorf("a partition that stands twice is not seen at %d", at)
		}
		list[at].Partition = was
	}
}

func TestListInOrderIsOneThatTheTableTakes(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{
			`{"p":1}`, `{"p":2}`, `{"p":10}`, `{"p": 10}`, `{"p":"1"}`, `{"p":"2"}`, `{"p":1,"t":"a"}`, `{"t":"a","p":1}`, `{"t":"a","p":2}`, `{"t":"b","p":1}`, `{"p":1.0}`, `{"p":null}`, `5`,
		}), 1, 4).Draw(t, "partitions")
		var list []Offset
		for _, p := range texts {
			list = append(list, Offset{Partition: json.RawMessage(p), Offset: json.RawMessage(rapid.SampledFrom([]string{`{"o":1}`, "null", "5", ""}).Draw(t, "offset"))})
		}
		if !plainAscending(list) {
			return
		}
		taken++
		if _, err := newWritableTable(list); err != nil {
			t.Fatalf("%s is in order, and: %v", texts, err)
		}
	})
	if taken == 0 {
		t.Error("no list was in order")
	}
}
