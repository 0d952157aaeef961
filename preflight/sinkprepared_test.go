package preflight

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

func TestAPreparedTransactionIsJudgedByProducerAndEpoch(t *testing.T) {
	for name, c := range map[string]struct {
		t     flinkstate.Transaction
		state string
		id    int64
		epoch int16
		want  string
	}{
		"aborted":                              {flinkstate.Transaction{ProducerID: 7, Epoch: 3}, transactionAborted, 7, 4, "block"},
		"aborted, and the state has no number": {flinkstate.Transaction{ProducerID: -1, Epoch: -1}, transactionAborted, 7, 4, "block"},
		"another's was aborted":                {flinkstate.Transaction{ProducerID: 7, Epoch: 3}, transactionAborted, 8, 3, "warn"},
		"that of producer 0 was not":           {flinkstate.Transaction{ProducerID: 0, Epoch: 3}, transactionAborted, 8, 3, "warn"},
		"committed":                            {flinkstate.Transaction{ProducerID: 7, Epoch: 3}, transactionCommitted, 7, 3, ""},
		"committed, of producer and epoch 0":   {flinkstate.Transaction{ProducerID: 0, Epoch: 0}, transactionCommitted, 0, 0, ""},
		"committed, and no epoch was kept":     {flinkstate.Transaction{ProducerID: 7, Epoch: -1}, transactionCommitted, 7, 9, ""},
		"committed in epoch 1, prepared in 0":  {flinkstate.Transaction{ProducerID: 7, Epoch: 0}, transactionCommitted, 7, 1, "warn"},
		"another's was committed":              {flinkstate.Transaction{ProducerID: 7, Epoch: 3}, transactionCommitted, 8, 3, "warn"},
		"open":                                 {flinkstate.Transaction{ProducerID: 7, Epoch: 3}, transactionOngoing, 7, 3, "block"},
	} {
		c.t.TransactionalID = "sink-1"
		got, _ := findings(func(r *Reporter) {
			judgePrepared(c.t, kadm.DescribedTransaction{State: c.state, ProducerID: c.id, ProducerEpoch: c.epoch}, r)
		})
		if text := strings.Join(got, "\n"); (text == "") != (c.want == "") || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
