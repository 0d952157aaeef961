package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// TransactionOwners is what the transaction coordinators of a cluster say of the producers
// that have a transaction open there.
type TransactionOwners struct {
	// ByProducer holds each producer id that a coordinator lists a transactional id for.
	// Brokers leave out the ids that their client may not Describe, without a word.
	ByProducer map[int64]TransactionOwner

	// still holds those of the transactions that no coordinator would end which were open
	// also after it had said so: what had ended by then does not hang.
	still map[openKey]bool
}

// openKey is what is the same of a transaction at two looks.
type openKey struct {
	offsetmap.TopicPartition
	producerID int64
	start      offsetmap.NextOffset
}

func (o OpenTransaction) key() openKey { return openKey{o.TopicPartition, o.ProducerID, o.Start} }

// TransactionOwner is a transactional id as its coordinator describes it
// (DescribeTransactions, KIP-664).
type TransactionOwner struct {
	TransactionalID string
	State           string // as brokers write it (TransactionState)
	// Timeout is the producer's transaction.timeout.ms, after which the coordinator aborts
	// the transaction by itself.
	Timeout time.Duration
	// Start is when the transaction began, by the coordinator's clock; zero where none is
	// open.
	Start time.Time
	// Partitions are those to which the coordinator has yet to write the marker that ends
	// the transaction.
	Partitions kadm.TopicsSet
}

// overdueAfter is how long after its timeout a transaction is taken for one that its
// coordinator does not end: it looks every 10 s by default
// (transaction.abort.timed.out.transaction.cleanup.interval.ms), and clocks differ.
const overdueAfter = 5 * time.Minute

// describeOwners asks the coordinators for the owners of open transactions, and then,
// where they do not have one, its partition's leader again.
func describeOwners(ctx context.Context, admin Admin, open offsetmap.Fact[[]OpenTransaction], now time.Time) offsetmap.Fact[TransactionOwners] {
	first, ok := open.Get()
	if !ok || len(first) == 0 {
		if err := open.Err(); err != nil {
			return offsetmap.NotKnown[TransactionOwners](err)
		}
		return offsetmap.Absent[TransactionOwners]()
	}
	var producers []int64
	for _, o := range first {
		producers = append(producers, o.ProducerID)
	}
	slices.Sort(producers)
	owners, err := ownersOf(ctx, admin, slices.Compact(producers))
	if err != nil {
		return offsetmap.NotKnown[TransactionOwners](err)
	}
	out := TransactionOwners{ByProducer: owners}
	doubtful := kadm.TopicsSet{}
	for _, o := range first {
		if why, _ := out.neverEnds(o, now); why != "" {
			doubtful.Add(o.Topic, o.Partition)
		}
	}
	again := describeHeld(ctx, admin, doubtful)
	if err := again.Err(); err != nil {
		return offsetmap.NotKnown[TransactionOwners](fmt.Errorf("the second look: %w", err))
	}
	held, _ := again.Get()
	out.still = make(map[openKey]bool, len(held))
	for _, o := range held {
		out.still[o.key()] = true
	}
	return offsetmap.Known(out)
}

func ownersOf(ctx context.Context, admin Admin, producers []int64) (map[int64]TransactionOwner, error) {
	listed, err := admin.ListTransactions(ctx, producers, nil)
	if err != nil { // of one coordinator alone: whom it knows would pass for nobody
		return nil, fmt.Errorf("transactions of the producers: %w", err)
	}
	var ids []string
	for _, l := range listed.Sorted() {
		if _, asked := slices.BinarySearch(producers, l.ProducerID); asked { // brokers may leave the filter out
			ids = append(ids, l.TxnID)
		}
	}
	owners := map[int64]TransactionOwner{}
	if len(ids) == 0 { // of none, kadm would ask for all
		return owners, nil
	}
	described, err := admin.DescribeTransactions(ctx, ids...)
	for id, d := range described {
		switch {
		case errors.Is(d.Err, kerr.TransactionalIDNotFound): // it has expired since
		case d.Err != nil:
			err = errors.Join(err, fmt.Errorf("transactional id %s: %w", shown.Name(id), d.Err))
		default:
			o := TransactionOwner{TransactionalID: id, State: d.State, Timeout: time.Duration(d.TimeoutMillis) * time.Millisecond, Partitions: d.Topics}
			if d.StartTimestamp >= 0 {
				o.Start = time.UnixMilli(d.StartTimestamp)
			}
			owners[d.ProducerID] = o
		}
	}
	return owners, err
}

// describe says who a producer with an open transaction is.
func (t TransactionOwner) describe(now time.Time) string {
	text := fmt.Sprintf("its transactional id is %s, %s", shown.Name(t.TransactionalID), t.State)
	if t.Start.IsZero() {
		return text
	}
	return fmt.Sprintf("%s since %s (%s), with a timeout of %s", text, t.Start.UTC().Format(time.RFC3339), now.Sub(t.Start).Round(time.Second), spell(t.Timeout.Milliseconds()))
}

// whose says to whom the coordinators say that a transaction belongs. It is empty where
// they were not asked.
func whose(o OpenTransaction, owners offsetmap.Fact[TransactionOwners], now time.Time) string {
	all, known := owners.Get()
	owner, listed := all.ByProducer[o.ProducerID]
	switch {
	case owners.IsAbsent():
		return ""
	case !known:
		return fmt.Sprintf("; whose it is was not told: %v", owners.Err())
	case !listed:
		return "; no coordinator lists a transactional id of that producer"
	default:
		return "; " + owner.describe(now)
	}
}

// hangs says why nothing will end a transaction that is open on a partition, and is
// empty where its coordinator still will.
func (all TransactionOwners) hangs(o OpenTransaction, now time.Time) (why string, err error) {
	if why, err = all.neverEnds(o, now); !all.still[o.key()] {
		why = ""
	}
	return why, err
}

// neverEnds is as kafka-transactions.sh find-hanging decides
// (TransactionsCommand.filterHangingTransactions), apart from transactions that are long
// overdue, and without its condition that the last record be older than any timeout:
// records that were copied have other timestamps, so a second look at the partition
// stands in for it.
func (all TransactionOwners) neverEnds(o OpenTransaction, now time.Time) (why string, err error) {
	owner, listed := all.ByProducer[o.ProducerID]
	switch {
	case !listed:
		return "no coordinator lists a transactional id of that producer, of those that this client may Describe", nil
	case slices.Contains([]string{transactionEmpty, transactionCommitted, transactionAborted, transactionDead}, owner.State):
		return "for its coordinator there is none: " + owner.describe(now), nil
	case !slices.Contains(unended, owner.State):
		return "", fmt.Errorf("%s-%d: the coordinator of transactional id %s says %q, which is no state that this program knows", o.Topic, o.Partition, shown.Name(owner.TransactionalID), owner.State)
	}
	if _, in := owner.Partitions[o.Topic][o.Partition]; !in {
		return "for its coordinator this partition is not in it: " + owner.describe(now), nil
	}
	if late := now.Sub(owner.Start) - owner.Timeout; !owner.Start.IsZero() && late > overdueAfter {
		return fmt.Sprintf("its coordinator should have aborted it %s ago: %s", late.Round(time.Second), owner.describe(now)), nil
	}
	return "", nil
}
