package proof

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func header(kv ...string) (hs []kgo.RecordHeader) {
	for i := 0; i < len(kv); i += 2 {
		h := kgo.RecordHeader{Key: kv[i]}
		if kv[i+1] != "null" {
			h.Value = []byte(kv[i+1])
		}
		hs = append(hs, h)
	}
	return hs
}

func TestPrintsDifferWhereRecordsDo(t *testing.T) {
	base := kgo.Record{Key: []byte("k"), Value: []byte("v"), Headers: header("a", "1", "b", "2"), Timestamp: time.UnixMilli(1000)}
	for _, tt := range []struct {
		name     string
		from, to func(r *kgo.Record)
		want     []string // in what they differ
	}{
		{"nothing", nil, func(*kgo.Record) {}, nil},
		{"key", nil, func(r *kgo.Record) { r.Key = []byte("K") }, []string{"key"}},
		{"value", nil, func(r *kgo.Record) { r.Value = []byte("V") }, []string{"value"}},
		{"key and value changed over", nil, func(r *kgo.Record) { r.Key, r.Value = r.Value, r.Key }, []string{"key", "value"}},
		{"empty and null key", func(r *kgo.Record) { r.Key = []byte{} }, func(r *kgo.Record) { r.Key = nil }, []string{"key"}},
		{"empty value and tombstone", func(r *kgo.Record) { r.Value = []byte{} }, func(r *kgo.Record) { r.Value = nil }, []string{"value"}},
		{"null and empty header", func(r *kgo.Record) { r.Headers = header("a", "null") }, func(r *kgo.Record) { r.Headers = header("a", "") }, []string{"headers"}},
		{"null headers in a row", func(r *kgo.Record) { r.Headers = header("a", "null", "b", "null") }, func(r *kgo.Record) { r.Headers = header("a", "null", "b", "") }, []string{"headers"}},
		{"no headers and one without a name", func(r *kgo.Record) { r.Headers = nil }, func(r *kgo.Record) { r.Headers = header("", "null") }, []string{"headers"}},
		{"headers in another order", nil, func(r *kgo.Record) { r.Headers = header("b", "2", "a", "1") }, []string{"headers"}},
		{"a header twice", nil, func(r *kgo.Record) { r.Headers = header("a", "1", "b", "2", "b", "2") }, []string{"headers"}},
		{"a header's name and value parted elsewhere", func(r *kgo.Record) { r.Headers = header("ab", "c") }, func(r *kgo.Record) { r.Headers = header("a", "bc") }, []string{"headers"}},
		{"two headers parted elsewhere", func(r *kgo.Record) { r.Headers = header("a", "1", "b", "2") }, func(r *kgo.Record) { r.Headers = header("a", "1b", "", "2") }, []string{"headers"}},
		{"a header's name", func(r *kgo.Record) { r.Headers = header("a", "1") }, func(r *kgo.Record) { r.Headers = header("b", "1") }, []string{"headers"}},
		{"a name that looks like a length", func(r *kgo.Record) { r.Headers = header("x", "null", "", "") }, func(r *kgo.Record) { r.Headers = header("x\xff\xff\xff\xff", "") }, []string{"headers"}},
		{"a value that looks like a header", func(r *kgo.Record) { r.Headers = header("a", "x", "b", "") }, func(r *kgo.Record) { r.Headers = header("a", "x\x01\x00\x00\x00b") }, []string{"headers"}},
		{"one millisecond", nil, func(r *kgo.Record) { r.Timestamp = time.UnixMilli(1001) }, []string{"timestamp"}},
		{"less than a millisecond, which Kafka does not keep", nil, func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(time.Microsecond) }, nil},
		{"offset, topic and partition", nil, func(r *kgo.Record) { r.Offset, r.Topic, r.Partition = 7, "t", 3 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDigester()
			a, b := base, base
			if tt.from != nil {
				tt.from(&a)
				b = a
			}
			tt.to(&b)
			p, q := d.Print(&a, Kept), d.Clone().Print(&b, Kept)
			if (p.sum == q.sum) != (tt.want == nil) || (p.sum.a == q.sum.a) != (p.sum.b == q.sum.b) {
				t.Errorf("sums %v and %v", p.sum, q.sum)
			}
			if diff := cmp.Diff(tt.want, p.parts.differ(q.parts)); diff != "" {
				t.Errorf("differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStampedTimestampsDoNotCount(t *testing.T) {
	d := NewDigester()
	a := kgo.Record{Value: []byte("v"), Timestamp: time.UnixMilli(1)}
	b := kgo.Record{Value: []byte("v"), Timestamp: time.UnixMilli(2)}
	if d.Print(&a, Stamped) != d.Print(&b, Stamped) {
		t.Error("prints differ by a timestamp that the target stamps")
	}
	p, q := d.Print(&a, Stamped), d.Print(&kgo.Record{Value: []byte("w"), Timestamp: time.UnixMilli(1)}, Stamped)
	if p.parts.resembles(q.parts) || p.parts.copies(q.parts) {
		t.Error("timestamps that are not compared count as evidence")
	}
}

func TestWhatCarriesNoEvidenceMakesNoLikeness(t *testing.T) {
	d := NewDigester()
	of := func(key, value []byte, ms int64) parts {
		return d.Print(&kgo.Record{Key: key, Value: value, Timestamp: time.UnixMilli(ms)}, Kept).parts
	}
	for _, tt := range []struct {
		name              string
		a, b              parts
		resembles, copies bool
	}{
		{"both without a key", of(nil, []byte("v"), 1), of(nil, []byte("w"), 2), false, false},
		{"both with an empty key", of([]byte{}, []byte("v"), 1), of([]byte{}, []byte("w"), 2), false, false},
		{"both tombstones", of([]byte("a"), nil, 1), of([]byte("b"), nil, 2), false, false},
		{"both with an empty value", of([]byte("a"), []byte{}, 1), of([]byte("b"), []byte{}, 2), false, false},
		{"same key", of([]byte("a"), []byte("v"), 1), of([]byte("a"), []byte("w"), 2), true, false},
		{"same key, both tombstones", of([]byte("a"), nil, 1), of([]byte("a"), nil, 2), true, false},
		{"same value", of([]byte("a"), []byte("v"), 1), of([]byte("b"), []byte("v"), 2), true, false},
		{"same key and value", of([]byte("a"), []byte("v"), 1), of([]byte("a"), []byte("v"), 2), true, true},
		{"same time, no key", of(nil, []byte("v"), 1), of(nil, []byte("w"), 1), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.resembles(tt.b); got != tt.resembles {
				t.Errorf("resembles: %t", got)
			}
			if got := tt.a.copies(tt.b); got != tt.copies {
				t.Errorf("copies: %t", got)
			}
		})
	}
	everything := func(change func(p *parts)) (a, b parts) {
		a = d.Print(&kgo.Record{Key: []byte("k"), Value: []byte("v"), Headers: header("a", "1"), Timestamp: time.UnixMilli(1)}, Kept).parts
		b = a
		change(&b)
		return a, b
	}
	if a, b := everything(func(p *parts) { p.key++; p.value++; p.headers++ }); a.copies(b) {
		t.Error("nothing but the timestamp is no copy")
	}
	if a, b := everything(func(p *parts) { p.key++; p.value++; p.time++ }); !a.resembles(b) {
		t.Error("headers that say something are evidence")
	}
}

func TestEachDigesterHasSeedsOfItsOwn(t *testing.T) {
	r := kgo.Record{Value: []byte("v")}
	a, b := NewDigester(), NewDigester()
	if a.Print(&r, Kept).sum == b.Print(&r, Kept).sum {
		t.Error("two digesters make the same digest")
	}
}

func TestPrintsAndExamplesHoldNothingOfTheRecord(t *testing.T) {
	r := kgo.Record{Key: []byte("secret-key"), Value: []byte("secret-value"), Headers: header("secret-name", "secret-header")}
	if s := fmt.Sprintf("%v %+v %#v", NewDigester().Print(&r, Kept), NewDigester().Print(&r, Kept), NewDigester().Print(&r, Kept)); strings.Contains(s, "secret") {
		t.Error(s)
	}
}

func TestPrintingAllocatesNothing(t *testing.T) {
	d := NewDigester()
	r := &kgo.Record{Key: []byte("k"), Value: make([]byte, 500), Headers: header("a", "1", "b", "null")}
	d.Print(r, Kept)
	if n := testing.AllocsPerRun(100, func() { d.Print(r, Kept) }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
