package cutover

import (
	"context"
	"time"
)

// load is a producer that never pauses.
type load struct {
	cancel   context.CancelFunc
	done     chan struct{}
	err      error                  // valid once done is closed
	produced map[topicPartition]int // likewise
}

// produceOnAndOn produces to each partition, which holds so many records already,
// until it is told to stop: at least n records in every round, to no two
// partitions equally many.
func (w *world) produceOnAndOn(ctx context.Context, held, n int, pause time.Duration, to ...topicPartition) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel, done: make(chan struct{}), produced: map[topicPartition]int{}}
	for _, tp := range to {
		l.produced[tp] = held
	}
	go func() {
		defer close(l.done)
		for ctx.Err() == nil {
			for i, tp := range to {
				from := l.produced[tp]
				l.produced[tp] += n + 3*i
				// What was begun is finished, so that the numbers are those of the source.
				if l.err = produce(context.WithoutCancel(ctx), w.source, tp, from, l.produced[tp]); l.err != nil {
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	return l
}

// stop ends the load and returns how many records each partition has. It may be
// called again.
func (l *load) stop() (map[topicPartition]int, error) {
	l.cancel()
	<-l.done
	return l.produced, l.err
}
