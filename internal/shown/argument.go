package shown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Argument returns a text as one argument of a shell's command line, quoted where some
// shell might take it apart or replace it. What cannot be seen is left to printf: it
// would act on the terminal that shows the command.
func Argument(arg string) string {
	if Line(arg) != arg && !strings.HasSuffix(arg, "\n") { // which a shell takes off
		var b strings.Builder
		for _, c := range []byte(arg) {
			if isPlain(rune(c)) && c < utf8.RuneSelf && c != '%' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		return `"$(printf '` + b.String() + `')"`
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !isPlain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// isPlain reports whether every shell leaves a character as it is.
func isPlain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:,@%+", r)
}
