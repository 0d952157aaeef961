package flinkstate

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Ids that Flink gave to operators with these uids: of the fixtures from
// metadata version 5 on, which hold both.
func TestUIDHashIsFlinks(t *testing.T) {
	files, err := filepath.Glob("testdata/savepoints/*/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Operators []struct{ OperatorID, UID string }
		}
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		for _, o := range e.Operators {
			if o.UID == "" {
				continue
			}
			seen[o.UID] = true
			if got := uidHash(o.UID); got != o.OperatorID {
				t.Errorf("uid %q: %s, want %s", o.UID, got, o.OperatorID)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only the uids %v were compared", seen)
	}
	// Every length of the tail, against Guava's own test vectors for seed 0.
	for s, want := range map[string]string{
		"": "00000000000000000000000000000000",
		"The quick brown fox jumps over the lazy dog": "6c1b07bc7bbc4be347939ac4a93c437a",
	} {
		if got := uidHash(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestDecodeUTF(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"plain":                              "plain",
		"a\xc0\x80b":                         "a\x00b",
		"gr\xc3\xbc\xc3\x9fe":                "grüße",
		"\xe6\xb8\xac":                       "測",
		"\xed\xa0\xbd\xed\xb8\x80!":          "\U0001f600!",
		"\xed\xa0\xbd":                       "-", // half of a pair
		"\xed\xb8\x80":                       "-",
		"\xed\xa0\xbd\xed\xa0\xbd":           "-",
		"\xf0\x9f\x98\x80":                   "-", // UTF-8 proper
		"\xc3":                               "-",
		"\xe6\xb8":                           "-",
		"\x80":                               "-",
		"\xc3\x28":                           "-",
		"\xed\xa0\xbd\xed\xb8":               "-",
		"name \xed\xa0\xbd\xed\xb8\x80 \x7f": "name \U0001f600 \x7f",
	} {
		got, ok := decodeUTF([]byte(in))
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A stream that uses more of the grammar than is followed is taken as it is: it
// says nothing about positions, and other builds of Flink may write more.
func TestJavaObjectThatIsNotFollowedIsTaken(t *testing.T) {
	for name, in := range map[string]string{
		"block data":        "\xac\xed\x00\x05\x77\x02ab",
		"array":             "\xac\xed\x00\x05\x75rest",
		"unknown reference": "\xac\xed\x00\x05\x73\x71\x00\x7e\x00\x09",
	} {
		c := newCursor("f", 0, []byte(in))
		c.javaStream("properties")
		if c.err != nil || c.left() != 0 {
			t.Errorf("%s: %v, %d bytes left", name, c.err, c.left())
		}
	}
	deep := "\xac\xed\x00\x05" + strings.Repeat("\x7e\x70", 100_000) // an enum constant whose name is one
	c := newCursor("f", 0, []byte(deep))
	if c.javaStream("properties"); c.err != nil {
		t.Errorf("deep: %v", c.err)
	}
}

// Partitions that are numbered without gaps are put in place; all others are
// sorted. Both give one order, name the same partitions as held, and find those
// that are there twice.
func TestIndexIsASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newSourceReader(&operator{coordinator: []byte{}})
		type key struct {
			topic     uint32
			partition int32
		}
		held := map[key]int{}
		var all []split
		topics := []string{"b", "a", "c"}
		for topic, name := range topics {
			if _, ok := r.topics.id([]byte(name)); !ok {
				t.Fatalf("%s is no topic", name)
			}
			for p := range rapid.IntRange(0, 12).Draw(t, "partitions") {
				k := key{uint32(topic), int32(p)}
				if rapid.IntRange(0, 19).Draw(t, "elsewhere") == 0 {
					k.partition = rapid.SampledFrom([]int32{0, 5, 11, 12, 99, math.MaxInt32}).Draw(t, "where")
				}
				held[k]++
				all = append(all, split{topic: k.topic, partition: k.partition, start: 7, stop: noStop, state: splitHeld})
			}
		}
		for _, s := range rapid.Permutation(all).Draw(t, "order") {
			r.splits.add(&s)
		}
		ix, err := r.index()
		twice := slices.ContainsFunc(slices.Collect(maps.Values(held)), func(n int) bool { return n > 1 })
		if twice != (err != nil) {
			t.Fatalf("%v: %v", held, err)
		}
		if err != nil {
			return
		}
		got := ix.positions()
		sorted := slices.IsSortedFunc(got, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
		if !sorted || len(got) != len(held) {
			t.Fatalf("%v of %v", got, held)
		}
		for _, p := range got {
			if held[key{uint32(slices.Index(topics, p.Topic)), p.Partition}] != 1 {
				t.Fatalf("%v is not among %v", p, held)
			}
		}
		for topic := range uint32(len(topics) + 1) {
			for _, p := range []int32{-1, 0, 3, 5, 11, 12, 13, 99, 100, math.MaxInt32, math.MinInt32} {
				if want := held[key{topic, p}] == 1; ix.holds(topic, p) != want {
					t.Fatalf("topic %d, partition %d: held is %t, want %t of %v", topic, p, !want, want, held)
				}
			}
		}
	})
}

// topicNames are of every length that a key tells apart, and differ in one byte of
// each part of it.
var topicNames = []string{
	"a", "b", "ab", "orders7", "orders8", "orders-7", "orders-8", "7orders-orders-a", "8orders-orders-a", "orders-7-orders-a",
	"orders-orders-77-orders-a", "orders-orders-78-orders-a", "orders-orders-orders-7-orders-a", "orders-orders-orders-8-orders-a", "no/topic",
}

// A topic is found where it is expected, elsewhere, and in each of two clusters.
func TestTopicTableNumbersEachTopicOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTopicTable()
		seen := map[[2]string]uint32{}
		for range rapid.IntRange(1, 200).Draw(t, "asked") {
			cluster := rapid.SampledFrom([]string{"", "", "", "east", "west"}).Draw(t, "cluster")
			name := rapid.SampledFrom(topicNames).Draw(t, "topic")
			table.in([]byte(cluster))
			id, ok := table.id([]byte(name))
			if legal := name != "no/topic"; ok != legal {
				t.Fatalf("%q: %v", name, ok)
			} else if !legal {
				continue
			}
			key := [2]string{cluster, name}
			if before, known := seen[key]; known && before != id || table.names[id] != name || table.clusterOf(id) != cluster {
				t.Fatalf("%v has the number %d, had %d", key, id, before)
			}
			seen[key] = id
		}
		if len(table.names) != len(seen) {
			t.Fatalf("%d numbers for %d topics", len(table.names), len(seen))
		}
	})
}

// A list that is joined from two is the one to which all splits were added in turn.
func TestJoinedSplitListIsTheWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, wholeTopics := newSplitList(0), newTopicTable()
		parts, tables := [2]splitList{newSplitList(0), newSplitList(0)}, [2]*topicTable{newTopicTable(), newTopicTable()}
		for i := range parts {
			for range rapid.IntRange(0, 20).Draw(t, "splits") {
				name := []byte(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "topic"))
				cluster := []byte(rapid.SampledFrom([]string{"", "", "east"}).Draw(t, "cluster"))
				s := split{
					start: rapid.Int64Range(-3, 3).Draw(t, "start"), stop: rapid.SampledFrom([]int64{noStop, noStop, noStop, 7}).Draw(t, "stop"),
					partition: rapid.Int32Range(0, 3).Draw(t, "partition"), subtask: rapid.Int32Range(-1, 2).Draw(t, "subtask"),
					state: rapid.SampledFrom([]splitState{splitHeld, splitHeld, splitAssigned, splitUnassigned}).Draw(t, "state"),
				}
				wholeTopics.in(cluster)
				s.topic, _ = wholeTopics.id(name)
				whole.add(&s)
				tables[i].in(cluster)
				s.topic, _ = tables[i].id(name)
				parts[i].add(&s)
			}
		}
		joined, topics := parts[0], tables[0]
		joined.join(&parts[1], topics.join(tables[1]))
		type named struct {
			topic, cluster string
			split
		}
		list := func(l *splitList, t *topicTable) (all []named) {
			for s := range l.all() {
				n := named{t.names[s.topic], t.clusterOf(s.topic), s}
				n.split.topic = 0
				all = append(all, n)
			}
			return all
		}
		if got, want := list(&joined, topics), list(&whole, wholeTopics); !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}
