package flinkmm2_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// savepointBack is a migration from a real savepoint that has copied everything and was
// rolled back: orders-0 went from 20 to 50, orders-1 stands at 32, the others have no
// record and were unread.
type savepointBack struct {
	*wayBack
	from, to string
	readFrom string // instead of where the plan says that it was

	withoutCommittables bool
}

func backToASavepoint(t *testing.T) *savepointBack {
	t.Helper()
	w := prepared(t)
	ctx := t.Context()
	for _, s := range []*side{w.source, w.target} {
		if _, err := s.admin.CreatePartitions(ctx, 2, "orders"); err != nil {
			t.Fatal(err)
		}
	}
	b := &savepointBack{wayBack: w, from: filepath.Join(t.TempDir(), "old"), to: filepath.Join(t.TempDir(), "new")}
	if err := os.CopyFS(b.from, os.DirFS("flinkstate/testdata/savepoints/flink-1.20-stop-p2/savepoint")); err != nil {
		t.Fatal(err)
	}
	snap, err := flinkstate.ReadDir(b.from)
	if err != nil {
		t.Fatal(err)
	}
	req := w.requestFrom("", "")
	req.Snapshot = snap
	req.Attestations.SinkGuarantee.Value = offsetmap.SinkExactlyOnce
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if w.plan, err = w.steps.MakePlan(ctx, req); err != nil {
		t.Fatal(err)
	}
	w.applyAndStart("test")
	if _, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.again()
	return b
}

func (b *savepointBack) write(accepted ...offsetmap.Acceptance) (*flinkmm2.RewrittenSavepoint, error) {
	return b.steps.RewriteSavepoint(b.Context(), b.plan, b.boundary, flinkmm2.SavepointReturn{
		From: b.readFrom, To: b.to, FlinkStopped: offsetmap.Attest(offsetmap.StoppedWithSavepoint, "ana", "flink list is empty"), Acceptances: accepted,
		WithoutCommittables: b.withoutCommittables,
	})
}

// stands returns the positions of the new savepoint.
func (b *savepointBack) stands() string {
	b.Helper()
	snap, err := flinkstate.ReadDir(b.to)
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	for _, p := range snap.Sources[0].Partitions {
		out = append(out, p.Next.String())
	}
	return strings.Join(out, "/")
}

func TestTheBoundaryIsWrittenIntoASavepoint(t *testing.T) {
	t.Parallel()
	b := backToASavepoint(t)
	got, err := b.write()
	if err != nil {
		t.Fatal(err)
	}
	if at := b.stands(); at != "50/32/0/0/0" {
		t.Errorf("the savepoint stands at %s", at)
	}
	var how []string
	for _, s := range got.Splits {
		how = append(how, string(s.How))
	}
	if want := []string{"moved", "unchanged", "from-marker", "from-marker", "from-marker"}; !slices.Equal(how, want) || !got.Written || got.Location != b.to || got.FlinkStopped.By != "ana" {
		t.Errorf("it says %+v", got)
	}
	entries, err := b.journal.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := entries[len(entries)-1]
	if last.Rewritten != got.Savepoint || !strings.HasPrefix(last.Rewritten, "sha256:") || last.Savepoint == "" || last.Approved != "ana" || !strings.Contains(last.Detail, b.to) {
		t.Errorf("the journal says %+v", last)
	}

	// Again, by a Job that retries.
	again, err := b.write()
	if err != nil || again.Written || !slices.Equal(b.acts(), []string{"begin", "done"}) {
		t.Errorf("again: %+v, %v, journal %v", again, err, b.acts())
	}
	// Also by its URI.
	folder := b.to
	b.to = "file:" + folder + "/"
	if again, err := b.write(); err != nil || again.Written {
		t.Errorf("by its URI: %+v, %v", again, err)
	}
	// What stands there and is another savepoint is not taken for it.
	b.to = b.from
	if _, err := b.write(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("into the old one: %v", err)
	}
	b.to = folder
	// From neither savepoint does a plan go forward: Flink runs from the new one.
	for _, dir := range []string{b.from, b.to} {
		snap, err := flinkstate.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		req := b.requestFrom("", "")
		req.Snapshot = snap
		req.Attestations.SinkGuarantee.Value = offsetmap.SinkExactlyOnce
		plan, err := b.steps.MakePlan(t.Context(), req)
		if err == nil {
			_, err = b.steps.Apply(t.Context(), plan)
		}
		if err == nil || !strings.Contains(err.Error(), "journal/handed-back") {
			t.Errorf("a plan from %s: %v", filepath.Base(dir), err)
		}
	}
}

// What does not hold is refused, and nothing is written.
func TestASavepointThatIsNoWayBackIsNotWritten(t *testing.T) {
	t.Parallel()
	b := backToASavepoint(t)
	for _, c := range []struct {
		name   string
		breaks func() (mend func())
		status int
		want   []string
	}{
		{"of another plan", func() func() {
			was := b.boundary
			edited := *was
			edited.Plan = "sha256:" + strings.Repeat("0", 64)
			b.boundary = &edited
			return func() { b.boundary = was }
		}, flinkmm2.ExitMoved, []string{"rollback/boundary-changed"}},
		{"edited", func() func() {
			was := b.boundary
			edited := *was
			edited.Partitions = slices.Clone(was.Partitions)
			edited.Partitions[0].Next = offset(t, "49")
			b.boundary = &edited
			return func() { b.boundary = was }
		}, flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-0"}},
		{"the savepoint is another", func() func() {
			b.readFrom = "flinkstate/testdata/savepoints/flink-1.20-drain-p1/savepoint"
			return func() { b.readFrom = "" }
		}, flinkmm2.ExitMoved, []string{"rollback/savepoint-changed _metadata"}},
		{"an offset was written", func() func() {
			b.alter(0, 39)
			return func() { b.alter(0, 49) }
		}, flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-0"}},
		{"it runs again", func() func() {
			must(t, b.connect.Resume(t.Context(), "mm2"))
			b.await("RUNNING")
			return func() {
				must(t, b.connect.Stop(t.Context(), "mm2"))
				b.await("STOPPED")
				b.again()
			}
		}, flinkmm2.ExitMoved, []string{"connector/state"}},
	} {
		mend := c.breaks()
		_, err := b.write()
		b.refused(err, c.status, c.want...)
		if _, err := os.Stat(b.to); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s: %v", c.name, err)
		}
		mend()
	}
	if _, err := b.write(); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// Nobody's word, no folder: said before anything is looked at.
func TestASavepointIsNotWrittenWithoutAWord(t *testing.T) {
	t.Parallel()
	if err := (flinkmm2.SavepointReturn{FlinkStopped: offsetmap.Attest(offsetmap.Canceled, "ana", "seen")}).Check(); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("no folder: %v", err)
	}
	err := flinkmm2.SavepointReturn{To: "x"}.Check()
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); !ok || blocked.Findings[0].Check != "rollback/flink-end" {
		t.Errorf("no word: %v", err)
	}
}

// A plan from a group alone knows of no savepoint: none is taken for that of its job.
func TestAPlanFromAGroupHasNoSavepointToRewrite(t *testing.T) {
	t.Parallel()
	w := alone(t, 20, 32)
	plan, err := w.steps.MakePlan(t.Context(), w.fromGroup())
	if err != nil {
		t.Fatal(err)
	}
	w.plan = plan
	for _, from := range []string{"", "flinkstate/testdata/savepoints/flink-1.20-stop-p2/savepoint"} {
		_, err := w.steps.RewriteSavepoint(t.Context(), plan, rolledBackLike(w), flinkmm2.SavepointReturn{
			From: from, To: filepath.Join(t.TempDir(), "new"), FlinkStopped: offsetmap.Attest(offsetmap.Canceled, "ana", "seen"),
		})
		w.refused(err, flinkmm2.ExitBlocked, "rollback/savepoint-changed")
	}
}

// A journal is read in another folder than that in which it was written.
func TestTheJournalNamesTheFolderWhole(t *testing.T) {
	b := backToASavepoint(t)
	t.Chdir(filepath.Dir(b.to))
	whole := b.to
	b.to = "./new/"
	got, err := b.write()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := b.journal.Read(t.Context())
	if err != nil || got.Location != whole || !strings.Contains(entries[len(entries)-1].Detail, "into "+whole+";") {
		t.Errorf("%s, journal %+v, %v", got.Location, entries[len(entries)-1], err)
	}
}

// Transactions are left out where nothing says that they are not committed.
func TestTransactionsThatAreNotCommittedAreNotLeftOut(t *testing.T) {
	t.Parallel()
	b := backToASavepoint(t)
	b.withoutCommittables = true
	snap, err := flinkstate.ReadDir(b.from, flinkstate.WithSinkFiles())
	if err != nil {
		t.Fatal(err)
	}
	var id string
	for _, sink := range snap.Sinks {
		for _, tx := range sink.Transactions {
			id = tx.TransactionalID
		}
	}
	client, err := kgo.NewClient(append(b.target.client.Opts(), kgo.TransactionalID(id))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	must(t, client.BeginTransaction())
	must(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Partition: 3, Value: []byte("open")}).FirstErr())
	_, err = b.write()
	b.refused(err, flinkmm2.ExitBlocked, "flink/sink-transactions "+id)
	if _, err := os.Stat(b.to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	must(t, client.EndTransaction(t.Context(), kgo.TryAbort))
	b.again()
	got, err := b.write()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Committables) == 0 || !slices.ContainsFunc(got.Findings, func(f offsetmap.Finding) bool {
		return f.Check == "flink/sink-transactions" && f.Severity == offsetmap.Warn
	}) {
		t.Errorf("it says %+v", got)
	}
}

// A boundary goes one way: what Flink may run from already is named, and needs a word.
func TestTheBoundaryGoesOneWayAlone(t *testing.T) {
	t.Parallel()
	b := backToASavepoint(t)
	if _, err := b.hand("g"); err != nil {
		t.Fatal(err)
	}
	_, err := b.write()
	b.refused(err, flinkmm2.ExitBlocked, "rollback/another-form group:g")
	got, err := b.write(accept("rollback/another-form", "group:g"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.hand("h")
	b.refused(err, flinkmm2.ExitBlocked, "rollback/another-form group:g", "rollback/another-form savepoint:"+got.Savepoint)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
