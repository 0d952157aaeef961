package connectrest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// WorkerView is what one worker answered to [Client.Probe].
type WorkerView struct {
	// URL is the base URL by which it was asked.
	URL  string
	Info WorkerInfo
	// Health is nil where the worker has no such endpoint (before 3.9), or could
	// not be asked for anything. Its status is "unknown" where it did not answer
	// to this alone.
	Health *Health
	// Connectors is what it says of all connectors, nil where it could not say.
	Connectors ConnectorList
	// Err says why one of these could not be read.
	Err error
	// ForwardErr says why a request that only the leader serves failed. It is nil
	// where that worked, and where it was not tried.
	ForwardErr error
}

// ProbeKind says what is wrong among the workers.
type ProbeKind string

// What [Client.Probe] finds.
const (
	// ProbeNoAnswer: a worker did not answer a read.
	ProbeNoAnswer ProbeKind = "no answer"
	// ProbeUnhealthy: a worker says itself that it is not healthy, or starts.
	ProbeUnhealthy ProbeKind = "unhealthy"
	// ProbeOtherCluster: the workers belong to different Kafka clusters, so they
	// are no Connect cluster.
	ProbeOtherCluster ProbeKind = "other Kafka cluster"
	// ProbeOtherVersion: the workers are of different versions, as during a
	// rolling upgrade. What one can, another may not.
	ProbeOtherVersion ProbeKind = "other version"
	// ProbeOtherView: the workers said different things of the connectors, as
	// often as they were asked: one of them is behind, or belongs to another
	// Connect cluster (group.id).
	ProbeOtherView ProbeKind = "other view"
	// ProbeLoopback: a worker tells the others to reach it on its own loopback
	// address.
	ProbeLoopback ProbeKind = "advertised loopback"
	// ProbeSharedAddress: one address stands for all connectors and tasks,
	// although several workers answer: it may be a load balancer's, or the
	// workers' own pod name that is the same everywhere. It may also be that one
	// worker has all the work.
	ProbeSharedAddress ProbeKind = "shared advertised address"
	// ProbeForwarding: a worker cannot pass on to the leader what only the leader
	// serves, so that writes through it fail.
	ProbeForwarding ProbeKind = "forwarding"
)

// ProbeFinding is one thing that is wrong among the workers.
type ProbeFinding struct {
	Kind ProbeKind
	// Workers are the base URLs that it is about, sorted.
	Workers []string
	// Detail is what was seen.
	Detail string
	// Hint says what to do about it.
	Hint string
}

// String names kind, workers, detail and hint.
func (f ProbeFinding) String() string {
	s := fmt.Sprintf("%s: %s: %s", f.Kind, strings.Join(f.Workers, ", "), f.Detail)
	if !strings.Contains(s, f.Hint) {
		s += "; " + f.Hint
	}
	return s
}

// ProbeReport is what the workers answered to the same requests.
type ProbeReport struct {
	// Workers are in the order of the base URLs.
	Workers []WorkerView
	// Advertised are the addresses at which the workers tell each other to be
	// reached (rest.advertised.host.name and port), sorted: those that stand as
	// worker_id in the status of a connector or a task.
	Advertised []string
	// Findings are sorted by kind. None means that the workers agree.
	Findings []ProbeFinding
}

// ErrProbe says that the workers of a cluster do not agree.
var ErrProbe = errors.New("workers of Kafka Connect differ")

// Err returns nil where nothing was found, else an [ErrProbe] with all findings
// and with what failed.
func (r ProbeReport) Err() error {
	var errs []error
	for _, f := range r.Findings {
		errs = append(errs, fmt.Errorf("%w: %s", ErrProbe, f))
	}
	for _, w := range r.Workers {
		for _, err := range []error{w.Err, w.ForwardErr} {
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Probe sends the same reads through every worker at once and compares the
// answers: version, Kafka cluster, health and connectors. What workers say of
// connectors may differ for a moment, so they are asked again until they agree,
// for at most [RetryPolicy.ReadBack]; a failed read is not sent again.
//
// A finding is no error: err is not nil only when ctx ended.
func (c *Client) Probe(ctx context.Context) (ProbeReport, error) {
	return c.probe(ctx, func(context.Context, *Client) error { return nil })
}

// ProbeForwarding is [Client.Probe], and sends through every worker one request
// more that only the leader serves: the reset of the offsets of a connector that
// does not exist, under a name drawn from 128 random bits. The leader's word
// that there is none shows that the worker reaches it; nothing is changed. A
// worker before 3.6 has no such request, which is its ForwardErr, and no finding.
func (c *Client) ProbeForwarding(ctx context.Context) (ProbeReport, error) {
	return c.probe(ctx, forwards)
}

func forwards(ctx context.Context, one *Client) error {
	name := "flinkmm2-probe-" + rand.Text()
	var last error
	err := one.poll(ctx, one.retry.ReadBack, func(ctx context.Context) (bool, error) {
		last = one.do(ctx, request{
			method: http.MethodDelete, path: []string{"connectors", name, "offsets"}, connector: name, needs: featureAlter, single: true,
		})
		if errors.Is(last, ErrRebalance) || errors.Is(last, ErrStaleConfig) || errors.Is(last, ErrNotReady) {
			return false, last
		}
		return true, nil
	})
	switch {
	case err != nil:
		return err
	case errors.Is(last, ErrNotFound):
		return nil
	default:
		return cmp.Or(last, errors.New("the worker took a change of a connector that does not exist"))
	}
}

func (c *Client) probe(ctx context.Context, forward func(context.Context, *Client) error) (ProbeReport, error) {
	views := make([]WorkerView, len(c.workers.list))
	clients := make([]*Client, len(views))
	for i := range views {
		clients[i] = c.only(i)
		clients[i].retry.Budget = -1
	}
	each := func(do func(one *Client, v *WorkerView)) {
		var all sync.WaitGroup
		for i := range views {
			all.Go(func() { do(clients[i], &views[i]) })
		}
		all.Wait()
	}
	each(func(one *Client, v *WorkerView) { *v = one.view(ctx) })
	var differ string
	// Only the bound, or ctx, can end it otherwise.
	_ = c.poll(ctx, c.retry.ReadBack, func(ctx context.Context) (bool, error) {
		each(func(one *Client, v *WorkerView) {
			if v.Info.Version.text == "" || v.Err != nil && !transient(v.Err) {
				return // it cannot be asked, and waiting does not help
			}
			v.Connectors, v.Err = one.ListConnectors(ctx)
		})
		differ = difference(views)
		return differ == "" && !slices.ContainsFunc(views, func(v WorkerView) bool {
			return v.Info.Version.text != "" && transient(v.Err)
		}), nil
	})
	each(func(one *Client, v *WorkerView) {
		if v.Err == nil {
			v.ForwardErr = forward(ctx, one)
		}
	})
	if err := ctx.Err(); err != nil {
		return ProbeReport{}, fmt.Errorf("probe of Kafka Connect at %s: %w", c, err)
	}
	return judgeViews(views, differ), nil
}

// view asks a worker what does not change from moment to moment.
func (c *Client) view(ctx context.Context) WorkerView {
	v := WorkerView{URL: c.String()}
	if v.Info, v.Err = c.Info(ctx); v.Err != nil {
		return v
	}
	switch h, err := c.Health(ctx); {
	case err == nil:
		v.Health = &h
	case !errors.Is(err, ErrUnsupported):
		v.Health = &Health{Status: "unknown", Message: err.Error()}
	}
	return v
}

// difference names the first connector of which two workers say different
// things, empty where there is none.
func difference(views []WorkerView) string {
	var first *WorkerView
	for i := range views {
		v := &views[i]
		if v.Connectors == nil {
			continue
		}
		if first == nil {
			first = v
			continue
		}
		for name, one := range first.Connectors.Sorted() {
			other, ok := v.Connectors[name]
			switch {
			case !ok:
				return fmt.Sprintf("connector %q is known at %s and not at %s", name, first.URL, v.URL)
			case !sameStatus(one.Status, other.Status):
				return fmt.Sprintf("connector %q is %s at %s and %s at %s", name, describeStatus(one.Status), first.URL, describeStatus(other.Status), v.URL)
			case !sameConfig(one.Info.Config, other.Info.Config):
				return fmt.Sprintf("connector %q has another configuration at %s than at %s", name, first.URL, v.URL)
			}
		}
		for name := range v.Connectors.Sorted() {
			if _, ok := first.Connectors[name]; !ok {
				return fmt.Sprintf("connector %q is known at %s and not at %s", name, v.URL, first.URL)
			}
		}
	}
	return ""
}

func describeStatus(s Status) string {
	return fmt.Sprintf("%s on %s with %s", s.Connector.State, s.Connector.WorkerID, describeTasks(s.Tasks, nil))
}

func sameStatus(a, b Status) bool {
	byID := func(s Status) []TaskStatus {
		return slices.SortedFunc(slices.Values(s.Tasks), func(x, y TaskStatus) int { return cmp.Compare(x.ID, y.ID) })
	}
	return a.Connector.State == b.Connector.State && a.Connector.WorkerID == b.Connector.WorkerID &&
		slices.EqualFunc(byID(a), byID(b), func(x, y TaskStatus) bool {
			return x.ID == y.ID && x.State == y.State && x.WorkerID == y.WorkerID
		})
}
