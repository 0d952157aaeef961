package preflight

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func sinkGuaranteeChecks() []Check {
	return []Check{{
		ID:         "flink/sink-guarantee-contradicted",
		Title:      "The attested guarantee is that of the state",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "what the snapshot's state of the sinks says of transactions, against the attestation sinkGuarantee. It warns where exactly-once is attested and the state cannot show it: nothing was prepared, or not all of the state was read",
		Why:        "Only an exactly-once sink prepares transactions or keeps a pool of transactional ids, and one of Kafka's always stores what its transactional ids begin with. A sink that is taken for another is judged by the wrong rules: what one that is not exactly-once has written is visible at once, and one without a guarantee may have stored positions ahead of it.",
		Remedy:     "Look at the job's code, and attest sinkGuarantee as it is there. Where the code says what is attested, the snapshot is of another job than is meant.",
		Judge:      sinkGuarantee,
	}}
}

func sinkGuarantee(c *Case, r *Reporter) {
	q := c.Question
	g := q.Attestations.SinkGuarantee
	if g == nil || g.Value == "" {
		r.NotAsked() // attest/sink-guarantee
		return
	}
	exactly := g.Value == offsetmap.SinkExactlyOnce
	if i := slices.IndexFunc(q.Sinks, func(s flinkstate.Sink) bool { return transactional(s) != "" }); i >= 0 {
		if sink := q.Sinks[i]; !exactly {
			r.Block(sink.OperatorID, "the sink is attested as %s by %s, and the state of operator %s has %s",
				g.Value, g.By, cmp.Or(sink.UID, sink.Name, sink.OperatorID), transactional(sink))
		}
		return
	}
	if !exactly || q.Origin != offsetmap.FromSavepoint {
		r.NotAsked()
		return
	}
	if why := q.whySinksUnknown(); why != "" {
		r.Warn("", "not proven: the sink is attested as exactly-once by %s, and %s", g.By, why)
		return
	}
	r.Block("", "the sink is attested as exactly-once by %s, and none of the %d operators of the state has what an exactly-once sink of Kafka stores", g.By, len(q.Operators))
}

// transactional says what of a sink's state only an exactly-once sink has; empty where
// there is nothing. A prefix is none: until Flink 1.20 every KafkaSink stores one.
func transactional(s flinkstate.Sink) string {
	switch {
	case len(s.Transactions) > 0:
		return "prepared transactions, such as " + s.Transactions[0].TransactionalID
	case len(s.TransactionalIDs) > 0: // FlinkKafkaProducer.initializeUserContext
		return "a pool of transactional ids, such as " + s.TransactionalIDs[0]
	default:
		return ""
	}
}

// whySinksUnknown says why the state cannot show that there is no exactly-once sink;
// empty where it can.
func (q Question) whySinksUnknown() string {
	if len(q.Sinks) > 0 {
		return "the state has no transaction that was prepared: an exactly-once sink that had written nothing leaves none, and no other sink does"
	}
	if len(q.Operators) == 0 {
		return "the operators of the state were not given"
	}
	for _, op := range q.Operators {
		for _, s := range op.States {
			if s.NotRead != "" {
				return fmt.Sprintf("state %q of operator %s is not known: %s", s.Name, cmp.Or(op.UID, op.Name, op.ID), s.NotRead)
			}
		}
	}
	for _, w := range q.Warnings {
		if w.Code == flinkstate.OperatorFinished {
			return "an operator that had finished has left no state: " + cmp.Or(w.UID, w.Name, w.OperatorID)
		}
	}
	return ""
}
