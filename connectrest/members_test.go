package connectrest

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The count of keys must be that of a real parser, or a repeated key slips
// through.
func FuzzKeysOfAnObjectAreCountedAsAParserCountsThem(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":1,"a":2}`, `{"a:b":{"c":1,"d":":"},"e":["f:",{"g":1}]}`, `{"\"":1,"\\":2}`,
		`{"\\\"":":"}`, ` { "a" : "}" } `, `{"a":{"a":1}}`, `[{"a":1}]`, `{"ü":1,"\u00fc":2}`, "{}\v", "\u00a0{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		members, err := objectMembers(json.RawMessage(s))
		keys, ok := parsedKeys(s)
		if !ok {
			if err == nil {
				t.Fatalf("%q is taken for an object: %v", s, members)
			}
			return
		}
		distinct := make(map[string]bool)
		for _, k := range keys {
			distinct[k] = true
		}
		if twice := len(distinct) != len(keys); (err != nil) != twice {
			t.Errorf("%q has keys %q: %v", s, keys, err)
		}
	})
}

// parsedKeys returns the top-level keys of an object, repeated ones too.
func parsedKeys(s string) ([]string, bool) {
	if !json.Valid([]byte(s)) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var keys []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		name, _ := key.(string)
		keys = append(keys, name)
	}
	return keys, true
}

// Requests that fail at the same time leave the same worker, and not the next.
func TestWorkerIsLeftOnceByAllWhomItFailed(t *testing.T) {
	w := &workers{list: make([]worker, 3)}
	at, first := w.current()
	w.leave(at)
	w.leave(at)
	if _, next := w.current(); next != &w.list[1] || first != &w.list[0] {
		t.Error("the worker after the next is asked")
	}
	for range 2 {
		at, _ := w.current()
		w.leave(at)
	}
	if _, next := w.current(); next != &w.list[0] {
		t.Error("after the last comes not the first")
	}
}
