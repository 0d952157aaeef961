package proof

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAPaceIsKeptOverBothClustersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(1000)
		fetched := func(n int) { p.OnBrokerRead(kgo.BrokerMetadata{}, int16(kmsg.Fetch), n, 0, 0, nil) }
		began := time.Now()
		fetched(1500)
		p.OnBrokerRead(kgo.BrokerMetadata{}, int16(kmsg.Metadata), 1<<20, 0, 0, nil)
		p.wait(t.Context())
		fetched(500)
		p.wait(t.Context())
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("2000 bytes took %s at 1000 a second", took)
		}
		time.Sleep(time.Hour) // a time without records is no credit
		began = time.Now()
		fetched(3000)
		p.wait(t.Context())
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("3000 bytes took %s at 1000 a second", took)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		fetched(1 << 30)
		began = time.Now()
		p.wait(ended)
		if took := time.Since(began); took != 0 {
			t.Errorf("it waited %s after its end", took)
		}
	})
	unbound := newPace(0)
	unbound.wait(t.Context())
	if unbound.options() != nil {
		t.Error("nothing is bounded, and clients have limits")
	}
}

// A run with a pace reads the same, and no more at a time than its share.
func TestARunKeepsItsPace(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic, n = "orders", 500
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, n)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs...)...)
	o := c.proof(c.from(topic, 0, 0, n, 0))
	o.BytesPerSecond = 1 << 20
	var largest atomic.Int32
	c.source.ControlKey(kmsg.Fetch.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.source.KeepControl()
		largest.Store(max(largest.Load(), req.(*kmsg.FetchRequest).MaxBytes))
		return nil, nil, false
	})
	if r := mustRun(t, o); r.Outcome != Proven || r.Total.Copied != n {
		t.Errorf("%s, %+v", r.Outcome, r.Total)
	}
	if got := largest.Load(); got != 1<<19 {
		t.Errorf("it asked for %d bytes at a time", got)
	}
}
