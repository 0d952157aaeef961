package proof

import (
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// What depends on how brokers answer fetches is proven on real ones too: an
// offset that is gone, aborted records, and a marker that cannot be read.
func TestOnRealBrokers(t *testing.T) {
	l := lab.Start(t, lab.Options{})
	c := &clusters{t: t, source: connect(t, l.Source.Bootstrap), target: connect(t, l.Target.Bootstrap)}
	t.Run("transactions", func(t *testing.T) { transactionsAtTheBoundary(t, c) })
	t.Run("deleted records", func(t *testing.T) { recordsDeletedBeforeTheyAreRead(t, c) })
}
