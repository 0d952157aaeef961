// Package shown makes texts that others chose fit to be shown to a person: names
// of operators, paths, transactional ids, and errors that hold such. What a
// terminal would act on, what would break a line or a table, and what cannot be
// seen is escaped as Go writes it in a string.
//
// A document is not its business: JSON holds every text exactly.
package shown

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Name returns a name as it is when each of its characters can be seen, and
// quoted otherwise, so that two names that differ look different. Quotes and
// backslashes are quoted too: a name cannot pass itself off for another one quoted.
func Name(s string) string {
	q := strconv.Quote(s)
	if len(q) == len(s)+2 && s == strings.TrimSpace(s) && s != "" {
		return s
	}
	return q
}

// Names is Name of each.
func Names(all []string) []string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, Name(s))
	}
	return out
}

// Line returns a text without line breaks and without what a terminal would act
// on, each escaped. What can be seen stays, quotes and backslashes too.
func Line(s string) string { return escaped(s, false) }

// Text is Line for a text of several lines.
func Text(s string) string { return escaped(s, true) }

func escaped(s string, lines bool) string {
	clean := func(r rune, size int) bool {
		return (r != utf8.RuneError || size > 1) && strconv.IsPrint(r) || lines && r == '\n'
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !clean(r, size) {
			b.WriteString(s[from:i])
			q := strconv.Quote(s[i : i+size])
			b.WriteString(q[1 : len(q)-1])
			from = i + size
		}
		i += size
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}
