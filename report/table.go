package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// barWidth is how wide the bar of a partition's log is, in pixels. Places in it are
// whole pixels, which the page and its script draw alike.
const barWidth = 160

// What the page shows before a reader asks for more. The script goes on by the same
// numbers, which it reads from the table.
const (
	topicsAPage = 50
	rowsAPage   = 200
)

// What a reader can look for, as bits of a row.
const (
	flagNotProven = 1 << iota
	flagLost
	flagCleared
	flagFinding
)

// table is the partitions of a page, by topic. Its JSON is what the script reads.
type table struct {
	Group    bool       `json:"group"` // the columns that a migration may lack
	Returned bool       `json:"returned"`
	Proof    bool       `json:"proof"`
	Topics   []topicRow `json:"topics"`
	Rules    []string   `json:"rules"`
	Outcomes []outcome  `json:"outcomes"`
	Width    int        `json:"width"`
	Page     int        `json:"page"` // topics
	Rows     int        `json:"rows"` // partitions
}

type outcome struct {
	Name string `json:"name"`
	Tone tone   `json:"tone"`
	Sign string `json:"sign"`
}

type topicRow struct {
	Name       string         `json:"name"`
	About      string         `json:"about"`
	Partitions []partitionRow `json:"rows"`
}

// partitionRow is one line of the table. Its JSON is an array, since there may be
// 100,000.
type partitionRow struct {
	Partition               int32
	LogStart, C, Stable     offsetmap.NextOffset
	LogEnd, Group, Returned offsetmap.NextOffset
	Before, After           offsetmap.SourceOffset
	CAt, StableAt           int
	Lost                    int64
	Rule, Outcome           int // of the table's lists; an outcome is -1 where there is none
	Note                    string
	Flags                   int
}

// tableOf makes the table of a document.
func tableOf(d *Document) table {
	t := table{Returned: d.Return != nil, Proof: d.Proof != nil, Topics: []topicRow{}, Rules: []string{}, Outcomes: []outcome{}, Width: barWidth, Page: topicsAPage, Rows: rowsAPage}
	found := scopes(d.Findings)
	for i, p := range d.Partitions {
		if i == 0 || d.Partitions[i-1].Topic != p.Topic {
			t.Topics = append(t.Topics, topicRow{Name: p.Topic, Partitions: []partitionRow{}})
		}
		topic := &t.Topics[len(t.Topics)-1]
		row := partitionRow{
			Partition: p.Partition, LogStart: p.LogStart, C: p.Next, Stable: p.LastStable, LogEnd: p.LogEnd, Group: p.Group, Returned: p.Returned,
			Before: p.Before, After: p.After, CAt: place(p, p.Next), StableAt: place(p, p.LastStable), Lost: p.Lost,
			Rule: index(&t.Rules, string(p.Rule)), Outcome: -1,
		}
		if p.Proof != nil {
			tone := toneOf(p.Proof.Outcome)
			row.Outcome, row.Note = index(&t.Outcomes, outcome{p.Proof.Outcome, tone, tone.Sign()}), p.Proof.note()
			if tone == bad || tone == open {
				row.Flags |= flagNotProven
			}
		}
		if p.Lost > 0 {
			row.Flags |= flagLost
		}
		if p.After.IsNone() {
			row.Flags |= flagCleared
		}
		if found[p.TopicPartition] || found[offsetmap.TopicPartition{Topic: p.Topic, Partition: -1}] {
			row.Flags |= flagFinding
		}
		t.Group = t.Group || !p.Group.IsNone()
		topic.Partitions = append(topic.Partitions, row)
	}
	for i, from := 0, 0; i < len(t.Topics); i++ {
		to := from + len(t.Topics[i].Partitions)
		t.Topics[i].About = about(d.Partitions[from:to])
		from = to
	}
	return t
}

// index returns the place of a value in a list, in which it is entered.
func index[T comparable](list *[]T, v T) int {
	if i := slices.Index(*list, v); i >= 0 {
		return i
	}
	*list = append(*list, v)
	return len(*list) - 1
}

// scopes are the partitions that findings are about; a whole topic has the number -1.
func scopes(findings []Finding) map[offsetmap.TopicPartition]bool {
	out := map[offsetmap.TopicPartition]bool{}
	for _, f := range findings {
		if f.Severity == offsetmap.Info {
			continue
		}
		scope, _, _ := strings.Cut(f.Scope, ":")
		if tp, err := offsetmap.ParseTopicPartition(scope); err == nil {
			out[tp] = true
		}
		out[offsetmap.TopicPartition{Topic: scope, Partition: -1}] = true
	}
	return out
}

// place is where an offset lies in the bar of its log. Floating point is enough for a
// pixel; the ends are exact.
func place(p Partition, at offsetmap.NextOffset) int {
	all := distance(p.LogStart, p.LogEnd)
	if all <= 0 {
		return 0
	}
	return int(float64(distance(p.LogStart, at)) / float64(all) * barWidth)
}

// about says of a topic what its partitions come to.
func about(partitions []Partition) string {
	all := []string{count(int64(len(partitions)), "partition")}
	if p := partitions[0]; p.TargetTopic != p.Topic {
		all = append(all, "on the target "+p.TargetTopic)
	}
	outcomes, lost := map[string]int64{}, int64(0)
	for _, p := range partitions {
		lost += p.Lost
		if p.Proof != nil {
			outcomes[p.Proof.Outcome]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		all = append(all, fmt.Sprintf("%s %s", group(outcomes[name]), name))
	}
	if lost > 0 {
		all = append(all, "lost "+group(lost))
	}
	return strings.Join(all, " · ")
}

// flagCounts is how many rows have each flag.
func (t table) flagCounts() map[int]int {
	out := map[int]int{}
	for _, topic := range t.Topics {
		for _, r := range topic.Partitions {
			for f := flagNotProven; f <= flagFinding; f <<= 1 {
				if r.Flags&f != 0 {
					out[f]++
				}
			}
		}
	}
	return out
}
