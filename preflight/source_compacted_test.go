package preflight_test

import (
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func compactionBreakages() map[string]breakage {
	return map[string]breakage{"source/compacted": altered(sourceOf, "orders", "cleanup.policy", "compact", "delete")}
}

func TestATombstoneThatMayBeGoneBeforeItIsCopiedBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age    time.Duration
		policy string
		read   int64
		want   []string
	}{
		"younger than it is kept":   {23 * time.Hour, "compact", 0, []string{"warn source/compacted payments"}},
		"older":                     {25 * time.Hour, "compact", 0, []string{"warn source/compacted payments", "block source/compacted payments-0"}},
		"older, and deleted by age": {25 * time.Hour, "compact,delete", 0, []string{"warn source/compacted payments", "block source/compacted payments-0"}},
		"older, and read":           {25 * time.Hour, "compact", 1, []string{"warn source/compacted payments"}},
		"not compacted":             {25 * time.Hour, "delete", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := aged(t, c.age)
			for _, admin := range []preflight.Admin{l.probe.Source, l.probe.Target} {
				l.alter(admin, "payments", "cleanup.policy", c.policy)
			}
			l.alter(l.probe.Source, "payments", "delete.retention.ms", "86400000")
			l.question.Positions[2] = at("payments", 0, c.read)
			r := l.judge()
			l.want(r, c.want...)
			if len(c.want) == 2 {
				l.says(r.Findings[0], "from offset 0 to 1 are older than delete.retention.ms = 1 d", "a tombstone among them may be gone already")
			}
		})
	}
}

// What is created by preflight's own step, or never, is no reason not to look where its
// config will write to.
func TestTheTargetIsLookedAtBeforeThereIsAConnector(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.must(l.client.Delete(t.Context(), connector))
	l.remove(l.target, "orders")
	l.create(l.target, "orders", 1)
	l.alter(l.probe.Target, "payments", "min.insync.replicas", "2")
	if r := l.judge(); len(found(r, "target/partition-count")) > 0 {
		t.Errorf("nobody has said what the connector is to be: %v", r.Findings)
	}
	l.probe.Config = with(l.config, "name", connector)
	l.question.Config = l.probe.Config
	r := l.judge()
	for _, want := range []string{"connector/absent", "target/partition-count", "target/min-insync-replicas"} {
		if len(found(r, want)) != 1 {
			t.Errorf("no %s: %v", want, r.Findings)
		}
	}
}
