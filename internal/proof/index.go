package proof

// index finds the first of a range of positions with a sum: open addressing,
// linear probing. Positions with equal sums are chained, so a million equal
// records take one slot, and when the first of them is given up the next takes
// its place. The range moves up as it is asked for.
type index struct {
	slots    []slot
	used     int
	from, to int // positions that are indexed
	links    list[link]
}

// slot holds the first and the last position of a sum, as codes; 0 is free.
type slot struct{ first, last uint32 }

// link is what is kept of an indexed position.
type link struct {
	next    uint32 // the code of the next position with the same sum; 0 is none
	repeats uint32 // how often the target has repeated the record
}

// A code is a position modulo codes, plus one. No range is as long as that.
const codes = 1<<32 - 1

func encode(position int) uint32 { return uint32(position%codes) + 1 }

// decode returns the position that is nearest above the range's front.
func (x *index) decode(code uint32) int {
	ahead := (int(code) - 1 - x.from%codes + codes) % codes
	return x.from + ahead
}

// cover makes [from, to) the range. Neither end moves back.
func (x *index) cover(sums *list[sum], from, to int) {
	x.shrink(sums, from)
	for ; x.to < to; x.to++ {
		if 4*(x.used+1) > 3*len(x.slots) {
			x.grow(sums)
		}
		x.links.push(link{})
		at, found := x.slot(sums, *sums.at(x.to))
		code := encode(x.to)
		if !found {
			x.slots[at] = slot{code, code}
			x.used++
			continue
		}
		x.links.at(x.decode(x.slots[at].last)).next = code
		x.slots[at].last = code
	}
}

// shrink gives up positions below one.
func (x *index) shrink(sums *list[sum], below int) {
	if below <= x.from {
		return
	}
	if below >= x.to {
		clear(x.slots)
		x.used, x.from, x.to = 0, below, below
		x.links.startAt(below)
		return
	}
	for x.from < below {
		at, _ := x.slot(sums, *sums.at(x.from))
		if next := x.links.at(x.from).next; next != 0 {
			x.slots[at].first = next
		} else {
			x.free(sums, at)
		}
		x.from++
	}
	x.links.drop(below)
}

func (x *index) find(sums *list[sum], want sum) (int, bool) {
	if x.used == 0 {
		return 0, false
	}
	at, found := x.slot(sums, want)
	if !found {
		return 0, false
	}
	return x.decode(x.slots[at].first), true
}

// slot returns where the sum is, or where it would be put.
func (x *index) slot(sums *list[sum], want sum) (int, bool) {
	mask := len(x.slots) - 1
	for i := home(want, mask); ; i = (i + 1) & mask {
		switch first := x.slots[i].first; {
		case first == 0:
			return i, false
		case *sums.at(x.decode(first)) == want:
			return i, true
		}
	}
}

func home(s sum, mask int) int { return int(s.b & uint64(mask)) }

// free empties a slot, and moves up what was put behind it because it was taken.
func (x *index) free(sums *list[sum], at int) {
	mask := len(x.slots) - 1
	for i := (at + 1) & mask; x.slots[i].first != 0; i = (i + 1) & mask {
		wants := home(*sums.at(x.decode(x.slots[i].first)), mask)
		if (i-wants)&mask >= (i-at)&mask {
			x.slots[at] = x.slots[i]
			at = i
		}
	}
	x.slots[at] = slot{}
	x.used--
}

func (x *index) grow(sums *list[sum]) {
	old := x.slots
	x.slots = make([]slot, max(16, 2*len(old)))
	for _, s := range old {
		if s.first != 0 {
			at, _ := x.slot(sums, *sums.at(x.decode(s.first)))
			x.slots[at] = s
		}
	}
}
