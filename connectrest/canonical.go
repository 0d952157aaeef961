package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// canonicalJSON writes raw with its keys sorted and without white space. The
// digits of numbers stay as they are.
func canonicalJSON(raw json.RawMessage) (string, error) {
	b, err := appendCanonical(nil, raw)
	return string(b), err
}

// appendCanonical appends what canonicalJSON writes. What the plain reading
// cannot take, encoding/json does.
func appendCanonical(dst []byte, raw json.RawMessage) ([]byte, error) {
	if b, ok := appendPlain(dst, raw); ok {
		return b, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return dst, fmt.Errorf("%s: %w", entryText(raw), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return dst, fmt.Errorf("%s: it is followed by more", entryText(raw))
	}
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, fmt.Errorf("%s: %w", entryText(raw), err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// maxPlain bounds the members of a plain object: they are sorted one by one.
const maxPlain = 8

// appendPlain appends the canonical form of a plain object, and reports whether
// raw is one: flat, of at most maxPlain members, no key twice, with strings of
// unescaped ASCII, integers, true, false and null as values. Nearly every entry
// of nearly every connector is, and a list of 100,000 of them is looked at
// several times.
func appendPlain(dst []byte, raw []byte) ([]byte, bool) {
	var members [maxPlain]plainMember
	m, ok := plainMembers(members[:0], raw)
	if !ok || repeated(m) {
		return dst, false
	}
	sortMembers(m)
	dst = slices.Grow(dst, len(raw))
	dst = append(dst, '{')
	for i := range m {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, m[i].key...)
		dst = append(dst, '"', ':')
		dst = append(dst, m[i].value...)
	}
	return append(dst, '}'), true
}

// plainMember points into the text of an object.
type plainMember struct {
	key   []byte // without quotation marks
	value []byte // with them
}

func sortMembers(m []plainMember) {
	for i := 1; i < len(m); i++ {
		for j := i; j > 0 && bytes.Compare(m[j-1].key, m[j].key) > 0; j-- {
			m[j-1], m[j] = m[j], m[j-1]
		}
	}
}

// repeated reports whether a key stands twice.
func repeated(m []plainMember) bool {
	for i := range m {
		for j := range i {
			if bytes.Equal(m[i].key, m[j].key) {
				return true
			}
		}
	}
	return false
}

func plainMembers(m []plainMember, raw []byte) ([]plainMember, bool) {
	p := plainReader{raw, 0}
	if p.next() != '{' {
		return nil, false
	}
	if p.peek() == '}' {
		p.at++
		return m, p.ended()
	}
	for len(m) < cap(m) {
		if p.peek() != '"' {
			return nil, false
		}
		key, ok := p.quoted()
		if !ok || p.next() != ':' {
			return nil, false
		}
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		m = append(m, plainMember{key[1 : len(key)-1], value})
		switch p.next() {
		case ',':
		case '}':
			return m, p.ended()
		default:
			return nil, false
		}
	}
	return nil, false
}

// plainReader reads JSON from its beginning.
type plainReader struct {
	raw []byte
	at  int
}

// peek returns the next byte that is no white space, 0 at the end.
func (p *plainReader) peek() byte {
	for ; p.at < len(p.raw); p.at++ {
		switch c := p.raw[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (p *plainReader) next() byte {
	c := p.peek()
	if c != 0 {
		p.at++
	}
	return c
}

// ended reports whether nothing but white space is left.
func (p *plainReader) ended() bool {
	p.peek()
	return p.at == len(p.raw)
}

// quoted reads a string at p.at, with its quotation marks.
func (p *plainReader) quoted() ([]byte, bool) {
	for i := p.at + 1; i < len(p.raw); i++ {
		switch c := p.raw[i]; {
		case c == '"':
			s := p.raw[p.at : i+1]
			p.at = i + 1
			return s, true
		case c < 0x20 || c > 0x7e || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (p *plainReader) value() ([]byte, bool) {
	switch c := p.peek(); {
	case c == '"':
		return p.quoted()
	case c == '-' || isDigit(c):
		return p.integer()
	default:
		for _, word := range [...]string{"null", "true", "false"} {
			if bytes.HasPrefix(p.raw[p.at:], []byte(word)) {
				p.at += len(word)
				return p.raw[p.at-len(word) : p.at], true
			}
		}
		return nil, false
	}
}

// integer reads a number of digits alone; what else belongs to it then stands
// where a comma or the end is due.
func (p *plainReader) integer() ([]byte, bool) {
	i := p.at
	if p.raw[i] == '-' {
		i++
	}
	first := i
	for i < len(p.raw) && isDigit(p.raw[i]) {
		i++
	}
	if i == first || p.raw[first] == '0' && i > first+1 {
		return nil, false
	}
	number := p.raw[p.at:i]
	p.at = i
	return number, true
}
