package flinkmm2

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxGroupName bounds the name of a group, in bytes. Brokers take up to 32,767,
// which nobody has typed on purpose.
const maxGroupName = 1024

// CheckGroup returns why a text is no name of a consumer group. Brokers take any
// but the empty one, so what a shell or a template has mangled would become a
// group of its own, whose offsets no job ever reads: the name must be UTF-8, and
// hold nothing that does not print and no white space at its ends.
func CheckGroup(name string) error {
	if name == "" {
		return errors.New("no consumer group was named")
	}
	var problem string
	switch {
	case len(name) > maxGroupName:
		problem = fmt.Sprintf("is longer than %d bytes", maxGroupName)
	case !utf8.ValidString(name):
		problem = "is not valid UTF-8"
	case strings.TrimSpace(name) == "":
		problem = "is blank"
	case strings.TrimSpace(name) != name:
		problem = "begins or ends with white space"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		problem = "holds characters that do not print"
	default:
		return nil
	}
	shown := name
	if len(shown) > 64 {
		shown = shown[:64] + "..."
	}
	return fmt.Errorf("the consumer group's name %q %s", shown, problem)
}
