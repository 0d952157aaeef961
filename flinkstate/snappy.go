package flinkstate

import (
	"encoding/binary"

	"github.com/klauspost/compress/snappy"
)

const (
	snappyStreamID = "\xff\x06\x00\x00sNaPpY"

	// A chunk holds at most 64 KiB, and one byte of Snappy becomes at most
	// 64/3 bytes (a copy of 64 bytes takes three).
	snappyBlock     = 1 << 16
	snappyExpansion = 22

	chunkCompressed   = 0x00
	chunkUncompressed = 0x01
	chunkSkippable    = 0x80 // and above
	chunkStreamID     = 0xff

	chunkWhat = "compressed state, Snappy chunk"
)

// snappyChunk appends to dst what the chunk at the cursor holds, after its
// checksum was compared. The format is that of xerial's SnappyFramedOutputStream
// (https://github.com/google/snappy/blob/main/framing_format.txt). Chunks
// without content append nothing.
func (c *cursor) snappyChunk(dst []byte) []byte {
	at := c.off
	head := c.take(4, chunkWhat)
	if head == nil {
		return dst
	}
	body := c.take(int(head[1])|int(head[2])<<8|int(head[3])<<16, chunkWhat)
	if c.err != nil {
		return dst
	}
	switch kind := head[0]; {
	case kind == chunkStreamID:
		if string(head)+string(body) != snappyStreamID {
			c.corrupt(at, chunkWhat, "not the identifier of a Snappy framing stream")
		}
		return dst
	case kind >= chunkSkippable:
		return dst
	case kind > chunkUncompressed:
		c.corrupt(at, chunkWhat, "type %#02x is not known and may not be skipped", kind)
		return dst
	case len(body) < 4:
		c.corrupt(at, chunkWhat, "%d bytes are too few for the checksum", len(body))
		return dst
	}
	sum, body := binary.LittleEndian.Uint32(body), body[4:]
	from := len(dst)
	if head[0] == chunkUncompressed {
		if len(body) > snappyBlock {
			c.corrupt(at, chunkWhat, "it holds %d bytes, at most %d are allowed", len(body), snappyBlock)
			return dst
		}
		dst = append(dst, body...)
	} else {
		// The decoder would take S2's long repeats as well, by which a few
		// bytes become many.
		n, err := snappy.DecodedLen(body)
		if most := min(snappyBlock, snappyExpansion*len(body)); err != nil || n > most {
			c.corrupt(at, chunkWhat, "a length of %d, but %d bytes hold at most %d", n, len(body), most)
			return dst
		}
		dst = append(dst, make([]byte, n)...)
		if _, err := snappy.Decode(dst[from:], body); err != nil {
			c.corrupt(at, chunkWhat, "not a Snappy block: %v", err)
			return dst[:from]
		}
	}
	if is := snappySum(dst[from:]); is != sum {
		c.corrupt(at, chunkWhat, "checksum %#08x, but the content has %#08x", sum, is)
		return dst[:from]
	}
	return dst
}

// snappySize returns how many bytes the chunks in b hold, as they say themselves
// and never more than they can. What is wrong with them is for snappyChunk to say.
func snappySize(b []byte) int {
	n := 0
	for len(b) >= 4 {
		kind, size := b[0], int(b[1])|int(b[2])<<8|int(b[3])<<16
		if size > len(b)-4 {
			break
		}
		body := b[4 : 4+size]
		b = b[4+size:]
		switch {
		case len(body) < 4:
		case kind == chunkUncompressed:
			n += min(len(body)-4, snappyBlock)
		case kind == chunkCompressed:
			if decoded, err := snappy.DecodedLen(body[4:]); err == nil {
				n += min(decoded, snappyBlock, snappyExpansion*len(body))
			}
		}
	}
	return n
}
