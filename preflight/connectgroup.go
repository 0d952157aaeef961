package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ConnectGroup is the group by which the workers of a Connect cluster share their work,
// as its brokers describe it (WorkerCoordinator, KIP-415). The REST API shows nothing
// of it.
type ConnectGroup struct {
	ID    string
	State string // Stable between two rebalances
	// Members are sorted by id. Before a rebalance is over nothing is told of them.
	Members []ConnectMember
}

// ConnectMember is a worker as its group knows it.
type ConnectMember struct {
	ID string
	// URL is the one that the others reach it by (rest.advertised.*).
	URL string
	// LeaderURL is the one by which it reaches the leader.
	LeaderURL string
	// Assigned are the connectors by name, and the tasks as NAME-N, sorted.
	Assigned []string
	// Delay is for how long the tasks of a worker that is gone wait for it to come
	// back (scheduled.rebalance.max.delay.ms): a rebalance then follows.
	Delay time.Duration
}

// ConnectLooks is what one or two looks at the group showed.
type ConnectLooks struct {
	First ConnectGroup
	// Later is the same group after Over. Both are zero where it was looked at once.
	Later ConnectGroup
	Over  time.Duration
}

const (
	connectProtocol = "connect" // WorkerCoordinator.protocolType
	groupStable     = "Stable"
)

// errGroupUnseen says that nobody can look at the group, which no setting of the
// migration mends.
var errGroupUnseen = errors.New("the workers' group cannot be seen")

var errNoConnectGroup = fmt.Errorf("%w: no Connect group that the brokers show has a member at one of the worker's addresses; it is a standalone worker, or DESCRIBE on the group is not allowed", errGroupUnseen)

// lookAtGroup looks at the group of the worker. The second look, for which Calm asks, is
// that of again, which waits for what is left of it.
func (p Probe) lookAtGroup(ctx context.Context, admin Admin, addresses map[string]bool) (looks ConnectLooks, again func() (ConnectLooks, error), err error) {
	first, err := findGroup(ctx, admin, addresses)
	at := p.clock()()
	return ConnectLooks{First: first}, func() (ConnectLooks, error) {
		if rest := p.Calm - p.clock()().Sub(at); rest > 0 {
			if err := p.wait(ctx, rest); err != nil {
				return ConnectLooks{}, err
			}
		}
		described, err := describeConnect(ctx, admin, first.ID)
		return ConnectLooks{First: first, Later: described[first.ID], Over: p.Calm}, err
	}, err
}

// FindConnectGroup returns the group of the workers that advertise one of the
// addresses, host and port as a worker_id has them.
func FindConnectGroup(ctx context.Context, admin Admin, addresses ...string) (ConnectGroup, error) {
	wanted := make(map[string]bool, len(addresses))
	for _, a := range addresses {
		wanted[a] = true
	}
	return findGroup(ctx, admin, wanted)
}

// MemberIDs returns the ids of the members by what they advertise, as a worker_id has
// it. A worker gets another id whenever its process starts. Until its session has
// timed out, one that was killed stands beside what runs at its address now: then
// neither is there.
func (g ConnectGroup) MemberIDs() map[string]string {
	out, twice := make(map[string]string, len(g.Members)), map[string]bool{}
	for _, m := range g.Members {
		at := hostPort(m.URL)
		_, there := out[at]
		twice[at] = twice[at] || there
		out[at] = m.ID
	}
	maps.DeleteFunc(out, func(at, _ string) bool { return at == "" || twice[at] })
	return out
}

// findGroup finds the group with a member at one of the addresses. One in a rebalance
// tells no addresses, so that where none has one of them it may be the worker's.
func findGroup(ctx context.Context, admin Admin, addresses map[string]bool) (ConnectGroup, error) {
	listed, err := admin.ListGroups(ctx)
	if err != nil {
		return ConnectGroup{}, err
	}
	var ids []string
	for _, l := range listed.Sorted() {
		if l.ProtocolType == connectProtocol {
			ids = append(ids, l.Group)
		}
	}
	if ids == nil { // of none, kadm would describe all
		return ConnectGroup{}, errNoConnectGroup
	}
	all, err := describeConnect(ctx, admin, ids...)
	if err != nil {
		return ConnectGroup{}, err
	}
	var moving []ConnectGroup
	for _, id := range slices.Sorted(maps.Keys(all)) {
		g := all[id]
		if slices.ContainsFunc(g.Members, func(m ConnectMember) bool { return addresses[hostPort(m.URL)] }) {
			return g, nil
		}
		if slices.Contains([]string{"PreparingRebalance", "CompletingRebalance"}, g.State) {
			moving = append(moving, g)
		}
	}
	if len(moving) > 0 {
		return moving[0], nil
	}
	return ConnectGroup{}, errNoConnectGroup
}

func describeConnect(ctx context.Context, admin Admin, ids ...string) (map[string]ConnectGroup, error) {
	described, err := admin.DescribeGroups(ctx, ids...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]ConnectGroup, len(described))
	for _, d := range described {
		if d.Err != nil {
			return nil, fmt.Errorf("group %s: %w", d.Group, d.Err)
		}
		g := ConnectGroup{ID: d.Group, State: d.State}
		for _, m := range d.Members {
			one, err := connectMember(m)
			if err != nil && d.State == groupStable {
				return nil, fmt.Errorf("group %s: member %s: %w", d.Group, m.MemberID, err)
			}
			g.Members = append(g.Members, one)
		}
		slices.SortFunc(g.Members, func(a, b ConnectMember) int { return strings.Compare(a.ID, b.ID) })
		out[d.Group] = g
	}
	return out, nil
}

func connectMember(m kadm.DescribedGroupMember) (ConnectMember, error) {
	out := ConnectMember{ID: m.MemberID}
	joined, ok := m.Join.AsConnect()
	if !ok {
		return out, errors.New("what it joined with is not as Kafka Connect writes it")
	}
	out.URL = joined.URL
	assigned, ok := m.Assigned.AsConnect()
	if !ok {
		return out, errors.New("what it was assigned is not as Kafka Connect writes it")
	}
	out.LeaderURL, out.Delay = assigned.LeaderURL, time.Duration(assigned.ScheduledDelay)*time.Millisecond
	for _, a := range assigned.Assignment {
		for _, task := range a.Tasks {
			if task < 0 { // ConnectProtocol.CONNECTOR_TASK: the connector itself
				out.Assigned = append(out.Assigned, a.Connector)
			} else {
				out.Assigned = append(out.Assigned, fmt.Sprintf("%s-%d", a.Connector, task))
			}
		}
	}
	slices.Sort(out.Assigned)
	return out, nil
}

// hostPort is the worker_id of who advertises the URL (ConnectRestServer.workerId).
func hostPort(advertised string) string {
	u, err := url.Parse(advertised)
	if err != nil {
		return ""
	}
	return u.Host
}

// addressesOf are the worker_ids that a list of connectors names, and where the client
// itself reaches workers.
func addressesOf(report connectrest.ProbeReport) map[string]bool {
	out := map[string]bool{}
	for _, a := range report.Advertised {
		out[a] = true
	}
	for _, w := range report.Workers {
		out[hostPort(w.URL)] = true
	}
	delete(out, "")
	return out
}

// movedBetween says what differs, and nothing where the group stood still.
func (l ConnectLooks) movedBetween() string {
	a, b := l.First, l.Later
	ids := func(g ConnectGroup) []string {
		var out []string
		for _, m := range g.Members {
			out = append(out, m.ID)
		}
		return out
	}
	switch {
	case a.State != b.State:
		return fmt.Sprintf("it was %s and is %s", a.State, b.State)
	case !slices.Equal(ids(a), ids(b)):
		return fmt.Sprintf("its members were %q and are %q", ids(a), ids(b))
	}
	for i, m := range a.Members {
		n := b.Members[i]
		switch {
		case m.LeaderURL != n.LeaderURL:
			return fmt.Sprintf("its leader was %s and is %s", m.LeaderURL, n.LeaderURL)
		case !slices.Equal(m.Assigned, n.Assigned):
			return fmt.Sprintf("the worker at %s had %q and has %q", m.URL, m.Assigned, n.Assigned)
		}
	}
	return ""
}

// workerAdmin is the client of the cluster that the workers keep their group in.
func (p Probe) workerAdmin(f Facts) (Admin, error) {
	w, ok := f.Worker.Get()
	if !ok {
		return nil, f.Worker.Err()
	}
	for _, side := range []struct {
		is    offsetmap.Fact[Cluster]
		admin Admin
	}{{f.Target, p.Target}, {f.Source, p.Source}} {
		if c, known := side.is.Get(); known && c.ClusterID == w.KafkaClusterID {
			return side.admin, nil
		}
	}
	return nil, fmt.Errorf("%w: the worker belongs to cluster %q, which is neither the source nor the target", errGroupUnseen, w.KafkaClusterID)
}
