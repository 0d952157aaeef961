package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	// ErrLocked says that somebody else holds a lock of WithLock.
	ErrLocked = errors.New("locked")
	// ErrLockLost says that a lock which was held is another's now, so that nothing more
	// is sent.
	ErrLockLost = errors.New("the lock was lost")
)

// Lock is held by one who acts on a connector at a time, among those who take the same.
//
// Locks only keep people and Jobs out of each other's way. That at most one plan ever
// starts does not rest on them, for any can be lost while its holder does not notice: it
// rests on the look directly before the resume, at which all offsets, the config, the
// topics and the ranges must be the plan's, and on the journal.
type Lock interface {
	// Acquire takes the lock, or returns a *LockedError when it is another's. It does
	// not wait, and never takes from another what that may still hold.
	Acquire(ctx context.Context, who Owner) (Held, error)
}

// Held is a lock that was acquired.
type Held interface {
	// Check returns an ErrLockLost when the lock is not held any more, and another error
	// when that cannot be found out. It is called directly before each request that
	// changes something.
	Check(ctx context.Context) error
	// Release gives the lock back.
	Release() error
}

// Owner says who holds a lock.
type Owner struct {
	Connector string         `json:"connector"`
	By        string         `json:"by"`
	Host      string         `json:"host,omitempty"`
	Job       *JobIdentity   `json:"job,omitempty"`
	Since     offsetmap.Time `json:"since"`
}

// String names the owner in a line.
func (o Owner) String() string {
	if o.By == "" {
		return "somebody who has not said who it is"
	}
	return fmt.Sprintf("%s, for connector %s, since %s", who(&Entry{By: o.By, Host: o.Host, Job: o.Job}), o.Connector, o.Since)
}

// LockedError says who holds a lock. It is an ErrLocked.
type LockedError struct {
	Lock   string // which, such as the path of its file
	Holder string // who, as far as the lock tells
}

// Error names the lock and the holder.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%v: %s is held by %s", ErrLocked, e.Lock, e.Holder)
}

// Unwrap returns ErrLocked.
func (*LockedError) Unwrap() error { return ErrLocked }

// WithLock says which locks Create, Apply, Start and the steps back hold, in the order in
// which they are taken. A step that does not get all of them does nothing, and before each
// request that changes something all must still be held.
// By default, there are none.
func WithLock(locks ...Lock) Option {
	return func(m *Migration) { m.locks = append(m.locks, locks...) }
}

// heldLocks are the locks that a call holds, in its context.
type heldLocks []Held

type heldKey struct{ m *Migration }

// locked runs a step under the locks of the migration.
func locked[T any](ctx context.Context, m *Migration, step string, do func(context.Context) (T, error)) (T, error) {
	ctx, release, err := m.lock(ctx)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", step, err)
	}
	defer release()
	return do(ctx)
}

// lock takes the locks, unless the context has them.
func (m *Migration) lock(ctx context.Context) (context.Context, func(), error) {
	if _, has := ctx.Value(heldKey{m}).(heldLocks); has || len(m.locks) == 0 {
		return ctx, func() {}, nil
	}
	var all heldLocks
	release := func() {
		for _, held := range slices.Backward(all) {
			// What was done was done: that is not undone by a lock that stays.
			if err := held.Release(); err != nil {
				m.log.WarnContext(ctx, "a lock was not given back", "connector", m.cfg.Connector, "error", err)
			}
		}
	}
	who := Owner{Connector: m.cfg.Connector, By: m.by, Host: m.host, Job: m.job, Since: offsetmap.At(m.now())}
	for _, l := range m.locks {
		held, err := l.Acquire(ctx, who)
		if err != nil {
			release()
			return ctx, nil, fmt.Errorf("nothing was done: %w", err)
		}
		all = append(all, held)
	}
	return context.WithValue(ctx, heldKey{m}, all), release, nil
}

// stillLocked holds that all locks of the call are held.
func (m *Migration) stillLocked(ctx context.Context) error {
	all, _ := ctx.Value(heldKey{m}).(heldLocks)
	for _, held := range all {
		if err := held.Check(ctx); err != nil {
			return fmt.Errorf("it was not sent: %w", err)
		}
	}
	return nil
}

// lockTimeout bounds what a lock asks of others when it is given back.
const lockTimeout = 10 * time.Second
