package delivery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/twmb/franz-go/pkg/kgo"
)

// digest stands for bytes under the key of one run. Null and empty have digests of
// their own.
type digest [16]byte

// String is what a report shows of it: 64 bits.
func (d digest) String() string { return hex.EncodeToString(d[:8]) }

// hasher makes digests that cannot be traced back to a short key or value by trying.
// It is for one goroutine.
type hasher struct{ mac hash.Hash }

func newKey() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails, and ends the program if it did
	return key
}

func newHasher(key []byte) hasher { return hasher{hmac.New(sha256.New, key)} }

func (h hasher) sum() (d digest) {
	var full [sha256.Size]byte
	copy(d[:], h.mac.Sum(full[:0]))
	return d
}

func (h hasher) bytes(b []byte) digest {
	h.mac.Reset()
	h.write(b)
	return h.sum()
}

// write puts the length in front, and -1 for null, so that no two lists of parts are
// written alike.
func (h hasher) write(b []byte) {
	var n [8]byte
	length := int64(len(b))
	if b == nil {
		length = -1
	}
	binary.BigEndian.PutUint64(n[:], uint64(length))
	h.mac.Write(n[:])
	h.mac.Write(b)
}

func (h hasher) headers(hs []kgo.RecordHeader) digest {
	h.mac.Reset()
	for i := range hs {
		h.write([]byte(hs[i].Key))
		h.write(hs[i].Value)
	}
	return h.sum()
}

// content is what a record carries. It is a key of maps.
type content struct {
	value, key, headers  digest
	time                 int64 // milliseconds; negative: the record has none
	withKey, withHeaders bool
}

func (h hasher) content(r *kgo.Record, value digest) content {
	return content{
		value: value, key: h.bytes(r.Key), headers: h.headers(r.Headers), time: r.Timestamp.UnixMilli(),
		withKey: r.Key != nil, withHeaders: len(r.Headers) > 0,
	}
}

// carry says which parts beside the value the sink has carried over.
type carry struct{ time, key, headers bool }

// class is a content without the parts that are not carried: contents of one class
// cannot be told apart on the target.
func (c content) class(by carry) content {
	if !by.time || c.time < 0 { // a copy of a record without a time is stamped
		c.time = -1
	}
	if !by.key {
		c.key, c.withKey = digest{}, false
	}
	if !by.headers {
		c.headers, c.withHeaders = digest{}, false
	}
	return c
}

// classes counts contents by class.
func classes(counts map[content]int, by carry) map[content]int {
	out := make(map[content]int, len(counts))
	for c, n := range counts {
		out[c.class(by)] += n
	}
	return out
}
