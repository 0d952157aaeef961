package offsetmap_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestNoneIsNotZero(t *testing.T) {
	if none == next(0) || noSource == source(0) {
		t.Error("none equals 0")
	}
	if !none.IsNone() || next(0).IsNone() || !noSource.IsNone() || source(0).IsNone() {
		t.Error("IsNone mixes none and 0")
	}
	if v, ok := none.Value(); ok {
		t.Errorf("none has the value %d", v)
	}
	if v, ok := noSource.Value(); ok {
		t.Errorf("none has the value %d", v)
	}
	if v, ok := next(0).Value(); !ok || v != 0 {
		t.Errorf("0 has the value %d, %t", v, ok)
	}
	if v, ok := source(0).Value(); !ok || v != 0 {
		t.Errorf("0 has the value %d, %t", v, ok)
	}
	diff(t, []string{"none", "0", "none", "0"}, []string{none.String(), next(0).String(), noSource.String(), source(0).String()})
}

func TestMarkersAreNoOffsets(t *testing.T) {
	for _, v := range []int64{-1, -2, -3, -7, -915623761773, math.MinInt64} {
		if c, err := offsetmap.Next(v); !errors.Is(err, offsetmap.ErrOffset) || c != none {
			t.Errorf("Next(%d) = %v, %v, want none and an ErrOffset", v, c, err)
		}
		if m, err := offsetmap.Source(v); !errors.Is(err, offsetmap.ErrOffset) || m != noSource {
			t.Errorf("Source(%d) = %v, %v, want none and an ErrOffset", v, m, err)
		}
	}
}

func TestNextOfStoredOffsetIsOneMore(t *testing.T) {
	for m, want := range map[int64]int64{0: 1, 999: 1000, math.MaxInt64 - 1: math.MaxInt64} {
		if got := source(m).Next(); got != next(want) {
			t.Errorf("after %d comes %s, want %d", m, got, want)
		}
	}
	if got := noSource.Next(); got != none {
		t.Errorf("after none comes %s", got)
	}
	if got := source(math.MaxInt64).Next(); got != none {
		t.Errorf("the largest number has the successor %s", got)
	}
}

func TestOffsetsCompareByNumberWithNoneFirst(t *testing.T) {
	order := []offsetmap.NextOffset{none, next(0), next(1), next(math.MaxInt64)}
	sources := []offsetmap.SourceOffset{noSource, source(0), source(1), source(math.MaxInt64)}
	for i := range order {
		for j := range order {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := order[i].Compare(order[j]); got != want {
				t.Errorf("Compare(%s, %s) = %d, want %d", order[i], order[j], got, want)
			}
			if got := sources[i].Compare(sources[j]); got != want {
				t.Errorf("Compare(%s, %s) = %d, want %d", sources[i], sources[j], got, want)
			}
		}
	}
}

func TestDifferenceWithNoneIsNoNumber(t *testing.T) {
	for _, c := range []struct {
		a, b offsetmap.NextOffset
		want int64
		ok   bool
	}{
		{next(10), next(4), 6, true},
		{next(4), next(10), -6, true},
		{next(0), next(0), 0, true},
		{next(math.MaxInt64), next(0), math.MaxInt64, true},
		{next(0), next(math.MaxInt64), -math.MaxInt64, true},
		{none, next(4), 0, false},
		{next(4), none, 0, false},
		{none, none, 0, false},
	} {
		if got, ok := c.a.Sub(c.b); got != c.want || ok != c.ok {
			t.Errorf("%s - %s = %d, %t, want %d, %t", c.a, c.b, got, ok, c.want, c.ok)
		}
	}
}

func TestOffsetJSON(t *testing.T) {
	for text, want := range map[string]offsetmap.NextOffset{
		"null": none, "0": next(0), "1": next(1), "9007199254740993": next(9007199254740993),
		"9223372036854775807": next(math.MaxInt64),
	} {
		var c offsetmap.NextOffset
		var m offsetmap.SourceOffset
		if err := errors.Join(json.Unmarshal([]byte(text), &c), json.Unmarshal([]byte(text), &m)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if c != want || m.String() != want.String() {
			t.Errorf("%s was read as %s and %s", text, c, m)
		}
		for _, v := range []any{c, m} {
			if back, err := json.Marshal(v); err != nil || string(back) != text {
				t.Errorf("%T %s is written as %s, %v", v, text, back, err)
			}
		}
	}
}

func TestNullClearsAnOffsetReadBefore(t *testing.T) {
	c, m := next(7), source(7)
	if err := errors.Join(json.Unmarshal([]byte("null"), &c), json.Unmarshal([]byte("null"), &m)); err != nil {
		t.Fatal(err)
	}
	if c != none || m != noSource {
		t.Errorf("null left %s and %s", c, m)
	}
}

// notOffsets are JSON texts, or what a careless decoder might hand over.
var notOffsets = []string{
	"-1", "-0", "1e3", "1.0", "0.5", "1E0", `"5"`, `""`, "true", "[]", "{}", `{"offset":5}`,
	"9223372036854775808", "-9223372036854775808", "99999999999999999999999999",
}

func TestOffsetRefusesWhatIsNoWholeNumber(t *testing.T) {
	for _, text := range notOffsets {
		c, m := next(7), source(7)
		for _, err := range []error{json.Unmarshal([]byte(text), &c), json.Unmarshal([]byte(text), &m)} {
			if !errors.Is(err, offsetmap.ErrOffset) {
				t.Errorf("%s: got %v, want an ErrOffset", text, err)
			}
		}
		if c != next(7) || m != source(7) {
			t.Errorf("%s was refused, but left %s and %s", text, c, m)
		}
	}
	for _, text := range []string{"+5", " 5", "5 ", "", "0x5", "5_0"} { // no JSON, but UnmarshalJSON is exported
		var c offsetmap.NextOffset
		if err := c.UnmarshalJSON([]byte(text)); !errors.Is(err, offsetmap.ErrOffset) {
			t.Errorf("%q: got %v, want an ErrOffset", text, err)
		}
	}
}

func FuzzOffsetJSON(f *testing.F) {
	for _, s := range append(notOffsets, "0", "null", "17", " 17", "9223372036854775807") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c offsetmap.NextOffset
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		v, ok := c.Value()
		if ok && v < 0 {
			t.Fatalf("%q was read as the negative %d", text, v)
		}
		back, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(back) != jsonTrim(text) {
			t.Errorf("%q was read as %s", text, back)
		}
	})
}
