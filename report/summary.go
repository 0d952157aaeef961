package report

import (
	"fmt"
	"strconv"
	"strings"
)

// tone is how a state is marked beside its words: by a sign and a colour.
type tone string

const (
	good  tone = "good"
	bad   tone = "bad"
	open  tone = "open" // not decided yet, or not known
	plain tone = "plain"
)

// sign stands before the words of a tone, for readers who see no colours.
func (t tone) Sign() string {
	switch t {
	case good:
		return "✓"
	case bad:
		return "✗"
	case open:
		return "?"
	case plain:
	}
	return "–"
}

// toneOf is the tone of an outcome of a proof, or of one of its partitions. What it
// does not know is open.
func toneOf(outcome string) tone {
	switch outcome {
	case "proven":
		return good
	case "failed", "no-progress", "progress-without-records":
		return bad
	case "nothing-to-copy":
		return plain
	}
	return open
}

// tone is that of the whole document.
func (d *Document) tone() tone {
	switch d.Stage {
	case Unknown:
		return bad
	case GoingBack:
		return open
	case Started:
		if d.Proof == nil {
			return open
		}
		return toneOf(d.Proof.Outcome)
	case Planned, Applied, WentBack, HandedBack:
	}
	return plain
}

func (d *Document) summary() string {
	s, back := "", ""
	if d.Return != nil {
		back = fmt.Sprintf(" Flink goes on at C'; %s were copied since C.", count(d.Return.Copied, "offset"))
	}
	switch d.Stage {
	case Planned:
		s = "Planned. Nothing was written to Connect yet."
	case Applied:
		s = "Applied, not started. Connect held M of every partition when it was read back."
	case Started:
		s = "Started. Nothing is proven yet: there is no proof of this plan."
		if d.Proof != nil {
			s = "Started. " + d.Proof.sentence()
		}
	case GoingBack:
		s = "A rollback has begun, and the journal tells no good end of it."
	case WentBack:
		s = "Rolled back." + back
	case HandedBack:
		s = "Rolled back, and Flink was handed what it goes on from." + back
	case Unknown:
		s = "Outcome unknown: an act has begun, and the journal does not tell how it ended."
	}
	if d.Totals.Lost > 0 {
		s += fmt.Sprintf(" %s before C had expired and are lost, by acceptance.", count(d.Totals.Lost, "offset"))
	}
	return s
}

func (p *Proof) sentence() string {
	counts := fmt.Sprintf("%s of %s copied; missing %s, altered %s, out of order %s, repeated %s.",
		group(p.Copied), count(p.Records, "record"), group(p.Missing), group(p.Altered), group(p.OutOfOrder), group(p.Repeated))
	switch p.Outcome {
	case "proven":
		return "Proven: " + counts
	case "failed":
		return "The proof failed: " + counts
	case "nothing-to-copy":
		return "There was nothing to copy, so nothing is proven yet."
	case "not-proven":
		return "Not proven within the bound: " + counts
	}
	return fmt.Sprintf("The proof says %s: %s", p.Outcome, counts)
}

// note says in a few words what is to be known of a partition's proof beside its
// outcome.
func (p *PartitionProof) note() string {
	all := []string{fmt.Sprintf("%s of %s", group(p.Copied), group(p.Records))}
	for _, c := range []struct {
		word string
		n    int64
	}{
		{"missing", p.Missing},
		{"altered", p.Altered},
		{"out of order", p.OutOfOrder},
		{"early", p.Early},
		{"pending", p.Pending},
		{"unprovable", p.Unprovable},
		{"repeated", p.Repeated},
		{"foreign", p.Foreign},
	} {
		if c.n != 0 {
			all = append(all, c.word+" "+group(c.n))
		}
	}
	if p.Reason != "" {
		all = append(all, p.Reason)
	}
	return strings.Join(all, "; ")
}

// count is a number with its noun, which takes an s.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return group(n) + " " + noun + "s"
}

// group writes a count with commas. Offsets have none: they are looked up by their
// digits.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
