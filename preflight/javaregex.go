package preflight

import (
	"fmt"
	"regexp"
	"strings"
)

// javaList is a LIST setting of Java regexes as MirrorMaker 2 uses it
// (MirrorUtils.compilePatternList): the entries are joined with "|" into one
// pattern that must match the whole name.
//
// The zero value is the empty list, which matches nothing.
type javaList struct{ re *regexp.Regexp }

// compileJavaList compiles the value of a LIST setting. Java's regexes know
// more than Go's, and some texts mean different things to the two, so only what
// is known to mean the same is compiled; the rest is an error that says where.
func compileJavaList(value string) (javaList, error) {
	entries := splitList(value)
	if len(entries) == 0 {
		return javaList{}, nil
	}
	joined := strings.Join(entries, "|")
	if err := portable(joined); err != nil {
		return javaList{}, err
	}
	re, err := regexp.Compile(joined)
	if err != nil {
		return javaList{}, fmt.Errorf("the regex %q cannot be evaluated here: %w", joined, err)
	}
	re.Longest()
	return javaList{re}, nil
}

// matches is Matcher.matches: the longest match from the first place where
// there is one is the whole name only if some match is.
func (l javaList) matches(name string) bool {
	if l.re == nil {
		return false
	}
	at := l.re.FindStringIndex(name)
	return at != nil && at[0] == 0 && at[1] == len(name)
}

// splitList is ConfigDef.parseType for LIST: trimmed, then split at commas and
// the white space around them. Empty entries stay; a comma inside a quantifier
// splits too.
func splitList(value string) []string {
	value = strings.TrimFunc(value, func(r rune) bool { return r <= ' ' }) // String.trim
	if value == "" {
		return nil
	}
	entries := strings.Split(value, ",")
	for i, e := range entries {
		const space = " \t\n\v\f\r" // \s of Java
		if i > 0 {
			e = strings.TrimLeft(e, space)
		}
		if i < len(entries)-1 {
			e = strings.TrimRight(e, space)
		}
		entries[i] = e
	}
	return entries
}

// portable reports whether a pattern keeps to what java.util.regex and Go's
// regexp take alike for names of ASCII characters.
func portable(p string) error {
	bad := func(i int, what string) error {
		return fmt.Errorf("the regex %q has %s at byte %d, which is not evaluated here", p, what, i)
	}
	for i := 0; i < len(p); {
		switch c := p[i]; {
		case c < ' ' || c > '~':
			return bad(i, "a character beyond printable ASCII")
		case c == '\\':
			n := escape(p[i:])
			if n == 0 {
				return bad(i, "an escape beyond \\d \\w \\s \\b \\Q...\\E and quoted punctuation")
			}
			i += n
		case c == '[':
			n, what := class(p[i:])
			if n == 0 {
				return bad(i, what)
			}
			i += n
		case c == '(' && strings.HasPrefix(p[i+1:], "?"):
			n := 0
			for _, known := range []string{"(?:", "(?i)", "(?i:"} {
				if strings.HasPrefix(p[i:], known) {
					n = len(known)
				}
			}
			if n == 0 {
				return bad(i, "a group other than (...), (?:...), (?i) and (?i:...)")
			}
			i += n
			if p[i-1] == ')' && i < len(p) && strings.IndexByte("*+?{", p[i]) >= 0 {
				return bad(i, "a quantifier after (?i)")
			}
		case c == '{':
			n := counted(p[i:])
			if n == 0 {
				return bad(i, "a brace that is no quantifier {n}")
			}
			i += n
		default:
			i++
		}
	}
	return nil
}

// escape returns the length of the escape that p begins with, 0 for one that
// is not known to be alike.
func escape(p string) int {
	switch {
	case len(p) < 2:
		return 0
	case p[1] == 'Q':
		// An empty quotation leaves Java nothing that a quantifier could follow.
		if end := strings.Index(p, `\E`); end > len(`\Q`) {
			return end + len(`\E`)
		}
		return 0
	case strings.IndexByte("dDwWsSbB", p[1]) >= 0, isPunctuation(p[1]):
		return 2
	}
	return 0
}

func isPunctuation(c byte) bool {
	return strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) >= 0
}

// class returns the length of the character class that p begins with, or 0 and
// what in it is not known to be alike: Java nests classes and intersects them.
func class(p string) (int, string) {
	i := 1
	if strings.HasPrefix(p[i:], "^") {
		i++
	}
	if strings.HasPrefix(p[i:], "]") {
		return 0, "a class that begins with ]"
	}
	for i < len(p) {
		switch c := p[i]; {
		case c == ']':
			return i + 1, ""
		case c == '[':
			return 0, "a class inside a class"
		case c < ' ' || c > '~':
			return 0, "a class with a character beyond printable ASCII"
		case strings.HasPrefix(p[i:], "&&"):
			return 0, "an intersection of classes"
		case c == '\\':
			if i+1 == len(p) || strings.IndexByte("dDwWsS", p[i+1]) < 0 && !isPunctuation(p[i+1]) {
				return 0, "a class with an escape beyond \\d \\w \\s and quoted punctuation"
			}
			i += 2
		default:
			i++
		}
	}
	return 0, "a class that does not end"
}

// counted returns the length of the quantifier {n} that p begins with.
func counted(p string) int {
	end := strings.IndexByte(p, '}')
	if end < 2 || strings.Trim(p[1:end], "0123456789") != "" {
		return 0
	}
	return end + 1
}
