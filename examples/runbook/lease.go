package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

// leaseLock is a Lock by a Lease of coordination.k8s.io/v1, as the leader elections of
// Kubernetes use them, for pods of one cluster. A Lease ends by itself when its holder no
// longer renews it. All times in it are by the clock of the API server, as it shows in the
// Date of its answers, so that the clocks of nodes do not matter; and every write names the
// version that it is made from, so that of two at once one is refused.
type leaseLock struct {
	namespace, name string
	api             *kubeAPI
	lasts           time.Duration // without renewal
}

const (
	// leaseLasts is how long others wait for a holder that was killed.
	leaseLasts = 60 * time.Second
	// leaseGrace is how far the clocks of several API servers may differ.
	leaseGrace = 10 * time.Second
	// leaseTime is the form of times in a Lease: RFC 3339 with microseconds.
	leaseTime = "2006-01-02T15:04:05.000000Z07:00"
)

// lease is the part of a Lease that is used.
type lease struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"` // what others put there stays
	Spec       leaseSpec      `json:"spec"`
}

type leaseSpec struct {
	Holder      string `json:"holderIdentity,omitempty"`
	Lasts       int32  `json:"leaseDurationSeconds,omitempty"`
	Acquired    string `json:"acquireTime,omitempty"`
	Renewed     string `json:"renewTime,omitempty"`
	Transitions int32  `json:"leaseTransitions,omitempty"`
}

// ended says that nobody holds the Lease at a time of the server.
func (l *lease) ended(server time.Time) (bool, error) {
	if l.Spec.Holder == "" {
		return true, nil
	}
	renewed, err := time.Parse(time.RFC3339Nano, l.Spec.Renewed)
	if err != nil || l.Spec.Lasts <= 0 {
		return false, fmt.Errorf("it is held by %q with renewTime %q and leaseDurationSeconds %d, which do not say until when", l.Spec.Holder, l.Spec.Renewed, l.Spec.Lasts)
	}
	return server.After(renewed.Add(time.Duration(l.Spec.Lasts)*time.Second + leaseGrace)), nil
}

func (l *leaseLock) path() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + url.PathEscape(l.namespace) + "/leases/" + url.PathEscape(l.name)
}

func (l *leaseLock) String() string { return "Lease " + l.namespace + "/" + l.name }

// Acquire takes the Lease when nobody holds it, or the holder has not renewed it for as long
// as it was to last.
func (l *leaseLock) Acquire(ctx context.Context, who flinkmm2.Owner) (flinkmm2.Held, error) {
	h := &heldLease{leaseLock: l, holder: who.String(), stop: make(chan struct{}), ended: make(chan struct{})}
	var now lease
	server, err := l.api.do(ctx, http.MethodGet, l.path(), nil, &now)
	method, path := http.MethodPut, l.path()
	switch {
	case errors.Is(err, errNoLease):
		method, path = http.MethodPost, strings.TrimSuffix(l.path(), "/"+url.PathEscape(l.name))
		now = lease{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Metadata: map[string]any{"name": l.name, "namespace": l.namespace}}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", l, err)
	default:
		ended, err := now.ended(server)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l, err)
		}
		if !ended {
			return nil, &flinkmm2.LockedError{Lock: l.String(), Holder: now.Spec.Holder}
		}
		now.Spec.Transitions++
	}
	at := server.UTC().Format(leaseTime)
	now.Spec = leaseSpec{Holder: h.holder, Lasts: int32(l.lasts / time.Second), Acquired: at, Renewed: at, Transitions: now.Spec.Transitions}
	_, err = l.api.do(ctx, method, path, now, &h.lease)
	switch {
	case errors.Is(err, errLeaseConflict):
		return nil, &flinkmm2.LockedError{Lock: l.String(), Holder: "another that acquired it at the same moment"}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	go h.renewing() //nolint:gosec // until it is released, whatever becomes of the context that acquired it
	return h, nil
}

// heldLease is a Lease that is renewed until it is released.
type heldLease struct {
	*leaseLock
	holder      string
	stop, ended chan struct{}

	mu    sync.Mutex
	lease lease
	lost  error
}

// renewing renews the Lease four times in the time that it lasts.
func (h *heldLease) renewing() {
	defer close(h.ended)
	tick := time.NewTicker(h.lasts / 4)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), h.lasts/4)
			_ = h.renew(ctx) // Check renews it too, and says why not
			cancel()
		}
	}
}

// renew writes the Lease again, and finds out by that whether it is still held.
func (h *heldLease) renew(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	var now lease
	server, err := h.api.do(ctx, http.MethodGet, h.path(), nil, &now)
	switch {
	case errors.Is(err, errNoLease):
		h.lost = fmt.Errorf("%w: %s was deleted", flinkmm2.ErrLockLost, h)
		return h.lost
	case err != nil:
		return fmt.Errorf("%s: %w", h, err)
	case now.Spec.Holder != h.holder || now.Spec.Acquired != h.lease.Spec.Acquired:
		h.lost = fmt.Errorf("%w: %s is held by %q now", flinkmm2.ErrLockLost, h, now.Spec.Holder)
		return h.lost
	}
	now.Spec.Renewed = server.UTC().Format(leaseTime)
	if _, err := h.api.do(ctx, http.MethodPut, h.path(), now, &h.lease); err != nil {
		return fmt.Errorf("%s: %w", h, err) // of a conflict too: the next look says whose it is
	}
	return nil
}

// Check renews the Lease, so that it lasts beyond the request that follows.
func (h *heldLease) Check(ctx context.Context) error { return h.renew(ctx) }

// Release ends the renewing and empties the Lease, unless it is another's.
func (h *heldLease) Release() error {
	close(h.stop)
	<-h.ended
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.renew(ctx); err != nil {
		if errors.Is(err, flinkmm2.ErrLockLost) {
			return nil
		}
		return err
	}
	free := h.lease
	free.Spec = leaseSpec{Transitions: free.Spec.Transitions}
	if _, err := h.api.do(ctx, http.MethodPut, h.path(), free, nil); err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	return nil
}
