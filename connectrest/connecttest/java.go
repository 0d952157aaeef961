package connecttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A worker turns JSON into Java values and prints those in its messages, so its
// texts and the order of keys in its answers follow Java's rules. This file
// holds those rules. A javaMap holds nil, bool, string, int64, float64,
// *big.Int, javaMap and []any.
type javaMap map[string]any

// javaValue turns what encoding/json decodes (with UseNumber) into what Jackson
// would make of it: an integer keeps all its digits, anything with a point or an
// exponent is a double.
func javaValue(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return javaNumber(v.String())
	case map[string]any:
		m := make(javaMap, len(v))
		for k, e := range v {
			j, err := javaValue(e)
			if err != nil {
				return nil, err
			}
			m[k] = j
		}
		return m, nil
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			j, err := javaValue(e)
			if err != nil {
				return nil, err
			}
			l[i] = j
		}
		return l, nil
	default:
		return v, nil
	}
}

func javaNumber(s string) (any, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%s is not a number", s)
		}
		return f, nil // beyond the range of a double it is infinite
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("%s is not a number", s)
	}
	return n, nil
}

// javaDouble is Double.toString, which Jackson uses too.
func javaDouble(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if f == 0 || (abs(f) >= 1e-3 && abs(f) < 1e7) {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return mantissa // Inf and NaN, which JSON cannot hold
	}
	return mantissa + "E" + strconv.Itoa(e)
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

// String is AbstractMap.toString of a HashMap.
func (m javaMap) String() string { return m.print(m.keys()) }

func (m javaMap) print(keys []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k + "=" + javaString(m[k]))
	}
	b.WriteByte('}')
	return b.String()
}

func javaString(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		return javaDouble(v)
	default:
		return fmt.Sprint(v)
	}
}

// keys returns the keys in the order of a java.util.HashMap that they were put
// into: its table starts with 16 buckets and doubles when it is three quarters
// full. Keys of one bucket, which Java has in the order of insertion, are sorted.
func (m javaMap) keys() []string {
	size := 16
	for len(m)*4 > size*3 {
		size *= 2
	}
	return m.keysOf(size)
}

// copyKeys returns the keys in the order of new HashMap(m), whose table is only
// as large as it must be.
func (m javaMap) copyKeys() []string {
	size := 1
	for size < len(m)*4/3+1 {
		size *= 2
	}
	return m.keysOf(size)
}

func (m javaMap) keysOf(size int) []string {
	bucket := func(k string) int {
		var h int32
		for _, c := range utf16.Encode([]rune(k)) {
			h = 31*h + int32(c)
		}
		u := uint32(h)
		return int((u ^ u>>16) & uint32(size-1))
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(bucket(a), bucket(b)), strings.Compare(a, b))
	})
}

// MarshalJSON writes the keys in HashMap order and doubles as Java does.
func (m javaMap) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range m.keys() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encodeJSON(k))
		b.WriteByte(':')
		switch f, isDouble := m[k].(float64); {
		case isDouble && math.IsInf(f, 0):
			b.Write(encodeJSON(javaDouble(f))) // JSON has no word for it, so Jackson quotes it
		case isDouble:
			b.WriteString(javaDouble(f))
		default:
			b.Write(encodeJSON(m[k]))
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// canonical is equal for two maps exactly when Java calls them equal. A nil map
// is the null key, which is not the empty map.
func (m javaMap) canonical() string {
	if m == nil {
		return "null"
	}
	var b []byte
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = strconv.AppendQuote(b, k)
		switch v := m[k].(type) {
		// The kind counts: 1, 1.0, "1" and true make different keys.
		case int64:
			b = append(b, 'i')
			b = strconv.AppendInt(b, v, 10)
		case string:
			b = append(b, 's')
			b = strconv.AppendQuote(b, v)
		default:
			b = fmt.Appendf(b, "%T%q", v, javaString(v))
		}
		b = append(b, ',')
	}
	return string(b)
}

// encodeJSON encodes without the escapes for HTML, as Jackson does.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only values of this package come here, and all of them encode.
		panic(fmt.Sprintf("connecttest: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
