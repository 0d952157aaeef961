package preflight

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// suggestion is a key that may have been meant.
type suggestion struct {
	key   string
	typos int // letters that differ; 0 where the words are the same in another order or spelling
	words int // words of the two that differ
}

// mostTypos is how many letters a misspelled key differs by. Keys of more letters are
// not misspelled more.
const mostTypos = 2

// suggest returns the candidates that are nearest to a key: by letters, or else by
// words. There may be none, and several that are equally near.
func suggest(key string, candidates []string) []suggestion {
	var near []suggestion
	words := wordsOf(key)
	for _, c := range candidates {
		if d := typos(key, c); d <= mostTypos && d < len(key)/2 {
			near = append(near, suggestion{c, d, 0})
			continue
		}
		if differ, shared := compareWords(words, wordsOf(c)); differ == 0 || differ <= 2 && shared >= 2 {
			near = append(near, suggestion{c, mostTypos + 1, differ})
		}
	}
	slices.SortFunc(near, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), cmp.Compare(a.words, b.words), cmp.Compare(a.key, b.key))
	})
	near = slices.CompactFunc(near, func(a, b suggestion) bool { return a.key == b.key })
	for i, s := range near {
		if s.typos != near[0].typos || s.words != near[0].words {
			return near[:i]
		}
	}
	return near
}

// typos is the Damerau-Levenshtein distance of two texts, with no letter moved
// twice (optimal string alignment).
func typos(a, b string) int {
	if d := len(a) - len(b); d > mostTypos || -d > mostTypos {
		return mostTypos + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// wordsOf returns the words of a key, sorted: sourceClusterAlias has those of
// source.cluster.alias.
func wordsOf(key string) []string {
	words := strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(key, "$1.$2")), func(r rune) bool { return strings.ContainsRune(".-_ /:", r) })
	slices.Sort(words)
	return words
}

// compareWords counts the words that one of the two has alone, and those of both.
func compareWords(a, b []string) (differ, shared int) {
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c == 0:
			shared++
			a, b = a[1:], b[1:]
		case c < 0:
			differ++
			a = a[1:]
		default:
			differ++
			b = b[1:]
		}
	}
	return differ + len(a) + len(b), shared
}
