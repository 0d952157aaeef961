package flinkmm2_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// copied is a migration that has copied a record of each partition, with its proof.
func copied(t *testing.T, on *wayBack) (*wayBack, *flinkmm2.Proof) {
	t.Helper()
	w := on
	ctx := t.Context()
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	w.applyAndStart("ana")
	for p := range int32(3) {
		w.source.produce(t, p, 3)
	}
	proof, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w.flushed(proof)
	return w, proof
}

// flushed waits until Connect stores the offset of what was copied last.
func (w *wayBack) flushed(proof *flinkmm2.Proof) {
	w.Helper()
	for _, p := range proof.Partitions {
		for end, _ := p.End.Value(); ; {
			all, err := w.connect.Offsets(w.Context(), "mm2")
			if err != nil {
				w.Fatal(err)
			}
			if slices.ContainsFunc(all, func(o connectrest.Offset) bool {
				return strings.Contains(string(o.Partition), fmt.Sprintf(`"partition":%d`, p.Partition)) && strings.Contains(string(o.Offset), strconv.FormatInt(end-1, 10))
			}) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// words are a person's for the points that nothing shows here.
func words() map[flinkmm2.AcceptanceID]offsetmap.Attestation[string] {
	return map[flinkmm2.AcceptanceID]offsetmap.Attestation[string]{
		flinkmm2.AcceptRestart: *offsetmap.Attest("all workers were replaced one by one", "ana", "seen on the dashboard"),
	}
}

// states are the points of a list that are in a state.
func states(l *flinkmm2.AcceptanceList, state flinkmm2.PointState) (out []flinkmm2.AcceptanceID) {
	for _, p := range l.Points {
		if p.State == state {
			out = append(out, p.ID)
		}
	}
	return out
}

func point(t *testing.T, l *flinkmm2.AcceptanceList, id flinkmm2.AcceptanceID) flinkmm2.AcceptancePoint {
	t.Helper()
	for _, p := range l.Points {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("there is no point %s", id)
	return flinkmm2.AcceptancePoint{}
}

func TestAMigrationIsAccepted(t *testing.T) {
	t.Parallel()
	w, proof := copied(t, prepared(t))
	list, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: words()})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Check(flinkmm2.AcceptanceListSchema(), raw); err != nil {
		t.Errorf("%v\n%s", err, raw)
	}
	want := []flinkmm2.AcceptanceID{
		flinkmm2.AcceptImported, flinkmm2.AcceptFirstRecord, flinkmm2.AcceptNothingMissing, flinkmm2.AcceptRunning,
		flinkmm2.AcceptNoCompanions, flinkmm2.AcceptNoSynchronisation, flinkmm2.AcceptAsBefore,
	}
	if got := states(list, flinkmm2.Shown); !slices.Equal(got, want) || !list.Complete {
		t.Errorf("shown are %s, complete %t\n%s", got, list.Complete, raw)
	}
	for _, p := range list.Points {
		if len(p.Evidence) == 0 && p.State == flinkmm2.Shown {
			t.Errorf("%s is shown by nothing", p.ID)
		}
	}
	for id, by := range map[flinkmm2.AcceptanceID]string{flinkmm2.AcceptImage: "test", flinkmm2.AcceptRestart: "ana"} {
		if p := point(t, list, id); p.State != flinkmm2.Attested || p.Attested == nil || p.Attested.By != by {
			t.Errorf("%s: %s by %v", id, p.State, p.Attested)
		}
	}
}

// Nothing is shown of a migration that was not started, or of which nobody has a proof.
func TestNothingIsAcceptedThatWasNotSeen(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	list, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Attested: words()})
	if !errors.Is(err, flinkmm2.ErrNotProven) || flinkmm2.ExitStatus(err) != flinkmm2.ExitNotProven {
		t.Fatal(err)
	}
	want := []flinkmm2.AcceptanceID{
		flinkmm2.AcceptImported, flinkmm2.AcceptFirstRecord, flinkmm2.AcceptNothingMissing, flinkmm2.AcceptRunning,
		flinkmm2.AcceptNoSynchronisation, flinkmm2.AcceptAsBefore,
	}
	if got := states(list, flinkmm2.NotProven); !slices.Equal(got, want) || list.Complete {
		t.Errorf("not proven are %s", got)
	}
	for _, p := range list.Points {
		if (p.State == flinkmm2.NotProven) != (p.Next != "") {
			t.Errorf("%s is %s, and next comes %q", p.ID, p.State, p.Next)
		}
		if p.State == flinkmm2.NotProven && !strings.Contains(err.Error(), string(p.ID)+": ") {
			t.Errorf("the error does not name %s: %v", p.ID, err)
		}
	}
}

// companion lists one connector more than the worker has.
type companion struct {
	hasty
	class string
}

func (c companion) ListConnectors(ctx context.Context, expand ...connectrest.Expansion) (connectrest.ConnectorList, error) {
	all, err := c.hasty.ListConnectors(ctx, expand...)
	if err == nil {
		all["beside"] = connectrest.ListedConnector{Info: connectrest.ConnectorInfo{Name: "beside", Config: connectrest.Config{"connector.class": c.class}}}
	}
	return all, err
}

// timeless is a journal whose start records have no baseline.
type timeless struct{ flinkmm2.Journal }

func (j timeless) Read(ctx context.Context) ([]flinkmm2.Entry, error) {
	all, err := j.Journal.Read(ctx)
	for i := range all {
		all[i].Baseline = nil
	}
	return all, err
}

func TestWhatKeepsAMigrationFromBeingAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(*testing.T, *wayBack, *flinkmm2.AcceptanceRequest)
		id      flinkmm2.AcceptanceID
		want    string
		old     bool // the journal was written by an earlier version
	}{
		"the offsets were altered": {
			happens: func(t *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
					t.Fatal(err)
				}
				if _, err := w.connect.AwaitStopped(t.Context(), "mm2"); err != nil {
					t.Fatal(err)
				}
				w.alter(0, 7)
			}, id: flinkmm2.AcceptImported, want: "Connect holds less than was planned of 1 partitions: orders-0 (7, planned 19)",
		},
		"the connector is paused": {
			happens: func(t *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				if err := w.connect.Pause(t.Context(), "mm2"); err != nil {
					t.Fatal(err)
				}
				w.await(connectrest.StatePaused)
			}, id: flinkmm2.AcceptRunning, want: "the connector is PAUSED",
		},
		"the proof lacks a record": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) {
				r.Proof.Outcome, r.Proof.Missing = "failed", 1
			}, id: flinkmm2.AcceptNothingMissing, want: "ended with failed: 1 missing",
		},
		"a partition is not proven": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) {
				r.Proof.Outcome, r.Proof.Partitions[1].Outcome = "not-proven", "pending"
			}, id: flinkmm2.AcceptFirstRecord, want: "1 partitions are not proven: orders-1 (pending)",
		},
		"records from before C": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) {
				r.Proof.Outcome, r.Proof.Partitions[0].Early = "failed", 2
			}, id: flinkmm2.AcceptFirstRecord, want: "orders-0 (2 records from before C = 20)",
		},
		"the proof reaches to the boundary": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) { r.Proof.Until = flinkmm2.UntilFirst(1) },
			id:      flinkmm2.AcceptNothingMissing, want: "reaches no further than boundary",
		},
		"the proof reaches to a number of records": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) {
				r.Proof.Until = flinkmm2.UntilRecords(3)
			},
			id: flinkmm2.AcceptAsBefore, want: "reaches no further than records=3",
		},
		"the target is behind again": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) { r.Proof.Partitions[0].Lag = 7 },
			id:      flinkmm2.AcceptRunning, want: "was 7 records behind again",
		},
		"the proof is of some partitions": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) {
				r.Proof.Partitions = r.Proof.Partitions[:2]
			},
			id: flinkmm2.AcceptNothingMissing, want: "is not of 1 partitions of the plan, or of another C: orders-2",
		},
		"the target has another number of partitions": {
			happens: func(t *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				if _, err := w.target.admin.CreatePartitions(t.Context(), 1, "orders"); err != nil {
					t.Fatal(err)
				}
			}, id: flinkmm2.AcceptAsBefore, want: "orders has 4, the source's orders 3",
		},
		"another config": {
			happens: func(t *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				config := w.config()
				config["sync.topic.configs.enabled"] = "true"
				if _, err := w.connect.ReplaceConfig(t.Context(), "mm2", config); err != nil {
					t.Fatal(err)
				}
			}, id: flinkmm2.AcceptNoSynchronisation, want: "the connector's config is not the plan's any more: emit.offset-syncs.enabled: false, sync.topic.configs.enabled: true",
		},
		"a checkpoint connector": {
			happens: func(_ *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				w.beside = companion{hasty{w.connect}, "org.apache.kafka.connect.mirror.MirrorCheckpointConnector"}
			}, id: flinkmm2.AcceptNoCompanions, want: "connector beside is a MirrorCheckpointConnector",
		},
		"a heartbeat connector, by its short name": {
			happens: func(_ *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				w.beside = companion{hasty{w.connect}, "MirrorHeartbeat"}
			}, id: flinkmm2.AcceptNoCompanions, want: "connector beside is a MirrorHeartbeatConnector",
		},
		"a checkpoint connector, and a group that moved": {
			happens: func(t *testing.T, w *wayBack, _ *flinkmm2.AcceptanceRequest) {
				w.target.commits(t, "report", 4)
				w.beside = companion{hasty{w.connect}, "MirrorCheckpoint"}
			}, id: flinkmm2.AcceptNoSynchronisation, want: "the offsets of 1 groups without a member have moved",
		},
		"a journal of an earlier version": {
			happens: func(*testing.T, *wayBack, *flinkmm2.AcceptanceRequest) {}, old: true,
			id: flinkmm2.AcceptNoSynchronisation, want: "has no baseline",
		},
		"nobody was there at a restart": {
			happens: func(_ *testing.T, _ *wayBack, r *flinkmm2.AcceptanceRequest) { r.Attested = nil },
			id:      flinkmm2.AcceptRestart, want: "nothing was recorded before and after a restart",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proof := copied(t, prepared(t))
			r := flinkmm2.AcceptanceRequest{Proof: proof, Attested: words()}
			c.happens(t, w, &r)
			var records flinkmm2.Journal = w.journal
			if c.old {
				records = timeless{w.journal}
			}
			list, err := w.over(w.source.admin, records).AcceptanceList(t.Context(), w.plan, r)
			if list == nil || !errors.Is(err, flinkmm2.ErrNotProven) {
				t.Fatal(err)
			}
			if got := point(t, list, c.id); got.State != flinkmm2.NotProven || !strings.Contains(strings.Join(got.Open, "\n"), c.want) {
				t.Errorf("%s: %q, want %q", got.State, got.Open, c.want)
			}
		})
	}
}

func TestAQuietPartitionIsAPersonsMatter(t *testing.T) {
	t.Parallel()
	w := started(t)
	proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w.flushed(&flinkmm2.Proof{Partitions: proof.Partitions[:1]})
	r := flinkmm2.AcceptanceRequest{Proof: proof, Attested: words()}
	list, err := w.steps.AcceptanceList(t.Context(), w.plan, r)
	if got := states(list, flinkmm2.NotProven); !errors.Is(err, flinkmm2.ErrNotProven) || !slices.Equal(got, []flinkmm2.AcceptanceID{flinkmm2.AcceptFirstRecord}) {
		t.Fatalf("%v, not proven are %s", err, got)
	}
	if got := point(t, list, flinkmm2.AcceptFirstRecord).Open; !strings.Contains(strings.Join(got, ""), "in 2 partitions no record has come since C") {
		t.Error(got)
	}
	r.Attested[flinkmm2.AcceptFirstRecord] = *offsetmap.Attest("nobody writes to them", "ana", "asked the producers")
	if _, err := w.steps.AcceptanceList(t.Context(), w.plan, r); err != nil {
		t.Error(err)
	}
}

func TestAListIsRefusedThatWouldSayNothing(t *testing.T) {
	t.Parallel()
	w, proof := copied(t, prepared(t))
	other := *proof
	other.Plan = "sha256:" + strings.Repeat("0", 64)
	word := func(id flinkmm2.AcceptanceID, a offsetmap.Attestation[string]) map[flinkmm2.AcceptanceID]offsetmap.Attestation[string] {
		return map[flinkmm2.AcceptanceID]offsetmap.Attestation[string]{id: a}
	}
	for name, c := range map[string]struct {
		r    flinkmm2.AcceptanceRequest
		want string
	}{
		"proof of another plan":  {flinkmm2.AcceptanceRequest{Proof: &other}, "the proof is of plan sha256:000"},
		"word for what is seen":  {flinkmm2.AcceptanceRequest{Attested: word(flinkmm2.AcceptNothingMissing, *offsetmap.Attest("fine", "ana", "trust me"))}, "cannot be attested"},
		"word for no point":      {flinkmm2.AcceptanceRequest{Attested: word("weather", *offsetmap.Attest("fine", "ana", "seen"))}, `no point "weather"`},
		"word of nobody":         {flinkmm2.AcceptanceRequest{Attested: word(flinkmm2.AcceptRestart, *offsetmap.Attest("done", " ", "seen"))}, "without a name and a reason"},
		"word that says nothing": {flinkmm2.AcceptanceRequest{Attested: word(flinkmm2.AcceptRestart, *offsetmap.Attest("", "ana", "seen"))}, "says nothing"},
		"word with a password":   {flinkmm2.AcceptanceRequest{Attested: word(flinkmm2.AcceptRestart, *offsetmap.Attest("see https://ana:geheim@wiki/1", "ana", "seen"))}, "user or a password"},
	} {
		list, err := w.steps.AcceptanceList(t.Context(), w.plan, c.r)
		if list != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof}); !errors.Is(err, flinkmm2.ErrMoved) {
		t.Errorf("after the way back: %v", err)
	}
}
