package proof

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Print stands for one record: its offset, a digest of everything that a copy
// must keep, and short hashes of its parts, which say only in what two records
// differ. It holds nothing of the record itself.
type Print struct {
	offset int64
	sum    sum
	parts  parts
}

// sum is a digest of 128 bits: two 64-bit hashes under seeds that are drawn
// anew by each Digester, so that nothing that is in the records can aim at a
// collision. Two different records with equal sums could hide a loss; among
// 10^9 records the chance is about 10^-21.
type sum struct{ a, b uint64 }

// parts hashes what a record is made of. The reserved values null and empty
// tell apart what carries no evidence: two null keys are no sign that one
// record was made of the other.
type parts struct {
	key            uint64 // wide, since compaction is judged by it
	value, headers uint32
	time           int64 // milliseconds, or untimed
}

const (
	null    = 0 // no key, no value, no headers
	empty   = 1 // zero bytes
	untimed = math.MinInt64
)

// Digester turns records into prints. Prints can be compared only when they
// come from one Digester or its clones, since each Digester draws its own key:
// a digest in a report cannot be traced back to a short value by trying.
//
// A Digester is for one goroutine; Clone makes another.
type Digester struct {
	a, b maphash.Seed
	buf  []byte
}

// NewDigester returns a Digester with seeds of its own.
func NewDigester() *Digester { return &Digester{a: maphash.MakeSeed(), b: maphash.MakeSeed()} }

// Clone returns a Digester for another goroutine, whose prints equal d's.
func (d *Digester) Clone() *Digester { return &Digester{a: d.a, b: d.b} }

// Timestamps says whether a partition's timestamps are compared.
type Timestamps uint8

const (
	// Kept timestamps are those of the source records: the target topic has
	// message.timestamp.type=CreateTime, the default.
	Kept Timestamps = iota
	// Stamped timestamps are the target's own (LogAppendTime), and no evidence.
	Stamped
)

// Print digests key, value, headers in their order, and the timestamp when it
// is kept. Null differs from empty in keys, values and header values.
func (d *Digester) Print(r *kgo.Record, ts Timestamps) Print {
	p := Print{offset: r.Offset, parts: parts{time: untimed}}
	if ts == Kept {
		p.parts.time = r.Timestamp.UnixMilli()
	}
	buf := appendHeaders(d.buf[:0], r.Headers)
	headers := len(buf)
	key, value := hash(d.a, r.Key), hash(d.a, r.Value)
	p.parts.key, p.parts.value, p.parts.headers = key, narrow(value), null
	var header uint64 = null
	if headers > 0 {
		header = hash(d.a, buf)
		p.parts.headers = narrow(header)
	}
	p.sum.a = join(d.a, key, value, header, p.parts.time)
	// The other half stands on nothing of the first: all bytes once more, but those
	// of the value by their hash, which need no copy. What follows the key has a
	// fixed length, so no two records have the same encoding.
	keyLength := uint32(len(r.Key))
	if r.Key == nil {
		keyLength = math.MaxUint32
	}
	buf = append(buf, r.Key...)
	buf = binary.LittleEndian.AppendUint32(buf, keyLength)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(headers))
	buf = binary.LittleEndian.AppendUint64(buf, hash(d.b, r.Value))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(p.parts.time))
	p.sum.b = maphash.Bytes(d.b, buf)
	d.buf = buf
	return p
}

func hash(seed maphash.Seed, b []byte) uint64 {
	switch {
	case b == nil:
		return null
	case len(b) == 0:
		return empty
	}
	return max(maphash.Bytes(seed, b), empty+1)
}

// appendHeaders writes lengths, and -1 for null, so that no two lists of headers
// have the same encoding; no headers are none.
func appendHeaders(b []byte, hs []kgo.RecordHeader) []byte {
	for i := range hs {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(hs[i].Key)))
		b = append(b, hs[i].Key...)
		if hs[i].Value == nil {
			b = binary.LittleEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(hs[i].Value)))
		b = append(b, hs[i].Value...)
	}
	return b
}

func join(seed maphash.Seed, key, value, headers uint64, time int64) uint64 {
	var b [32]byte
	binary.LittleEndian.PutUint64(b[0:], key)
	binary.LittleEndian.PutUint64(b[8:], value)
	binary.LittleEndian.PutUint64(b[16:], headers)
	binary.LittleEndian.PutUint64(b[24:], uint64(time))
	return maphash.Bytes(seed, b[:])
}

func narrow(h uint64) uint32 {
	if h <= empty {
		return uint32(h)
	}
	return max(uint32(h), empty+1)
}

func (s sum) String() string { return fmt.Sprintf("%016x", s.a) }

// differ names the parts in which two records differ.
func (p parts) differ(o parts) []string {
	var names []string
	if p.key != o.key {
		names = append(names, "key")
	}
	if p.value != o.value {
		names = append(names, "value")
	}
	if p.headers != o.headers {
		names = append(names, "headers")
	}
	if p.time != o.time {
		names = append(names, "timestamp")
	}
	return names
}

// resembles reports whether two records that differ share any part that carries
// evidence. It is asked only where the place in the sequence speaks too.
func (p parts) resembles(o parts) bool {
	return p.key == o.key && p.key > empty ||
		p.value == o.value && p.value > empty ||
		p.headers == o.headers && p.headers > empty ||
		p.time == o.time && p.time != untimed
}

// copies reports whether p is so like o that it must have been made of it, also
// where nothing after it confirms the place: the same kept timestamp and at
// least one other part, or the same key and a value that says something.
func (p parts) copies(o parts) bool {
	if p.time == o.time && p.time != untimed {
		return p.key == o.key || p.value == o.value || p.headers == o.headers
	}
	return p.value == o.value && p.value > empty && p.key == o.key
}
