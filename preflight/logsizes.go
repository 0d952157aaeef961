package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// growthOver is over how long the growth of a log is measured by the time index.
const growthOver = time.Hour

// logSizes reads how large the logs of topics are that are bounded by size, in bytes: of
// several replicas the largest. Without such topics no broker is asked.
func logSizes(ctx context.Context, admin Admin, configs map[string]Settings, f Facts) offsetmap.Fact[map[offsetmap.TopicPartition]int64] {
	asked := kadm.TopicsSet{}
	for tp := range f.Ranges {
		if configs[tp.Topic].bySize() {
			asked.Add(tp.Topic, tp.Partition)
		}
	}
	if len(asked) == 0 { // kadm would ask for all
		return offsetmap.Absent[map[offsetmap.TopicPartition]int64]()
	}
	all, err := admin.DescribeAllLogDirs(ctx, asked)
	sizes := map[offsetmap.TopicPartition]int64{}
	all.Each(func(dir kadm.DescribedLogDir) {
		if dir.Err != nil {
			err = errors.Join(err, fmt.Errorf("a folder of broker %d: %w", dir.Broker, dir.Err))
		}
		dir.Topics.Each(func(p kadm.DescribedLogDirPartition) {
			if tp := (offsetmap.TopicPartition{Topic: p.Topic, Partition: p.Partition}); !p.IsFuture {
				sizes[tp] = max(sizes[tp], p.Size)
			}
		})
	})
	return fact(sizes, err)
}

// bySize reports whether the brokers delete by the size of a log.
func (s Settings) bySize() bool {
	rule, err := s.cleanup()
	return err == nil && rule.delete && rule.bytes >= 0
}

// growthMoments are those that sizeOf asks about.
func growthMoments(now time.Time, topic string, config Settings, wanted moments) {
	if moment, ok := before(now, growthOver.Milliseconds()); ok && config.bySize() {
		wanted.add(moment, topic)
	}
}

// sizeLeft is how long retention.bytes leaves the records from C on.
type sizeLeft struct {
	ends bool // they go at some time, as the log grows now
	left time.Duration
	text string
}

// sizeOf estimates how long retention.bytes leaves the records from C on: by the mean
// size of an offset on the disk, and by how many were written within growthOver or over
// the window, whichever was faster. Brokers delete a segment once the rest is as large as
// that (UnifiedLog.deleteRetentionSizeBreachedSegments), what is in remote storage
// included (RemoteLogManager.buildRetentionSizeData).
func (s *Surroundings) sizeOf(at place, limit int64) (sizeLeft, error) {
	sizes, ok := s.sizes.Get()
	if !ok {
		return sizeLeft{}, fmt.Errorf("how large the log is, is not known: %w", cmp.Or(s.sizes.Err(), errNoSize))
	}
	size, ok := sizes[at.TopicPartition]
	if !ok {
		return sizeLeft{}, errNoSize
	}
	start, err := s.onDisk(at)
	if err != nil {
		return sizeLeft{}, err
	}
	held, known := at.rng.End.Sub(start)
	unread, _ := at.rng.End.Sub(at.next)
	switch {
	case !known:
		return sizeLeft{}, errNotMeasured
	case held <= 0:
		return sizeLeft{}, errAllRemote
	}
	mean := float64(size) / float64(held)
	left := float64(limit) - mean*float64(unread)
	rate, err := s.growth(at)
	if err != nil {
		return sizeLeft{}, err
	}
	text := fmt.Sprintf("%s is %d, and the %d offsets from C = %s on take about %d bytes", keyRetentionBytes, limit, unread, at.next, int64(mean*float64(unread)))
	switch bytes := rate * mean; {
	case left <= 0:
		return sizeLeft{ends: true, text: text + ": they may go at any moment"}, nil
	case bytes <= 0:
		return sizeLeft{text: text + "; nothing was written in the last " + spell(growthOver.Milliseconds())}, nil
	default:
		text = fmt.Sprintf("%s; at %.0f offsets an hour, an estimate, the first of them go", text, rate*time.Hour.Seconds())
		seconds := max(1, left/bytes)
		if seconds > (100 * 365 * 24 * time.Hour).Seconds() { // longer than a Duration may hold
			return sizeLeft{text: text + " in more than a hundred years"}, nil
		}
		return sizeLeft{ends: true, left: time.Duration(seconds) * time.Second, text: text}, nil
	}
}

// growth is how many offsets a second the partition grows by.
func (s *Surroundings) growth(at place) (float64, error) {
	first, err := s.ages[s.growthSince].of(at.TopicPartition)
	if err != nil {
		return 0, err
	}
	written, _ := at.rng.End.Sub(first.Offset)
	rate := max(0, float64(written)/growthOver.Seconds())
	if m, ok := s.Movement.Get(); ok && m.Over > 0 {
		if moved, there := m.Source[at.TopicPartition]; there {
			n, _ := moved.To.Sub(moved.From)
			rate = max(rate, float64(n)/m.Over.Seconds())
		}
	}
	return rate, nil
}

var (
	errNoSize    = errors.New("no broker told how large it is")
	errAllRemote = errors.New("all its records are in remote storage, and no broker tells how large they are there")
)

// soon says what retention.bytes does to the records from C on within the span; empty
// where they outlive it.
func (l sizeLeft) soon(span time.Duration) string {
	if !l.ends || l.left > span {
		return ""
	}
	return l.text + l.within()
}

// within says when the records go, behind text.
func (l sizeLeft) within() string {
	if !l.ends || l.left == 0 {
		return ""
	}
	return " within " + spell(l.left.Milliseconds())
}
