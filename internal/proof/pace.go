package proof

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var _ kgo.HookBrokerRead = (*pace)(nil)

// pace keeps the fetches of all clients to so many bytes a second. What came is
// what the clients say of their connections; after each poll a reader waits for
// as long as that much may take. A client fetches no more than it has room for,
// so one that is not polled stands still.
type pace struct {
	limit int64

	mu   sync.Mutex
	came int64     // since the last wait
	next time.Time // up to when what came before takes
}

// newPace returns nil where nothing is bounded; its methods then do nothing.
func newPace(bytesPerSecond int64) *pace {
	if bytesPerSecond == 0 {
		return nil
	}
	return &pace{limit: bytesPerSecond}
}

// Bounds of what a client asks for at a time when it is to keep a pace.
const (
	leastFetch = 16 << 10
	mostFetch  = 1 << 20
)

// options let a client fetch no more than a second's share at a time. A broker
// answers with a whole batch, however large.
func (p *pace) options() []kgo.Opt {
	if p == nil {
		return nil
	}
	most := int32(min(max(p.limit/2, leastFetch), mostFetch))
	return []kgo.Opt{kgo.WithHooks(p), kgo.MaxConcurrentFetches(1), kgo.FetchMaxBytes(most), kgo.FetchMaxPartitionBytes(most)}
}

// OnBrokerRead counts what fetches bring.
func (p *pace) OnBrokerRead(_ kgo.BrokerMetadata, key int16, bytesRead int, _, _ time.Duration, _ error) {
	if key != int16(kmsg.Fetch) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came += int64(bytesRead)
}

// wait waits as long as what came may take.
func (p *pace) wait(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(float64(p.came) / float64(p.limit) * float64(time.Second)))
	p.came = 0
	until := time.Until(p.next)
	p.mu.Unlock()
	if until <= 0 {
		return
	}
	timer := time.NewTimer(until)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
