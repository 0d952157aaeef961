package offsetmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// canonicalText draws the canonical form of some value, braces and escapes in
// strings included.
func canonicalText(t *rapid.T, name string, depth int) []byte {
	text := rapid.StringOf(rapid.SampledFrom([]rune(`ab"\{}[],:/é😀`)))
	var v any
	switch rapid.IntRange(0, 3+min(depth, 1)*2).Draw(t, name) {
	case 0:
		v = nil
	case 1:
		v = rapid.Int64().Draw(t, "int")
	case 2, 3:
		v = text.Draw(t, "string")
	case 4:
		list := []json.RawMessage{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, canonicalText(t, "element", depth-1))
		}
		v = list
	default:
		members := map[string]json.RawMessage{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			members[text.Draw(t, "name")] = canonicalText(t, "member", depth-1)
		}
		v = members
	}
	var e encoder
	out, err := e.canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPartsOfACanonicalTextAreTheValuesInIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := [][]byte{}
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			want = append(want, canonicalText(t, "element", 2))
		}
		array := append(append([]byte("["), bytes.Join(want, []byte(","))...), ']')
		n := 0
		for i, e := range elements(array) {
			if i != n || !bytes.Equal(e, want[i]) {
				t.Fatalf("element %d of %s is %s", i, array, e)
			}
			n++
		}
		if n != len(want) {
			t.Fatalf("%d elements in %s", n, array)
		}

		names := []string{"", "a", "ab", "b", "x"}
		object := []byte("{")
		for i, name := range names[:min(len(names), len(want))] {
			if i > 0 {
				object = append(object, ',')
			}
			object = append(append(object, `"`+name+`":`...), want[i]...)
		}
		object = append(object, '}')
		for i, name := range names {
			start, end, ok := find(object, name)
			if ok != (i < len(want)) || ok && !bytes.Equal(object[start:end], want[i]) {
				t.Fatalf("member %q of %s is %s, %t", name, object, object[start:end], ok)
			}
		}
	})
}

func TestPlanThatNeverEndsIsRefused(t *testing.T) {
	raw, err := os.ReadFile("testdata/plan.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(raw))
	if _, err := readPlan(bytes.NewReader(raw), size); err != nil {
		t.Errorf("of %d bytes at most %d may be there: %v", size, size, err)
	}
	endless := io.MultiReader(bytes.NewReader(raw), strings.NewReader(strings.Repeat(" ", 1<<16)))
	for _, r := range []io.Reader{bytes.NewReader(append(raw, '\n')), endless} {
		if _, err := readPlan(r, size); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("got %v", err)
		}
	}
}

func TestPlaceErrorReadsAsPlaceAndProblem(t *testing.T) {
	for want, e := range map[string]PlaceError{"a.b[0]: twice": {"a.b[0]", "twice"}, "twice": {"", "twice"}} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorsQuoteNoMoreThanALine(t *testing.T) {
	for n, want := range map[int]string{59: "", 60: "", 61: "..."} {
		if got := shorten([]byte(strings.Repeat("x", n))); got != strings.Repeat("x", min(n, 60))+want {
			t.Errorf("of %d bytes: %q", n, got)
		}
	}
	if got := shorten([]byte(strings.Repeat("x", 59) + "é" + "x")); got != strings.Repeat("x", 59)+"..." {
		t.Errorf("a character was cut: %q", got)
	}
}

// TestDigestOfABodyIsTheDigestOfItsJSON: a body is hashed row by row, and that
// must be the digest that its text has.
func TestDigestOfABodyIsTheDigestOfItsJSON(t *testing.T) {
	row := Row{Write: Write{kind: writeClear}}
	for n := range 4 {
		b := Body{Tool: Tool{Name: `"rows":[]`}}
		for range n {
			b.Rows = append(b.Rows, row)
		}
		if n == 0 {
			b.Rows = []Row{}
		}
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Digest(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.digest(); err != nil || got != want {
			t.Errorf("with %d rows: got %s, %v, want %s", n, got, err, want)
		}
	}
	if _, err := (&Body{Rows: []Row{{}}}).digest(); err == nil {
		t.Error("a row that writes nothing has a digest")
	}
}
