package preflight

import (
	"slices"
	"strings"
	"testing"
)

func TestListsAreSplitAsConfigDefDoes(t *testing.T) {
	for value, want := range map[string][]string{
		"":                      nil,
		" \t\n":                 nil,
		"orders":                {"orders"},
		"orders,payments":       {"orders", "payments"},
		" orders ,\n payments ": {"orders", "payments"},
		"orders,":               {"orders", ""},
		",":                     {"", ""},
		"a{1,2}":                {"a{1", "2}"},
		"a b":                   {"a b"},
	} {
		if got := splitList(value); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestListsMatchTheWholeName(t *testing.T) {
	for _, c := range []struct{ list, match, miss string }{
		{"orders", "orders", "orders2 xorders order"},
		{"a.b", "a.b axb a-b", "ab a..b"},
		{`a\.b`, "a.b", "axb"},
		{`\Qa.b\E`, "a.b", "axb"},
		{"^(orders|payments)$", "orders payments", "orders-2"},
		{"a|ab", "a ab", "abb"}, // the longest match counts, not the first
		{"a|ab|abc,x", "abc x", "xy"},
		{"a*?", "a aaa", "b"},
		{"orders.+", "orders-1", "orders"},
		{"(?i)orders", "ORDERS", ""},
		{"(orders,payments)", "orders payments", "(orders"}, // joined before it is compiled
		{"a{2}b", "aab", "ab"},
		{"orders-[0-9]{4}", "orders-2024", "orders-20"},
		{`a\d`, "a1", "a"}, // nothing behind the escape
		{`a\!`, "a!", "a"},
		{`[\d]`, "1", "a"},
		{`[a{]`, "a {", "b"},
		{"a~", "a~", "a"},
		{"[ ~]", "~", "a"},
		{"(?i)", "", "a"},
		{"", "", "orders"},
	} {
		l, err := compileJavaList(c.list)
		if err != nil {
			t.Errorf("%q: %v", c.list, err)
			continue
		}
		for name := range strings.FieldsSeq(c.match) {
			if !l.matches(name) {
				t.Errorf("%q does not match %q", c.list, name)
			}
		}
		for name := range strings.FieldsSeq(c.miss) {
			if l.matches(name) {
				t.Errorf("%q matches %q", c.list, name)
			}
		}
	}
}

func TestASpaceIsACharacterOfARegex(t *testing.T) {
	if l, err := compileJavaList("a b"); err != nil || !l.matches("a b") || l.matches("ab") {
		t.Errorf("%v, %v", l.re, err)
	}
}

func TestWhatJavaReadsOtherwiseIsNotEvaluated(t *testing.T) {
	for _, list := range []string{
		`(?=a)a`, `(?!a).*`, `(?<=a)b`, `(?<name>a)`, `(?P<name>a)`, `(?>a)`, `(?s).`, `(?x)a b`, `(?-i)a`, `a(?i)*`, `a(?i){0}`,
		`(a)\1`, `\p{Lower}`, `\p{L}`, `\pL`, `\x41`, `\u0041`, `\R`, `\h`, `\G`, `\Z`, `\A`, `\e`, `\07`, `\E`, `\Qa`, `a\Q\E*`,
		`[a[b]]`, `[a-z&&[b]]`, `[a&&b]`, `[[:alpha:]]`, `[]a]`, `[^]a]`, `[\Qa\E]`, `[\p{L}]`, `[a`, `[`, `[a\`,
		`a{1,2}`, `a{`, `a{}`, `{1}`, `a{b}`, `a{,2}`, `a{1001}`,
		`a*+`, `a++`, `a?+`, `a**`, `*`, `+a`, `?`, `(`, `)`, `a)`, `\`,
		"caf\u00e9", "a\x00b", "[\u00e9]", "[\x00]", "a\x1fb", "a\x7fb", "[\x1f]", "[\x7f]",
	} {
		if l, err := compileJavaList(list); err == nil {
			t.Errorf("%q is evaluated as %v", list, l.re)
		}
	}
}

func FuzzCompileJavaList(f *testing.F) {
	for _, seed := range []string{
		"", "orders", "orders, payments", `a\.b`, `\Qa.b\E,x`, "[a-c]{2}", "(?i)a|b", "^(orders|payments)$", `.*[\-\.]internal, .*\.replica, __.*`, "a{1,2}", "[a&&b]", `\`,
	} {
		f.Add(seed, "orders")
	}
	f.Fuzz(func(t *testing.T, list, name string) {
		l, err := compileJavaList(list)
		if err != nil {
			if l.re != nil {
				t.Fatalf("%q: both a pattern and %v", list, err)
			}
			return
		}
		got := l.matches(name)
		if l.re == nil {
			if got {
				t.Fatalf("the empty list %q matches %q", list, name)
			}
			return
		}
		// A match of the whole is a match somewhere, and the entries that compile
		// by themselves are branches of it.
		if got && !l.re.MatchString(name) {
			t.Fatalf("%q matches %q as a whole and nowhere", list, name)
		}
		if strings.ContainsAny(list, `()[\`) { // an entry may be a part of a group or a quotation
			return
		}
		some := false
		for _, entry := range splitList(list) {
			entryList, err := compileJavaList(strings.ReplaceAll(entry, ",", ""))
			if err != nil {
				return
			}
			some = some || entryList.matches(name) || entry == "" && name == ""
		}
		if some != got {
			t.Fatalf("%q and %q: the list says %t, its entries %t", list, name, got, some)
		}
	})
}
