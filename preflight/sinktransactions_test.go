package preflight_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// sinkWriter has a transaction open on the target under an id that the state of a real
// job names.
type sinkWriter struct {
	l  *lab
	cl *kgo.Client
	id string
}

// asks makes the sinks the question's.
func (l *lab) asks(sinks ...flinkstate.Sink) { l.question.Sinks, l.probe.Sinks = sinks, sinks }

// sink asks about the sinks of a real state, the first of whose prepared transactions
// is open on the target.
func (l *lab) sink() *sinkWriter {
	l.t.Helper()
	sinks := l.state("flink-1.20-stop-p2/savepoint").Sinks
	i := slices.IndexFunc(sinks, func(s flinkstate.Sink) bool { return len(s.Transactions) > 0 })
	prepared := sinks[i].Transactions[:1]
	w := &sinkWriter{l: l, id: prepared[0].TransactionalID}
	w.begin(1)
	described := w.now()
	prepared[0].ProducerID, prepared[0].Epoch = described.ProducerID, described.ProducerEpoch
	sinks[i].Transactions = prepared
	l.asks(sinks...)
	l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkExactlyOnce)
	return w
}

// begin opens a transaction of so many records with a producer of its own.
func (w *sinkWriter) begin(records int) {
	w.l.t.Helper()
	w.cl = w.l.connect(w.l.target, kgo.TransactionalID(w.id))
	w.l.must(w.cl.BeginTransaction())
	for range records {
		w.l.must(w.cl.ProduceSync(w.l.t.Context(), &kgo.Record{Topic: "orders", Value: []byte("of the job")}).FirstErr())
	}
}

func (w *sinkWriter) end(how kgo.TransactionEndTry) {
	w.l.t.Helper()
	w.l.must(w.cl.EndTransaction(w.l.t.Context(), how))
}

func (w *sinkWriter) now() kadm.DescribedTransaction {
	w.l.t.Helper()
	all, err := kadm.NewClient(w.l.to).DescribeTransactions(w.l.t.Context(), w.id)
	w.l.must(err)
	return all[w.id]
}

// ends commits or aborts, after which the coordinator says what a real one does: an
// embedded one says Empty of either. The epoch is that of the state, and raised.
func (w *sinkWriter) ends(how kgo.TransactionEndTry, raised int16) (mend func()) {
	w.l.t.Helper()
	epoch := w.now().ProducerEpoch
	w.end(how)
	resp := kmsg.NewPtrDescribeTransactionsResponse()
	one := kmsg.NewDescribeTransactionsResponseTransactionState()
	one.TransactionalID, one.State, one.ProducerID, one.ProducerEpoch = w.id, "CompleteAbort", w.now().ProducerID, epoch+raised
	if how == kgo.TryCommit {
		one.State = "CompleteCommit"
	}
	resp.TransactionStates = append(resp.TransactionStates, one)
	return answers(w.l.target, resp)
}

// answers lets brokers answer requests of the response's kind with it.
func answers(c *kfake.Cluster, resp kmsg.Response) (mend func()) {
	var off atomic.Bool
	c.ControlKey(resp.Key(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp.SetVersion(r.GetVersion())
		return resp, nil, !off.Load()
	})
	return func() { off.Store(true) }
}

// idAlone leaves nothing in the state but the transactional id.
func (w *sinkWriter) idAlone() {
	for _, s := range w.l.question.Sinks {
		for i := range s.Transactions {
			s.Transactions[i].ProducerID, s.Transactions[i].Epoch = -1, -1
		}
	}
}

func sinkBreakages() map[string]breakage {
	return map[string]breakage{
		"flink/sink-transactions": func(l *lab) func() {
			w := l.sink()
			return func() { w.ends(kgo.TryCommit, 0) }
		},
		"flink/sink-transactions-open": func(l *lab) func() {
			first := l.sink()
			first.ends(kgo.TryCommit, 0)
			other := &sinkWriter{l: l, id: strings.TrimSuffix(first.id, "-0-1") + "-1-7"}
			other.begin(1)
			return func() { other.end(kgo.TryAbort) }
		},
		"flink/sink-guarantee-contradicted": func(l *lab) func() {
			l.stores("flink-1.20-stop-p2/savepoint")
			l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkAtLeastOnce)
			return func() { l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkExactlyOnce) }
		},
	}
}

func TestAPreparedTransactionIsHeldAgainstItsCoordinator(t *testing.T) {
	t.Parallel()
	const blocks, warns = "block flink/sink-transactions", "warn flink/sink-transactions"
	for name, c := range map[string]struct {
		then func(w *sinkWriter)
		want string // severity, id and a part of the detail
		say  string
	}{
		"open":                      {func(*sinkWriter) {}, blocks, "is Ongoing"},
		"committed":                 {func(w *sinkWriter) { w.ends(kgo.TryCommit, 0) }, "", ""},
		"committed, epoch raised":   {func(w *sinkWriter) { w.ends(kgo.TryCommit, 1) }, warns, "now CompleteCommit"},
		"aborted":                   {func(w *sinkWriter) { w.ends(kgo.TryAbort, 0) }, blocks, "was aborted"},
		"aborted, epoch raised":     {func(w *sinkWriter) { w.ends(kgo.TryAbort, 1) }, blocks, "was aborted"},
		"aborted, of an id alone":   {func(w *sinkWriter) { w.ends(kgo.TryAbort, 0); w.idAlone() }, blocks, "was aborted"},
		"committed, of an id alone": {func(w *sinkWriter) { w.ends(kgo.TryCommit, 0); w.idAlone() }, "", ""},
		"begun anew":                {func(w *sinkWriter) { w.end(kgo.TryCommit); w.begin(1) }, blocks, "is Ongoing"},
		"ended, how is not told":    {func(w *sinkWriter) { w.end(kgo.TryAbort) }, warns, "now Empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			w := l.sink()
			c.then(w)
			got := found(l.whole(), "flink/sink-transactions")
			if c.want == "" {
				if len(got) > 0 {
					t.Errorf("got %v", got)
				}
				return
			}
			if len(got) != 1 || string(got[0].Severity)+" "+got[0].Check != c.want || got[0].Scope != w.id || !strings.Contains(got[0].Detail, c.say) {
				t.Errorf("got %v, want %s %s: ...%s", got, c.want, w.id, c.say)
			}
		})
	}
}

func TestTransactionsThatNothingIsKnownOfAreNotProven(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkExactlyOnce)
	only := func(want string) {
		t.Helper()
		got := found(l.whole(), "flink/sink-transactions")
		if len(got) != 1 || !strings.Contains(string(got[0].Severity)+" "+got[0].Scope+": "+got[0].Detail, want) {
			t.Errorf("got %v, want %q", got, want)
		}
	}
	l.asks(l.state("flink-1.20-stop-p2/savepoint").Sinks...)
	only("warn 2: not proven: of 2 transactions that the sink had prepared, the target's coordinators do not know the ids of 2")

	mend := l.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeTransactions}, Err: kerr.TransactionalIDAuthorizationFailed, Count: -1}).Remove
	got := found(l.whole(), "flink/sink-transactions")
	if len(got) != 1 || !got[0].Unmade || got[0].Acceptable != offsetmap.Exact || !strings.Contains(got[0].Detail, "AUTHORIZATION") {
		t.Errorf("got %v", got)
	}
	mend()

	mend = cut(l.target, kmsg.ListTransactions)
	defer mend()
	r := l.whole()
	for _, id := range []string{"flink/sink-transactions", "flink/sink-transactions-open"} {
		if got := found(r, id); len(got) != 1 || !got[0].Unmade {
			t.Errorf("%s: got %v", id, got)
		}
	}
}

// From Flink 2 on the state of the writer names what the committer has too.
func TestATransactionThatWriterAndCommitterNameIsReportedOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	w := l.sink()
	l.asks(append(l.question.Sinks, flinkstate.Sink{Transactions: []flinkstate.Transaction{{TransactionalID: w.id, ProducerID: -1, Epoch: -1}}})...)
	if got := found(l.whole(), "flink/sink-transactions"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAnOpenTransactionOfSomebodyElseIsNotTheSinks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	w := l.sink()
	w.end(kgo.TryCommit)
	prefix := strings.TrimSuffix(w.id, "-0-1")
	for _, id := range []string{prefix, prefix + "-0", prefix + "s-0-2", "x" + prefix + "-0-2", prefix + "-0-2-x"} {
		(&sinkWriter{l: l, id: id}).begin(1)
	}
	if got := found(l.whole(), "flink/sink-transactions-open"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
