package flinkstate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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

// Keys of partitions that are numbered without gaps are put in place; all others
// are sorted. Both give one order.
func TestSortKeysIsASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "keys")
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = uint64(i)<<32 | rapid.Uint64Range(0, 1<<32-1).Draw(t, "split")
		}
		keys = rapid.Permutation(keys).Draw(t, "order")
		for range rapid.IntRange(0, 3).Draw(t, "changed") {
			if n > 0 {
				keys[rapid.IntRange(0, n-1).Draw(t, "which")] = rapid.Uint64Range(0, 60).Draw(t, "partition")<<32 | rapid.Uint64Range(0, 1<<32-1).Draw(t, "split")
			}
		}
		want := slices.Sorted(slices.Values(keys))
		sortKeys(keys)
		for i := range keys {
			if keys[i]>>32 != want[i]>>32 {
				t.Fatalf("got %x, want %x", keys, want)
			}
		}
	})
}

// A topic is found where it is expected, elsewhere, and in each of two clusters.
func TestTopicTableNumbersEachTopicOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTopicTable()
		seen := map[[2]string]uint32{}
		for range rapid.IntRange(1, 200).Draw(t, "asked") {
			cluster := rapid.SampledFrom([]string{"", "", "", "east", "west"}).Draw(t, "cluster")
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "no/topic"}).Draw(t, "topic")
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
