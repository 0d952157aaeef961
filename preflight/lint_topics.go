package preflight

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintTopicChecks are about how topics are selected and named.
func lintTopicChecks() []Check {
	return []Check{{
		ID:         "config/topics-wide",
		Title:      "topics lists the topics of the migration",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "topics: whether it is set, and whether names that nobody has thought of match it",
		Why:        "A topic that is created later and matches is copied from its first record, into a target topic that MirrorMaker 2 creates.",
		Remedy:     `Name the topics: "topics": "orders,payments". Each is a Java regex that must match the whole name.`,
		Judge:      withConfig(topicsWide),
	}, {
		ID:         "config/topics-unquoted-dot",
		Title:      "A dot in topics means a dot",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "dots in topics and topics.exclude that are neither quoted nor followed by a quantifier",
		Why:        "Every entry is a regex, in which a dot matches any character: ab.c also copies abxc, and in topics.exclude it leaves abxc out. config/topics-unplanned finds such a topic only once it exists.",
		Remedy:     `Quote it: "ab\\.c" in JSON is the regex ab\.c.`,
		Judge:      withConfig(topicsUnquotedDot),
	}, {
		ID:         "config/topics-comma",
		Title:      "No comma of a regex splits it",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "commas inside a quantifier such as {1,2} in topics and topics.exclude",
		Why:        "The list is split at every comma before its entries are read. What is left of the quantifier is no regex, and the connector fails at its start.",
		Remedy:     "Write the regex without the comma: a{1,2} as aa?, a{2,} as aaa*.",
		Judge:      withConfig(topicsComma),
	}, {
		ID:         "config/topics-list",
		Title:      "Lists have no empty entry and none twice",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "topics, topics.exclude and config.properties.exclude, from 4.2 on",
		Why:        "MirrorMaker 2 4.2 and later refuse such a list, which earlier ones took: after an upgrade the connector fails at its start.",
		Remedy:     "Remove the entry.",
		Judge:      withConfig(topicsList),
	}, {
		ID:         "config/heartbeats-suffix",
		Title:      "Every topic of the migration keeps its name",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "topics of the migration whose names end in heartbeats, under IdentityReplicationPolicy",
		Why:        "The policy treats such a topic as one of MirrorMaker 2's own and puts the alias in front: the copies go on in another topic than the one that the old job wrote to.",
		Remedy:     "Leave the topic out of the migration, or let its readers follow to the name that the finding gives and accept the finding.",
		Judge:      withConfig(heartbeatsSuffix),
	}, {
		ID:         "config/topics-refresh",
		Title:      "New partitions are found",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "refresh.topics.enabled (default true) and refresh.topics.interval.seconds (default 600)",
		Why:        "Without the refresh a partition that is added to a source topic is not copied until the connector restarts, without a word; where retention is shorter, its records are lost. With an interval of 0 the connector fails at its start, a negative one switches the refresh off.",
		Remedy:     `Set "refresh.topics.enabled": "true" and "refresh.topics.interval.seconds": "60".`,
		Judge:      withConfig(topicsRefresh),
	}}
}

// topicLists are the keys whose values are lists of regexes.
func topicLists() []string { return []string{"topics", "topics.exclude"} }

func topicsWide(_ *Case, s settings, r *Reporter) {
	const key = "topics"
	v, set, err := s.get(key)
	if err != nil {
		return // config/topics-unselected
	}
	if !set {
		r.Warn(key, "%s is not set, which selects every topic", key)
		return
	}
	list, err := compileJavaList(v)
	if err != nil {
		return // config/topics-unselected
	}
	r.Saw(key, "%s", v)
	// Nobody calls a topic so, in different letters, lengths and signs.
	if list.matches("zqxj-7_K.vw0") && list.matches("Y") && list.matches("3_._-P") {
		r.Warn(key, "%s is %q, which selects every topic", key, v)
		return
	}
	for _, entry := range splitList(v) {
		if open := openEnded(entry); open != "" {
			r.Info(key, "the entry %q of %s has %s: topics that are created later may match", entry, key, open)
		}
	}
}

// openEnded returns what in a regex lets it match names without end, or "".
func openEnded(entry string) string {
	found := ""
	eachByte(entry, func(c byte, rest string) {
		if found == "" && (c == '*' || c == '+') {
			found = string(c)
		}
	})
	return found
}

// eachByte calls do for each byte of a regex that is neither quoted nor within a
// class, with what follows it.
func eachByte(entry string, do func(c byte, rest string)) {
	for i, inClass := 0, false; i < len(entry); i++ {
		switch c := entry[i]; {
		case c == '\\' && strings.HasPrefix(entry[i+1:], "Q"):
			end := strings.Index(entry[i:], `\E`)
			if end < 0 {
				return
			}
			i += end + 1
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		default:
			do(c, entry[i+1:])
		}
	}
}

func topicsUnquotedDot(_ *Case, s settings, r *Reporter) {
	for _, key := range topicLists() {
		v, _, err := s.get(key)
		if err != nil {
			continue // config/topics-unselected
		}
		for _, entry := range splitList(v) {
			dots := 0
			eachByte(entry, func(c byte, rest string) {
				if c == '.' && (rest == "" || !strings.ContainsRune("*+?{", rune(rest[0]))) {
					dots++
				}
			})
			if dots > 0 {
				r.Warn(key, "the entry %q of %s has a dot that matches any character; for the dot itself write %s", entry, key, quotedDots(entry))
			}
		}
	}
}

// quotedDots returns an entry with the dots quoted that topicsUnquotedDot finds.
func quotedDots(entry string) string {
	var at []int
	eachByte(entry, func(c byte, rest string) {
		if c == '.' && (rest == "" || !strings.ContainsRune("*+?{", rune(rest[0]))) {
			at = append(at, len(entry)-len(rest)-1)
		}
	})
	for _, i := range slices.Backward(at) {
		entry = entry[:i] + `\` + entry[i:]
	}
	return entry
}

// cutQuantifier is what a list leaves of a quantifier with a comma.
var cutQuantifier = regexp.MustCompile(`\{[0-9]+$`)

func topicsComma(_ *Case, s settings, r *Reporter) {
	for _, key := range topicLists() {
		v, _, err := s.get(key)
		if err != nil {
			continue // config/topics-unselected
		}
		entries := splitList(v)
		for i, entry := range entries[:max(len(entries)-1, 0)] {
			if open := cutQuantifier.FindString(entry); open != "" && strings.Contains(entries[i+1], "}") && !strings.HasSuffix(strings.TrimSuffix(entry, open), `\`) {
				r.Block(key, "the comma of the quantifier in %s splits the regex into %q and %q", key, entry, entries[i+1])
			}
		}
	}
}

func topicsList(c *Case, s settings, r *Reporter) {
	v, err := c.Facts.MirrorVersion()
	if err != nil || !v.AtLeast(4, 2) {
		return // earlier ones take such lists; what depends on an unknown version is config/topics-unselected's matter
	}
	for _, key := range append(topicLists(), "config.properties.exclude") {
		text, _, err := s.get(key)
		if err != nil {
			continue
		}
		entries := splitList(text)
		for i, e := range entries {
			switch {
			case e == "":
				r.Block(key, "an entry of %s is empty", key)
			case slices.Contains(entries[:i], e):
				r.Block(key, "the entry %q of %s stands twice", e, key)
			}
		}
	}
}

func heartbeatsSuffix(c *Case, _ settings, r *Reporter) {
	p, ok := c.policy.Get()
	if !ok || !p.identity {
		return // config/replication-policy; any other policy renames every topic
	}
	for _, topic := range c.Facts.Topics {
		if p.looksLikeHeartbeat(topic) {
			r.Block(topic, "%s is written to %s", topic, p.target(topic))
		}
	}
}

func topicsRefresh(_ *Case, s settings, r *Reporter) {
	const enabled, interval = "refresh.topics.enabled", "refresh.topics.interval.seconds"
	on, err := s.flag(enabled, "true")
	if err != nil {
		r.Unmade(enabled, err)
		return
	}
	if !on {
		r.Block(enabled, "%s is %s", enabled, s.m[enabled])
		return
	}
	v, err := s.or(interval, "600")
	if err != nil {
		r.Unmade(interval, err)
		return
	}
	switch n, err := strconv.ParseInt(v, 10, 64); {
	case err != nil: // config/invalid-value
	case n <= 0:
		r.Block(interval, "%s is %d", interval, n)
	case n > int64(time.Hour/time.Second):
		r.Warn(interval, "%s is %d, more than an hour", interval, n)
	}
}
