package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseProperties reads a text of Java properties as Properties.load does: comments
// with # and !, lines that go on after a backslash, keys that end at =, : or white
// space, and escapes. Unlike it, a key that stands twice is an error: Java takes the
// last one without a word.
func parseProperties(text string) (map[string]string, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	out := map[string]string{}
	lineOf := map[string]int{}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for i := 0; i < len(lines); i++ {
		first := i + 1
		line := strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for goesOnBelow(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		if goesOnBelow(line) { // the last line of the text
			line = line[:len(line)-1]
		}
		key, value := splitProperty(line)
		var err error
		if key, err = unescape(key); err == nil {
			value, err = unescape(value)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		if before, twice := lineOf[key]; twice {
			return nil, fmt.Errorf("line %d: %s stands in line %d already", first, key, before)
		}
		lineOf[key], out[key] = first, value
	}
	return out, nil
}

// goesOnBelow reports whether a line ends with a backslash that nothing escapes.
func goesOnBelow(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// splitProperty parts a line at the first =, : or white space that is not escaped. One
// = or : may follow white space.
func splitProperty(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	value = strings.TrimLeft(line[end:], " \t\f")
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], " \t\f")
	}
	return line[:end], value
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if len(s) < i+5 {
				return "", errors.New(`\u needs four digits`)
			}
			r, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`\u%s is no character`, s[i+1:i+5])
			}
			b.WriteRune(rune(r))
			i += 4
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}
