package offsetmap

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// difference names the first place at which the file and what was understood
// of it part. Both are canonical.
func difference(file, understood []byte) *PlaceError {
	if e := compareAny(nil, decodeAny(file), decodeAny(understood)); e != nil {
		return e
	}
	return &PlaceError{Problem: "the file says more than was understood"}
}

func compareAny(place []string, file, understood any) *PlaceError {
	at := func(seg, problem string) *PlaceError {
		return &PlaceError{joinPlace(append(slices.Clone(place), seg)), problem}
	}
	switch f := file.(type) {
	case map[string]any:
		u, ok := understood.(map[string]any)
		if !ok {
			break
		}
		for _, k := range sortedKeys(f) {
			if _, known := u[k]; !known {
				return at(k, "unknown")
			}
			if e := compareAny(append(place, k), f[k], u[k]); e != nil {
				return e
			}
		}
		for _, k := range sortedKeys(u) {
			if _, there := f[k]; !there {
				return at(k, "missing")
			}
		}
		return nil
	case []any:
		u, ok := understood.([]any)
		if !ok || len(f) != len(u) {
			break
		}
		for i := range f {
			if e := compareAny(append(place, fmt.Sprintf("[%d]", i)), f[i], u[i]); e != nil {
				return e
			}
		}
		return nil
	default:
		if file == understood {
			return nil
		}
	}
	return &PlaceError{joinPlace(place), fmt.Sprintf("%s is not in the form that is written: %s", short(file), short(understood))}
}

func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return shorten(raw)
}

func shorten(raw []byte) string {
	const most = 60
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "..."
}

// locate names the first member of raw that a t cannot hold, nil when it finds
// none. encoding/json names no place for what an UnmarshalJSON refuses.
func locate(place []string, t reflect.Type, raw json.RawMessage) *PlaceError {
	if t.Kind() == reflect.Pointer {
		if string(raw) == "null" {
			return nil
		}
		t = t.Elem()
	}
	here := func(problem string) *PlaceError { return &PlaceError{joinPlace(place), problem} }
	_, text := reflect.TypeAssert[json.Unmarshaler](reflect.New(t))
	switch {
	case t.Kind() == reflect.Struct && !text:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return here(shorten(raw) + " is not an object")
		}
		for _, f := range reflect.VisibleFields(t) {
			name := f.Tag.Get("json")
			if name == "" || members[name] == nil {
				continue
			}
			if e := locate(append(slices.Clone(place), name), f.Type, members[name]); e != nil {
				return e
			}
		}
		return nil
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return here(shorten(raw) + " is not an array")
		}
		for i, raw := range elements {
			if e := locate(append(slices.Clone(place), fmt.Sprintf("[%d]", i)), t.Elem(), raw); e != nil {
				return e
			}
		}
		return nil
	}
	err := json.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind := t.Kind()
		if _, named := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.New(t)); named {
			kind = reflect.String // whatever it is in memory
		}
		return here(fmt.Sprintf("%s is not a value of type %s", shorten(raw), kind))
	}
	return here(err.Error())
}
