package flinkmm2_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2"
)

// says is the boundary in a text: where Connect ends, and where Flink goes on.
func says(b *flinkmm2.Boundary) string {
	var out []string
	for _, p := range b.Partitions {
		out = append(out, p.Next.String()+">"+b.Next(p.TopicPartition).String())
	}
	n, doubts := b.Repeated()
	if n > 0 || len(doubts) > 0 {
		out = append(out, offsetText(n)+" come again", strings.Join(doubts, "; "))
	}
	return strings.Join(out, " ")
}

// A worker that was killed leaves an offset behind what it has copied: what the target
// has shows how far it came, in every form in which Flink is handed C'.
func TestFlinkGoesOnBehindWhatTheTargetHas(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	if got := says(w.boundary); got != "50>50 32>32 0>0" {
		t.Fatalf("stopped in order: %s", got)
	}
	w.alter(0, 39)
	w.again()
	if got := says(w.boundary); got != "40>50 32>32 0>0" {
		t.Fatalf("the last commit is lost: %s", got)
	}
	sound := *w.boundary

	// What the file says of the target is held to the target.
	beyond := sound
	beyond.Delivered = append([]flinkmm2.DeliveredPartition{}, sound.Delivered...)
	beyond.Delivered[0].Next = offset(t, "51")
	w.boundary = &beyond
	_, err := w.hand("g")
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed orders-0")
	if !strings.Contains(err.Error(), "the boundary says that the target has all before 51, and it has all before 50") {
		t.Error(err)
	}

	w.boundary = &sound
	for form, want := range map[flinkmm2.HandBackForm]string{flinkmm2.FormInitializer: "50/32/0", flinkmm2.FormOldSavepoint: "20/32/0"} {
		w := w.in(t)
		if got, err := w.goesOn(form); err != nil || startsAt(got) != want {
			t.Errorf("%s: %+v, %v", form, got, err)
		}
	}
	if sql, err := sound.SpecificOffsets("orders"); err != nil || sql != "partition:0,offset:50;partition:1,offset:32;partition:2,offset:0" {
		t.Errorf("%s, %v", sql, err)
	}
	if _, err := w.hand("g"); err != nil {
		t.Fatal(err)
	}
	if held, _ := w.holds("g"); held != "50/32/0" {
		t.Errorf("the group holds %s", held)
	}
	again, err := w.hand("g")
	if err != nil || again.Written {
		t.Errorf("again: %+v, %v", again, err)
	}

	// Whoever writes to the target since has made it another one.
	w.target.produce(t, 0, 1)
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed orders-0")
	if !strings.Contains(err.Error(), "the target ended at 50, now it ends at 51") {
		t.Error(err)
	}
}

// blind are brokers that do not tell the settings of topics, without which no record can
// be compared.
type blind struct{ flinkmm2.Admin }

func (blind) DescribeTopicConfigs(context.Context, ...string) (kadm.ResourceConfigs, error) {
	return nil, context.DeadlineExceeded
}

// The way back does not hang on the comparison: what it cannot find out is a doubt.
func TestWhatCannotBeComparedIsADoubt(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	w.alter(0, 39)
	back, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{Tail: flinkmm2.TailBounds{Records: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := says(back.Boundary); !strings.HasPrefix(got, "40>40 32>32 0>0 0 come again orders-0: ") || !strings.Contains(got, "as much as may be read of a partition was read: ") {
		t.Error(got)
	}
	back, err = w.migration(blind{w.source.admin}).Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := says(back.Boundary); !strings.HasPrefix(got, "40>40 32>32 0>0 0 come again orders-0: source: ") {
		t.Error(got)
	}
	if _, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{Tail: flinkmm2.TailBounds{Bytes: -1}}); err == nil || !strings.Contains(err.Error(), "none may be below 0") {
		t.Errorf("bounds below 0: %v", err)
	}
	// What a rollback with wider bounds has found stands without them.
	wide, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{Tail: flinkmm2.TailBounds{Records: 2_000_000, Within: time.Hour}})
	if err != nil || says(wide.Boundary) != "40>50 32>32 0>0" {
		t.Fatalf("%+v, %v", wide, err)
	}
	// A boundary of which the target was not looked at.
	w.boundary = back.Boundary
	w.boundary.Delivered = nil
	if n, doubts := w.boundary.Repeated(); n != 0 || len(doubts) != 1 {
		t.Errorf("%d, %q", n, doubts)
	}
	if _, err := w.hand("g"); err != nil {
		t.Fatal(err)
	}
	if held, _ := w.holds("g"); held != "40/32/0" {
		t.Errorf("the group holds %s", held)
	}
}

// A savepoint goes on there too.
func TestASavepointGoesOnBehindWhatTheTargetHas(t *testing.T) {
	t.Parallel()
	b := backToASavepoint(t)
	b.alter(0, 39)
	b.again()
	if _, err := b.write(); err != nil {
		t.Fatal(err)
	}
	if at := b.stands(); at != "50/32/0/0/0" {
		t.Errorf("the savepoint stands at %s", at)
	}
}
