package proof

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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

// sum is the first 16 bytes of a keyed SHA-256. Two different records with
// equal sums could hide a loss; among 10^9 records the chance is below 10^-20.
type sum [16]byte

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
	key  [16]byte
	seed maphash.Seed
	buf  []byte
}

// NewDigester returns a Digester with a key of its own.
func NewDigester() *Digester {
	d := &Digester{seed: maphash.MakeSeed()}
	_, _ = rand.Read(d.key[:]) // never fails (crypto/rand)
	return d
}

// Clone returns a Digester for another goroutine, whose prints equal d's.
func (d *Digester) Clone() *Digester { return &Digester{key: d.key, seed: d.seed} }

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
	b := append(d.buf[:0], d.key[:]...)

	b = appendBytes(b, r.Key)
	p.parts.key = d.part(r.Key)
	b = appendBytes(b, r.Value)
	p.parts.value = narrow(d.part(r.Value))

	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Headers)))
	from := len(b)
	for i := range r.Headers {
		b = binary.BigEndian.AppendUint32(b, uint32(len(r.Headers[i].Key)))
		b = append(b, r.Headers[i].Key...)
		b = appendBytes(b, r.Headers[i].Value)
	}
	if len(r.Headers) > 0 {
		p.parts.headers = narrow(d.part(b[from:]))
	}

	if ts == Kept {
		p.parts.time = r.Timestamp.UnixMilli()
		b = binary.BigEndian.AppendUint64(b, uint64(p.parts.time))
	}
	d.buf = b
	full := sha256.Sum256(b)
	p.sum = sum(full[:len(p.sum)])
	return p
}

// appendBytes writes a length of -1 for null, so that no two records have the
// same encoding.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

func (d *Digester) part(b []byte) uint64 {
	switch {
	case b == nil:
		return null
	case len(b) == 0:
		return empty
	}
	return max(maphash.Bytes(d.seed, b), empty+1)
}

func narrow(h uint64) uint32 {
	if h <= empty {
		return uint32(h)
	}
	return max(uint32(h), empty+1)
}

func (s sum) String() string { return hex.EncodeToString(s[:8]) }

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
