package offsetmap_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func jsonTrim(s string) string { return strings.Trim(s, " \t\r\n") }

func TestNextOffsetBecomesSourceOffsetInOnePlace(t *testing.T) {
	for _, c := range []struct {
		next   int64
		json   string
		text   string
		result offsetmap.SourceOffset
	}{
		{0, "null", "clear", noSource},
		{1, `{"offset":0}`, "set 0", source(0)},
		{2, `{"offset":1}`, "set 1", source(1)},
		{1000, `{"offset":999}`, "set 999", source(999)},
		{math.MaxInt64, `{"offset":9223372036854775806}`, "set 9223372036854775806", source(math.MaxInt64 - 1)},
	} {
		w, err := next(c.next).Write()
		if err != nil {
			t.Errorf("C = %d: %v", c.next, err)
			continue
		}
		raw, err := json.Marshal(w)
		if err != nil || string(raw) != c.json {
			t.Errorf("C = %d is written as %s, %v, want %s", c.next, raw, err, c.json)
		}
		if w.String() != c.text || w.Result() != c.result || w.IsClear() != (c.next == 0) || w.IsZero() {
			t.Errorf("C = %d: %q leaves %s, clear %t, zero %t", c.next, w, w.Result(), w.IsClear(), w.IsZero())
		}
		var back offsetmap.Write
		if err := json.Unmarshal(raw, &back); err != nil || back != w {
			t.Errorf("%s was read back as %s, %v", raw, back, err)
		}
	}
}

func TestNoneIsNeverWritten(t *testing.T) {
	if w, err := none.Write(); !errors.Is(err, offsetmap.ErrOffset) || !w.IsZero() {
		t.Errorf("got %s, %v, want no write and an ErrOffset", w, err)
	}
	var w offsetmap.Write
	if !w.IsZero() || w.IsClear() || w.String() != "none" || w.Result() != noSource {
		t.Errorf("the zero write is %q, clear %t, result %s", w, w.IsClear(), w.Result())
	}
	if raw, err := json.Marshal(w); !errors.Is(err, offsetmap.ErrOffset) {
		t.Errorf("the zero write became %s, %v: Connect takes an absent offset for a deletion", raw, err)
	}
}

func TestRestoreWritesWhatWasStored(t *testing.T) {
	if w := noSource.Restore(); !w.IsClear() || w.Result() != noSource {
		t.Errorf("none is restored by %s", w)
	}
	for _, v := range []int64{0, 41, math.MaxInt64} {
		if w := source(v).Restore(); w.IsClear() || w.IsZero() || w.Result() != source(v) {
			t.Errorf("%d is restored by %s", v, w)
		}
	}
}

func TestWriteReadsWhiteSpace(t *testing.T) {
	for text, want := range map[string]string{
		`{ "offset" : 5 }`:     "set 5",
		"{\n\"offset\":5\n}":   "set 5",
		`{"\u006fffset":5}`:    "set 5",
		` null `:               "clear",
		`{"offset":0}`:         "set 0",
		"\t{\"offset\": 12}\n": "set 12",
	} {
		var w offsetmap.Write
		if err := json.Unmarshal([]byte(text), &w); err != nil || w.String() != want {
			t.Errorf("%q was read as %s, %v, want %s", text, w, err, want)
		}
	}
}

var notWrites = []string{
	`{}`, `{"offset":null}`, `{"offset":-1}`, `{"offset":-0}`, `{"offset":1e3}`, `{"offset":1.0}`, `{"offset":"5"}`,
	`{"offset":9223372036854775808}`, `{"OFFSET":5}`, `{"Offset":5}`, `{"offset":5,"offset":6}`, `{"offset":5,"Offset":6}`,
	`{"offset":5,"x":1}`, `{"offset":{"offset":5}}`, `{"offset":[5]}`, `5`, `"null"`, `[]`, `[{"offset":5}]`, `false`,
}

func TestWriteReadsNothingThatConnectTakesForSomethingElse(t *testing.T) {
	for _, text := range notWrites {
		w := source(7).Restore()
		if err := json.Unmarshal([]byte(text), &w); !errors.Is(err, offsetmap.ErrOffset) {
			t.Errorf("%s was read as %s, %v, want an ErrOffset", text, w, err)
		}
		if w != source(7).Restore() {
			t.Errorf("%s was refused, but left %s", text, w)
		}
	}
	for _, text := range []string{`5}`, `{"offset":5`, `{"offset":`, ``, `{"offset":5}}`} { // no JSON, but UnmarshalJSON is exported
		var w offsetmap.Write
		if err := w.UnmarshalJSON([]byte(text)); !errors.Is(err, offsetmap.ErrOffset) || !w.IsZero() {
			t.Errorf("%q was read as %s, %v, want an ErrOffset", text, w, err)
		}
	}
}

func FuzzWriteJSON(f *testing.F) {
	for _, s := range append(notWrites, "null", `{"offset":5}`, `{ "offset": 0 }`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w offsetmap.Write
		if json.Unmarshal([]byte(text), &w) != nil {
			return
		}
		if w.IsZero() {
			t.Fatalf("%q was read as no write", text)
		}
		if v, ok := w.Result().Value(); ok && v < 0 || ok == w.IsClear() {
			t.Fatalf("%q was read as %s", text, w)
		}
		raw, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		want, err := offsetmap.Canonical([]byte(text))
		if err != nil || string(want) != string(raw) {
			t.Errorf("%q was read as %s", text, raw)
		}
	})
}
