package offsetmap

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// compareNames orders two canonical string tokens by the bytes of what they say.
func compareNames(a, b []byte) int {
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		// Without the quotes: '"' sorts above ' ' and '!'.
		return bytes.Compare(a[1:len(a)-1], b[1:len(b)-1])
	}
	return strings.Compare(unquote(a), unquote(b))
}

// unquote returns what a canonical string token says.
func unquote(token []byte) string {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	var s string
	_ = json.Unmarshal(token, &s)
	return s
}

// appendString appends the canonical form of a valid JSON string token. It
// returns false when the token has a surrogate without its other half.
func appendString(dst, token []byte) ([]byte, bool) {
	plain := true
	for _, b := range token[1 : len(token)-1] {
		if b == '\\' || b > 0x7e { // valid JSON has no control character here
			plain = false
			break
		}
	}
	if plain {
		return append(dst, token...), true
	}
	dst = append(dst, '"')
	for s := token[1 : len(token)-1]; len(s) > 0; {
		r, n := rune(s[0]), 1
		switch {
		case r == '\\':
			r, n = unescape(s)
		case r >= utf8.RuneSelf:
			r, n = utf8.DecodeRune(s)
		}
		if utf16.IsSurrogate(r) {
			return dst, false
		}
		dst, s = appendRune(dst, r), s[n:]
	}
	return append(dst, '"'), true
}

// unescape returns what the escape at the start of s says and how long it is. A
// surrogate without its other half comes back as it is.
func unescape(s []byte) (rune, int) {
	if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), 2
	}
	if s[1] != 'u' {
		return rune(s[1]), 2 // '"', '\\' or '/'
	}
	unit := func(s []byte) rune {
		u, _ := strconv.ParseUint(string(s[2:6]), 16, 16)
		return rune(u)
	}
	r := unit(s)
	if utf16.IsSurrogate(r) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(s[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

func appendRune(dst []byte, r rune) []byte {
	if i := strings.IndexRune("\b\f\n\r\t", r); i >= 0 {
		return append(dst, '\\', "bfnrt"[i])
	}
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r >= 0x20 && r <= 0x7e:
		return append(dst, byte(r))
	case r > 0xffff:
		hi, lo := utf16.EncodeRune(r)
		return appendUnit(appendUnit(dst, hi), lo)
	default:
		return appendUnit(dst, r)
	}
}

func appendUnit(dst []byte, u rune) []byte {
	const hexDigits = "0123456789abcdef"
	return append(dst, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
