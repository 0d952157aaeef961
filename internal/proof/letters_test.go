package proof

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Sequences in tests are words. A letter from A to Z is a source record: equal
// letters are equal records. A lower-case letter is that record with another
// value. A digit is a record of another writer. A dot is an offset without a
// readable record.
var letters = func() map[rune]Print {
	d := NewDigester()
	m := map[rune]Print{}
	for l := 'A'; l <= 'Z'; l++ {
		r := kgo.Record{
			Key:       []byte{byte(l)},
			Value:     []byte("value " + string(l)),
			Timestamp: time.UnixMilli(1_000_000 + int64(l)),
			Headers:   []kgo.RecordHeader{{Key: "trace", Value: []byte{byte(l)}}},
		}
		m[l] = d.Print(&r, Kept)
		r.Value = []byte("other " + string(l))
		m[l-'A'+'a'] = d.Print(&r, Kept)
	}
	for l := '0'; l <= '9'; l++ {
		m[l] = d.Print(&kgo.Record{Value: []byte("foreign " + string(l)), Timestamp: time.UnixMilli(9_000_000 + int64(l))}, Kept)
	}
	return m
}()

// word returns the prints of a word whose first letter has the given offset.
func word(w string, from int64) []Print {
	var ps []Print
	for i, l := range w {
		if l == '.' {
			continue
		}
		p := letters[l]
		p.offset = from + int64(i)
		ps = append(ps, p)
	}
	return ps
}

// The offsets at which the words of a test begin.
const (
	sourceFrom = 100
	targetFrom = 5000
)

// compare feeds source, later source records and target, and settles all.
func compare(source, beyond, target string, opts ...CompareOption) *Comparer {
	c := NewComparer(opts...)
	feed(c, source, beyond, target)
	return c
}

func feed(c *Comparer, source, beyond, target string) {
	for _, p := range word(source, sourceFrom) {
		c.Source(p)
	}
	c.End()
	for _, p := range word(beyond, sourceFrom+int64(len(source))) {
		c.Source(p)
	}
	for _, p := range word(target, targetFrom) {
		c.Target(p)
	}
	c.Settle(everything)
}

var everything = place(1 << 60)

func distinct(w string) bool {
	for i, l := range w {
		if strings.ContainsRune(w[i+1:], l) {
			return false
		}
	}
	return true
}

func at(t *testing.T, v int64) offsetmap.NextOffset {
	t.Helper()
	o, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
