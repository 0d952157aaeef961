package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// SinkTransactions is what the target's coordinators say of the transactional ids of
// the old job's sinks (DescribeTransactions and ListTransactions, KIP-664).
type SinkTransactions struct {
	// Prepared holds each id that the state names a transaction of. One that no
	// coordinator knows is missing.
	Prepared map[string]kadm.DescribedTransaction
	// Open holds those of the sinks' prefixes or pools that have not ended, by id,
	// without those of Prepared.
	Open []kadm.ListedTransaction
}

// States of a transaction as brokers write them (TransactionState).
const (
	transactionEmpty     = "Empty"
	transactionOngoing   = "Ongoing"
	transactionCommitted = "CompleteCommit"
	transactionAborted   = "CompleteAbort"
	transactionDead      = "Dead"
)

// unended are the states between begin and end. From 4.0 on PrepareEpochFence is one
// that a coordinator has for a moment.
var unended = []string{transactionOngoing, "PrepareCommit", "PrepareAbort", "PrepareEpochFence"}

func (p Probe) sinkSurvey(ctx context.Context, s *Surroundings) {
	prepared, own := sinkIDs(p.Sinks)
	if len(prepared) == 0 && own == nil {
		s.SinkTransactions = offsetmap.Absent[SinkTransactions]()
		return
	}
	out := SinkTransactions{Prepared: map[string]kadm.DescribedTransaction{}}
	var errs error
	if len(prepared) > 0 { // of none, kadm would ask for all
		described, err := p.Target.DescribeTransactions(ctx, prepared...)
		errs = err
		for id, d := range described {
			switch {
			case errors.Is(d.Err, kerr.TransactionalIDNotFound):
			case d.Err != nil:
				errs = errors.Join(errs, fmt.Errorf("transactional id %s: %w", id, d.Err))
			default:
				out.Prepared[id] = d
			}
		}
	}
	if own != nil {
		listed, err := p.Target.ListTransactions(ctx, nil, unended)
		errs = errors.Join(errs, err)
		for _, l := range listed.Sorted() {
			_, known := slices.BinarySearch(prepared, l.TxnID)
			if !known && own(l.TxnID) && slices.Contains(unended, l.State) { // brokers may leave the filter out
				out.Open = append(out.Open, l)
			}
		}
	}
	s.SinkTransactions = fact(out, errs)
}

// sinkIDs returns the ids that the state names transactions of, sorted, and what tells
// an id of the sinks; nil where they have neither prefix nor pool.
func sinkIDs(sinks []flinkstate.Sink) (prepared []string, own func(id string) bool) {
	var prefixes []*regexp.Regexp
	pool := map[string]bool{}
	for _, s := range sinks {
		for _, t := range s.Transactions {
			prepared = append(prepared, t.TransactionalID)
		}
		for _, prefix := range s.TransactionalIDPrefixes {
			if prefix != "" {
				prefixes = append(prefixes, regexp.MustCompile("^"+regexp.QuoteMeta(prefix)+`-\d+-\d+$`))
			}
		}
		for _, id := range s.TransactionalIDs {
			pool[id] = true
		}
	}
	if prefixes != nil || len(pool) > 0 {
		own = func(id string) bool {
			return pool[id] || slices.ContainsFunc(prefixes, func(p *regexp.Regexp) bool { return p.MatchString(id) })
		}
	}
	return sortedUnique(prepared), own
}

func sinkChecks() []Check {
	const (
		looks = "the transactions in the snapshot's state of the sinks, against what the target's coordinators say of their transactional ids"
		scope = ". The scope is the transactional id"
	)
	return []Check{{
		ID:         "flink/sink-transactions",
		Title:      "What the sink had prepared is committed",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      looks + scope + ", or the number of those that nothing is known of",
		Why:        "The records before C of an exactly-once sink are in transactions that Flink commits only after the state is complete. One that aborted has lost them; one that is open will abort by itself.",
		Remedy:     "Where it is open, restore the job from this savepoint: it commits what was prepared. Let it run, stop it with a savepoint, and plan from the new one. Where it was aborted, plan from a state before its first record. `kafka-transactions.sh --bootstrap-server <TARGET> describe --transactional-id <TRANSACTIONAL-ID>` shows it.",
		Judge:      around(sinkPrepared),
	}, {
		ID:         "flink/sink-transactions-open",
		Title:      "The sink has no other transaction open",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the transactions of the sink's transactional ids that have not ended, without those that the state had prepared" + scope,
		Why:        "Whoever has it open is the old job, or was it until it was killed. Consumers that read committed see nothing that comes after it before it ends.",
		Remedy:     "Make sure that the job has ended. Then wait until the transaction times out (transaction.timeout.ms of the sink), or abort it in each of its partitions, as `kafka-transactions.sh --bootstrap-server <TARGET> describe --transactional-id <TRANSACTIONAL-ID>` lists them: `kafka-transactions.sh --bootstrap-server <TARGET> abort --topic <NAME> --partition <NUMBER> --start-offset <OFFSET>`.",
		Judge:      around(sinkOpen),
	}}
}

// SinksCommitted asks whether what Sinks had prepared is committed, for a step that
// leaves it out of a savepoint. It returns what check flink/sink-transactions finds,
// sorted.
func (p Probe) SinksCommitted(ctx context.Context) []offsetmap.Finding {
	var s Surroundings
	p.sinkSurvey(ctx, &s)
	r := Reporter{check: sinkChecks()[0]}
	sinkPrepared(&Case{Question: Question{Sinks: p.Sinks}}, &s, &r)
	slices.SortFunc(r.findings, offsetmap.Finding.Compare)
	return r.findings
}

func sinkPrepared(c *Case, s *Surroundings, r *Reporter) {
	if s.SinkTransactions.IsAbsent() {
		r.NotAsked()
		return
	}
	now, ok := needs(r, "", s.SinkTransactions)
	if !ok {
		return
	}
	prepared := preparedBy(c.Question.Sinks)
	var unknown []string
	for _, t := range prepared {
		d, known := now.Prepared[t.TransactionalID]
		if !known || d.State == transactionDead {
			unknown = append(unknown, t.TransactionalID)
			continue
		}
		judgePrepared(t, d, r)
	}
	if len(unknown) > 0 {
		r.Warn(strconv.Itoa(len(unknown)), "not proven: of %d transactions that the sink had prepared, the target's coordinators do not know the ids of %d any more, such as %s: they have expired (transactional.id.expiration.ms), or the job wrote to another cluster",
			len(prepared), len(unknown), unknown[0])
	}
}

// preparedBy are the transactions of the state, one for each id, sorted. From Flink 2 on
// writer and committer both name them; what tells of its producer comes first.
func preparedBy(sinks []flinkstate.Sink) []flinkstate.Transaction {
	var all []flinkstate.Transaction
	for _, s := range sinks {
		all = append(all, s.Transactions...)
	}
	slices.SortFunc(all, func(a, b flinkstate.Transaction) int {
		return cmp.Or(cmp.Compare(a.TransactionalID, b.TransactionalID), cmp.Compare(b.ProducerID, a.ProducerID), cmp.Compare(b.Epoch, a.Epoch))
	})
	return slices.CompactFunc(all, func(a, b flinkstate.Transaction) bool { return a.TransactionalID == b.TransactionalID })
}

// judgePrepared holds a transaction of the state against what its coordinator says.
func judgePrepared(t flinkstate.Transaction, d kadm.DescribedTransaction, r *Reporter) {
	id := t.TransactionalID
	r.Saw(id, "producer %d, epoch %d in the state; now %s, producer %d, epoch %d", t.ProducerID, t.Epoch, d.State, d.ProducerID, d.ProducerEpoch)
	same := t.ProducerID < 0 || d.ProducerID == t.ProducerID // a state may hold the id alone
	switch {
	case slices.Contains(unended, d.State):
		r.Block(id, "the transaction of producer %d, epoch %d is %s", d.ProducerID, d.ProducerEpoch, d.State)
	case d.State == transactionAborted && same:
		// Whatever the epoch: a coordinator that aborts by timeout raises it.
		r.Block(id, "the transaction of producer %d was aborted (%s, epoch %d; prepared with epoch %d): its records before C are lost", d.ProducerID, d.State, d.ProducerEpoch, t.Epoch)
	case d.State == transactionCommitted && same && (t.Epoch < 0 || d.ProducerEpoch == t.Epoch):
	case slices.Contains([]string{transactionCommitted, transactionAborted, transactionEmpty}, d.State):
		r.Warn(id, "not proven: it was prepared with producer %d, epoch %d, and the id is now %s with producer %d, epoch %d: the coordinator raises the epoch at each end (transactions of version 2), or the id was used again", t.ProducerID, t.Epoch, d.State, d.ProducerID, d.ProducerEpoch)
	default:
		r.Unknown(id, fmt.Errorf("its coordinator says %q, which is no state that this program knows", d.State))
	}
}

func sinkOpen(_ *Case, s *Surroundings, r *Reporter) {
	if s.SinkTransactions.IsAbsent() {
		r.NotAsked()
		return
	}
	now, ok := needs(r, "", s.SinkTransactions)
	if !ok {
		return
	}
	for _, l := range now.Open {
		r.Block(l.TxnID, "producer %d has a transaction that is %s", l.ProducerID, l.State)
	}
}
