package flinkmm2_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// keeper keeps the backups of Apply.
type keeper struct {
	kept []*flinkmm2.OffsetsBackup
	fail error
	// stood is what Connect held when the last one was kept.
	stood map[string]string
}

// withBackup is a migration that is planned from C = 20 while Connect holds M = 9 for
// orders-0, and whose backups are kept.
func withBackup(t *testing.T) (*wayBack, *keeper) {
	t.Helper()
	w, k := prepared(t), &keeper{}
	w.options = append(w.options, flinkmm2.WithBackup(func(_ context.Context, b *flinkmm2.OffsetsBackup) error {
		k.stood = w.stores()
		k.kept = append(k.kept, b)
		return k.fail
	}))
	w.steps = w.migration(w.source.admin)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.alter(0, 9)
	w.planAfter("20", "orders-0:10")
	return w, k
}

// planAfter makes a plan from C = c0 of orders-0 whose offsets stand above those of
// Connect by the counts.
func (w *wayBack) planAfter(c0 string, skipped ...string) {
	w.Helper()
	req := w.requestFrom(c0, "32")
	for _, s := range skipped {
		req.Acceptances = append(req.Acceptances, offsetmap.Acceptance{Check: "offsets/skip", Scope: s, By: "test", Reason: "the old job has copied them"})
	}
	plan, err := w.steps.MakePlan(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	w.plan = plan
}

// stores is what Connect holds, by partition, as text.
func (w *wayBack) stores() map[string]string {
	w.Helper()
	all, err := w.connect.AwaitOffsets(w.Context(), "mm2", func([]connectrest.Offset) error { return nil }, 0)
	if err != nil {
		w.Fatal(err)
	}
	view, err := connectrest.MirrorSourceOffsets("source", all)
	if err != nil || len(view.Foreign) > 0 {
		w.Fatal(err, view.Foreign)
	}
	out := map[string]string{}
	for tp, m := range view.Stored {
		out[tp.String()] = m.String()
	}
	return out
}

func TestABackupIsKeptBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	w, k := withBackup(t)
	ctx := t.Context()
	k.fail = errors.New("no space left on device")
	if _, err := w.steps.Apply(ctx, w.plan); !errors.Is(err, k.fail) || !strings.Contains(err.Error(), "nothing was written") {
		t.Fatalf("applied without a backup: %v", err)
	}
	before := map[string]string{"orders-0": "9"}
	if diff := cmp.Diff(before, w.stores()); diff != "" {
		t.Fatalf("written without a backup (-want +got):\n%s", diff)
	}
	k.fail = nil
	for range 2 { // the second run writes nothing, so what it sees is no backup
		if _, err := w.steps.Apply(ctx, w.plan); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.kept) != 2 || !maps.Equal(k.stood, before) {
		t.Fatalf("%d backups, the last one taken when Connect held %v", len(k.kept), k.stood)
	}
	b := k.kept[1]
	if got := b.Body; got.Plan != w.plan.Digest || got.Connector != "mm2" || got.SourceAlias != "source" || got.SourceID != "the-source" || got.TargetID != "the-target" ||
		len(got.Offsets) != 1 || string(got.Offsets[0].Offset) != `{"offset":9}` || len(got.Topics) != 1 || got.Topics[0].Topic != "orders" || got.Topics[0].ID == (offsetmap.TopicID{}) {
		t.Errorf("the backup is %+v", got)
	}
	entries, err := w.journal.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e flinkmm2.Entry) bool {
		return e.Act == "apply" && e.Phase == flinkmm2.PhaseBegin && e.Backup == b.Digest
	}) {
		t.Error("the journal does not name the backup of the apply")
	}
}

func TestBackupFilesAreReadStrictly(t *testing.T) {
	t.Parallel()
	w, k := withBackup(t)
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	raw, err := k.kept[0].Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Check(flinkmm2.OffsetsBackupSchema(), raw); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "backup.json")
	read := func(text string) (*flinkmm2.OffsetsBackup, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return flinkmm2.ReadOffsetsBackup(path)
	}
	back, err := read(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Encode()
	if err != nil || string(again) != string(raw) && !sameJSON(again, raw) {
		t.Errorf("read and written again it is (%v)\n%s", err, again)
	}
	for what, edit := range map[string][2]string{
		"an offset":         {`"offset":9`, `"offset":8`},
		"a digest":          {`"digest": "sha256:`, `"digest": "sha256:0`},
		"another kind":      {`"ConnectOffsets"`, `"Boundary"`},
		"an unknown member": {`"kind"`, `"extra": 1, "kind"`},
		"a topic":           {`"topic": "orders"`, `"topic": "other"`},
		"a partition":       {`"partition":0`, `"partition":1`},
		"an entry twice":    {`"offsets": [`, `"offsets": [` + `{"partition":{"cluster":"source","partition":0,"topic":"orders"},"offset":{"offset":9}},`},
		"no JSON":           {`{`, ``},
	} {
		text := strings.Replace(string(raw), edit[0], edit[1], 1)
		if text == string(raw) {
			t.Fatalf("%s: nothing is changed in %s", what, raw)
		}
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := (*flinkmm2.OffsetsBackup)(nil).Check(); err == nil {
		t.Error("no backup holds")
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

// The connector has copied everything, and somebody puts back what Connect held before
// the plan. What goes back is said first, exactly; what was absent is absent again; and
// no plan of before goes on.
func TestARestoreLeavesWhatTheBackupHolds(t *testing.T) {
	t.Parallel()
	w, k := withBackup(t)
	ctx := t.Context()
	w.applyAndStart("test")
	if _, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	b := k.kept[0]
	accept := func(scopes ...string) flinkmm2.RestoreOptions {
		o := flinkmm2.RestoreOptions{Approval: flinkmm2.Approval{Digest: b.Digest, By: "li"}}
		for _, s := range scopes {
			o.Acceptances = append(o.Acceptances, offsetmap.Acceptance{Check: "restore/rewind", Scope: s, By: "li", Reason: "they may come again"})
		}
		return o
	}
	restore := func(o flinkmm2.RestoreOptions) (*flinkmm2.Restored, error) { return w.steps.Restore(ctx, b, o) }
	if _, err := restore(accept()); !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), "connector/state") {
		t.Fatalf("while it runs: %v", err)
	}
	if err := w.connect.Stop(ctx, "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await(connectrest.StateStopped)
	for what, o := range map[string]flinkmm2.RestoreOptions{
		"another digest": {Approval: flinkmm2.Approval{Digest: w.plan.Digest, By: "li"}},
		"nobody":         {Approval: flinkmm2.Approval{Digest: b.Digest}},
	} {
		if _, err := restore(o); !errors.Is(err, flinkmm2.ErrApproval) {
			t.Errorf("%s: %v", what, err)
		}
	}
	stood := w.stores()
	if diff := cmp.Diff(map[string]string{"orders-0": "49", "orders-1": "31"}, stood); diff != "" {
		t.Fatal(diff)
	}
	_, err := restore(accept("orders-0:40"))
	var blocked *offsetmap.BlockedError
	if !errors.As(err, &blocked) || len(blocked.Findings) != 1 || blocked.Findings[0].Scope != "orders-1:32" || flinkmm2.ExitStatus(err) != flinkmm2.ExitBlocked {
		t.Fatalf("one of two is accepted: %v", err)
	}
	if !maps.Equal(stood, w.stores()) {
		t.Fatal("a refusal has written")
	}
	if err := w.steps.CheckForward(ctx, w.plan); err != nil {
		t.Fatalf("a refusal spends the plan: %v", err)
	}
	done, err := restore(accept("orders-0:40", "orders-1:32"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"orders-0": "9"}, w.stores()); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
	var changed []string
	for _, c := range done.Changed {
		changed = append(changed, c.String()+" "+c.Before.String()+" "+c.Stored.String())
	}
	if diff := cmp.Diff([]string{"orders-0 49 9", "orders-1 31 none"}, changed); diff != "" || done.Partitions != 1 || done.Digest != b.Digest {
		t.Errorf("outcome %+v\n%s", done, diff)
	}
	again, err := restore(accept())
	if err != nil || len(again.Changed) != 0 {
		t.Errorf("run again: %+v, %v", again, err)
	}
	if err := w.forward(w.plan); err == nil || !strings.Contains(err.Error(), "journal/restored") {
		t.Errorf("the plan of before goes forward: %v", err)
	}
	if _, err := w.steps.Rollback(ctx, w.plan, flinkmm2.RollbackOptions{}); !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), "journal/restored") {
		t.Errorf("the plan of before goes back: %v", err)
	}
	w.checkpoint++
	w.planAfter("50", "orders-0:40")
	if _, err := w.steps.Apply(ctx, w.plan); err != nil {
		t.Errorf("a plan of after it: %v", err)
	}
}

func TestABackupIsOfOneConnector(t *testing.T) {
	t.Parallel()
	w, k := withBackup(t)
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	b := *k.kept[0]
	o := flinkmm2.RestoreOptions{Approval: flinkmm2.Approval{Digest: b.Digest, By: "li"}}
	b.Body.Connector = "other"
	if _, err := w.steps.Restore(t.Context(), &b, o); !errors.Is(err, offsetmap.ErrEdited) {
		t.Errorf("changed in memory: %v", err)
	}
	raw, err := json.Marshal(b.Body)
	if err != nil {
		t.Fatal(err)
	}
	if b.Digest, err = offsetmap.Digest(raw); err != nil {
		t.Fatal(err)
	}
	o.Approval.Digest = b.Digest
	if _, err := w.steps.Restore(t.Context(), &b, o); !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("of another connector: %v", err)
	}
}
