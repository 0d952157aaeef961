package preflight_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// member is a worker in a Connect group of an embedded broker, which a worker of
// connecttest does not join.
type member struct {
	l        *lab
	cl       *kgo.Client
	group    string
	id       string
	url      string
	assigned kmsg.ConnectMemberAssignment
}

func (l *lab) member(c *kfake.Cluster, group, url string) *member {
	l.t.Helper()
	m := &member{l: l, cl: l.connect(c), group: group, url: url}
	m.assigned.Version, m.assigned.LeaderURL = 1, url
	a := kmsg.NewConnectMemberAssignmentAssignment()
	a.Connector, a.Tasks = connector, []int16{-1}
	m.assigned.Assignment = append(m.assigned.Assignment, a)
	return m
}

// gathering is of members that come together in one generation.
type gathering struct {
	sync.Mutex
	size int
	at   map[*member]int32 // the generation in which each stands
}

// stands reports whether all stand in the generation.
func (g *gathering) stands(m *member, generation int32) bool {
	g.Lock()
	defer g.Unlock()
	g.at[m] = generation
	for _, at := range g.at {
		if at != generation {
			return false
		}
	}
	return len(g.at) == g.size
}

func (g *gathering) leaves(m *member) {
	g.Lock()
	defer g.Unlock()
	delete(g.at, m)
}

// join joins the group, and again for each that joins later. A member that joins anew
// and has nothing new to say stays in the old generation, so that it must not go before
// the others are there too.
func (m *member) join(ctx context.Context, others *gathering) error {
	for {
		joined, err := m.enter(ctx)
		if err == nil {
			err = m.take(ctx, joined)
		}
		for err == nil && !others.stands(m, joined.Generation) {
			time.Sleep(time.Millisecond) // bounded by ctx
			err = m.beat(ctx, joined.Generation)
		}
		if !errors.Is(err, kerr.RebalanceInProgress) {
			return err
		}
		others.leaves(m)
	}
}

// take takes what it is assigned, and assigns as the leader.
func (m *member) take(ctx context.Context, joined *kmsg.JoinGroupResponse) error {
	req := kmsg.NewPtrSyncGroupRequest()
	protocol := "connect"
	req.Group, req.MemberID, req.Generation, req.ProtocolType, req.Protocol = m.group, m.id, joined.Generation, &protocol, joined.Protocol
	if joined.LeaderID == m.id {
		for _, one := range joined.Members {
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID = one.MemberID
			assigned := m.assigned
			assigned.Leader = m.id
			if one.MemberID != m.id {
				assigned.Assignment = nil
			}
			a.MemberAssignment = assigned.AppendTo(nil)
			req.GroupAssignment = append(req.GroupAssignment, a)
		}
	}
	synced, err := req.RequestWith(ctx, m.cl)
	if err == nil {
		err = kerr.ErrorForCode(synced.ErrorCode)
	}
	return err
}

func (m *member) beat(ctx context.Context, generation int32) error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, generation
	resp, err := req.RequestWith(ctx, m.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	return err
}

func (m *member) enter(ctx context.Context) (*kmsg.JoinGroupResponse, error) {
	for {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.MemberID, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = m.group, m.id, "connect", 60_000, 60_000
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name = "sessioned"
		p.Metadata = (&kmsg.ConnectMemberMetadata{Version: 2, URL: m.url, ConfigOffset: 1}).AppendTo(nil)
		req.Protocols = append(req.Protocols, p)
		joined, err := req.RequestWith(ctx, m.cl)
		if err == nil {
			m.id = joined.MemberID
			err = kerr.ErrorForCode(joined.ErrorCode)
		}
		if !errors.Is(err, kerr.MemberIDRequired) {
			return joined, err
		}
	}
}

// together lets members join in one rebalance.
func (l *lab) together(members ...*member) {
	l.t.Helper()
	ctx, stop := context.WithTimeout(l.t.Context(), time.Minute)
	defer stop()
	errs, others := make([]error, len(members)), &gathering{size: len(members), at: map[*member]int32{}}
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			if errs[i] = m.join(ctx, others); errs[i] != nil {
				stop() // the others would wait for it
			}
		})
	}
	all.Wait()
	l.must(errors.Join(errs...))
}

// calm lets the worker's group stand still for a while that passes at once.
func (l *lab) calm(home *kfake.Cluster) {
	l.t.Helper()
	l.workerMember = l.member(home, "connect-cluster", l.worker.URL+"/")
	l.together(l.workerMember)
	l.probe.Calm, l.probe.Sleep = 30*time.Second, func(context.Context, time.Duration) error { return nil }
}

func (l *lab) groupState() string {
	l.t.Helper()
	all, err := kadm.NewClient(l.to).DescribeGroups(l.t.Context(), "connect-cluster")
	l.must(err)
	return all["connect-cluster"].State
}

// during lets something happen between the two looks at the group.
func (l *lab) during(do func()) (mend func()) {
	before := l.probe.Sleep
	l.probe.Sleep = func(context.Context, time.Duration) error { do(); return nil }
	return func() { l.probe.Sleep = before }
}

// lists lets the worker list a connector beside what it has, as a real one lists those
// of classes that a worker of connecttest does not run.
func (l *lab) lists(name, class, kind string, state connectrest.State, tasks ...connectrest.TaskStatus) (mend func()) {
	l.t.Helper()
	list, err := l.client.ListConnectors(l.t.Context())
	l.must(err)
	status := connectrest.Status{Name: name, Connector: connectrest.ConnectorStatus{State: state, WorkerID: "10.0.0.7:8083"}, Tasks: tasks, Type: kind}
	if tasks == nil {
		status.Tasks = []connectrest.TaskStatus{}
	}
	list[name] = connectrest.ListedConnector{
		Status: status, Info: connectrest.ConnectorInfo{Name: name, Config: connectrest.Config{"name": name, "connector.class": class}, Tasks: []connectrest.TaskID{}, Type: kind},
	}
	return l.answer("/connectors", list)
}

// mirror creates another MirrorSourceConnector with the lab's config and the changes.
func (l *lab) mirror(name string, state connectrest.State, pairs ...string) (mend func()) {
	l.t.Helper()
	config := maps.Clone(l.config)
	for i := 0; i < len(pairs); i += 2 {
		config[pairs[i]] = pairs[i+1]
	}
	ctx := l.t.Context()
	_, err := l.client.Create(ctx, connectrest.CreateRequest{Name: name, Config: config, InitialState: state})
	l.must(err)
	l.eventually(func() bool {
		s, err := l.client.Status(ctx, name)
		return err == nil && s.Connector.State == state
	}, name+" is "+string(state))
	return func() { l.must(l.client.Delete(ctx, name)) }
}

// several lets the worker be asked by way of a follower too, whose URL it returns.
func (l *lab) several() (f *connecttest.Follower, mend func()) {
	l.t.Helper()
	f, err := l.worker.StartFollower()
	l.must(err)
	l.t.Cleanup(f.Close)
	both, err := connectrest.NewCluster([]string{l.worker.URL, f.URL}, connectrest.WithClock(&fastClock{}), connectrest.WithTransport(l.root), connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1}))
	l.must(err)
	one := l.probe.Connect
	l.probe.Connect = both
	return f, func() { l.probe.Connect = one }
}

func workersBreakages() map[string]breakage {
	follower := func(fault connecttest.Fault) breakage {
		return func(l *lab) func() {
			f, _ := l.several()
			return f.Inject(fault).Remove
		}
	}
	const mm2 = "org.apache.kafka.connect.mirror."
	return map[string]breakage{
		"worker/rebalancing": func(l *lab) func() {
			return l.during(func() { // at each look, so it is not for others to come
				tasks := &l.workerMember.assigned.Assignment[0].Tasks
				*tasks = append(*tasks, int16(len(*tasks)))
				l.together(l.workerMember)
			})
		},
		"worker/internal-topics": altered(targetOf, "connect-offsets", "cleanup.policy", "compact,delete", "compact"),
		"connector/other-controller": func(l *lab) func() {
			return l.during(func() { // at each look
				l.config["tasks.max"] += "0"
				_, err := l.client.ReplaceConfig(l.t.Context(), connector, l.config)
				l.must(err)
			})
		},
		"worker/not-answering": func(l *lab) func() {
			f, one := l.several()
			f.Close()
			return one
		},
		"worker/unhealthy": func(l *lab) func() {
			return l.respond("/health", http.StatusServiceUnavailable, `{"status":"starting","message":"Worker is still starting up."}`)
		},
		"worker/views-differ": follower(connecttest.Answer{
			Requests: connecttest.Requests{Method: http.MethodGet, Path: "/connectors"}, Status: http.StatusOK, Body: "{}",
		}),
		"worker/forwarding": follower(connecttest.ForwardingFailure{Requests: connecttest.Requests{Method: http.MethodDelete}}),
		"worker/advertised": func(l *lab) func() {
			second := l.member(l.target, "connect-cluster", "http://connect.example.com/")
			third := l.member(l.target, "connect-cluster", "http://connect.example.com/")
			l.together(l.workerMember, second, third)
			return func() {
				second.url, third.url = "http://127.0.0.1:18083/", "http://127.0.0.1:18084/"
				l.together(l.workerMember, second, third)
			}
		},
		"connector/double-writer": func(l *lab) func() {
			return l.mirror("other", connectrest.StateRunning, "source.cluster.alias", "elsewhere", "topics", "orders")
		},
		"connector/reverse-flow": func(l *lab) func() {
			return l.mirror("back", connectrest.StateRunning, "source.cluster.alias", "target", "target.cluster.alias", "source",
				"source.cluster.bootstrap.servers", l.config["target.cluster.bootstrap.servers"], "topics", "payments",
				"producer.override.bootstrap.servers", l.config["source.cluster.bootstrap.servers"])
		},
		"connector/checkpoint": func(l *lab) func() {
			return l.lists("checkpoints", mm2+"MirrorCheckpointConnector", "source", connectrest.StateRunning)
		},
		"connector/heartbeat": func(l *lab) func() {
			return l.lists("heartbeats", mm2+"MirrorHeartbeatConnector", "source", connectrest.StateRunning, connectrest.TaskStatus{State: connectrest.StateRunning, WorkerID: "10.0.0.7:8083"})
		},
	}
}
