package faults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// offsetWatch looks at what Connect stores for a connector, again and again. An offset
// that is lower than it was has been rewound.
type offsetWatch struct {
	cancel  context.CancelFunc
	done    chan struct{}
	connect *connectrest.Client
	name    string

	mu      sync.Mutex
	highest map[offsetmap.TopicPartition]offsetmap.SourceOffset
	doubted map[offsetmap.TopicPartition]offsetmap.SourceOffset // lower at the last look, to be seen again
	looks   int
	rewound []string
}

const lookEvery = 250 * time.Millisecond

func watchOffsets(c *connectrest.Client, name string) *offsetWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &offsetWatch{cancel: cancel, done: make(chan struct{}), connect: c, name: name, highest: map[offsetmap.TopicPartition]offsetmap.SourceOffset{}, doubted: map[offsetmap.TopicPartition]offsetmap.SourceOffset{}}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			w.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(lookEvery):
			}
		}
	}()
	return w
}

// stop ends the watch. What it has seen stays.
func (w *offsetWatch) stop() {
	w.cancel()
	<-w.done
}

func (w *offsetWatch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all, err := w.connect.Offsets(ctx, w.name)
	if err != nil {
		return // no connector yet, or no worker: nothing is seen
	}
	view, err := connectrest.MirrorSourceOffsets("source", all)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	for tp, m := range view.Stored {
		switch was := w.highest[tp]; {
		case was.IsNone() || m.Compare(was) >= 0:
			w.highest[tp] = m
			delete(w.doubted, tp)
		case w.doubted[tp] == m: // a worker may answer once with what was before
			w.rewound = append(w.rewound, fmt.Sprintf("%s went back from %s to %s", tp, was, m))
			w.highest[tp] = m
			delete(w.doubted, tp)
		default:
			w.doubted[tp] = m
		}
	}
}

// seen returns what went back, and how often Connect answered.
func (w *offsetWatch) seen() (rewound []string, looks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.rewound...), w.looks
}

// forgive takes back what is meant.
func (w *offsetWatch) forgive(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rewound = slices.DeleteFunc(w.rewound, func(one string) bool { return one == what })
}

// stored returns the highest offset of each partition that Connect was seen to store.
func (w *offsetWatch) stored() map[offsetmap.TopicPartition]offsetmap.SourceOffset {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.highest)
}
