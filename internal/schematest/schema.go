// Package schematest holds the published JSON schemas to what is written and to
// the Go types that write it. It is for tests alone.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Object is a JSON object.
type Object = map[string]any

// Schema checks values against the part of JSON Schema (draft 2020-12) that the
// schemas of this project use. It knows no other keyword, and says so.
type Schema struct {
	Root     Object
	patterns map[string]*regexp.Regexp
}

// New reads a schema.
func New(t testing.TB, raw []byte) Schema {
	t.Helper()
	s := Schema{Decode(t, raw).(Object), map[string]*regexp.Regexp{}}
	if s.Root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("the schema is of %v", s.Root["$schema"])
	}
	return s
}

// Check holds a file to a schema.
func Check(schema, file []byte) error {
	root, err := decode(schema)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	v, err := decode(file)
	if err != nil {
		return err
	}
	if p := (Schema{root.(Object), map[string]*regexp.Regexp{}}).Problem("file", v); p != "" {
		return errors.New(p)
	}
	return nil
}

// Decode reads one JSON value, numbers as json.Number.
func Decode(t testing.TB, raw []byte) any {
	t.Helper()
	v, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

// Resolve follows references.
func (s Schema) Resolve(node any) Object {
	n := node.(Object)
	for {
		ref, ok := n["$ref"].(string)
		if !ok {
			return n
		}
		n = s.Def(strings.TrimPrefix(ref, "#/$defs/"))
	}
}

// Def returns a definition.
func (s Schema) Def(name string) Object {
	n, ok := s.Root["$defs"].(Object)[name].(Object)
	if !ok {
		panic("the schema has no definition " + name)
	}
	return n
}

// Problem returns the first thing that is wrong with v, or "". The place names v
// in it.
func (s Schema) Problem(place string, v any) string { return s.problem(place, s.Root, v) }

func (s Schema) problem(place string, node, v any) string {
	n := s.Resolve(node)
	for _, k := range slices.Sorted(maps.Keys(n)) {
		bad := false
		switch want := n[k]; k {
		case "$schema", "$id", "$defs", "title", "description":
		case "type":
			types, ok := want.([]any)
			if !ok {
				types = []any{want}
			}
			bad = !slices.Contains(types, any(TypeOf(v)))
		case "const":
			bad = v != want
		case "enum":
			bad = !slices.Contains(want.([]any), v)
		case "anyOf":
			var problems []string
			for _, n := range want.([]any) {
				problems = append(problems, s.problem(place, n, v))
			}
			if !slices.Contains(problems, "") {
				return strings.Join(problems, "; or ")
			}
		case "pattern":
			text, ok := v.(string)
			if s.patterns[want.(string)] == nil {
				s.patterns[want.(string)] = regexp.MustCompile(want.(string))
			}
			bad = ok && !s.patterns[want.(string)].MatchString(text)
		case "minLength":
			text, ok := v.(string)
			bad = ok && int64(utf8.RuneCountInString(text)) < integer(want)
		case "minimum":
			bad = TypeOf(v) == "integer" && integer(v) < integer(want)
		case "maximum":
			bad = TypeOf(v) == "integer" && integer(v) > integer(want)
		case "minItems":
			list, ok := v.([]any)
			bad = ok && int64(len(list)) < integer(want)
		case "maxItems":
			list, ok := v.([]any)
			bad = ok && int64(len(list)) > integer(want)
		case "items":
			list, _ := v.([]any)
			for i, e := range list {
				if p := s.problem(fmt.Sprintf("%s[%d]", place, i), want, e); p != "" {
					return p
				}
			}
		case "required":
			members, ok := v.(Object)
			for _, name := range want.([]any) {
				if _, there := members[name.(string)]; ok && !there {
					return fmt.Sprintf("%s.%s: required", place, name)
				}
			}
		case "properties":
			members, _ := v.(Object)
			for name, node := range want.(Object) {
				if e, there := members[name]; there {
					if p := s.problem(place+"."+name, node, e); p != "" {
						return p
					}
				}
			}
		case "additionalProperties":
			members, _ := v.(Object)
			known, _ := n["properties"].(Object)
			for _, name := range slices.Sorted(maps.Keys(members)) {
				if _, one := known[name]; one {
					continue
				}
				if want == false {
					return fmt.Sprintf("%s.%s: unknown", place, name)
				}
				if p := s.problem(place+"."+name, want, members[name]); p != "" {
					return p
				}
			}
		default:
			return fmt.Sprintf("%s: the schema uses %q, which schematest does not know", place, k)
		}
		if bad {
			return fmt.Sprintf("%s: %v is against %s %v", place, v, k, n[k])
		}
	}
	return ""
}

// TypeOf returns what JSON Schema calls the type of a decoded value.
func TypeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case Object:
		return "object"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
	}
	return "number"
}

func integer(v any) int64 {
	i, _ := v.(json.Number).Int64()
	return i
}
