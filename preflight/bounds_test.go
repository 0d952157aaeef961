package preflight

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func offset(t *testing.T, v int64) offsetmap.NextOffset {
	t.Helper()
	if v < 0 {
		return offsetmap.NextOffset{}
	}
	o, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func partition(topic string, p int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: topic, Partition: p}
}

// A limit that brokers write for "none" leads to no moment, which would ask ListOffsets
// for something else.
func TestALimitThatIsNoneHasNoMoment(t *testing.T) {
	now := time.UnixMilli(1000)
	for ms, want := range map[int64][2]any{
		-1: {int64(1001), false}, 0: {int64(1000), true}, 1: {int64(999), true}, 999: {int64(1), true}, 1000: {int64(0), false}, 1001: {int64(-1), false},
	} {
		if at, ok := before(now, ms); [2]any{at, ok} != want {
			t.Errorf("%d ms before: %d, %t, want %v", ms, at, ok, want)
		}
	}
	for ms, want := range map[int64][2]any{
		-1: {int64(0), false}, 0: {int64(1000), true}, 1: {int64(1001), true}, math.MaxInt64: {int64(0), false},
		math.MaxInt64 - 1000: {int64(math.MaxInt64), true}, math.MaxInt64 - 999: {int64(0), false},
	} {
		if at, ok := after(now, ms); [2]any{at, ok} != want {
			t.Errorf("%d ms after: %d, %t, want %v", ms, at, ok, want)
		}
	}
}

func TestMillisecondsAreSpelledAsPeopleSayThem(t *testing.T) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	for ms, want := range map[int64]string{
		-1: "-1 ms", 0: "0s", 1: "1ms", 3600_000: "1h0m0s", 86_399_999: "23h59m59.999s", 86_400_000: "1 d", 86_400_001: "24h0m0.001s",
		604_800_000: "7 d", most: (time.Duration(most) * time.Millisecond).String(), most + 1: "9223372036855 ms",
	} {
		if got := spell(ms); got != want {
			t.Errorf("%d: %q, want %q", ms, got, want)
		}
	}
}

// A partition of which nothing was told has no age, whatever stands beside it.
func TestAgesAreThoseOfTheirPartition(t *testing.T) {
	listed := map[offsetmap.TopicPartition]fresh.Listed{}
	for _, p := range []int32{3, 0, 2} {
		listed[partition("a", p)] = fresh.Listed{Offset: offset(t, int64(10+p))}
	}
	for range 20 { // a map has no order
		ages := firstRecords{byTopic: byPartition(listed)}
		for p, want := range map[int32]int64{0: 10, 2: 12, 3: 13, 1: -1, 4: -1} {
			got, err := ages.of(partition("a", p))
			if got.Offset != offset(t, want) || (err != nil) != (want < 0) {
				t.Fatalf("a-%d: %s, %v, want %d", p, got.Offset, err, want)
			}
		}
		if n := len(ages.byTopic["a"]); n != 4 {
			t.Fatalf("%d partitions, want 4", n)
		}
	}
}

// Only a position within a log that was measured is one from which anything expires.
func TestOnlyAPositionInAMeasuredLogIsAPlace(t *testing.T) {
	for name, c := range map[string]struct {
		start, end, next int64
		want             bool
		unread           bool
	}{
		"in the log":            {5, 9, 7, true, true},
		"at its start":          {5, 9, 5, true, true},
		"at its end":            {5, 9, 9, true, false},
		"below":                 {5, 9, 4, false, false},
		"no position":           {5, 9, -1, false, false},
		"no position, no start": {-1, 9, -1, false, false},
		"no end":                {5, -1, 7, false, false},
		"no start and no end":   {-1, -1, 7, false, false},
	} {
		tp := partition("a", 0)
		kase := &Case{
			Facts:    Facts{Ranges: map[offsetmap.TopicPartition]offsetmap.Range{tp: {Start: offset(t, c.start), End: offset(t, c.end)}}},
			Question: Question{Positions: []offsetmap.Position{{TopicPartition: tp, Next: offset(t, c.next)}, {TopicPartition: partition("b", 0), Next: offset(t, 1)}}},
		}
		got := kase.allPlaces()
		if len(got["a"]) == 1 != c.want || len(got["b"]) > 0 {
			t.Errorf("%s: %v, want %t", name, got, c.want)
		} else if c.want && got["a"][0].unread() != c.unread {
			t.Errorf("%s: unread %t", name, !c.unread)
		}
	}
}

func findings(judge func(*Reporter)) (lines []string, saw []string) {
	r := Reporter{check: Check{ID: "a/b", Acceptable: offsetmap.Exact}}
	judge(&r)
	for _, f := range r.findings {
		lines = append(lines, string(f.Severity)+" "+f.Scope+" "+f.Detail)
	}
	return lines, r.saw
}

func TestReplicasInSyncAreHeldAgainstWhatIsDemanded(t *testing.T) {
	const saw = "a: min.insync.replicas is 2; the fewest replicas in sync are "
	for name, c := range map[string]struct {
		replicas, inSync [][]int32
		want, saw        string
	}{
		"enough":                {[][]int32{{1, 2, 3}, {2, 3}}, [][]int32{{1, 2, 3}, {2, 3}}, "", saw + "2"},
		"fewer in sync":         {[][]int32{{1, 2, 3}, {2, 3}, {1, 2}}, [][]int32{{1, 2, 3}, {3}, {1, 2}}, "block a min.insync.replicas is 2, and of 3 partitions 1 have fewer replicas in sync: a-1, with [3] of [2 3]", saw + "1"},
		"none in sync":          {[][]int32{{1, 2}, {2, 3}}, [][]int32{{}, {2, 3}}, "block a min.insync.replicas is 2, and of 2 partitions 1 have fewer replicas in sync: a-0, with [] of [1 2]", saw + "0"},
		"fewer replicas":        {[][]int32{{1}, {2, 3}}, [][]int32{{1}, {2, 3}}, "so that they can never be written to with acks=all: a-0, with the replicas [1]", saw + "1"},
		"replicas are not told": {[][]int32{{1, 2}}, [][]int32{{1, 2}}, "the brokers do not tell the replicas of a-1", ""},
	} {
		topic := Topic{Name: "a", Replicas: c.replicas, InSync: c.inSync, Partitions: []int32{0, 1, 2}[:max(2, len(c.replicas))]}
		var err error
		got, seen := findings(func(r *Reporter) {
			err = minInSync(nil, nil, pair{target: topic, to: Settings{keyMinISR: "2"}}, r)
		})
		text := strings.Join(got, "\n")
		if err != nil {
			text = err.Error()
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
		if s := strings.Join(seen, "\n"); !strings.HasSuffix(s, strings.TrimPrefix(c.saw, "a: ")) || (s == "") != (c.saw == "") {
			t.Errorf("%s: saw %q, want %q", name, s, c.saw)
		}
	}
}

func TestAPartitionWithoutALeaderSaysWhoIsAway(t *testing.T) {
	cluster := Cluster{Brokers: []int32{1, 2}}
	topic := Topic{Name: "a", Partitions: []int32{0, 1, 2}, Leaderless: []int32{0, 1, 2}, Replicas: [][]int32{{1, 3}, {1, 2}}, InSync: [][]int32{{3}, {}}}
	got, _ := findings(func(r *Reporter) { cluster.reportLeaderless(topic, r) })
	want := []string{
		"block a-0 it has no leader: of the brokers that hold it, [1 3], those that are away are [3]; in sync is [3]",
		"block a-1 it has no leader although the brokers that hold it, [1 2], are there; in sync is []",
		"block a-2 it has no leader, and the brokers [1 2] do not say which of them hold it",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

// Brokers may tell the replicas of a partition and not those in sync.
func TestReplicasAreThoseOfTheirPartition(t *testing.T) {
	topic := Topic{Partitions: []int32{2, 5, 7}, Replicas: [][]int32{{1}, {2}}, InSync: [][]int32{{1}}}
	for p, want := range map[int32]int{2: 1, 5: 0, 7: 0, 0: 0, 9: 0} {
		if all, inSync := topic.replicas(p); len(all) != want || len(inSync) != want {
			t.Errorf("partition %d: %v, %v, want %d", p, all, inSync, want)
		}
	}
	topic = Topic{Partitions: []int32{2, 5}, Replicas: [][]int32{{1}}, InSync: [][]int32{{1}, {1}}}
	if all, inSync := topic.replicas(5); len(all)+len(inSync) > 0 {
		t.Errorf("replicas that were not told: %v, %v", all, inSync)
	}
	for name, c := range map[string]struct {
		topic Topic
		want  bool
	}{"nobody looked": {Topic{}, true}, "there": {Topic{Name: "a"}, false}, "missing": {Topic{Name: "a", Err: kerr.UnknownTopicOrPartition}, true}} {
		if absent(c.topic) != c.want {
			t.Errorf("%s: absent is %t", name, !c.want)
		}
	}
}

// A check that was not made in one scope was not made, whatever it found in others.
func TestResultsAreSettledByTheirFindings(t *testing.T) {
	found := offsetmap.Finding{Check: "a/b", Severity: offsetmap.Warn}
	unmade := offsetmap.Finding{Check: "a/b", Severity: offsetmap.Block, Unmade: true}
	for name, c := range map[string]struct {
		findings []offsetmap.Finding
		want     Result
	}{
		"nothing":          {nil, Result{Check: "a/b", State: Passed}},
		"found":            {[]offsetmap.Finding{found}, Result{Check: "a/b", State: Found, Severity: offsetmap.Warn, Findings: 1}},
		"not made":         {[]offsetmap.Finding{unmade}, Result{Check: "a/b", State: NotMade, Severity: offsetmap.Block, Findings: 1}},
		"not made, found":  {[]offsetmap.Finding{unmade, found}, Result{Check: "a/b", State: NotMade, Severity: offsetmap.Block, Findings: 2}},
		"found, not made":  {[]offsetmap.Finding{found, unmade}, Result{Check: "a/b", State: NotMade, Severity: offsetmap.Warn, Findings: 2}},
		"found, and again": {[]offsetmap.Finding{found, found}, Result{Check: "a/b", State: Found, Severity: offsetmap.Warn, Findings: 2}},
	} {
		got := settle([]Result{{Check: "a/b", State: Passed}}, c.findings)
		if d := cmp.Diff([]Result{c.want}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestOnlyEndsThatWereMeasuredHaveMoved(t *testing.T) {
	first := map[offsetmap.TopicPartition]offsetmap.NextOffset{
		partition("a", 0): offset(t, 5), partition("a", 1): offset(t, 5), partition("a", 2): {},
	}
	second := map[offsetmap.TopicPartition]fresh.Listed{}
	for p, v := range map[int32]int64{0: 7, 1: 5, 2: 7, 3: 7} {
		second[partition("a", p)] = fresh.Listed{Offset: offset(t, v)}
	}
	got := moved(first, func(o offsetmap.NextOffset) offsetmap.NextOffset { return o }, second)
	if want := (Moved{offset(t, 5), offset(t, 7)}); len(got) != 1 || got[partition("a", 0)] != want {
		t.Errorf("moved: %v", got)
	}
}

func TestOfManyWritersSomeAreNamed(t *testing.T) {
	for n, want := range map[int]string{1: "have the ids 1 (epoch 0)", 5: "4 (epoch 0), 5 (epoch 0)", 6: "5 (epoch 0) and 1 more", 7: "5 (epoch 0) and 2 more"} {
		writers := []Writer{{TopicPartition: partition("b", 0), ProducerID: 99}}
		for i := range n {
			for p := range int32(2) {
				writers = append(writers, Writer{TopicPartition: partition("a", p), ProducerID: int64(i + 1)})
			}
		}
		if got := (Movement{Writers: offsetmap.Known(writers)}).who("a"); !strings.HasSuffix(got, want) {
			t.Errorf("%d writers: %q, want %q", n, got, want)
		}
	}
}

type word string

func (w word) String() string { return string(w) }

func TestOfManyNamesSomeAreListed(t *testing.T) {
	all := []word{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{0: "", 1: "a", 5: "a, b, c, d, e", 6: "a, b, c, d, e and 1 more", 7: "a, b, c, d, e and 2 more"} {
		if got := some(all[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// Of two facts, what is not known is told before it is said that there is nothing.
func TestAFactOfTwoIsAbsentWhereOneIs(t *testing.T) {
	lost := errors.New("lost")
	known, absent, unknown := offsetmap.Known(1), offsetmap.Absent[int](), offsetmap.NotKnown[int](lost)
	add := func(a, b int) (int, error) { return a + b, nil }
	for _, c := range []struct {
		a, b   offsetmap.Fact[int]
		absent bool
		known  bool
	}{
		{known, known, false, true},
		{absent, known, true, false},
		{known, absent, true, false},
		{absent, absent, true, false},
		{unknown, known, false, false},
		{known, unknown, false, false},
		{unknown, unknown, false, false},
	} {
		got := derive(c.a, c.b, add)
		v, ok := got.Get()
		if got.IsAbsent() != c.absent || ok != c.known || ok && v != 2 || !ok && !c.absent && !errors.Is(got.Err(), lost) {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}
