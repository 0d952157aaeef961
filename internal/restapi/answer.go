package restapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// AnswerError is a complete answer that makes no sense.
type AnswerError struct{ err error }

// Error says what is wrong with the answer.
func (e *AnswerError) Error() string { return "the answer makes no sense: " + e.err.Error() }

// Unwrap returns what is wrong with the answer.
func (e *AnswerError) Unwrap() error { return e.err }

// Streamed takes a JSON value token by token, so that a large answer never
// stands in memory as text.
type Streamed interface {
	// DecodeFrom reads one value. An error of its own, which is not d's, wraps
	// ErrShape.
	DecodeFrom(d *json.Decoder) error
}

// ErrShape says that a value is well-formed JSON, and not the value that was
// expected.
var ErrShape = errors.New("it is not as expected")

// Decode reads the one JSON value of an answer of at most limit bytes into out:
// by DecodeFrom where out is Streamed. valid, which may be nil, says what an
// answer lacks that could be decoded. The error is an *AnswerError unless the
// answer was not complete. The body is left open.
func Decode(resp *http.Response, limit int64, out any, valid func() error) error {
	body := &io.LimitedReader{R: resp.Body, N: limit + 1}
	var dec *json.Decoder
	var err error
	if s, ok := out.(Streamed); ok {
		dec = json.NewDecoder(&squeeze{r: body})
		err = s.DecodeFrom(dec)
	} else {
		dec = json.NewDecoder(body)
		err = dec.Decode(out)
	}
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = &AnswerError{errors.New("more follows the JSON value")}
		}
	}
	if err == nil && valid != nil {
		if err = valid(); err != nil {
			err = &AnswerError{err}
		}
	}
	switch {
	case body.N <= 0:
		return &AnswerError{fmt.Errorf("it is longer than %d bytes", limit)}
	case err != nil && isJSONError(err):
		return &AnswerError{fmt.Errorf("%q is not the JSON of this call: %w", resp.Header.Get("Content-Type"), err)}
	case errors.Is(err, io.EOF):
		// An empty body where JSON was due: a gateway's, or cut at its first byte.
		return io.ErrUnexpectedEOF
	}
	return err
}

func isJSONError(err error) bool {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true
	}
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok || errors.Is(err, ErrShape)
}
