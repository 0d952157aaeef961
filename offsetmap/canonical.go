package offsetmap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Canonical returns the one form of a JSON text that digests are taken over:
//
//   - no white space
//   - the members of an object sorted by the bytes of their names, none twice
//   - numbers are integers of 64 bits, in decimal, without "-0", fraction or
//     exponent (so the form is not RFC 8785, which knows doubles only)
//   - strings in ASCII: \" and \\ escaped, \b \f \n \r \t by letter, everything
//     else below U+0020 or above U+007E as \uXXXX with lower-case hex digits,
//     pairs of surrogates above U+FFFF; a surrogate without its other half is
//     refused, since decoders put U+FFFD in its place
//
// Python writes the same bytes with
//
//	json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
//
// A text that has no such form is refused, with the place in it.
func Canonical(src []byte) ([]byte, error) {
	var c canonicalizer
	return c.append(make([]byte, 0, len(src)), src)
}

// Digest returns "sha256:" and the hex SHA-256 of the canonical form of src.
func Digest(src []byte) (string, error) {
	c, err := Canonical(src)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(c)
	return digestText(sum[:]), nil
}

func syntaxError(src []byte) error {
	var v any
	err := json.Unmarshal(src, &v)
	line := 1
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line += bytes.Count(src[:min(int(s.Offset), len(src))], []byte("\n"))
	}
	return fmt.Errorf("line %d: not valid JSON: %w", line, err)
}

// canonicalizer walks a text that is known to be valid JSON. It can be used
// again, which saves its scratch space.
type canonicalizer struct {
	src     []byte
	pos     int
	place   []step   // down to here, for errors
	members []member // of all objects down to here
	sort    []byte   // scratch for objects whose members are out of order
}

// append appends the canonical form of src to dst.
func (c *canonicalizer) append(dst, src []byte) ([]byte, error) {
	if !utf8.Valid(src) {
		return nil, errors.New("not valid UTF-8")
	}
	if !json.Valid(src) {
		return nil, syntaxError(src)
	}
	c.src, c.pos, c.place, c.members = src, 0, c.place[:0], c.members[:0]
	return c.value(dst)
}

// step is one step down: into a member, or into an element of an array.
type step struct {
	name  []byte // canonical token; nil in an array
	index int
}

// member is one member of an object in dst; its name ends before the colon.
type member struct{ start, name, end int }

func (c *canonicalizer) errorf(format string, args ...any) error {
	place := make([]string, len(c.place))
	for i, s := range c.place {
		place[i] = "[" + strconv.Itoa(s.index) + "]"
		if s.name != nil {
			place[i] = unquote(s.name)
		}
	}
	return &PlaceError{Place: joinPlace(place), Problem: fmt.Sprintf(format, args...)}
}

func (c *canonicalizer) space() byte {
	for {
		switch b := c.src[c.pos]; b {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return b
		}
	}
}

func (c *canonicalizer) value(dst []byte) ([]byte, error) {
	switch c.space() {
	case '{':
		return c.object(dst)
	case '[':
		return c.array(dst)
	case '"':
		return c.text(dst)
	case 't', 'f', 'n':
		n := 4
		if c.src[c.pos] == 'f' {
			n = 5
		}
		dst = append(dst, c.src[c.pos:c.pos+n]...)
		c.pos += n
		return dst, nil
	default:
		return c.number(dst)
	}
}

func (c *canonicalizer) number(dst []byte) ([]byte, error) {
	start := c.pos
	for c.pos < len(c.src) && strings.IndexByte("+-.eE0123456789", c.src[c.pos]) >= 0 {
		c.pos++
	}
	text := c.src[start:c.pos]
	if _, err := strconv.ParseInt(string(text), 10, 64); err != nil || string(text) == "-0" {
		return nil, c.errorf("number %s is not an integer of 64 bits", text)
	}
	return append(dst, text...), nil
}

// token returns the string token at pos, quotes included.
func (c *canonicalizer) token() []byte {
	start := c.pos
	for c.pos++; c.src[c.pos] != '"'; c.pos++ {
		if c.src[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos++
	return c.src[start:c.pos]
}

// text appends the string token at pos.
func (c *canonicalizer) text(dst []byte) ([]byte, error) {
	token := c.token()
	dst, ok := appendString(dst, token)
	if !ok {
		return nil, c.errorf("the string %.60s has a surrogate without its other half", token)
	}
	return dst, nil
}

func (c *canonicalizer) array(dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	c.pos++
	for i := 0; c.space() != ']'; i++ {
		if c.src[c.pos] == ',' {
			c.pos++
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		c.place = append(c.place, step{index: i})
		var err error
		if dst, err = c.value(dst); err != nil {
			return nil, err
		}
		c.place = c.place[:len(c.place)-1]
	}
	c.pos++
	return append(dst, ']'), nil
}

func (c *canonicalizer) object(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	c.pos++
	first, sorted := len(c.members), true
	for c.space() != '}' {
		if c.src[c.pos] == ',' {
			c.pos++
			c.space()
		}
		if len(c.members) > first {
			dst = append(dst, ',')
		}
		m := member{start: len(dst)}
		var err error
		if dst, err = c.text(dst); err != nil {
			return nil, err
		}
		m.name = len(dst)
		c.space()
		c.pos++ // the colon
		c.place = append(c.place, step{name: dst[m.start:m.name]})
		dst = append(dst, ':')
		if n := len(c.members); n > first {
			switch last := c.members[n-1]; compareNames(dst[last.start:last.name], dst[m.start:m.name]) {
			case 0:
				return nil, c.errorf("the member stands twice")
			case 1:
				sorted = false
			}
		}
		if dst, err = c.value(dst); err != nil {
			return nil, err
		}
		c.place = c.place[:len(c.place)-1]
		m.end = len(dst)
		c.members = append(c.members, m)
	}
	c.pos++
	if !sorted {
		if err := c.reorder(dst, c.members[first:]); err != nil {
			return nil, err
		}
	}
	c.members = c.members[:first]
	return append(dst, '}'), nil
}

// reorder sorts the members at the end of dst in place.
func (c *canonicalizer) reorder(dst []byte, members []member) error {
	first := members[0].start
	c.sort = append(c.sort[:0], dst[first:]...)
	at := func(from, to int) []byte { return c.sort[from-first : to-first] }
	name := func(m member) []byte { return at(m.start, m.name) }
	slices.SortFunc(members, func(a, b member) int { return compareNames(name(a), name(b)) })
	dst = dst[:first]
	for i, m := range members {
		if i > 0 {
			if bytes.Equal(name(m), name(members[i-1])) {
				c.place = append(c.place, step{name: name(m)})
				return c.errorf("the member stands twice")
			}
			dst = append(dst, ',')
		}
		dst = append(dst, at(m.start, m.end)...)
	}
	return nil
}
