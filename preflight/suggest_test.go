package preflight

import (
	"strings"
	"testing"
)

// Two keys are as far apart as a person makes mistakes: a letter left out, added, wrong,
// or swapped with the next one.
func TestLettersThatDifferAreCounted(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"topics", "topics", 0},
		{"topic", "topics", 1},
		{"topicss", "topics", 1},
		{"tupics", "topics", 1},
		{"topcis", "topics", 1},
		{"otpics", "topics", 1},
		{"topisc", "topics", 1},
		{"otpisc", "topics", 2},
		{"tpics", "topics", 1},
		{"pics", "topics", 2},
		{"topicsss", "topics", 2},
		{"cat", "dog", 3},
		{"ab", "", 2},
		{"", "ab", 2},
		{"abc", "", 3},
		{"", "abc", 3},
		{"abcd", "badc", 2},
		{"ca", "abc", 3},
		{"aab", "aba", 1},
		{"bba", "bab", 1},
	} {
		if got := typos(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestOnlyWhatIsNearIsSuggested(t *testing.T) {
	for key, want := range map[string]string{
		"topcis":             "topics",
		"tpoisc":             "topics", // two letters of six
		"tasks":              "",       // the candidates have tasks.max, which is four letters more
		"tsks.mxa":           "tasks.max",
		"acks":               "acks", // which the candidates have twice
		"ack":                "",     // a third of it
		"ackz":               "acks",
		"akz":                "",               // two letters of three
		"cluster.alias.old":  "cluster.alias",  // one word more, two in common
		"alias.cluster":      "cluster.alias",  // the same words
		"one.two.three.four": "",               // two words of its own beside two are too many
		"five.six.seven":     "five.six.eight", // two words in common, one on each side
		"nine.six":           "",               // one in common
	} {
		candidates := []string{"topics", "tasks.max", "acks", "acks", "cluster.alias", "one.two.five.six.ten", "five.six.eight"}
		var got []string
		for _, s := range suggest(key, candidates) {
			got = append(got, s.key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
