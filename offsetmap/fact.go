package offsetmap

import "errors"

// Fact is something that was looked for in the world. It is known, absent
// (looked for, and not there), or unknown (could not be found out). Unknown is
// not absent, and neither is a value.
//
// The zero value is unknown: not looked for.
type Fact[T any] struct {
	value T
	state factState
	err   error
}

type factState uint8

const (
	factUnknown factState = iota
	factAbsent
	factKnown
)

var errNotLookedFor = errors.New("not looked for")

// Known returns a fact with a value.
func Known[T any](v T) Fact[T] { return Fact[T]{value: v, state: factKnown} }

// Absent returns a fact that was looked for and is not there.
func Absent[T any]() Fact[T] { return Fact[T]{state: factAbsent} }

// NotKnown returns a fact that could not be found out, with the reason.
func NotKnown[T any](err error) Fact[T] { return Fact[T]{err: err} }

// Get returns the value, and false unless it is known.
func (f Fact[T]) Get() (T, bool) { return f.value, f.state == factKnown }

// IsAbsent reports whether the thing was looked for and is not there.
func (f Fact[T]) IsAbsent() bool { return f.state == factAbsent }

// Err returns why the fact is unknown, nil when it is known or absent.
func (f Fact[T]) Err() error {
	switch {
	case f.state != factUnknown:
		return nil
	case f.err == nil:
		return errNotLookedFor
	default:
		return f.err
	}
}
