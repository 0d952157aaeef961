package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite are the tests of a package, and what is known of them.
type suite struct {
	*binary
	tests  []*test       // the quick ones first
	budget time.Duration // of their time, for each mutant; 0 for all

	mu    sync.Mutex
	kills map[string]map[*test]int // by function and by file of the mutants
}

// test is what go test can be asked to run alone: a test, or one of the subtests of
// a test that takes long.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool // ids of mutants
}

// long is what a test may take before its subtests are asked one by one.
const long = 500 * time.Millisecond

// explore runs each test on its own, without a mutant, to learn how long it takes
// and which mutants it reaches.
func explore(ctx context.Context, b *binary, work string) (*suite, error) {
	s := &suite{binary: b, kills: map[string]map[*test]int{}}
	cmd := exec.CommandContext(ctx, b.path, "-test.list", ".")
	cmd.Dir, cmd.Env = b.dir, environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", b.pkg, err)
	}
	trace := filepath.Join(work, "reached")
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		t, said, err := s.explored(ctx, name, trace, "-test.v")
		if err != nil {
			return nil, err
		}
		parts := []*test{t}
		if leaves := subtests(name, said); t.took > long && len(leaves) > 1 {
			parts = parts[:0]
			for _, leaf := range leaves {
				t, _, err := s.explored(ctx, leaf, trace)
				if err != nil {
					return nil, err
				}
				parts = append(parts, t)
			}
		}
		for _, t := range parts {
			if len(t.reaches) > 0 {
				s.tests = append(s.tests, t)
			}
		}
	}
	slices.SortStableFunc(s.tests, func(a, c *test) int { return int(a.took - c.took) })
	return s, nil
}

// subtests are those of a test that have none of their own, from the output of -test.v.
func subtests(name, said string) []string {
	var all []string
	for line := range strings.Lines(said) {
		if run, ok := strings.CutPrefix(line, "=== RUN   "+name+"/"); ok {
			all = append(all, name+"/"+strings.TrimSuffix(run, "\n"))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(n string) bool {
		return strings.Contains(n, "#") || // by its number among equal names, which it does not have when it runs alone
			slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, n+"/") })
	})
}

func (s *suite) explored(ctx context.Context, name, trace string, flags ...string) (*test, string, error) {
	if err := os.Remove(trace); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	var from time.Time
	var said string
	for tries := 1; ; tries++ {
		from = time.Now()
		how, text, err := s.run(ctx, []string{name}, 10*time.Minute, []string{"MUTANTS_REACHED=" + trace}, flags...)
		if err != nil {
			return nil, "", err
		}
		if said = text; how == passed {
			break
		}
		if tries == 3 { // on a machine that is busy with others, a broker may be late once
			return nil, "", fmt.Errorf("%s of %s fails without a mutant, three times:\n%s", name, s.pkg, said)
		}
	}
	t := &test{name: name, took: time.Since(from), reaches: map[int]bool{}}
	raw, err := os.ReadFile(trace)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // that of a test which reaches nothing
		return nil, "", err
	}
	for line := range strings.FieldsSeq(string(raw)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", trace, err)
		}
		t.reaches[id] = true
	}
	return t, said, nil
}

// verdict is what became of a mutant.
type verdict string

const (
	killed     verdict = "killed"
	outOfTime  verdict = "timed out"
	lived      verdict = "lived"
	notReached verdict = "not reached"
)

// try runs the tests that reach a mutant until one fails: first those that have
// killed others of its function and its file, one by one, then the quick ones.
func (s *suite) try(ctx context.Context, id int) (verdict, error) {
	var asked []*test
	for _, t := range s.tests {
		if t.reaches[id] {
			asked = append(asked, t)
		}
	}
	if len(asked) == 0 {
		return notReached, nil
	}
	m := s.mutants[id-1]
	known := s.byKills(m, asked)
	var spent time.Duration
	for from := 0; from < len(asked) && (s.budget == 0 || spent < s.budget); {
		to := from + 1
		for sum := asked[from].took; to < len(asked) && from >= known; to++ {
			if sum += asked[to].took; sum > 10*time.Second || from == known && sum > long {
				break
			}
		}
		v, err := s.ask(ctx, id, asked[from:to])
		if err != nil || v != lived {
			if v == killed && to-from == 1 {
				s.note(m, asked[from])
			} else if v == killed {
				err = s.whichOf(ctx, id, m, asked[from:to])
			}
			return v, err
		}
		for _, t := range asked[from:to] {
			spent += t.took
		}
		from = to
	}
	return lived, nil
}

// ask runs tests together.
func (s *suite) ask(ctx context.Context, id int, tests []*test) (verdict, error) {
	names := make([]string, len(tests))
	within := 10 * time.Second
	for i, t := range tests {
		names[i] = t.name
		within += 5 * t.took
	}
	how, _, err := s.run(ctx, names, within, []string{"MUTANT=" + strconv.Itoa(id)})
	switch how {
	case failed:
		return killed, err
	case timedOut:
		return outOfTime, err
	default:
		return lived, err
	}
}

// whichOf notes the one of several tests that has killed a mutant.
func (s *suite) whichOf(ctx context.Context, id int, m mutant, tests []*test) error {
	for len(tests) > 1 {
		half := tests[:len(tests)/2]
		v, err := s.ask(ctx, id, half)
		if err != nil {
			return err
		}
		if v == lived {
			half = tests[len(tests)/2:]
		}
		tests = half
	}
	s.note(m, tests[0])
	return nil
}

func (s *suite) note(m mutant, t *test) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, place := range m.places() {
		if s.kills[place] == nil {
			s.kills[place] = map[*test]int{}
		}
		s.kills[place][t]++
	}
}

// byKills brings the tests that have killed mutants close by to the front, at most
// five, and returns how many those are.
func (s *suite) byKills(m mutant, tests []*test) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	score := func(t *test) int {
		n := 0
		for i, place := range m.places() {
			n += s.kills[place][t] * (1 + 100*i)
		}
		return n
	}
	slices.SortStableFunc(tests, func(a, b *test) int { return score(b) - score(a) })
	known := 0
	for known < min(5, len(tests)) && score(tests[known]) > 0 {
		known++
	}
	slices.SortStableFunc(tests[known:], func(a, b *test) int { return int(a.took - b.took) })
	return known
}

// places are the mutant's file and its function.
func (m mutant) places() []string {
	function, _, _ := strings.Cut(m.name, ": ")
	file, _, _ := strings.Cut(function, " ")
	return []string{file, function}
}
