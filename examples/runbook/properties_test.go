package main

import (
	"maps"
	"strings"
	"testing"
)

// What java.util.Properties reads of the same texts.
func TestPropertiesAreReadAsJavaDoes(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                              {},
		"# a\n! b\n  # c\n":             {},
		"a=b":                           {"a": "b"},
		"a = b c ":                      {"a": "b c "},
		"a:b\r\nc b\rd\tb":              {"a": "b", "c": "b", "d": "b"},
		"a":                             {"a": ""},
		"a=":                            {"a": ""},
		"a==b":                          {"a": "=b"},
		"a =: b":                        {"a": ": b"},
		"a=b\\\n   c\\\n\td":            {"a": "bcd"},
		"a=b\\\\\nc=d":                  {"a": `b\`, "c": "d"},
		"a=b\\":                         {"a": "b"},
		`a\=b\:c\ d=e`:                  {"a=b:c d": "e"},
		`a=\t\n\u00e4\q`:                {"a": "\t\nä" + "q"},
		"A->B.topics = orders, x\\\\.y": {"A->B.topics": `orders, x\.y`},
		"clusters A, B":                 {"clusters": "A, B"},
	} {
		got, err := parseProperties(text)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a=1\nb=2\na=3": "line 3: a stands in line 1 already",
		"\n" + `a=\u00`: `line 2: \u needs four digits`,
		`a=\u00zz`:      `\u00zz is no character`,
		"a=\xff":        "it is not UTF-8",
	} {
		if got, err := parseProperties(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzParseProperties(f *testing.F) {
	for _, text := range []string{"a=b", "a\\\n b", `\u0041 = \`, "# x\r\n!y\na:b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parseProperties(text); err != nil && got != nil {
			t.Errorf("%q: %q beside %v", text, got, err)
		}
	})
}
