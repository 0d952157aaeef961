package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
)

func TestChooseKeepsWhatReachesMore(t *testing.T) {
	reach := map[string][]string{"a": {"1"}, "b": {"1", "2"}, "c": {"1", "2"}, "d": {"3"}, "e": {"2", "3"}, "f": {}, "g": {"4"}}
	var all []input
	for _, name := range slices.Sorted(maps.Keys(reach)) {
		all = append(all, input{name: name})
	}
	runs := 0
	cover := func(group []input) (statements, error) {
		runs++
		s := statements{"0": true}
		for _, in := range group {
			for _, block := range reach[in.name] {
				s[block] = true
			}
		}
		return s, nil
	}
	for _, tt := range []struct{ reached, want string }{{"01", "[b d g]"}, {"0", "[a b d g]"}, {"01234", "[]"}} {
		reached := statements{}
		for _, r := range tt.reached {
			reached[string(r)] = true
		}
		chosen, err := choose(reached, all, cover)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, in := range chosen {
			names = append(names, in.name)
		}
		if fmt.Sprint(names) != tt.want || len(reached) != 5 {
			t.Errorf("from %s: chose %v and reached %v, want %s", tt.reached, names, reached, tt.want)
		}
	}
	runs = 0
	if _, err := choose(statements{"0": true, "1": true, "2": true, "3": true, "4": true}, all, cover); err != nil || runs != 1 {
		t.Errorf("%d runs for a group that reaches no more, want 1 (%v)", runs, err)
	}
}

func TestChooseStopsWhereARunFails(t *testing.T) {
	bad := errors.New("the input fails")
	if _, err := choose(statements{}, []input{{name: "a"}, {name: "b"}}, func(group []input) (statements, error) {
		if len(group) == 1 && group[0].name == "b" {
			return nil, bad
		}
		return statements{"x": true}, nil
	}); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

func TestParseProfile(t *testing.T) {
	got, err := parseProfile("mode: set\na.go:1.2,3.4 2 1\na.go:5.6,7.8 1 0\n")
	if err != nil || len(got) != 1 || !got["a.go:1.2,3.4"] {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "PASS", "mode: set\na.go:1.2,3.4 2\n"} {
		if _, err := parseProfile(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
