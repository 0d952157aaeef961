package flinkstate

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/snappy"
)

// snappyChunks returns chunks that hold b, as xerial's SnappyFramedOutputStream
// writes them: without the identifier of the stream, which stands at its start.
func snappyChunks(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		n := min(len(b), snappyBlock)
		out = appendSnappyChunk(out, b[:n])
		b = b[n:]
	}
	return out
}

func appendSnappyChunk(out, b []byte) []byte {
	kind, body := byte(chunkCompressed), snappy.Encode(nil, b)
	if len(body) >= len(b) {
		kind, body = chunkUncompressed, b
	}
	n := len(body) + 4
	out = append(out, kind, byte(n), byte(n>>8), byte(n>>16))
	out = binary.LittleEndian.AppendUint32(out, snappySum(b))
	return append(out, body...)
}

// snappySum is the checksum of a chunk's content, masked as the format has it.
func snappySum(b []byte) uint32 {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}
