package proof

import (
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// sessions counts the fetch sessions that are opened on a cluster, and the
// partitions that one of them has.
type sessions struct {
	mu         sync.Mutex
	opened     int
	partitions int
}

func (s *sessions) note(req *kmsg.FetchRequest) {
	if req.SessionEpoch != 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	n := 0
	for _, t := range req.Topics {
		n += len(t.Partitions)
	}
	s.partitions = max(s.partitions, n)
}

// All partitions of a cluster are read over one fetch session a broker, also
// while their target or source is held back.
func TestAllPartitionsAreReadOverOneFetchSession(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topics, each, n = 4, 50, 30
	var parts []Partition
	for i := range topics {
		topic := fmt.Sprintf("orders-%d", i)
		c.topic(topic, each, nil)
		for p := range int32(each) {
			rs := records(topic, p, 0, n)
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs...)...)
			parts = append(parts, c.from(topic, p, 0, n, 0))
		}
	}
	var source, target sessions
	for cluster, s := range map[*brokers]*sessions{c.source: &source, c.target: &target} {
		cluster.ControlKey(kmsg.Fetch.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			s.note(req.(*kmsg.FetchRequest))
			return nil, nil, false
		})
	}
	if r := mustRun(t, c.proof(parts...)); r.Outcome != Proven || r.Total.Copied != topics*each*n {
		t.Fatalf("%s, %+v", r.Outcome, r.Total)
	}
	for name, s := range map[string]*sessions{"source": &source, "target": &target} {
		if s.opened != 1 || s.partitions == 0 {
			t.Errorf("%s: %d fetch sessions, the largest with %d partitions; want one", name, s.opened, s.partitions)
		}
	}
}
