package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

const begin = "<!-- written by make mutate -->\n"

func (r result) count(of ...verdict) (n int) {
	for _, v := range r.verdicts {
		if slices.Contains(of, v) {
			n++
		}
	}
	return n
}

func (r result) counts() string {
	return fmt.Sprintf("%d killed, %d timed out, %d lived, %d not reached", r.count(killed), r.count(outOfTime), r.count(lived), r.count(notReached))
}

// beforeTable is what a page says before the table.
func beforeTable(path string) (string, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	head, _, ok := strings.Cut(string(page), begin)
	if !ok {
		return "", fmt.Errorf("%s lacks the line %q", path, strings.TrimSpace(begin))
	}
	return head, nil
}

func table(all []result, may allowed) string {
	var b strings.Builder
	b.WriteString("\n| package | mutants | killed | by running out of time | lived | not reached |\n|---|---:|---:|---:|---:|---:|\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d | %d |\n", r.pkg, len(r.mutants), r.count(killed), r.count(outOfTime), r.count(lived), r.count(notReached))
	}
	var living []string
	for _, r := range all {
		for i, m := range r.mutants {
			if r.verdicts[i] == lived || r.verdicts[i] == notReached {
				living = append(living, fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(m.name, "|", "\\|"), strings.ReplaceAll(may[m.name], "|", "\\|")))
			}
		}
	}
	if len(living) > 0 {
		b.WriteString("\nThose that live:\n\n| mutant | why no test can kill it |\n|---|---|\n" + strings.Join(living, ""))
	}
	return b.String()
}
