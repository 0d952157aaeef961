package proof

import (
	"cmp"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Counts says what became of the records of a partition. Source records are
// those that the target must have: Source = Copied + Missing + Altered +
// Unprovable + Pending. Target records are those that were read: Target =
// Copied + Altered + Repeated + Early + Foreign + Older + Later + Undecided.
type Counts struct {
	Source     int64 `json:"source"`     // readable source records from C to the end
	Target     int64 `json:"target"`     // readable target records from the recorded end on
	Copied     int64 `json:"copied"`     // source records that the target has
	Missing    int64 `json:"missing"`    // passed over and never seen
	Altered    int64 `json:"altered"`    // passed over, with a record in their place that differs
	OutOfOrder int64 `json:"outOfOrder"` // those of Copied that came after a record that follows them
	Unprovable int64 `json:"unprovable"` // what retention or compaction may have taken
	Pending    int64 `json:"pending"`    // not there yet
	Repeated   int64 `json:"repeated"`   // target records that the target already had
	Early      int64 `json:"early"`      // target records from before C
	Foreign    int64 `json:"foreign"`    // target records of other writers, and copies of what expired on the source
	Older      int64 `json:"older"`      // target records that equal nothing in the window, when the source has more than that: repeats of what is older, or foreign
	Later      int64 `json:"later"`      // target records from beyond the end
	Undecided  int64 `json:"undecided"`  // target records whose source record may not be read yet
}

// Plus adds up the counts of two partitions.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		Source: c.Source + o.Source, Target: c.Target + o.Target,
		Copied: c.Copied + o.Copied, Missing: c.Missing + o.Missing, Altered: c.Altered + o.Altered,
		OutOfOrder: c.OutOfOrder + o.OutOfOrder, Unprovable: c.Unprovable + o.Unprovable, Pending: c.Pending + o.Pending,
		Repeated: c.Repeated + o.Repeated, Early: c.Early + o.Early, Foreign: c.Foreign + o.Foreign,
		Older: c.Older + o.Older, Later: c.Later + o.Later, Undecided: c.Undecided + o.Undecided,
	}
}

// Faults returns how many records are not as they must be. Repeats are none:
// the copier delivers at least once.
func (c Counts) Faults() int64 { return c.Missing + c.Altered + c.OutOfOrder + c.Early }

// Fault says what is wrong with a record.
type Fault string

// What can be wrong with a record. Repeated, Foreign and Older are no reason to
// fail a proof.
const (
	Missing    Fault = "missing"
	Altered    Fault = "altered"
	OutOfOrder Fault = "out-of-order"
	Early      Fault = "early"
	Unprovable Fault = "unprovable"
	Repeated   Fault = "repeated"
	Foreign    Fault = "foreign"
	Older      Fault = "older"
)

// Example names one record, and nothing of what it holds. Digests are keyed
// anew by each run: they can be compared within one report.
type Example struct {
	Fault        Fault                `json:"fault"`
	Source       offsetmap.NextOffset `json:"source"`            // the source record's offset; null when there is none
	Target       offsetmap.NextOffset `json:"target"`            // the target record's offset; null when there is none, or it is not known
	Differs      []string             `json:"differs,omitempty"` // altered: key, value, headers, timestamp
	SourceDigest string               `json:"sourceDigest,omitempty"`
	TargetDigest string               `json:"targetDigest,omitempty"`
}

// StartFault says what is wrong with the first record that was copied.
type StartFault string

// A copier that starts right has no fault: its first record is the source's at
// C, or the first readable one after it.
const (
	TooEarly StartFault = "too-early" // it is from before C
	TooLate  StartFault = "too-late"  // it follows the first that was due
)

// First is the first source record that the target has.
type First struct {
	Source offsetmap.NextOffset `json:"source"` // null when the target has none yet
	Target offsetmap.NextOffset `json:"target"`
	Fault  StartFault           `json:"fault,omitempty"`
}

// Result is what a comparison found.
type Result struct {
	Counts
	First    First
	Waits    offsetmap.NextOffset // the first source record that is pending
	Lag      int64                // readable source records that the target has not reached, those beyond the end included
	Examples []Example
}

// Result ends the comparison and returns what it found. Nothing may be fed
// after it; calling it again returns the same.
func (c *Comparer) Result() Result {
	if !c.done {
		c.done = true
		c.finish()
	}
	return Result{
		Counts:   c.Counts(),
		First:    c.first,
		Waits:    c.waits,
		Lag:      int64(c.Ahead()),
		Examples: c.examples.sorted(),
	}
}

// Counts returns the counts so far.
func (c *Comparer) Counts() Counts {
	n := &c.tally.byState
	return Counts{
		Source: n[window][open] + n[window][copied] + n[window][gap] + n[window][altered] + n[window][hidden], Target: c.tally.read,
		Copied: n[window][copied], Missing: n[window][gap], Altered: n[window][altered], OutOfOrder: c.tally.outOfOrder[window],
		Unprovable: n[window][hidden], Pending: n[window][open],
		Repeated: c.tally.repeated[window], Early: c.tally.early,
		Foreign: c.tally.others[aForeign], Older: c.tally.others[anOlder],
		Later:     n[later][copied] + n[later][altered] + c.tally.repeated[later],
		Undecided: int64(c.Waiting()),
	}
}

// finish judges what stands at the end, and parts the gaps into what is missing
// and what cannot be proven.
func (c *Comparer) finish() {
	if n := len(c.pairs); n > 0 {
		c.passOverAlone(c.pairs[n-1].position + 1)
	}
	for i := c.head; i < c.src.len(); i++ {
		c.cover(i)
	}
	for id := c.gaps.oldest; id != none; id = c.gaps.at(id).next {
		c.conclude(id)
	}
	if c.compacted { // the record that replaced them was not passed over
		c.tally.add(window, gap, -c.marks.unfound)
		c.tally.add(window, hidden, c.marks.unfound)
	}
	due := c.head
	for i := c.head; i < c.Required() && c.hole > 0; i++ {
		c.set(i, open, hidden)
		c.hole--
		c.name(Unprovable, c.src.record(i), unknownOffset)
		due++
	}
	if due < c.Required() {
		c.waits = place(c.src.offsets.at(due))
	}
}

// conclude says what a record that was passed over is, once nothing more is
// held to it. In a compacted topic, whose records all have keys, a tombstone or
// a record whose key came again may have been there; and before all of the
// source was seen, any.
func (c *Comparer) conclude(id int32) {
	p := c.gaps.at(id)
	if p.state == gap && c.compacted && p.parts.key != null && (p.covered || p.parts.value == null || !c.done) {
		c.change(id, hidden)
	}
	if !c.names(p.position) {
		return
	}
	switch p.state {
	case gap:
		c.name(Missing, p.record(), unknownOffset)
	case hidden:
		c.name(Unprovable, p.record(), unknownOffset)
	}
}

// zone parts the records that the target must have from those after them.
type zone uint8

const (
	window zone = iota
	later
	zones
)

// kind parts the records that equal no source record in the window.
type kind uint8

const (
	aForeign kind = iota
	anOlder
	kinds
)

func (o other) kind() kind {
	if o.older {
		return anOlder
	}
	return aForeign
}

// tally counts as the comparison goes on.
type tally struct {
	byState    [zones][states]int64
	repeated   [zones]int64
	read       int64
	early      int64
	others     [kinds]int64 // but those that stand for altered ones
	outOfOrder [zones]int64
}

func (t *tally) add(z zone, s state, n int64) { t.byState[z][s] += n }

func (t *tally) moved() bool {
	for z := range t.byState {
		if t.byState[z][copied] > 0 {
			return true
		}
	}
	return t.early > 0
}

const (
	defaultExamples = 10
	unknownOffset   = -1
)

// place is the offset of a record; a negative one is none.
func place(offset int64) offsetmap.NextOffset {
	o, _ := offsetmap.Next(offset)
	return o
}

// name makes an example of a source record.
func (c *Comparer) name(f Fault, p Print, target int64) {
	c.examples.add(f, func() Example {
		return Example{Fault: f, Source: place(p.offset), Target: place(target), SourceDigest: p.sum.String()}
	})
}

// faultOrder is the order in which a reader wants to see examples.
var faultOrder = []Fault{Missing, Altered, OutOfOrder, Early, Unprovable, Repeated, Foreign, Older}

// examples keeps the first records of each fault.
type examples struct {
	most  int
	named map[Fault][]Example
}

func (x *examples) add(f Fault, e func() Example) {
	if len(x.named[f]) < x.most {
		x.named[f] = append(x.named[f], e())
	}
}

func (x *examples) remove(f Fault, which func(Example) bool) {
	x.named[f] = slices.DeleteFunc(x.named[f], which)
}

func (x *examples) sorted() []Example {
	var all []Example
	for _, f := range faultOrder {
		all = append(all, slices.SortedStableFunc(slices.Values(x.named[f]), func(a, b Example) int {
			return cmp.Or(a.Source.Compare(b.Source), a.Target.Compare(b.Target))
		})...)
	}
	return all
}
