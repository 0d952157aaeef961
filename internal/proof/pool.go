package proof

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pool gives the memory of fetched batches back to the client: nothing of a
// record is kept once its print is made.
type pool struct {
	records, bytes sync.Pool
}

var (
	_ kgo.PoolRecords         = (*pool)(nil)
	_ kgo.PoolDecompressBytes = (*pool)(nil)
)

func (p *pool) GetRecords(n int) []kgo.Record { return get[kgo.Record](&p.records, n) }

func (p *pool) PutRecords(rs []kgo.Record) { p.records.Put(&rs) }

// GetDecompressBytes guesses that what is decompressed is four times as long.
func (p *pool) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	return get[byte](&p.bytes, 4*len(compressed))
}

func (p *pool) PutDecompressBytes(b []byte) { p.bytes.Put(&b) }

// get returns a slice with a capacity of at least n.
func get[T any](p *sync.Pool, n int) []T {
	if s, ok := p.Get().(*[]T); ok && cap(*s) >= n {
		return (*s)[:0]
	}
	return make([]T, 0, n)
}
