package flinkmm2_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// again writes the last records of a partition once more, as a copier that went back.
func (s *side) again(t *testing.T, partition int32, n int) {
	t.Helper()
	s.wrote[partition] = 40
	s.produce(t, partition, n)
}

// joinWorkers makes the worker a member of a Connect group on the target, as a
// process does when it starts: with an id of its own.
func (w *wayBack) joinWorkers() (leave func()) {
	w.Helper()
	const group = "connect-cluster"
	ask := func(err error, code int16) {
		w.Helper()
		if err := errors.Join(err, kerr.ErrorForCode(code)); err != nil {
			w.Fatal(err)
		}
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = group, "connect", 60_000, 60_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "sessioned"
	p.Metadata = (&kmsg.ConnectMemberMetadata{Version: 2, URL: w.worker.URL, ConfigOffset: 1}).AppendTo(nil)
	join.Protocols = append(join.Protocols, p)
	joined, err := join.RequestWith(w.Context(), w.target.client)
	if err == nil && errors.Is(kerr.ErrorForCode(joined.ErrorCode), kerr.MemberIDRequired) {
		join.MemberID = joined.MemberID
		joined, err = join.RequestWith(w.Context(), w.target.client)
	}
	if err != nil {
		w.Fatal(err)
	}
	ask(nil, joined.ErrorCode)
	sync := kmsg.NewPtrSyncGroupRequest()
	protocol := "connect"
	sync.Group, sync.MemberID, sync.Generation, sync.ProtocolType, sync.Protocol = group, joined.MemberID, joined.Generation, &protocol, joined.Protocol
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID = joined.MemberID
	a.MemberAssignment = (&kmsg.ConnectMemberAssignment{Version: 2, Leader: joined.MemberID, LeaderURL: w.worker.URL}).AppendTo(nil)
	sync.GroupAssignment = append(sync.GroupAssignment, a)
	synced, err := sync.RequestWith(w.Context(), w.target.client)
	if err != nil {
		w.Fatal(err)
	}
	ask(nil, synced.ErrorCode)
	return func() {
		w.Helper()
		left := kmsg.NewPtrLeaveGroupRequest()
		left.Group, left.MemberID = group, joined.MemberID
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = joined.MemberID
		left.Members = append(left.Members, m)
		resp, err := left.RequestWith(w.Context(), w.target.client)
		if err != nil {
			w.Fatal(err)
		}
		ask(nil, resp.ErrorCode)
	}
}

func TestARestartIsShownByANewProcess(t *testing.T) {
	t.Parallel()
	w := started(t)
	leave := w.joinWorkers()
	o := flinkmm2.WatchOptions{Within: time.Minute}
	mark, before, err := w.steps.MarkRestart(t.Context(), w.plan, o)
	if err != nil || before.Outcome != "proven" || len(mark.Tasks) == 0 || mark.Tasks[0].Member == "" {
		t.Fatalf("%v, %+v", err, mark)
	}
	raw, err := mark.Encode()
	path := filepath.Join(t.TempDir(), "restart.json")
	if err := errors.Join(err, schematest.Check(flinkmm2.RestartMarkSchema(), raw), os.WriteFile(path, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	if mark, err = flinkmm2.ReadRestartMark(path); err != nil {
		t.Fatal(err)
	}

	// The same process goes on.
	w.source.produce(t, 0, 5)
	p, err := w.steps.AfterRestart(t.Context(), w.plan, mark, o)
	if !errors.Is(err, flinkmm2.ErrNotProven) || !strings.Contains(err.Error(), "in the same process as at the mark") || p.Restart.Copied != 5 {
		t.Errorf("%v, %+v", err, p)
	}

	// It is killed, and starts again.
	w.worker.Kill()
	leave()
	w.source.produce(t, 0, 5)
	if err := w.worker.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.joinWorkers()
	w.await("RUNNING")
	p, err = w.steps.AfterRestart(t.Context(), w.plan, mark, o)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Restart; r.Copied != 10 || r.Repeated > r.Allowed || r.Allowed < 10 || slices.ContainsFunc(r.Tasks, func(t flinkmm2.RestartedTask) bool { return !t.Restarted }) {
		t.Errorf("%+v", r)
	}
	acceptedAfterRestart(w, p)
	raw, err = p.Encode()
	if err := errors.Join(err, schematest.Check(flinkmm2.ProofSchema(), raw)); err != nil {
		t.Error(err)
	}
	shown := func(p *flinkmm2.Proof) flinkmm2.AcceptancePoint {
		t.Helper()
		list, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: p, Between: time.Millisecond})
		if list == nil { // other points may be open
			t.Fatal(err)
		}
		return list.Points[slices.IndexFunc(list.Points, func(p flinkmm2.AcceptancePoint) bool { return p.ID == flinkmm2.AcceptRestart })]
	}
	if got := shown(p); got.State != flinkmm2.Shown || len(got.Evidence) < 2 {
		t.Errorf("the point of the acceptance list: %+v", got)
	}
	p.Restart.Open = []string{"task 0 runs in the same process"}
	if got := shown(p); got.State != flinkmm2.NotProven || !slices.Contains(got.Open, p.Restart.Open[0]) {
		t.Errorf("the point of what is not shown: %+v", got)
	}
}

// acceptedAfterRestart holds that the acceptance list shows the restart by its proof, and
// only by that.
func acceptedAfterRestart(w *wayBack, p *flinkmm2.Proof) {
	w.Helper()
	state := func(p *flinkmm2.Proof) flinkmm2.AcceptancePoint {
		w.Helper()
		list, err := w.steps.AcceptanceList(w.Context(), w.plan, flinkmm2.AcceptanceRequest{AfterRestart: p})
		if list == nil {
			w.Fatal(err)
		}
		return point(w.T, list, flinkmm2.AcceptRestart)
	}
	if got := state(p); got.State != flinkmm2.Shown || len(got.Evidence) != 2 {
		w.Errorf("%s: seen %q, open %q", got.State, got.Evidence, got.Open)
	}
	for name, change := range map[string]func(*flinkmm2.Proof, *flinkmm2.RestartProof){
		"the same process": func(_ *flinkmm2.Proof, r *flinkmm2.RestartProof) {
			r.Open = []string{"task 0 runs in the same process"}
		},
		"a task stayed":      func(_ *flinkmm2.Proof, r *flinkmm2.RestartProof) { r.Tasks[0].Restarted = false },
		"no task":            func(_ *flinkmm2.Proof, r *flinkmm2.RestartProof) { r.Tasks = nil },
		"records are lost":   func(p *flinkmm2.Proof, _ *flinkmm2.RestartProof) { p.Outcome = "failed" },
		"of some partitions": func(p *flinkmm2.Proof, _ *flinkmm2.RestartProof) { p.Partitions = p.Partitions[:1] },
	} {
		other, r := *p, *p.Restart
		r.Tasks = slices.Clone(r.Tasks)
		other.Restart = &r
		change(&other, &r)
		if got := state(&other); got.State != flinkmm2.NotProven || len(got.Open) == 0 {
			w.Errorf("%s: %s, open %q", name, got.State, got.Open)
		}
	}
	other := *p
	other.Restart = nil
	if list, err := w.steps.AcceptanceList(w.Context(), w.plan, flinkmm2.AcceptanceRequest{AfterRestart: &other}); list != nil || err == nil {
		w.Errorf("a proof that is of no restart: %v", err)
	}
}

func TestWhatDoesNotShowARestart(t *testing.T) {
	t.Parallel()
	w := started(t)
	o := flinkmm2.WatchOptions{Within: time.Minute}
	mark, _, err := w.steps.MarkRestart(t.Context(), w.plan, o)
	if err != nil {
		t.Fatal(err)
	}
	moved := func(change func(*flinkmm2.RestartMark)) *flinkmm2.RestartMark {
		m := *mark
		m.Tasks, m.Partitions = slices.Clone(mark.Tasks), slices.Clone(mark.Partitions)
		for i := range m.Tasks {
			m.Tasks[i].Worker = "another:8083"
		}
		change(&m)
		return &m
	}
	none := moved(func(*flinkmm2.RestartMark) {})
	if _, err := w.steps.AfterRestart(t.Context(), w.plan, none, o); !errors.Is(err, flinkmm2.ErrNotProven) || !strings.Contains(err.Error(), "no record came since the mark") {
		t.Errorf("no record: %v", err)
	}
	w.source.produce(t, 0, 5)
	if _, err := w.steps.AfterRestart(t.Context(), w.plan, none, o); err != nil {
		t.Errorf("on another worker, and records came: %v", err)
	}
	far, err := offsetmap.Source(1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		say  string
		mark *flinkmm2.RestartMark
		kind error
	}{
		{"the group of the workers cannot be seen", mark, flinkmm2.ErrNotProven},
		{"and stored 1000 at the mark", moved(func(m *flinkmm2.RestartMark) { m.Partitions[0].Stored = far }), flinkmm2.ErrNotProven},
		{"came twice since the mark, and one restart explains", moved(func(m *flinkmm2.RestartMark) {
			m.Partitions[0].Stored = far
		}), flinkmm2.ErrNotProven},
		{"the mark is of plan sha256:0", moved(func(m *flinkmm2.RestartMark) { m.Plan = "sha256:0" }), flinkmm2.ErrMoved},
		{"does not have the plan's partitions", moved(func(m *flinkmm2.RestartMark) { m.Partitions = m.Partitions[:1] }), flinkmm2.ErrMoved},
	} {
		if strings.HasPrefix(tt.say, "came twice") {
			w.target.again(t, 0, 3) // the worker went back
		}
		p, err := w.steps.AfterRestart(t.Context(), w.plan, tt.mark, o)
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.say) || errors.Is(tt.kind, flinkmm2.ErrNotProven) && p.Restart == nil {
			t.Errorf("%v, want %q", err, tt.say)
		}
	}
	if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await("STOPPED")
	if m, p, err := w.steps.MarkRestart(t.Context(), w.plan, o); m != nil || p == nil || !errors.Is(err, flinkmm2.ErrNotProven) {
		t.Errorf("a connector that is STOPPED is marked: %v", err)
	}
	if _, err := w.steps.AfterRestart(t.Context(), w.plan, none, o); !errors.Is(err, flinkmm2.ErrNotProven) || !strings.Contains(err.Error(), "is STOPPED") {
		t.Errorf("stopped: %v", err)
	}
	o.Shard = flinkmm2.Shard{Index: 0, Of: 2}
	if _, _, err := w.steps.MarkRestart(t.Context(), w.plan, o); err == nil {
		t.Error("a shard is marked")
	}
	if _, err := w.steps.AfterRestart(t.Context(), w.plan, none, o); err == nil {
		t.Error("a shard is watched")
	}
}
