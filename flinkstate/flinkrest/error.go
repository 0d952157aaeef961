package flinkrest

import (
	"errors"
	"fmt"
	"strings"
)

// What an answer means, for [errors.Is].
var (
	// ErrJobNotFound: the server knows no job of that id or name. It is no
	// evidence that the job has ended: see the package comment.
	ErrJobNotFound = errors.New("job not found")
	// ErrAmbiguous: several jobs have the name. The errors.As type is
	// [*AmbiguousError].
	ErrAmbiguous = errors.New("more than one job of that name")
	// ErrContradiction: answers of the server contradict each other.
	ErrContradiction = errors.New("answers contradict each other")
	// ErrUnauthorized: the credentials are missing, wrong or not sufficient.
	ErrUnauthorized = errors.New("not authorized")
	// ErrNotReady: the JobManager elects a leader, or a gateway before it cannot
	// answer now.
	ErrNotReady = errors.New("server is not ready")
	// ErrUnreachable: no connection was made.
	ErrUnreachable = errors.New("server cannot be reached")
	// ErrNoAnswer: the connection broke, or the time for one attempt ran out,
	// before the answer was complete.
	ErrNoAnswer = errors.New("no complete answer")
	// ErrUnexpected: the answer is none that Flink is known to give.
	ErrUnexpected = errors.New("unexpected answer")
	// ErrJobID: a text that is no job id.
	ErrJobID = errors.New("not a job id")
)

// Error is a request that failed, with what the server answered.
type Error struct {
	// URL has neither user-info nor query.
	URL string
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Message is the first line of what the server says, without the credentials
	// that this client sends.
	Message string
	// Attempts counts the requests that were sent, or that found no connection.
	Attempts int
	// Hint says what to do about it. May be empty.
	Hint string

	meaning error
	cause   error
}

// Error names meaning, request, answer and cause, then the hint.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: GET %s", e.meaning, e.URL)
	if e.StatusCode != 0 {
		fmt.Fprintf(&b, ": status %d", e.StatusCode)
		if e.Message != "" {
			fmt.Fprintf(&b, ": %s", e.Message)
		}
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d attempts)", e.Attempts)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	return b.String()
}

// GoString is Error, so that %#v shows no more than %v does.
func (e *Error) GoString() string { return e.Error() }

// Unwrap returns the meaning and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.meaning}
	}
	return []error{e.meaning, e.cause}
}

// AmbiguousError lists the jobs of one name. It is an [ErrAmbiguous].
type AmbiguousError struct {
	Name string
	// Jobs is sorted by start time, the newest first.
	Jobs []JobSummary
}

// Error names the jobs with their states.
func (e *AmbiguousError) Error() string {
	var all []string
	for _, j := range e.Jobs {
		all = append(all, fmt.Sprintf("%s (%s)", j.ID, j.State))
	}
	return fmt.Sprintf("%v: %q is the name of %s; choose one by its id", ErrAmbiguous, e.Name, strings.Join(all, ", "))
}

// Is reports whether target is ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }
