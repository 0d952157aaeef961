package flinkstate

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// uidHash returns the operator id, as 32 hex digits, that Flink makes of a
// user's uid: murmur3_128 with seed 0 over its UTF-8 bytes
// (StreamGraphHasherV2.generateUserSpecifiedHash with Guava's Hashing).
func uidHash(uid string) string {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

	var h1, h2 uint64
	b := []byte(uid)
	for ; len(b) >= 16; b = b[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(b))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(b[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	h1 ^= mix1(binary.LittleEndian.Uint64(tail[:]))
	h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))

	h1 ^= uint64(len(uid))
	h2 ^= uint64(len(uid))
	h1 += h2
	h2 += h1
	h1, h2 = murmurFinal(h1), murmurFinal(h2)
	h1 += h2
	h2 += h1

	var sum [16]byte
	binary.LittleEndian.PutUint64(sum[:], h1)
	binary.LittleEndian.PutUint64(sum[8:], h2)
	return hex.EncodeToString(sum[:])
}

func murmurFinal(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	k ^= k >> 33
	k *= 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
