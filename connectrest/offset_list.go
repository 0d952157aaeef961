package connectrest

import "encoding/json"

// offsetList keeps entries. Their text lies in few blocks, which the entries of the
// list point into, and the list is made once its length is known: so that neither
// leaves several times its size to collect.
type offsetList struct {
	blocks [][]byte
	sizes  []entrySizes
}

// entrySizes are the lengths of an entry's texts. Both lie in the same block.
type entrySizes struct{ partition, offset int32 }

const blockSize = 64 << 10

func (l *offsetList) reset() { l.blocks, l.sizes = nil, nil }

func (l *offsetList) take(o Offset) error {
	n, last := len(o.Partition)+len(o.Offset), len(l.blocks)-1
	if last < 0 || cap(l.blocks[last])-len(l.blocks[last]) < n {
		l.blocks = append(l.blocks, make([]byte, 0, max(n, blockSize)))
		last++
	}
	l.blocks[last] = append(append(l.blocks[last], o.Partition...), o.Offset...)
	l.sizes = append(l.sizes, entrySizes{int32(len(o.Partition)), int32(len(o.Offset))})
	return nil
}

// list returns the entries, none as an empty list.
func (l *offsetList) list() []Offset {
	list := make([]Offset, len(l.sizes))
	block, at := 0, 0
	text := func(n int32) json.RawMessage {
		if n == 0 {
			return nil
		}
		t := l.blocks[block][at : at+int(n) : at+int(n)]
		at += int(n)
		return t
	}
	for i, z := range l.sizes {
		if n := int(z.partition) + int(z.offset); n > 0 && at+n > len(l.blocks[block]) {
			block, at = block+1, 0
		}
		list[i] = Offset{Partition: text(z.partition), Offset: text(z.offset)}
	}
	return list
}
