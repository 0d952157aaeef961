package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// ErrDuplicatePartition says that one partition stands twice in a list of
// offsets. A worker would take the last without a word.
var ErrDuplicatePartition = errors.New("partition stands twice")

// offsetTable finds the entry of a partition in a list of offsets. It holds
// hashes and places and no copy of any text, so that a list of 100,000 entries
// is not in memory twice.
type offsetTable struct {
	offsets []Offset
	seed    maphash.Seed
	// slots hold, above, half of the hash of a canonical partition, and below 1 + its
	// entry; 0 where none is.
	slots []uint64
	a, b  []byte // scratch of a lookup
}

// newOffsetTable fails where a partition is no JSON, or stands twice.
func newOffsetTable(offsets []Offset) (*offsetTable, error) {
	return tableOf(offsets, func(o Offset, scratch []byte) ([]byte, error) {
		p, err := appendCanonical(scratch, o.Partition)
		if err != nil {
			return nil, fmt.Errorf("partition: %w", err)
		}
		return p, nil
	})
}

// newWritableTable fails also where an entry cannot be written: its partition
// must be an object, its offset an object or an explicit null.
func newWritableTable(offsets []Offset) (*offsetTable, error) {
	return tableOf(offsets, func(o Offset, scratch []byte) ([]byte, error) {
		p, err := appendObject(scratch, o.Partition)
		if err != nil {
			return nil, fmt.Errorf("partition %s: %w", entryText(o.Partition), err)
		}
		if len(o.Offset) == 0 {
			return nil, fmt.Errorf("partition %s: the offset is not set; write null to delete what is stored", entryText(o.Partition))
		}
		if o.IsNull() {
			return p, nil
		}
		if err = checkObject(o.Offset); err != nil {
			return nil, fmt.Errorf("partition %s: offset %s: %w", entryText(o.Partition), entryText(o.Offset), err)
		}
		return p, nil
	})
}

// appendObject is appendCanonical for what must be an object without a key
// twice.
func appendObject(dst []byte, raw json.RawMessage) ([]byte, error) {
	if b, ok := appendPlain(dst, raw); ok {
		return b, nil
	}
	if _, err := objectMembers(raw); err != nil {
		return dst, err
	}
	return appendCanonical(dst, raw)
}

// checkObject reports what appendObject would.
func checkObject(raw json.RawMessage) error {
	var members [maxPlain]plainMember
	if m, ok := plainMembers(members[:0], raw); ok && !repeated(m) {
		return nil
	}
	_, err := objectMembers(raw)
	return err
}

// plainAscending reports that every entry can be written and that no partition
// stands twice, without looking anything up: the partitions are plain objects of the
// same members, each after the one before by its last member, then by the one before
// that. A list that is sorted by topic and partition is so. Of every other list it
// says nothing.
//
// It looks at a large list by all processors at once: every entry must have been
// looked at before the first is sent, and until then the worker waits.
func plainAscending(offsets []Offset) bool {
	const enough = 10_000 // for a goroutine to be worth it
	stretch := max(enough, (len(offsets)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	if len(offsets) <= stretch {
		return ascends(offsets)
	}
	var wg sync.WaitGroup
	var not atomic.Bool
	for start := 0; start < len(offsets); start += stretch {
		// Each stretch begins with the last entry of the one before.
		part := offsets[max(start-1, 0):min(start+stretch, len(offsets))]
		wg.Go(func() {
			if !ascends(part) {
				not.Store(true)
			}
		})
	}
	wg.Wait()
	return !not.Load()
}

func ascends(offsets []Offset) bool {
	var a, b [maxPlain]plainMember
	last, next := a[:0], b[:0]
	for i, o := range offsets {
		var ok bool
		if next, ok = plainMembers(next[:0], o.Partition); !ok || repeated(next) {
			return false
		}
		sortMembers(next)
		if i > 0 && !after(next, last) || len(o.Offset) == 0 || !o.IsNull() && checkObject(o.Offset) != nil {
			return false
		}
		last, next = next, last
	}
	return true
}

// after reports whether m comes after prior in the order of plainAscending.
func after(m, prior []plainMember) bool {
	if len(m) != len(prior) {
		return false
	}
	order := 0
	for i := range slices.Backward(m) {
		v, w := m[i].value, prior[i].value
		number := isDigit(v[0])
		if !bytes.Equal(m[i].key, prior[i].key) || number != isDigit(w[0]) || !number && (v[0] != '"' || w[0] != '"') {
			return false
		}
		switch {
		case order != 0:
		case number && len(v) != len(w):
			order = len(v) - len(w)
		default:
			order = bytes.Compare(v, w)
		}
	}
	return order > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func tableOf(offsets []Offset, canonical func(Offset, []byte) ([]byte, error)) (*offsetTable, error) {
	t := &offsetTable{offsets: offsets, seed: maphash.MakeSeed(), slots: make([]uint64, 2<<bits.Len(uint(len(offsets))))}
	var p []byte
	for i, o := range offsets {
		var err error
		if p, err = canonical(o, p[:0]); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		hash := maphash.Bytes(t.seed, p)
		other, slot := t.at(p, hash)
		if other >= 0 {
			return nil, fmt.Errorf("entry %d: %w: %s", i, ErrDuplicatePartition, entryText(p))
		}
		t.slots[slot] = hash>>32<<32 | uint64(i+1)
	}
	return t, nil
}

// at returns the entry of a canonical partition, or -1 and the slot for it.
func (t *offsetTable) at(p []byte, hash uint64) (entry, slot int) {
	mask := uint64(len(t.slots) - 1)
	for s := hash & mask; ; s = (s + 1) & mask {
		if t.slots[s] == 0 {
			return -1, int(s)
		}
		if t.slots[s]>>32 == hash>>32 {
			i := int(t.slots[s]&math.MaxUint32) - 1
			// It was canonical when it came into the table, so it still is.
			t.b, _ = appendCanonical(t.b[:0], t.offsets[i].Partition)
			if bytes.Equal(t.b, p) {
				return i, int(s)
			}
		}
	}
}

// offsetOf returns what is there for the partition of entry i of another table,
// as offsetText does; "null" where nothing is.
func (t *offsetTable) offsetOf(other *offsetTable, i int) (text []byte, err error) {
	found := t.entryOf(other, i)
	if found < 0 {
		return []byte("null"), nil
	}
	return t.offsetText(t.a[:0], found)
}

// offsetText appends the canonical offset of entry i.
func (t *offsetTable) offsetText(dst []byte, i int) ([]byte, error) {
	if t.offsets[i].IsNull() {
		return append(dst, "null"...), nil
	}
	b, err := appendCanonical(dst, t.offsets[i].Offset)
	if err != nil {
		return dst, fmt.Errorf("entry %d: partition %s: offset: %w", i, entryText(t.offsets[i].Partition), err)
	}
	return b, nil
}

// entryOf returns the entry for the partition of entry i of another table, or -1.
func (t *offsetTable) entryOf(other *offsetTable, i int) int {
	t.a, _ = appendCanonical(t.a[:0], other.offsets[i].Partition)
	return t.find(t.a)
}

// find returns the entry of a canonical partition, or -1.
func (t *offsetTable) find(p []byte) int {
	i, _ := t.at(p, maphash.Bytes(t.seed, p))
	return i
}

// DiffOffsets compares two sets of offsets: each partition once, in any order
// and with its keys in any order, an entry with a null offset as none. It
// returns nil when they are equal, else an error that counts the partitions that
// are missing in got, not wanted there, or stored with another offset, and
// names the first of them.
//
// Both are all offsets of a connector: after a change of some partitions, the
// others are not wanted in got. [Client.AlterOffsetsInParts] reads back what it
// wrote, whatever else is stored.
func DiffOffsets(want, got []Offset) error {
	w, err := newOffsetTable(want)
	if err != nil {
		return fmt.Errorf("wanted offsets: %w", err)
	}
	g, err := newOffsetTable(got)
	if err != nil {
		return fmt.Errorf("stored offsets: %w", err)
	}
	var d differences
	var text []byte
	for i := range want {
		if text, err = w.offsetText(text[:0], i); err != nil {
			return fmt.Errorf("wanted offsets: %w", err)
		}
		stored, err := g.offsetOf(w, i)
		switch {
		case err != nil:
			return fmt.Errorf("stored offsets: %w", err)
		case bytes.Equal(stored, text):
		case string(text) == "null":
			d.add(want[i], " is %s, want none", stored)
		case string(stored) == "null":
			d.add(want[i], " is missing, want %s", text)
		default:
			d.add(want[i], " is %s, want %s", stored, text)
		}
	}
	for i := range got {
		if text, err = g.offsetText(text[:0], i); err != nil {
			return fmt.Errorf("stored offsets: %w", err)
		}
		if string(text) != "null" && w.entryOf(g, i) < 0 {
			d.add(got[i], " is %s, want none", text)
		}
	}
	return d.err()
}

// storedCheck compares what is stored with what is wanted, entry by entry, so that
// no list of what is stored need be kept. What else is stored does not matter.
type storedCheck struct {
	want *offsetTable
	// seen are the entries of want that an offset is stored for, equal or not.
	seen, equal []bool
	diff        differences
	twice       error
	a, b        []byte
}

func (c *storedCheck) reset() {
	n := len(c.want.offsets)
	*c = storedCheck{want: c.want, seen: make([]bool, n), equal: make([]bool, n)}
}

func (c *storedCheck) take(o Offset) error {
	var err error
	if c.a, err = appendCanonical(c.a[:0], o.Partition); err != nil {
		return fmt.Errorf("%w: partition: %w", restapi.ErrShape, err)
	}
	i := c.want.find(c.a)
	switch {
	case i < 0:
		return nil
	case c.seen[i]:
		c.twice = fmt.Errorf("%w: %s", ErrDuplicatePartition, entryText(c.a))
		c.equal[i] = false // whichever of them counts
		return nil
	}
	c.seen[i] = true
	stored := []byte("null")
	if !o.IsNull() {
		if c.a, err = appendCanonical(c.a[:0], o.Offset); err != nil {
			return fmt.Errorf("%w: offset: %w", restapi.ErrShape, err)
		}
		stored = c.a
	}
	return c.compare(i, stored)
}

func (c *storedCheck) compare(i int, stored []byte) error {
	var err error
	if c.b, err = c.want.offsetText(c.b[:0], i); err != nil {
		return err
	}
	if c.equal[i] = bytes.Equal(stored, c.b); !c.equal[i] {
		c.diff.add(c.want.offsets[i], " is %s, want %s", stored, c.b)
	}
	return nil
}

// lacks says what is not stored as wanted, once every stored entry was taken.
func (c *storedCheck) lacks() error {
	if c.twice != nil {
		return c.twice
	}
	for i, seen := range c.seen {
		if seen {
			continue
		}
		c.seen[i] = true
		if err := c.compare(i, []byte("null")); err != nil {
			return err
		}
	}
	return c.diff.err()
}

// maxEntryText bounds what a text shows of one partition or offset, in bytes: both
// are of another's making.
const maxEntryText = 256

func entryText(b []byte) string { return restapi.Bound(string(b), maxEntryText) }

// differences keeps the first few of many, by their text.
type differences struct {
	n         int
	first     []string
	partition []byte // of the last one, for its memory
}

// add takes one more. Of a hundred thousand, at each of many reads, few are shown,
// so no text is made of one that sorts behind them by its partition alone.
func (d *differences) add(o Offset, format string, entries ...[]byte) {
	const shown = 5
	d.n++
	p, _ := appendCanonical(d.partition[:0], o.Partition) // what stands in a table has one
	d.partition = p
	if len(d.first) == shown && len(p) <= maxEntryText && string(p) > d.first[shown-1] {
		return
	}
	texts := make([]any, len(entries))
	for i, e := range entries {
		texts[i] = entryText(e)
	}
	line := entryText(p) + fmt.Sprintf(format, texts...)
	at, _ := slices.BinarySearch(d.first, line)
	if at == shown {
		return
	}
	d.first = slices.Insert(d.first[:min(len(d.first), shown-1)], min(at, len(d.first)), line)
}

func (d *differences) err() error {
	if d.n == 0 {
		return nil
	}
	s := strings.Join(d.first, ", ")
	if d.n > len(d.first) {
		s += fmt.Sprintf(", and %d more", d.n-len(d.first))
	}
	return fmt.Errorf("partitions that differ: %d: %s", d.n, s)
}
