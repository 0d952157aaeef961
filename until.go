package flinkmm2

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/proof"
)

// Until says how far a watch goes. The zero value is the source's end as it is
// when the watch begins. Values can be compared; their text stands in a Proof and
// is what ParseUntil reads.
type Until struct {
	kind    untilKind
	records int64
}

type untilKind uint8

const (
	untilEnd untilKind = iota
	untilFirst
	untilRecords
	untilCaughtUp
)

// UntilFirst is until the first so many readable records of each partition from C
// on are on the target, or passed over: with one, the boundary and no more. Where
// a partition has fewer, it is until the source's end as it is when the watch
// begins. What the target holds behind these records is not looked at, so the
// proof says nothing of it.
func UntilFirst(records int64) Until { return Until{untilFirst, records} }

// UntilRecords is until so many readable records, of all partitions of the watch
// together, are on the target or passed over, and of each partition that has
// records the first. A partition without any on the target is waited for as long
// as Within allows. Each is proven up to where it then stands, and the proof says
// nothing of what follows there.
func UntilRecords(records int64) Until { return Until{untilRecords, records} }

// UntilCaughtUp is until the lag is gone: the source's end is measured again
// until the target has everything up to it. A source that is written without a
// pause is caught up with when the target had all up to an end within ten seconds
// of when this was measured. A target that does not come so near is not proven
// when Within has passed, and the Proof says how far it is behind.
func UntilCaughtUp() Until { return Until{kind: untilCaughtUp} }

// String returns "end", "boundary" for the first record, "boundary=N",
// "records=N" or "caught-up".
func (u Until) String() string {
	switch {
	case u.kind == untilFirst && u.records == 1:
		return "boundary"
	case u.kind == untilFirst:
		return fmt.Sprintf("boundary=%d", u.records)
	case u.kind == untilRecords:
		return fmt.Sprintf("records=%d", u.records)
	case u.kind == untilCaughtUp:
		return "caught-up"
	}
	return "end"
}

// ParseUntil reads what String writes.
func ParseUntil(text string) (Until, error) {
	name, number, numbered := strings.Cut(text, "=")
	switch {
	case text == "end":
		return Until{}, nil
	case text == "boundary":
		return UntilFirst(1), nil
	case text == "caught-up":
		return UntilCaughtUp(), nil
	case numbered && (name == "boundary" || name == "records"):
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n <= 0 {
			return Until{}, fmt.Errorf("until %q: want a number of records above 0 after %s=", text, name)
		}
		if name == "boundary" {
			return UntilFirst(n), nil
		}
		return UntilRecords(n), nil
	}
	return Until{}, fmt.Errorf("until %q: want end, boundary, boundary=N, records=N or caught-up", text)
}

// MarshalText writes what String returns.
func (u Until) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads as ParseUntil does.
func (u *Until) UnmarshalText(text []byte) (err error) {
	*u, err = ParseUntil(string(text))
	return err
}

func (u Until) proof() proof.Until {
	switch u.kind {
	case untilFirst:
		return proof.UntilFirst(u.records)
	case untilRecords:
		return proof.UntilRecords(u.records)
	case untilCaughtUp:
		return proof.UntilCaughtUp()
	case untilEnd:
	}
	return proof.Until{}
}
