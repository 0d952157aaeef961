package connectrest

import (
	"errors"
	"fmt"
	"strings"
)

// What an answer means, for [errors.Is]. An error may have several meanings.
var (
	// ErrNotFound: the worker says that it has no connector of that name, or no
	// such task, plugin or logger.
	ErrNotFound = errors.New("not found")
	// ErrNoStatus: the status topic says nothing about the connector, yet. It is
	// no evidence that the connector does not exist: after a create it takes some
	// 10 to 200 ms.
	ErrNoStatus = errors.New("connector has no status yet")
	// ErrExists: a connector of that name exists.
	ErrExists = errors.New("connector already exists")
	// ErrRebalance: the workers rebalance, or do not know their leader. Nothing
	// was done.
	ErrRebalance = errors.New("workers are rebalancing")
	// ErrStaleConfig: the worker has not read a configuration change yet.
	// Nothing was done.
	ErrStaleConfig = errors.New("worker has not read the newest configuration yet")
	// ErrNotStopped: the connector is not STOPPED, or still has tasks. Nothing
	// was done.
	ErrNotStopped = errors.New("connector is not stopped")
	// ErrUnsupported: this worker, or this connector, does not have the function.
	ErrUnsupported = errors.New("not supported by this worker")
	// ErrUnauthorized: the credentials are missing or wrong (401, or 407 of a
	// proxy), or could not be had. Nothing was done.
	ErrUnauthorized = errors.New("not authorized")
	// ErrForbidden: the credentials do not suffice (403). Nothing was done.
	ErrForbidden = errors.New("forbidden")
	// ErrForwarding: the worker that was asked could not pass the request on to
	// the leader.
	ErrForwarding = errors.New("worker could not forward the request to another worker")
	// ErrNotReady: the worker, or a gateway before it, cannot answer now.
	ErrNotReady = errors.New("worker is not ready")
	// ErrTimedOut: the worker gave up the request after its own 90 s, or no answer
	// came within [WithAttemptTimeout]. What it began may still be done: for a
	// write this is also an ErrOutcomeUnknown, unless it is an ErrUnreachable.
	ErrTimedOut = errors.New("timed out")
	// ErrUnreachable: no connection was made, so nothing was sent.
	ErrUnreachable = errors.New("worker cannot be reached")
	// ErrNoAnswer: the connection broke, or the time for one attempt ran out,
	// before the answer was complete.
	ErrNoAnswer = errors.New("no complete answer")
	// ErrOutcomeUnknown: a write was sent and may have been done, or may still
	// be. Read the state back before anything else is sent.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrRejected: the connector itself refuses the values. Nothing was done, and
	// the same request will never be accepted.
	ErrRejected = errors.New("rejected by the connector")
	// ErrBadRequest: the request is malformed or the configuration invalid, said
	// by the worker or before anything was sent. Nothing was done.
	ErrBadRequest = errors.New("bad request")
	// ErrUnexpected: the answer is none that a Kafka Connect worker is known to
	// give.
	ErrUnexpected = errors.New("unexpected answer")
	// ErrName: a name that no request can address: see CheckName. Nothing was done.
	ErrName = errors.New("name cannot be addressed")
)

// Error is a request that failed, with what the worker answered.
type Error struct {
	Method string
	// URL is that of the last attempt. It has neither user-info nor query.
	URL string
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Code is error_code of the worker's body, 0 when the body was not one of
	// Kafka Connect's.
	Code int
	// Message is the text of the answer, at most 4 KiB, without the credentials
	// that this client sends.
	Message string
	// Attempts counts the requests that were sent, or that found no connection,
	// on all workers. 0 when the credentials could not be had.
	Attempts int
	// Hint says what to do about it. May be empty.
	Hint string

	meanings []error
	cause    error
	again    again
}

// Error names meaning, request, answer and cause, then the hint.
func (e *Error) Error() string {
	var b strings.Builder
	for _, m := range e.meanings {
		b.WriteString(m.Error())
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s %s", e.Method, e.URL)
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

// Unwrap returns the meanings and the cause.
func (e *Error) Unwrap() []error {
	all := append([]error(nil), e.meanings...)
	if e.cause != nil {
		all = append(all, e.cause)
	}
	return all
}

// UnsupportedError says that a worker is too old for a call, or does not say
// how old it is. It is an [ErrUnsupported].
type UnsupportedError struct {
	// Feature is what was asked for, and the KIP that brought it.
	Feature string
	Needed  Version
	// Found is what the worker reports; not Known where that says nothing.
	Found Version
	// Err is the worker's refusal, or why it could not be asked for the
	// capability; nil when the version decided before anything was sent.
	Err error
}

// Error names the version needed and the one found.
func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%v: %s needs Kafka %v or later, the worker reports %q", ErrUnsupported, e.Feature, e.Needed, e.Found.String())
	if !e.Found.Known() {
		s += ", which does not say its Kafka version (see WithAssumedVersion and WithCapabilityQuestions)"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns ErrUnsupported and the refusal.
func (e *UnsupportedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrUnsupported}
	}
	return []error{ErrUnsupported, e.Err}
}

// transient reports whether the same request may succeed a moment later.
func transient(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.again != never
}
