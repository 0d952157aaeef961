package flinkrest

import (
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

const (
	// maxErrorBody bounds what is read of an answer that refuses, in bytes.
	maxErrorBody = 1 << 20
	// maxMessage bounds the text that is kept of it.
	maxMessage = 1 << 10
)

// plainText makes a server's text fit for one line of an error or a log.
func plainText(s string) string { return restapi.Line(s, maxMessage) }

// scrubError keeps what err is, and of its text what holds no secret.
func scrubError(err error, scrub func(string) string) error {
	return restapi.WithText(err, plainText(scrub(err.Error())))
}

// firstLine leaves the stack trace behind.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return plainText(s)
}
