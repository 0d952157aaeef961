package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// readStrict reads a YAML or JSON text into v, which points to a struct. Every
// problem is named with the path of its field: the decoders of the standard
// library and of YAML name the field alone, and stop at the first one.
func readStrict(text []byte, v any) error {
	if err := oneDocument(text); err != nil {
		return err
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return errors.New(strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "error converting YAML to JSON: "))
	}
	var found []error
	decode("", raw, reflect.ValueOf(v).Elem(), &found)
	return errors.Join(found...)
}

// decode fills v from raw. Structs are taken apart field by field, everything
// else goes to encoding/json.
func decode(path string, raw json.RawMessage, v reflect.Value, found *[]error) {
	null := bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
	switch v.Kind() {
	case reflect.Pointer:
		if null {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		decode(path, raw, v.Elem(), found)
	case reflect.Struct:
		if !null { // an empty section
			decodeStruct(path, raw, v, found)
		}
	case reflect.Slice:
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			*found = append(*found, fmt.Errorf("%s: want a list, found %s", path, kindOf(raw)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		for i, part := range parts {
			decode(fmt.Sprintf("%s[%d]", path, i), part, v.Index(i), found)
		}
	case reflect.Map:
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			*found = append(*found, fmt.Errorf("%s: want a mapping, found %s", path, kindOf(raw)))
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			one := reflect.New(v.Type().Elem()).Elem()
			decode(fmt.Sprintf("%s[%q]", path, key), parts[key], one, found)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), one)
		}
	default:
		decodeScalar(path, raw, v, found)
	}
}

func decodeStruct(path string, raw json.RawMessage, v reflect.Value, found *[]error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		*found = append(*found, fmt.Errorf("%s: want a mapping, found %s", orTop(path), kindOf(raw)))
		return
	}
	var known []string
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		known, fields[name] = append(known, name), v.Field(i)
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		if field, ok := fields[key]; ok {
			decode(at, parts[key], field, found)
			continue
		}
		problem := fmt.Errorf("%s: unknown field; %s has: %s", at, orTop(path), strings.Join(known, ", "))
		if n, ok := reflect.TypeAssert[interface{ note() string }](v); ok {
			problem = fmt.Errorf("%w (%s)", problem, n.note())
		}
		*found = append(*found, problem)
	}
}

func decodeScalar(path string, raw json.RawMessage, v reflect.Value, found *[]error) {
	if err := json.Unmarshal(raw, v.Addr().Interface()); err == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return
	}
	if w, ok := reflect.TypeAssert[interface{ want() string }](v); ok {
		*found = append(*found, fmt.Errorf("%s: want %s, found %s", path, w.want(), kindOf(raw)))
		return
	}
	problem := fmt.Errorf("%s: want %s, found %s", path, kindName(v.Kind()), kindOf(raw))
	if v.Kind() == reflect.String && !bytes.ContainsAny(raw[:1], `{["n`) {
		// YAML reads yes as true and 010 as 8, so the text that was meant is gone.
		problem = fmt.Errorf("%w: put it in quotes", problem)
	}
	*found = append(*found, problem)
}

func orTop(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

func kindName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	default:
		return "a whole number"
	}
}

// found1 names a value by its kind: it may be a secret in the wrong place.
func kindOf(raw json.RawMessage) string {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || raw[0] == 'n':
		return "nothing"
	case raw[0] == '{':
		return "a mapping"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "a text"
	case raw[0] == 't' || raw[0] == 'f':
		return "true or false"
	default:
		return "a number"
	}
}
