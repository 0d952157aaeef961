package preflight

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func sourceChecks() []Check {
	return []Check{{
		ID:         "source/unknown",
		Title:      "The source's topics can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "Metadata of the source cluster, past the client's cache",
		Why:        "The plan records the cluster's id, topic ids and ranges. Without them nothing can be decided.",
		Remedy:     "Mend address, credentials or network, or grant Describe on the topics, and run preflight again.",
		Judge: func(c *Case, r *Reporter) {
			if _, ok := c.Facts.Source.Get(); !ok {
				r.Unknown("", c.Facts.Source.Err())
			}
		},
	}, {
		ID:         "source/topic-missing",
		Title:      "Every topic of the migration exists on the source",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the topics of the migration in the source's Metadata",
		Why:        "A name with a typing error, or of a topic that was deleted, would silently be left out.",
		Remedy:     "Correct the list of topics; where the topic is denied, grant Describe on it.",
		Judge:      topicMissing,
	}, {
		ID:         "source/open-transaction",
		Title:      "No transaction is open on a source partition",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "partitions whose last stable offset lies below the high watermark, and their producers (DescribeProducers)",
		Why:        "A read_committed connector waits below an open transaction until it ends, and looks as if it stood still. A hanging one never ends by itself.",
		Remedy:     "Let the producer finish: its transaction ends at its timeout at the latest. Where it hangs, source/hanging-transaction says so, and how to abort it.",
		Judge:      sourceOpen,
	}}
}

func topicMissing(c *Case, r *Reporter) {
	source, ok := c.Facts.Source.Get()
	if !ok {
		return // source/unknown
	}
	for _, name := range c.Facts.Topics {
		switch t := source.Topics[name]; {
		case absent(t):
			r.Block(name, "the source %s has no topic %s", source.ClusterID, name)
		case t.Err != nil:
			r.Unknown(name, t.Err)
		}
	}
}

// absent reports whether a topic is not there; one that nobody looked for has no
// name.
func absent(t Topic) bool { return t.Name == "" || t.Missing() }

// some lists the first few of many names, so that a finding stays readable.
func some[T fmt.Stringer](items []T) string {
	const most = 5
	var b strings.Builder
	for i, item := range items[:min(most, len(items))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item.String())
	}
	if n := len(items) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}
