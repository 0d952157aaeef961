package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// allowed are the mutants that may live, by name, each with the reason.
type allowed map[string]string

// readAllowed reads lines of the form NAME # REASON.
func readAllowed(path string) (allowed, error) {
	out := allowed{}
	if path == "" {
		return out, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, " # ")
		if reason = strings.TrimSpace(reason); !ok || reason == "" {
			return nil, fmt.Errorf("%s:%d: want MUTANT # REASON", path, n)
		}
		if out[name] != "" {
			return nil, fmt.Errorf("%s:%d: %s is there twice", path, n, name)
		}
		out[name] = reason
	}
	return out, nil
}

// differences are the mutants that live and are not listed, and the lines of the
// list that no living mutant needs. What was not chosen is left out.
func (a allowed) differences(all []result, chosen func(name string) bool) []string {
	var out []string
	unseen := maps.Clone(a)
	for _, r := range all {
		for i, m := range r.mutants {
			alive := r.verdicts[i] == lived || r.verdicts[i] == notReached
			switch _, listed := a[m.name]; {
			case alive && !listed:
				out = append(out, fmt.Sprintf("%s, and is not listed: %s", r.verdicts[i], m.name))
			case !alive && listed:
				out = append(out, fmt.Sprintf("%s, and is listed as one that lives: %s", r.verdicts[i], m.name))
			}
			delete(unseen, m.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unseen)) {
		if chosen(name) && wasTried(name, all) {
			out = append(out, "there is no such mutant, and it is listed: "+name)
		}
	}
	return out
}

// wasTried says whether a mutant of the name would have been met.
func wasTried(name string, all []result) bool {
	return slices.ContainsFunc(all, func(r result) bool {
		rest, ok := strings.CutPrefix(name, r.pkg+"/")
		return ok && !strings.Contains(strings.SplitN(rest, " ", 2)[0], "/")
	})
}
