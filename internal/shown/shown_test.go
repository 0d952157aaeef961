package shown_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

func TestNamesAreQuotedOnlyWhereTheyCannotBeSeenAsTheyAre(t *testing.T) {
	for name, want := range map[string]string{
		"Source: kafka source 0": "Source: kafka source 0",
		"订单复制":                   "订单复制",
		"a-é":                    "a-é",
		"":                       `""`,
		" a":                     `" a"`,
		"a\tb":                   `"a\tb"`,
		"a\nwarning: b":          `"a\nwarning: b"`,
		"\x1b[2J\x1b[31mred":     `"\x1b[2J\x1b[31mred"`,
		"abc\u202edcb":           `"abc\u202edcb"`,
		"a\u200bb":               `"a\u200bb"`,
		"a\u00a0b":               `"a\u00a0b"`,
		"\u009b2J":               `"\u009b2J"`,
		"a\xffb":                 `"a\xffb"`,
		"a\x00b":                 `"a\x00b"`,
		`say "a"`:                `"say \"a\""`,
		`C:\flink`:               `"C:\\flink"`,
		"a\ufffdb":               "a\ufffdb",
	} {
		if got := shown.Name(name); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
}

func TestTextsKeepWhatCanBeSeen(t *testing.T) {
	for text, want := range map[string][2]string{
		"open /a b: it's \"gone\"":    {"open /a b: it's \"gone\"", "open /a b: it's \"gone\""},
		"one\ntwo\r\x1b[0m\u202e\xff": {`one\ntwo\r\x1b[0m\u202e\xff`, "one\n" + `two\r\x1b[0m\u202e\xff`},
		"\x00":                        {`\x00`, `\x00`},
		"a\ufffd":                     {"a\ufffd", "a\ufffd"},
		"":                            {"", ""},
	} {
		if got := shown.Line(text); got != want[0] {
			t.Errorf("line of %q: %s, want %s", text, got, want[0])
		}
		if got := shown.Text(text); got != want[1] {
			t.Errorf("text of %q: %s, want %s", text, got, want[1])
		}
	}
}

func FuzzShown(f *testing.F) {
	for _, s := range []string{"a", "a\tb", "\x1b]0;x\x07", "\xed\xa0\x80", "\u2028", "\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{shown.Name(s), shown.Line(s), strings.ReplaceAll(shown.Text(s), "\n", "")} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) {
				t.Errorf("%q is shown as %q", s, got)
			}
		}
		if name := shown.Name(s); name != s {
			if back, err := strconv.Unquote(name); err != nil || back != s {
				t.Errorf("%q is shown as %s, which says %q: %v", s, name, back, err)
			}
		}
	})
}
