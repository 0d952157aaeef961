package connecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The bodies of requests are read as Jackson reads them into Connect's entities:
// unknown members, wrong kinds and text after the value are internal errors. The
// first lines of the messages are the real ones; the columns are not.

const entities = "org.apache.kafka.connect.runtime.rest.entities."

func jacksonError(format string, args ...any) *restError {
	return internalError("%s\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 1]",
		fmt.Sprintf(format, args...))
}

// readJSON reads the one JSON value of body. The value is nil for an empty body
// and for null, which a resource cannot tell apart either.
func (v version) readJSON(body []byte) (any, *restError) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) // a byte order mark
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var read any
	if err := d.Decode(&read); err != nil {
		return nil, syntaxError(body, err)
	}
	rest := body[d.InputOffset():]
	if _, err := d.Token(); v.refusesTrailing() && !errors.Is(err, io.EOF) {
		return nil, syntaxError(rest, err)
	}
	j, err := javaValue(read)
	if err != nil {
		return nil, jacksonError("%v", err)
	}
	return j, nil
}

func syntaxError(at []byte, err error) *restError {
	word := string(bytes.TrimSpace(at))
	if i := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		word = word[:i]
	}
	if word != "" {
		return jacksonError("Unrecognized token '%s': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')", word)
	}
	return jacksonError("Unexpected input: %v", err)
}

// object reads v as an entity with the given members. known is in the order in
// which the real message lists them.
func object(v any, entity string, known ...string) (javaMap, *restError) {
	m, ok := v.(javaMap)
	if !ok {
		return nil, noEntity(entities+entity, v)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(known, k) {
			continue
		}
		count := "one known property"
		if len(known) > 1 {
			count = fmt.Sprintf("%d known properties", len(known))
		}
		return nil, jacksonError(`Unrecognized field "%s" (class %s), not marked as ignorable (%s: "%s")`,
			k, entities+entity, count, strings.Join(known, `", "`))
	}
	return m, nil
}

// mapOrNull reads a member that is a map of anything.
func mapOrNull(v any) (javaMap, *restError) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case javaMap:
		return v, nil
	case string:
		if v == "" {
			return nil, jacksonError(`Cannot coerce empty String ("") to element of %s`+coercible, "`java.util.LinkedHashMap`")
		}
	}
	return nil, wrongKind("java.util.LinkedHashMap<java.lang.String,java.lang.Object>", v)
}

// stringMap reads a connector's configuration: scalars become strings, null
// stays null.
func stringMap(v any) (config, *restError) {
	if v == nil {
		return nil, nil
	}
	m, ok := v.(javaMap)
	if !ok {
		return nil, wrongKind("java.util.LinkedHashMap<java.lang.String,java.lang.String>", v)
	}
	c := make(config, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch e := m[k].(type) {
		case nil:
			c[k] = nil
		case javaMap, []any:
			return nil, wrongKind("java.lang.String", e)
		default:
			s := javaString(e)
			c[k] = &s
		}
	}
	return c, nil
}

// coercible ends the message about an empty string where a value is wanted that
// has members.
const coercible = " (but could if coercion was enabled using `CoercionConfig`)"

// noEntity is the error for a value that has no members and stands for an entity,
// which Jackson then tries to construct of it.
func noEntity(class string, got any) *restError {
	if got == "" {
		return jacksonError(`Cannot coerce empty String ("") to %s value`+coercible, "`"+class+"`")
	}
	var kind, from string
	switch got := got.(type) {
	case string:
		kind, from = "String", "String value ('"+got+"')"
	case bool:
		kind, from = "boolean/Boolean", fmt.Sprintf("boolean value (%t)", got)
	case int64:
		kind, from = "int/Int", fmt.Sprintf("Number value (%d)", got)
	default:
		return wrongKind(class, got)
	}
	return jacksonError("Cannot construct instance of `%s` (although at least one Creator exists): no %s-argument constructor/factory method to deserialize from %s",
		class, kind, from)
}

func wrongKind(want string, got any) *restError {
	kind, token := "Object", "START_OBJECT"
	switch got.(type) {
	case []any:
		kind, token = "Array", "START_ARRAY"
	case string:
		kind, token = "String", "VALUE_STRING"
	case bool:
		kind, token = "Boolean", "VALUE_TRUE"
	case float64:
		kind, token = "Floating-point", "VALUE_NUMBER_FLOAT"
	case javaMap:
	default:
		kind, token = "Integer", "VALUE_NUMBER_INT"
	}
	return jacksonError("Cannot deserialize value of type `%s` from %s value (token `JsonToken.%s`)", want, kind, token)
}
