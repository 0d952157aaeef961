package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// reference is the canonical form by encoding/json alone.
func reference(raw []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return "", false
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", false
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), true
}

// What is read the plain way reads as encoding/json reads it, and what it takes for
// an object without a key twice is one.
func FuzzCanonicalFormIsThatOfEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, "{}\x00", "{\x00}", `{"cluster":"source","topic":"orders","partition":0}`, `{"b":1,"a":-0,"c":null}`, `{"a":1,"a":1}`,
		`{"a":01}`, `{"a":-}`, `{"a":1.50}`, `{"a":1e3}`, `{"a":"\u0041"}`, `{"a":"é"}`, "{\"a\":\"\u2028\"}", `{"a":"<&>"}`, `{"a":true,"b":false}`,
		`{"a":trueX}`, `{"a":[1]}`, `{"a":{"b":1}}`, `{"a":1}{}`, `{"a":1,}`, `{,}`, `{"a"}`, `[]`, `null`, `"x"`, "", `{"a":"` + "\x7f" + `"}`,
		`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9}`, "{\"a\" :\t1 ,\r\n\"b\": 2}", "\v{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, valid := reference(raw)
		got, err := canonicalJSON(raw)
		if (err == nil) != valid || valid && got != want {
			t.Errorf("%q: got %q, %v; want %q, %v", raw, got, err, want, valid)
		}
		if _, plain := appendPlain(nil, raw); plain {
			if _, err := objectMembers(raw); err != nil {
				t.Errorf("%q is taken for a plain object: %v", raw, err)
			}
		}
	})
}

// The common entry is looked at without an allocation: a list of 100,000 would
// otherwise leave several times its size to collect.
func TestPlainEntriesAreReadWithoutAllocations(t *testing.T) {
	raw := json.RawMessage(`{"cluster":"source","partition":17,"topic":"orders"}`)
	scratch := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := appendObject(scratch, raw); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
