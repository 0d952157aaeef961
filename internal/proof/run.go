package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Run reads the source from C to its fixed end, and the target from its
// recorded end on, until every partition is decided, Bound or Quiet has passed,
// or ctx ends. It writes to neither cluster and leaves no goroutine behind.
//
// A partition is decided when the target has all that is due and was read up to
// an end that was measured afterwards, so that repeats that are there are
// counted. One that fails is read on until then too, for its counts.
//
// An error says that nothing could be compared: the options are wrong, a cluster
// cannot be reached, a topic cannot be described. An error that wraps that of
// ctx comes with a report of what stood then. What goes wrong with one partition
// stands in its report.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.validate(); err != nil {
		return Report{}, fmt.Errorf("proof options: %w", err)
	}
	o.setDefaults()
	bounded, cancel := context.WithTimeout(ctx, o.Bound)
	defer cancel()
	r, err := prepare(bounded, &o)
	if err != nil {
		return Report{}, err
	}
	if err := r.readAgain(bounded); err != nil {
		r.close()
		return Report{}, err
	}
	stopped := r.watch(bounded)
	var parts []PartitionReport
	for _, p := range r.parts {
		p.mu.Lock()
		if !p.decided {
			p.takeReached()
			p.decide(&o)
		}
		parts = append(parts, p.report)
		p.mu.Unlock()
	}
	if o.Marks != nil {
		r.passMarks()
	}
	report := Conclude(parts)
	if o.Until.kind == untilCaughtUp && !r.caughtUp && report.Outcome == Proven {
		report.Outcome = NotProven
	}
	if stopped != nil {
		return report, stopped
	}
	if err := ctx.Err(); err != nil {
		return report, fmt.Errorf("proof was interrupted: %w", err)
	}
	return report, nil
}

// runner is one run.
type runner struct {
	*Options
	parts          []*partition
	readers        [2]*reader
	topics         [2][]string
	ranges         [2]map[offsetmap.TopicPartition]offsetmap.Range
	probeFrom      int // where the next probes begin, so that each partition gets its turn
	progressed     int64
	lastProgressed time.Time
	pace           *pace
	rounds
}

func (r *runner) cluster(w which) Cluster {
	if w == sourceSide {
		return r.Source
	}
	return r.Target
}

// prepare measures, describes and makes the clients.
func prepare(ctx context.Context, o *Options) (*runner, error) {
	r := &runner{Options: o, lastProgressed: time.Now()}
	r.topics[sourceSide] = topicsOf(o.Partitions, func(p Partition) offsetmap.TopicPartition { return p.Source })
	r.topics[targetSide] = topicsOf(o.Partitions, func(p Partition) offsetmap.TopicPartition { return p.Target })
	var policies [2]map[string]Topic
	var unmeasured [2]error
	for _, w := range []which{targetSide, sourceSide} {
		var err error
		if policies[w], err = describe(ctx, w, r.cluster(w), r.topics[w]); err != nil {
			return nil, err
		}
		r.ranges[w], unmeasured[w] = fresh.Ranges(ctx, r.cluster(w).Admin, r.topics[w]...)
		if unmeasured[w] != nil && len(r.ranges[w]) == 0 {
			return nil, fmt.Errorf("%s log ends: %w", w, unmeasured[w])
		}
	}
	r.pace = newPace(o.BytesPerSecond)
	digester := NewDigester()
	var read []*partition
	for _, spec := range o.Partitions {
		p := newPartition(spec, o, policies[sourceSide][spec.Source.Topic], policies[targetSide][spec.Target.Topic])
		p.begin(r.ranges[sourceSide][p.Source], r.ranges[targetSide][p.Target], o.Lookback)
		r.parts = append(r.parts, p)
		if p.source.fatal == nil && p.target.fatal == nil {
			read = append(read, p)
		}
	}
	for _, w := range []which{sourceSide, targetSide} {
		r.note(w, unmeasured[w])
		var err error
		if r.readers[w], err = newReader(w, r.cluster(w), read, digester.Clone(), r.pace); err != nil {
			r.close()
			return nil, err
		}
	}
	for _, p := range r.parts {
		p.hold = func(w which) { r.readers[w].client.PauseFetchPartitions(one(p.name(w))) }
		p.release = func(w which) { r.readers[w].client.ResumeFetchPartitions(one(p.name(w))) }
	}
	return r, nil
}

func (r *runner) close() {
	for _, reader := range r.readers {
		if reader != nil {
			reader.client.Close()
		}
	}
}

// watch reads until nothing more needs to be read or the context ends. An error
// is that of a round.
func (r *runner) watch(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, reader := range r.readers {
		wg.Go(func() { reader.run(reading) })
	}
	searches := make(chan struct{}, searchesAtATime)
	defer func() {
		stop()
		wg.Wait()
		r.close()
	}()
	marked := time.Now()
	r.measuredAt = marked
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	for {
		done := r.look()
		if r.isQuiet() || done {
			return nil
		}
		if done, err := r.goOn(reading); done || err != nil {
			return err
		}
		r.resolve()
		r.probe(reading)
		r.search(reading, &wg, searches)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if r.Marks != nil && time.Since(marked) >= r.MarkInterval {
			r.passMarks()
			marked = time.Now()
		}
		r.measure(reading)
	}
}

// measure reads the log ends, the target's first: see barrier. While partitions
// are only read on, brokers are not asked; ends of before are forgotten, so that
// nothing is decided by them.
func (r *runner) measure(ctx context.Context) {
	r.ranges = [2]map[offsetmap.TopicPartition]offsetmap.Range{}
	if slices.ContainsFunc(r.parts, (*partition).wantsEnds) {
		r.measureAll(ctx)
	}
}

func (r *runner) measureAll(ctx context.Context) {
	r.measuredAt = time.Now()
	for _, w := range []which{targetSide, sourceSide} {
		var err error
		if r.ranges[w], err = fresh.Ranges(ctx, r.cluster(w).Admin, r.topics[w]...); ctx.Err() == nil {
			r.note(w, err)
		}
	}
}

var errNoPartition = errors.New("the partition does not exist")

// note remembers with each partition why its log ends are not known.
func (r *runner) note(w which, err error) {
	var unmeasured *fresh.UnmeasuredError
	errors.As(err, &unmeasured)
	for _, p := range r.parts {
		if reason := unmeasured.Reason(p.name(w)); reason != nil {
			p.fail(w, reason, false)
		} else if _, there := r.ranges[w][p.name(w)]; !there {
			p.fail(w, errNoPartition, false)
		}
	}
}

// look decides what can be decided, and reports whether that is all.
func (r *runner) look() (done bool) {
	var now [2]map[string][]int32
	now[sourceSide], now[targetSide] = map[string][]int32{}, map[string][]int32{}
	progress := Progress{Partitions: len(r.parts)}
	var progressed int64
	for _, p := range r.parts {
		if p.look(r.Options, r.ranges[targetSide][p.Target], r.ranges[sourceSide][p.Source]) {
			for w := range now {
				tp := p.name(which(w))
				now[w][tp.Topic] = append(now[w][tp.Topic], tp.Partition)
			}
		}
		s := p.standing()
		progressed += p.stands.seen.Load()
		progress.Counts = progress.Counts.Plus(s.counts)
		progress.Lag, progress.Unread = progress.Lag+s.lag, progress.Unread+s.unread
		progressed += s.counts.Copied + s.counts.Altered + s.counts.Repeated + s.counts.Early + s.read
		if s.decided {
			progress.Decided++
		}
	}
	for w, ps := range now {
		if len(ps) > 0 {
			r.readers[w].client.PauseFetchPartitions(ps)
		}
	}
	if progressed != r.progressed {
		r.progressed, r.lastProgressed = progressed, time.Now()
	}
	r.judged = progress.Counts.Source - progress.Counts.Pending
	if r.Progress != nil {
		r.Progress(progress)
	}
	return progress.Decided == len(r.parts)
}

func (r *runner) isQuiet() bool {
	return r.Quiet > 0 && time.Since(r.lastProgressed) >= r.Quiet
}

// resolve lets the partitions whose position is gone be read on.
func (r *runner) resolve() {
	for w, reader := range r.readers {
		from := map[string]map[int32]kgo.EpochOffset{}
		for _, p := range r.parts {
			tp := p.name(which(w))
			at, ok := p.resolve(which(w), r.ranges[w][tp])
			if !ok {
				continue
			}
			if from[tp.Topic] == nil {
				from[tp.Topic] = map[int32]kgo.EpochOffset{}
			}
			from[tp.Topic][tp.Partition] = kgo.EpochOffset{Epoch: -1, Offset: at}
		}
		if len(from) > 0 {
			reader.goOn(from)
		}
	}
}

// Bounds on the probes after one look.
const (
	maxProbes      = 64
	probesAtATime  = 8
	probesDeadline = 5 * time.Second
)

// probe looks by hand where records have not come for a while.
func (r *runner) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probesDeadline)
	defer cancel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, probesAtATime)
	n := 0
	for i := range r.parts {
		p := r.parts[(r.probeFrom+i)%len(r.parts)]
		for w, reader := range r.readers {
			w := which(w)
			from, goal, stuck := p.stuck(w)
			if !stuck || n == maxProbes {
				continue
			}
			n++
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				to, err := reader.probe(ctx, p.name(w), from, goal, p.side(w).compacted)
				if ctx.Err() != nil {
					err = nil // the run ends, which says nothing about the log
				}
				p.probed(w, to, err)
			})
		}
	}
	wg.Wait()
	r.probeFrom += n
}
