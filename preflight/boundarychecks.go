package preflight

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const boundaryArea = "boundary/"

// boundaryChecks judge what the target holds of the records around C.
func boundaryChecks() []Check {
	const (
		looks = "the last readable records before each C and the first from it on, in all partitions of the target topic, from their timestamps on"
		scope = ". The scope is the partition of the source"
		count = ". The scope is PARTITION:COUNT"
	)
	return []Check{{
		ID:         boundaryArea + "not-looked-at",
		Title:      "The target was searched for the records around each C",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "whether records can be read",
		Why:        "That the old job has delivered everything before C, and nothing from C on, is then attested and not proven: neither savepoint nor group says what the sink has done.",
		Remedy:     "Let the records be read: Probe.Delivery in Go, which a Migration has unless WithDeliveryReader took it away.",
		Judge: around(func(_ *Case, s *Surroundings, r *Reporter) {
			if s.Delivery.IsAbsent() {
				r.Warn("", "not proven: nobody looked on the target for the records before and from C on")
			}
		}),
	}, {
		ID:         boundaryArea + "delivered-evidence",
		Title:      "The records before C are on the target",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      looks,
		Why:        "What was seen stands in the plan, so that who approves it knows what the boundary was judged on.",
		Remedy:     "Nothing is to be done.",
		Judge:      boundary(deliveredEvidence),
	}, {
		ID:         boundaryArea + "not-delivered",
		Title:      "The old job has delivered what it read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ". Everything on the target since their time was read" + count + ", of the records that are not there among those that were looked for",
		Why:        "MirrorMaker 2 begins at C: nobody would copy the records before it that the job has read and not delivered. A sink without a guarantee, a canceled job, a transaction that aborted, or a savepoint of another job leaves such records.",
		Remedy: "Make sure that source, target, topic and savepoint belong together. Then restore the job from the savepoint, let it deliver, stop it with a savepoint again (`flink stop --savepointPath <DIR> <JOB>`), and plan from that one; " +
			"or plan from an earlier checkpoint, which repeats records rather than losing them. If somebody took the records from the target on purpose, accept <PARTITION>:<COUNT>.",
		Judge: boundary(notDelivered),
	}, {
		ID:         boundaryArea + "delivered-beyond",
		Title:      "Nothing from C on is on the target",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ", and how many duplicates are attested as bearable (maxDuplicates)" + count,
		Why:        "MirrorMaker 2 copies from C on, so these records come to the target twice. A job that was canceled, or has failed, after its last checkpoint leaves them, and so does one that still runs.",
		Remedy:     "Make sure that the job has ended. Where its last state is a later savepoint, plan from that one. If consumers can bear the duplicates, attest maxDuplicates, of all partitions together; it is held against the sum of the counts, and where more may be there than were looked for against what the source has from C on at most. Else accept <PARTITION>:<COUNT>.",
		Judge:      boundary(deliveredBeyond),
	}, {
		ID:         boundaryArea + "unproven",
		Title:      "Enough could be read to tell what was delivered",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ", within the bounds of records, bytes and time" + scope,
		Why:        "A record that was not found may lie in what was not read. Nothing says then that the job has delivered everything before C, or nothing from C on.",
		Remedy:     "Raise the bound that was reached (WithDeliveryBounds in Go, boundary in the migration file), grant Read on the topics of both sides, end the transaction that hides records, and run preflight again. Else accept the partition by name.",
		Judge:      boundary(unproven),
	}, {
		ID:         boundaryArea + "cannot-tell",
		Title:      "The records around C tell what was delivered",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + scope,
		Why:        "Where the source has no readable record before C any more, where records equal each other in all that the sink carries, or where the target has deleted or compacted those of that time, the target does not show whether the job has delivered everything.",
		Remedy:     "Compare by other means, such as the figures of the job's sink, then accept the partition by name.",
		Judge:      boundary(cannotTell),
	}, {
		ID:         boundaryArea + "content-changed",
		Title:      "The old job has copied values as they are",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ", and among the records that are not there, those with whose key and timestamp the target has another value" + scope,
		Why:        "It contradicts the attestation copyOnly: a job that changes values cannot be replaced by MirrorMaker 2, which copies them as they are. Consumers would see another form from C on.",
		Remedy:     "Look at what the job does between source and sink, and at a record of both sides. Only where values differ in a way that consumers do not see, such as another serialization of the same, accept the partition by name.",
		Judge:      boundary(contentChanged),
	}, {
		ID:         boundaryArea + "not-carried",
		Title:      "The old job has carried over timestamps, keys and headers",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "which parts of the records before C no copy on the target has",
		Why:        "MirrorMaker 2 carries them all: consumers see another form of record from C on. What goes by a record's time, such as a window, retention or the finding of offsets by time, then goes by another one.",
		Remedy:     "Tell the consumers. Where they cannot bear it, change the records by a transform of the connector (transforms), or mend the consumers first.",
		Judge:      boundary(notCarried),
	}, {
		ID:         boundaryArea + "key-order",
		Title:      "Keys stay in their partitions",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "in which partition of the target the copies of the last records before C lie; MirrorMaker 2 writes to the one of the same number. The scope is the topic. Keys are shown as hashes under a key of the run",
		Why:        "Flink's sink lets the producer choose the partition by the key's hash, unless it was given a partitioner. From C on a key's records go to another partition, and a consumer may see a later one before an earlier one.",
		Remedy:     "Drain before the start: when the old job has stopped, let every consumer group of the topic reach the ends of all its partitions (`kafka-consumer-groups.sh --bootstrap-server <TARGET> --describe --group <CONSUMER-GROUP>`: LAG 0), and only then run start. Then, or where nobody depends on the order of keys, accept the topic.",
		Judge:      boundary(keyOrder),
	}}
}

// delivery is what was found of one partition.
type delivery struct {
	offsetmap.TopicPartition
	Delivery
}

// boundary makes a check of what was found. Without the facts that the search needs
// it was not asked: a check of theirs blocks, which nothing accepts.
func boundary(judge func(*Case, []delivery, *Reporter)) func(*Case, *Reporter) {
	return around(func(c *Case, s *Surroundings, r *Reporter) {
		_, source := c.Facts.Source.Get()
		_, target := c.Facts.Target.Get()
		_, config := c.Facts.Connector.Get()
		_, named := c.policy.Get()
		if s.Delivery.IsAbsent() || !source || !target || !config || !named {
			r.NotAsked()
			return
		}
		found, _ := s.Delivery.Get()
		all := make([]delivery, 0, len(found))
		for _, tp := range slices.SortedFunc(maps.Keys(found), offsetmap.TopicPartition.Compare) {
			all = append(all, delivery{tp, found[tp]})
		}
		judge(c, all, r)
	})
}

func deliveredEvidence(_ *Case, all []delivery, r *Reporter) {
	n := map[DeliveryOutcome]int{}
	var looked int64
	type read struct{ records, bytes int64 }
	topics := map[string]read{}
	for _, d := range all {
		n[d.Outcome]++
		if d.Outcome == Delivered {
			looked += d.Looked
		}
		topics[d.Topic] = read{d.ReadRecords, d.ReadBytes}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		r.Saw(topic, "%d records in %d bytes were read around C on the source and on the target", topics[topic].records, topics[topic].bytes)
	}
	if n[Delivered] > 0 {
		r.Info("", "in %d of %d partitions the last records before C, %d in all, were found on the target; in %d there is none before C", n[Delivered], len(all), looked, n[NothingBefore])
	}
}

func notDelivered(_ *Case, all []delivery, r *Reporter) {
	for _, d := range all {
		if d.Outcome != NotDelivered {
			continue
		}
		why := ""
		if d.Reason != "" {
			why = ": " + d.Reason
		}
		r.Block(withCount(d, d.Missing), "of the last %d records before C in %s, %d are not on the target%s", d.Looked, d.TopicPartition, d.Missing, why)
	}
}

func withCount(d delivery, n int64) string { return fmt.Sprintf("%s:%d", d.TopicPartition, n) }

func deliveredBeyond(c *Case, all []delivery, r *Reporter) {
	var sum int64
	for _, d := range all {
		sum += d.Beyond
	}
	most := sum // of all, where more may be there than was looked for
	if f := c.forecast(); f != nil {
		most = f.AtMost
	}
	bearable := c.Question.Attestations.MaxDuplicates
	for _, d := range all {
		if d.Beyond == 0 {
			continue
		}
		many := fmt.Sprintf("%d of the first %d records from C on (%d bytes)", d.Beyond, d.Ahead, d.BeyondBytes)
		if d.BeyondAtLeast {
			many = fmt.Sprintf("all of the first %d records from C on that were looked for (%d bytes), and perhaps more,", d.Ahead, d.BeyondBytes)
		}
		text := many + " of " + d.String() + " are on the target already, and would come twice"
		scope := withCount(d, d.Beyond)
		switch {
		case bearable == nil:
			r.Block(scope, "%s; how many duplicates can be borne is not attested", text)
		case d.BeyondAtLeast && most > bearable.Value:
			r.Block(scope, "%s; of all partitions at most %d would, and attested as bearable are %d", text, most, bearable.Value)
		case d.BeyondAtLeast:
			r.Warn(scope, "%s; of all partitions at most %d would, and attested as bearable are %d", text, most, bearable.Value)
		case sum > bearable.Value:
			r.Block(scope, "%s; of all partitions %d would, and attested as bearable are %d", text, sum, bearable.Value)
		default:
			r.Warn(scope, "%s; of all partitions %d would, and attested as bearable are %d", text, sum, bearable.Value)
		}
	}
}

func unproven(c *Case, all []delivery, r *Reporter) {
	if err := c.Facts.Surroundings.Delivery.Err(); err != nil {
		r.Unmade("", err)
	}
	found := map[offsetmap.TopicPartition]bool{}
	for _, d := range all {
		found[d.TopicPartition] = true
		switch d.Outcome {
		case Delivered, NothingBefore, NotDelivered, ContentChanged, CannotTell:
		case Unproven:
			r.Unmade(d.String(), errors.New(d.Reason))
		default:
			r.Unmade(d.String(), fmt.Errorf("%q is no outcome of a look", d.Outcome))
		}
	}
	if c.Facts.Surroundings.Delivery.Err() != nil {
		return
	}
	for _, p := range c.Facts.toLookAt(c.Question.Positions, c.Question.isolation()) {
		if !found[p.TopicPartition] {
			r.Unmade(p.String(), errors.New("nobody looked for its records"))
		}
	}
}

func cannotTell(_ *Case, all []delivery, r *Reporter) { blockOutcome(all, CannotTell, r) }

func contentChanged(_ *Case, all []delivery, r *Reporter) { blockOutcome(all, ContentChanged, r) }

// blockOutcome reports each partition with the outcome.
func blockOutcome(all []delivery, outcome DeliveryOutcome, r *Reporter) {
	for _, d := range all {
		if d.Outcome == outcome {
			r.Block(d.String(), "%s", d.Reason)
		}
	}
}

func notCarried(_ *Case, all []delivery, r *Reporter) {
	parts := map[string][]string{}
	for _, d := range all {
		if len(d.NotCarried) > 0 {
			parts[d.Topic] = d.NotCarried
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(parts)) {
		r.Warn(topic, "what the old job has written of %s does not have the original's %s; the copies of MirrorMaker 2 will", topic, strings.Join(parts[topic], ", "))
	}
}

func keyOrder(_ *Case, all []delivery, r *Reporter) {
	const most = 5
	type moved struct {
		keyed int64
		keys  []string
	}
	topics := map[string]moved{}
	for _, d := range all {
		m := topics[d.Topic]
		m.keyed += d.Keyed
		m.keys = append(m.keys, d.Moved...)
		topics[d.Topic] = m
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		m := topics[topic]
		keys := sortedUnique(m.keys)
		r.Saw(topic, "%d records with a key", m.keyed)
		if len(keys) > 0 {
			r.Block(topic, "of %d sampled records with a key, %d keys lie in another partition of the target than MirrorMaker 2 will write them to: %s", m.keyed, len(keys), strings.Join(keys[:min(most, len(keys))], ", "))
		}
	}
}

// answersSinkNone puts the evidence that everything before C was delivered in the
// place of the finding that the sink guarantees nothing.
func (c *Case) answersSinkNone(findings []offsetmap.Finding) {
	i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Check == offsetmap.CheckSinkNone })
	if i < 0 || !c.allDelivered() {
		return
	}
	findings[i].Severity = offsetmap.Warn
	findings[i].Detail = "the sink guarantees nothing; the last records before each C were found on the target"
}

// allDelivered reports whether every partition of the migration was looked at, and
// nothing before its C is in doubt.
func (c *Case) allDelivered() bool {
	if c.Facts.Surroundings == nil {
		return false
	}
	found, known := c.Facts.Surroundings.Delivery.Get()
	if !known {
		return false
	}
	for tp := range c.measured {
		if d := found[tp]; d.Outcome != Delivered && d.Outcome != NothingBefore {
			return false
		}
	}
	return len(c.measured) > 0
}
