package flinkmm2_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheBoundaryIsCommittedToTheOldGroup(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	w.commit(oldGroup, 18, 32)
	before := w.now()
	got, err := w.hand(oldGroup)
	if err != nil {
		t.Fatal(err)
	}
	offsets, note := w.holds(oldGroup)
	if offsets != "50/32/0" || note != "flinkmm2 "+w.plan.Digest[:19] {
		t.Errorf("the group holds %s with %q", offsets, note)
	}
	var said []string
	for _, p := range got.Partitions {
		said = append(said, p.String()+" "+p.Before.String()+" "+p.Next.String())
	}
	if want := []string{"orders-0 18 50", "orders-1 32 32", "orders-2 none 0"}; !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	if !got.Written || got.Group != oldGroup || got.FlinkStopped.By != "ana" || len(got.Findings) != 0 {
		t.Errorf("it says %+v", got)
	}
	const week = 7 * 24 * time.Hour
	if e := got.Expiry; e.RetentionMinutes == nil || *e.RetentionMinutes != 10080 || e.Unknown != "" || e.Earliest == nil ||
		e.Earliest.Before(before.Add(week).Truncate(time.Second)) || e.Earliest.After(w.now().Add(week)) {
		t.Errorf("they expire %+v", e)
	}

	// Again, by a Job that retries: nothing is written, and the day is the same.
	again, err := w.hand(oldGroup)
	if err != nil {
		t.Fatal(err)
	}
	if again.Written || again.Expiry.Earliest == nil || !again.Expiry.Earliest.Equal(got.Expiry.Earliest.Time) || !slices.Equal(w.acts(), []string{"begin", "done"}) {
		t.Errorf("again: written %v, expiry %+v, journal %v", again.Written, again.Expiry, w.acts())
	}
	entries, err := w.journal.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last := entries[len(entries)-1]; last.Group != oldGroup || last.Approved != "ana" || !strings.Contains(last.Detail, "stopped-with-savepoint: flink list is empty") {
		t.Errorf("the journal says %+v", last)
	}
}
