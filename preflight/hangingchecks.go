package preflight

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// hangingChecks are about transactions that nobody will end.
func hangingChecks() []Check {
	const (
		looks = "each open transaction, against what the coordinators say of its producer's transactional id (ListTransactions, DescribeTransactions, KIP-664), and its partition once more afterwards. The scope is the partition and the producer id"
		abort = "the finding has the command: `kafka-transactions.sh --bootstrap-server %[1]s abort --topic %[2]s --partition <N> --start-offset <OFFSET>`. Where no transactional id is listed, first run `kafka-transactions.sh --bootstrap-server %[1]s list` as a client that may Describe all ids: to abort a transaction that its producer still writes to spoils it."
	)
	return []Check{{
		ID:         "source/hanging-transaction",
		Title:      "No transaction hangs on the source",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks,
		Why:        "The last stable offset stays below a transaction that nothing ends. A connector that reads committed stands there for ever, RUNNING and without an error; and compaction stops there too.",
		Remedy:     "Abort it; " + fmt.Sprintf(abort, "<SOURCE>", "<TOPIC>"),
		Judge:      around(sourceHanging),
	}, {
		ID:         "target/hanging-transaction",
		Title:      "No transaction hangs on the target",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      looks,
		Why:        "Consumers that read committed never see a copy that comes behind it. target/open-transaction blocks for it as for any open one, but waiting does not help.",
		Remedy:     "Find out what the old job's sink had in it (flink/sink-transactions), and abort it; " + fmt.Sprintf(abort, "<TARGET>", "<TARGET-TOPIC>"),
		Judge:      around(targetHanging),
	}}
}

// hung is a transaction that hangs, and why.
type hung struct {
	OpenTransaction
	why string
}

// text says what hangs, and how to abort it on the brokers.
func (h hung) text(now time.Time, brokers string) string {
	return fmt.Sprintf("%s; it hangs: %s. Abort it: `kafka-transactions.sh --bootstrap-server %s abort --topic %s --partition %d --start-offset %s`",
		h.describe(now), h.why, brokers, h.Topic, h.Partition, h.Start)
}

// hung returns the open transactions that hang. The error says of which it is not known.
func (c *Case) hung(open offsetmap.Fact[[]OpenTransaction], owners offsetmap.Fact[TransactionOwners], r *Reporter) ([]hung, error) {
	if open.IsAbsent() {
		r.Saw("", "no partition has its last stable offset below its end")
		return nil, nil
	}
	if owners.IsAbsent() {
		r.Saw("", "of no partition that is held the leader lists a producer with an open transaction")
		return nil, nil
	}
	all, ok := owners.Get()
	if !ok {
		return nil, owners.Err()
	}
	seen, _ := open.Get()
	var out []hung
	var errs error
	for _, o := range seen {
		r.Saw(o.String(), "producer id %d from offset %s%s", o.ProducerID, o.Start, whose(o, owners, c.Facts.At))
		why, err := all.hangs(o, c.Facts.At)
		errs = errors.Join(errs, err)
		if why != "" {
			out = append(out, hung{o, why})
		}
	}
	return out, errs
}

func sourceHanging(c *Case, s *Surroundings, r *Reporter) {
	if _, ok := c.Facts.Source.Get(); !ok {
		r.NotAsked() // source/unknown
		return
	}
	all, err := c.hung(c.Facts.Open, s.SourceOwners, r)
	commit, unknown := c.readsCommitted()
	if err != nil && (commit || unknown != nil) {
		r.Unmade("", err)
	} else if err != nil {
		r.Saw("", "the connector reads uncommitted, and waits for no transaction; whether one hangs is not known: %v", err)
	}
	for _, h := range all {
		text := h.text(c.Facts.At, c.bootstrap("<SOURCE>", keySourceBootstrap))
		switch {
		case unknown != nil:
			r.Block(h.scope(), "%s. Whether the connector reads committed is not known: %v", text, unknown)
		case commit:
			r.Block(h.scope(), "%s. The connector reads committed and would stand at offset %s for ever", text, h.Start)
		default:
			r.Warn(h.scope(), "%s. The connector reads uncommitted, and goes on; consumers that read committed do not", text)
		}
	}
}

func targetHanging(c *Case, s *Surroundings, r *Reporter) {
	if _, ok := c.Facts.Target.Get(); !ok {
		r.NotAsked() // target/unknown
		return
	}
	all, err := c.hung(c.Facts.TargetOpen, s.TargetOwners, r)
	if err != nil { // what is open blocks as target/open-transaction, whatever it is
		r.Warn("", "whether what is open hangs is not known: %v", err)
	}
	for _, h := range all {
		r.Warn(h.scope(), "%s", h.text(c.Facts.At, c.bootstrap("<TARGET>", keyProducerBootstrap, keyTargetBootstrap)))
	}
}

// readsCommitted reports whether the connector reads committed; without a connector,
// whether the old job did, as config/isolation demands.
func (c *Case) readsCommitted() (bool, error) {
	level := string(c.Question.isolation())
	if info, ok := c.Facts.Connector.Get(); ok {
		v, key, err := settings{info.Config}.consumer(keyIsolation)
		if err != nil {
			return false, err
		}
		if level = v; key == "" {
			level = string(offsetmap.ReadUncommitted) // the consumer's default
		}
	}
	return strings.EqualFold(level, string(offsetmap.ReadCommitted)), nil
}

// bootstrap are brokers as the first of the keys of the connector's config names them,
// or what a person has to put in their place.
func (c *Case) bootstrap(otherwise string, keys ...string) string {
	info, ok := c.Facts.Connector.Get()
	if !ok {
		return otherwise
	}
	for _, key := range keys {
		v, _, err := settings{info.Config}.get(key)
		if err == nil && addresses.MatchString(v) {
			return v
		}
	}
	return otherwise
}

// addresses are those that a shell takes as one word, and that hold no user's name.
var addresses = regexp.MustCompile(`^[A-Za-z0-9_.:,\[\]-]+$`)
