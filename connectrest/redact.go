package connectrest

import "github.com/flinkmm2/flinkmm2/internal/restapi"

const (
	// maxErrorBody bounds what is read of an answer that refuses, in bytes.
	maxErrorBody = 1 << 20
	// maxMessage bounds the text that is kept of it, and maxForeign that of one
	// which is not a worker's.
	maxMessage = 4 << 10
	maxForeign = 512
)

// plainText makes a worker's text fit for an error or a log line.
func plainText(s string) string { return restapi.Text(s, maxMessage) }

// word makes fit for an error what is a word in a worker's answer: a version, a
// state, an address.
func word(s string) string { return restapi.Line(s, 256) }

// scrubError keeps what err is, and of its text what holds no secret.
func scrubError(err error, scrub func(string) string) error {
	return restapi.WithText(err, plainText(scrub(err.Error())))
}
