package connectrest_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// burdened makes a worker take longer the larger a body is, and more than in
// proportion, as one does whose heap fills up: 1,000 partitions take it 0.4 s,
// 100,000 more than an hour. It gives a request up after 90 s, and in vain: nothing
// of it is stored.
func burdened(c *clock) func(_ int, apply func(), w http.ResponseWriter, r *http.Request) bool {
	return func(_ int, apply func(), w http.ResponseWriter, r *http.Request) bool {
		kilobytes := float64(r.ContentLength) / 1024
		takes := time.Duration(kilobytes * kilobytes * float64(time.Second) / 25_000)
		if takes > 90*time.Second {
			c.pass(90 * time.Second)
			refuse(500, timedOut)(w, r)
			return true
		}
		c.pass(takes)
		apply()
		status(200, `{"message":"ok"}`)(w, r)
		return true
	}
}

// longRead makes a read of very many partitions take a worker's time too.
func longRead(c *clock) func(http.ResponseWriter, *http.Request) bool {
	return func(http.ResponseWriter, *http.Request) bool {
		c.pass(5 * time.Second)
		return false
	}
}

// pass lets time pass without anybody sleeping.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fieldList is 2,000 topics of 50 partitions.
func fieldList() []connectrest.Offset {
	list := make([]connectrest.Offset, 0, 100_000)
	for t := range 2000 {
		for p := range 50 {
			list = append(list, connectrest.Offset{
				Partition: fmt.Appendf(nil, `{"cluster":"source","topic":"region.orders-%04d","partition":%d}`, t, p),
				Offset:    fmt.Appendf(nil, `{"offset":%d}`, 1_000_000+t*50+p),
			})
		}
	}
	return list
}

func TestPC18VeryManyPartitionsAreWrittenInParts(t *testing.T) {
	list := fieldList()
	patiently := connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: time.Minute}) // of its first read, which the race detector slows, by the real clock
	t.Run("one request is given up", func(t *testing.T) {
		s, c := newStoringWorker(t), newClock()
		s.patch, s.get = burdened(c), longRead(c)
		err := dial(t, s.URL, c, patiently).AlterOffsets(t.Context(), "mm2", list)
		if !errors.Is(err, connectrest.ErrTimedOut) || !errors.Is(err, connectrest.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("parts of the default size take two minutes of the worker's time", func(t *testing.T) {
		s, c := newStoringWorker(t), newClock()
		s.patch = burdened(c)
		start, reports := c.Now(), 0
		err := dial(t, s.URL, c).AlterOffsetsInParts(t.Context(), "mm2", list, connectrest.WithPartsProgress(func(connectrest.PartsProgress) { reports++ }))
		if err == nil {
			err = s.is(list)
		}
		if took := c.Now().Sub(start); err != nil || took > 2*time.Minute || reports != 100 {
			t.Errorf("%v, after %v and %d reports", err, took, reports)
		}
	})
	t.Run("part 7 of 20 fails", func(t *testing.T) {
		s, c := newStoringWorker(t), newClock()
		healthy, down := burdened(c), true
		s.get = longRead(c)
		s.patch = func(n int, apply func(), w http.ResponseWriter, r *http.Request) bool {
			if n >= 7 && down {
				c.pass(90 * time.Second)
				refuse(500, timedOut)(w, r)
				return true
			}
			return healthy(n, apply, w, r)
		}
		client := dial(t, s.URL, c, patiently)
		err := client.AlterOffsetsInParts(t.Context(), "mm2", list, connectrest.WithPartSize(5000, 1<<20))
		e, ok := errors.AsType[*connectrest.PartsError](err)
		if !ok || !errors.Is(err, connectrest.ErrTimedOut) || e.Failed != 7 || states(e) != [3]int{6, 1, 13} {
			t.Fatalf("got %v", err)
		}
		for _, says := range []string{
			`part 7 of 20 (5000 partitions, region.orders-0600-0 to region.orders-0699-49)`,
			"written: parts 1 to 6 (30000 partitions)", "unknown: part 7 (5000 partitions)", "not written: parts 8 to 20 (65000 partitions)",
		} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("it does not say %q: %v", says, err)
			}
		}
		if err := s.is(list[:30_000]); err != nil {
			t.Errorf("what is said to be written, and no more, is stored: %v", err)
		}
		down, s.log = false, nil
		if err := client.ContinueOffsets(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if err := s.is(list); err != nil {
			t.Error(err)
		}
		patches := 0
		for _, r := range s.log {
			if strings.HasPrefix(r, "PATCH") {
				patches++
			}
		}
		if patches != 14 || s.log[0] != "GET" {
			t.Errorf("%d parts were sent to go on, want 14; first %s, want GET", patches, s.log[0])
		}
	})
}
