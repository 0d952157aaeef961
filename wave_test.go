package flinkmm2_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// waves is a migration whose first wave, orders, runs and has copied everything. The
// second is pay, of which the old job has copied 6 of 10 records.
type waves struct {
	*wayBack
	first  *offsetmap.Plan
	narrow *flinkmm2.Migration // with the config of the first wave
	gate   *gate               // before the worker
	wider  *flinkmm2.Migration
}

func newWaves(t *testing.T, changes map[string]string) *waves {
	t.Helper()
	w := started(t)
	for _, s := range []*side{w.source, w.target} {
		if _, err := s.admin.CreateTopic(t.Context(), 1, 1, nil, "pay"); err != nil {
			t.Fatal(err)
		}
	}
	out := &waves{wayBack: w, first: w.plan}
	out.pay(w.source, 0, 10)
	out.pay(w.target, 0, 6)
	out.gate = newGate(t, w.worker.URL, nil)
	out.narrow = w.beyond(out.gate, w.journal)
	w.changes = map[string]string{"topics": "orders,pay"}
	maps.Copy(w.changes, changes)
	out.wider = w.beyond(out.gate, w.journal)
	return out
}

// pay writes records to the second wave's topic.
func (w *waves) pay(s *side, from, to int) {
	w.Helper()
	for n := from; n < to; n++ {
		r := &kgo.Record{Topic: "pay", Value: fmt.Appendf(nil, "pay %d", n), Timestamp: began.Add(time.Duration(n) * time.Millisecond)}
		if err := s.client.ProduceSync(w.Context(), r).FirstErr(); err != nil {
			w.Fatal(err)
		}
	}
}

// request is what the second wave is planned from.
func (w *waves) request() flinkmm2.PlanRequest {
	w.Helper()
	req := w.requestFrom("20", "32")
	req.Snapshot.CheckpointID++
	req.Snapshot.Files[0].SHA256 = strings.Repeat("ab", 32)
	req.Snapshot.Sources[0].Partitions = []offsetmap.Position{{TopicPartition: offsetmap.TopicPartition{Topic: "pay"}, Next: offset(w.T, "6")}}
	req.Earlier = []*offsetmap.Plan{w.first}
	return req
}

// copied waits until the target has so many records of a topic's partition 0.
func (w *waves) copied(topic string, n int64) {
	w.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		ends, err := w.target.admin.ListEndOffsets(w.Context(), topic)
		if err != nil {
			w.Fatal(err)
		}
		at, _ := ends.Lookup(topic, 0)
		switch {
		case at.Offset == n:
			return
		case at.Offset > n || time.Now().After(deadline):
			w.Fatalf("the target has %d records of %s, want %d", at.Offset, topic, n)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// wrote is what was sent to the worker to change something, since the last time.
func (w *waves) wrote() []string {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	out := w.gate.writes
	w.gate.writes = nil
	return out
}

func (w *waves) isIn(state connectrest.State, topics string) {
	w.Helper()
	status, err := w.connect.Status(w.Context(), "mm2")
	if err != nil {
		w.Fatal(err)
	}
	config, err := w.connect.Config(w.Context(), "mm2")
	if err != nil {
		w.Fatal(err)
	}
	if status.Connector.State != state || config["topics"] != topics {
		w.Errorf("the connector is %s with topics %q, want %s with %q", status.Connector.State, config["topics"], state, topics)
	}
}

func checksOf(findings []offsetmap.Finding) (out []string) {
	for _, f := range findings {
		if f.Severity == offsetmap.Block {
			out = append(out, strings.TrimSpace(f.Check+" "+f.Scope))
		}
	}
	return out
}

func TestTwoWavesUnderOneConnector(t *testing.T) {
	t.Parallel()
	w := newWaves(t, nil)
	ctx := t.Context()
	for _, state := range []connectrest.State{connectrest.StateRunning, connectrest.StatePaused} {
		if state == connectrest.StatePaused {
			if err := w.connect.Pause(ctx, "mm2"); err != nil {
				t.Fatal(err)
			}
			w.await(state)
		}
		_, err := w.wider.MakePlan(ctx, w.request())
		if blocked, is := errors.AsType[*offsetmap.BlockedError](err); !is || !slices.Contains(checksOf(blocked.Findings), "connector/topics-widened pay") {
			t.Errorf("planned while it is %s: %v", state, err)
		}
		if got := w.wrote(); got != nil {
			t.Errorf("while it is %s there was sent %v", state, got)
		}
	}
	if err := w.connect.Resume(ctx, "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await(connectrest.StateRunning)

	widened, err := w.wider.Widen(ctx, w.first, flinkmm2.WidenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"orders"}, widened.Halted); diff != "" || !widened.Put || !slices.Equal(widened.Added, []string{"pay"}) {
		t.Errorf("widened %+v", widened)
	}
	if diff := cmp.Diff([]string{"PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}, slices.Compact(w.wrote())); diff != "" {
		t.Error(diff)
	}
	w.isIn(connectrest.StateStopped, "orders,pay")
	if again, err := w.wider.Widen(ctx, w.first, flinkmm2.WidenOptions{}); err != nil || again.Put || w.wrote() != nil {
		t.Errorf("run again: %+v, %v", again, err)
	}

	second, err := w.wider.MakePlan(ctx, w.request())
	if err != nil {
		t.Fatal(err)
	}
	w.alter(0, 30) // above what the first wave wrote, below where it had come to
	if _, err := w.wider.Apply(ctx, second); !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), "orders-0: stored 30, by an earlier plan it had come to 49") {
		t.Errorf("applied over a wave that was set back: %v", err)
	}
	w.alter(0, 49)
	if _, err := w.wider.Apply(ctx, second); err != nil {
		t.Fatal(err)
	}
	if _, err := w.narrow.Continue(ctx, w.first, flinkmm2.Approval{Digest: w.first.Digest, By: "li"}, flinkmm2.WidenOptions{}); !errors.Is(err, flinkmm2.ErrMoved) {
		t.Errorf("the first wave goes on with the config of the second: %v", err)
	}
	if _, err := w.wider.Start(ctx, second, flinkmm2.Approval{Digest: second.Digest, By: "li"}); err != nil {
		t.Fatal(err)
	}
	w.source.produce(t, 0, 7)
	w.copied("orders", 57)
	w.copied("pay", 10)
	for _, p := range []*offsetmap.Plan{w.first, second} {
		if _, err := w.wider.Watch(ctx, p, flinkmm2.WatchOptions{Within: time.Minute}); err != nil {
			t.Errorf("the proof of %s: %v", p.Digest, err)
		}
	}
	w.giveUp(second)
}

// giveUp brings the second wave back to Flink and lets the first one go on.
func (w *waves) giveUp(second *offsetmap.Plan) {
	w.Helper()
	ctx := w.Context()
	word := flinkmm2.Approval{Digest: w.first.Digest, By: "li"}
	back, err := w.wider.Rollback(ctx, second, flinkmm2.RollbackOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff([]string{"orders"}, back.Halted); diff != "" || len(back.Boundary.Partitions) != 1 || back.Boundary.Partitions[0].Next != offset(w.T, "10") {
		w.Errorf("rolled back: %+v", back)
	}
	w.wrote()
	if _, err := w.narrow.Widen(ctx, w.first, flinkmm2.WidenOptions{}); !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), "offsets/unplanned pay-0") || w.wrote() != nil {
		w.Errorf("without the plan that explains them: %v", err)
	}
	beside := flinkmm2.WidenOptions{GivenUp: []*offsetmap.Plan{second}}
	if _, err := w.narrow.Widen(ctx, w.first, beside); err != nil {
		w.Fatal(err)
	}
	w.isIn(connectrest.StateStopped, "orders")
	w.source.produce(w.T, 0, 3)
	w.pay(w.source, 10, 12)
	if _, err := w.narrow.Continue(ctx, w.first, flinkmm2.Approval{Digest: second.Digest, By: "li"}, beside); !errors.Is(err, flinkmm2.ErrApproval) {
		w.Errorf("on the word for another plan: %v", err)
	}
	if _, err := w.narrow.Continue(ctx, w.first, word, beside); err != nil {
		w.Fatal(err)
	}
	w.copied("orders", 60)
	if _, err := w.narrow.Watch(ctx, w.first, flinkmm2.WatchOptions{Within: time.Minute}); err != nil {
		w.Error(err)
	}
	w.copied("pay", 10) // it stays with Flink
	if _, err := w.narrow.Continue(ctx, w.first, word, beside); err != nil {
		w.Errorf("run again: %v", err)
	}
}

// The first wave must not stand still for a config that the second cannot have.
func TestAWaveThatWouldChangeOthersStopsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes map[string]string
		want    []string
	}{
		"another alias":     {map[string]string{"source.cluster.alias": "old"}, []string{"offsets/foreign old", "widen/other-setting source.cluster.alias"}},
		"another setting":   {map[string]string{"producer.override.linger.ms": "100"}, []string{"widen/other-setting producer.override.linger.ms"}},
		"the first is left": {map[string]string{"topics": "pay"}, []string{"config/topics-unselected orders"}},
		"more tasks alone":  {map[string]string{"tasks.max": "3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaves(t, c.changes)
			_, err := w.wider.Widen(t.Context(), w.first, flinkmm2.WidenOptions{})
			var got []string
			if blocked, is := errors.AsType[*offsetmap.BlockedError](err); is {
				got = checksOf(blocked.Findings)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s%v", diff, err)
			}
			if sent := w.wrote(); c.want != nil && sent != nil {
				t.Errorf("it has sent %v", sent)
			}
			if c.want == nil {
				return
			}
			w.isIn(connectrest.StateRunning, "orders")
		})
	}
	w := newWaves(t, map[string]string{"producer.override.linger.ms": "100"})
	o := flinkmm2.WidenOptions{Acceptances: []offsetmap.Acceptance{{Check: "widen/other-setting", Scope: "producer.override.linger.ms", By: "li", Reason: "it only waits"}}}
	if _, err := w.wider.Widen(t.Context(), w.first, o); err != nil {
		t.Errorf("accepted: %v", err)
	}
}
