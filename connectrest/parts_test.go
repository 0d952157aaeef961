package connectrest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// storingWorker keeps offsets as a worker does, and can be made to fail.
type storingWorker struct {
	*httptest.Server
	mu      sync.Mutex
	stored  map[string]connectrest.Offset
	log     []string // "PATCH first partition" and "GET", in order
	sizes   []int64  // of the bodies
	entries []int
	// patch is asked before the n-th PATCH, counted from 1, whether it answers by
	// itself: apply stores the entries.
	patch func(n int, apply func(), w http.ResponseWriter, r *http.Request) bool
	get   func(w http.ResponseWriter, r *http.Request) bool
}

func newStoringWorker(t *testing.T) *storingWorker {
	w := &storingWorker{stored: map[string]connectrest.Offset{}}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (s *storingWorker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "GET /connectors/mm2/offsets":
		s.log = append(s.log, "GET")
		if s.get != nil && s.get(w, r) {
			return
		}
		body, comma := []byte(`{"offsets":[`), ""
		for _, o := range s.stored {
			body = fmt.Appendf(body, `%s{"partition":%s,"offset":%s}`, comma, o.Partition, o.Offset)
			comma = ","
		}
		_, _ = w.Write(append(body, "]}"...))
	case "PATCH /connectors/mm2/offsets":
		var body connectrest.OffsetsBody
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			panic(err)
		}
		s.log = append(s.log, "PATCH "+string(body.Offsets[0].Partition))
		s.sizes, s.entries = append(s.sizes, r.ContentLength), append(s.entries, len(body.Offsets))
		apply := func() {
			for _, o := range body.Offsets {
				if o.IsNull() {
					delete(s.stored, string(o.Partition))
				} else {
					s.stored[string(o.Partition)] = o
				}
			}
		}
		if s.patch != nil && s.patch(len(s.sizes), apply, w, r) {
			return
		}
		apply()
		status(200, `{"message":"ok"}`)(w, r)
	default:
		refuse(404, "HTTP 404 Not Found")(w, r)
	}
}

func (s *storingWorker) is(offsets []connectrest.Offset) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []connectrest.Offset
	for _, o := range s.stored {
		all = append(all, o)
	}
	return connectrest.DiffOffsets(offsets, all)
}

// listOf has n entries; every seventh is a deletion.
func listOf(n int) []connectrest.Offset {
	list := make([]connectrest.Offset, n)
	for i := range list {
		list[i] = connectrest.Offset{Partition: raw(fmt.Sprintf(`{"p":%d}`, i)), Offset: raw(fmt.Sprintf(`{"offset":%d}`, i))}
		if i%7 == 3 {
			list[i] = list[i].Clear()
		}
	}
	return list
}

func TestPartsStayWithinBothBounds(t *testing.T) {
	list := listOf(1000)
	for _, tt := range []struct{ entries, bytes, parts int }{
		{1000, 1 << 20, 1}, {999, 1 << 20, 2}, {50, 1 << 20, 20}, {1, 1 << 20, 1000}, {1000, 2000, 24}, {30, 2000, 34},
	} {
		s := newStoringWorker(t)
		c := dial(t, s.URL, newClock())
		var seen []connectrest.PartsProgress
		err := c.AlterOffsetsInParts(t.Context(), "mm2", list, connectrest.WithPartSize(tt.entries, tt.bytes),
			connectrest.WithPartsProgress(func(p connectrest.PartsProgress) { seen = append(seen, p) }))
		if err == nil {
			err = s.is(list)
		}
		if err != nil || len(s.sizes) != tt.parts || s.log[len(s.log)-1] != "GET" || len(s.log) != tt.parts+1 {
			t.Errorf("%+v: %d parts, %v", tt, len(s.sizes), err)
		}
		total := 0
		for i := range s.sizes {
			if s.sizes[i] > int64(tt.bytes) || s.entries[i] > tt.entries {
				t.Errorf("%+v: part %d has %d entries and %d bytes", tt, i+1, s.entries[i], s.sizes[i])
			}
			total += s.entries[i]
			p := seen[i]
			if p.Part.Number != i+1 || p.Part.Of != tt.parts || len(p.Part.Offsets) != s.entries[i] || p.Written != total || p.Total != len(list) || p.Part.State != connectrest.PartWritten {
				t.Errorf("%+v: progress %d is %v, %d of %d", tt, i+1, p.Part, p.Written, p.Total)
			}
		}
		if total != len(list) || len(seen) != tt.parts {
			t.Errorf("%+v: %d entries in %d reports", tt, total, len(seen))
		}
	}
}

// What cannot be written at all is known before the first part is.
func TestPartsAreRefusedBeforeTheFirstIsSent(t *testing.T) {
	list := listOf(100)
	twice, unset := slices.Clone(list), slices.Clone(list)
	twice[99].Partition = list[0].Partition
	unset[99].Offset = nil
	for name, tt := range map[string]struct {
		list []connectrest.Offset
		opt  connectrest.PartsOption
		says string
	}{
		"same partition in two parts":      {twice, connectrest.WithPartSize(10, 1<<20), `entry 99: partition stands twice: {"p":0}`},
		"an offset is not set":             {unset, connectrest.WithPartSize(10, 1<<20), "entry 99"},
		"an entry is larger than any part": {list, connectrest.WithPartSize(10, 50), `entry 0, {"p":0}: it takes a body of 57 bytes, a part is to have 50 at most`},
		"no partitions in a part":          {list, connectrest.WithPartSize(0, 1), "both must be positive"},
		"nothing":                          {nil, connectrest.WithPartSize(1, 1000), "nothing to alter"},
		"progress goes nowhere":            {list, connectrest.WithPartsProgress(nil), "is nil"},
		"no time for the read-back":        {list, connectrest.WithPartsReadBack(0), "must be positive"},
	} {
		s := newStoringWorker(t)
		err := dial(t, s.URL, newClock()).AlterOffsetsInParts(t.Context(), "mm2", tt.list, tt.opt)
		if !errors.Is(err, connectrest.ErrBadRequest) || !strings.Contains(err.Error(), tt.says) || len(s.log) != 0 {
			t.Errorf("%s: got %v after %v", name, err, s.log)
		}
	}
}

// states counts the parts of each state.
func states(e *connectrest.PartsError) (n [3]int) {
	for i, s := range []connectrest.PartState{connectrest.PartWritten, connectrest.PartUnknown, connectrest.PartNotWritten} {
		n[i] = len(e.In(s))
	}
	return n
}

func TestPartThatFailsSaysHowFarEachCameAndIsGoneOnFrom(t *testing.T) {
	list := listOf(100) // 20 parts of 5; the 7th begins with {"p":30}
	const seventh = `PATCH {"p":30}`
	lost := func(apply func()) {
		if apply != nil {
			apply()
		}
		panic(http.ErrAbortHandler)
	}
	for name, tt := range map[string]struct {
		fail   func(n int, apply func(), w http.ResponseWriter, r *http.Request) bool
		get    func(w http.ResponseWriter, r *http.Request) bool
		is     error // nil for success
		states [3]int
		says   []string
		again  []string // what is sent first by ContinueOffsets
	}{
		"refused": {
			fail: func(n int, _ func(), w http.ResponseWriter, r *http.Request) bool {
				if n == 7 {
					refuse(400, mustBeStopped)(w, r)
				}
				return n == 7
			},
			is: connectrest.ErrNotStopped, states: [3]int{6, 0, 14},
			says: []string{
				`part 7 of 20 (5 partitions, {"p":30} to {"p":34}): connector is not stopped`,
				"; written: parts 1 to 6 (30 partitions); not written: parts 7 to 20 (70 partitions)",
			},
			again: []string{seventh},
		},
		"its answer is lost, and it is stored": {
			fail: func(n int, apply func(), _ http.ResponseWriter, _ *http.Request) bool {
				if n == 7 {
					lost(apply)
				}
				return false
			},
		},
		"its request is lost once": {
			fail: func(n int, _ func(), _ http.ResponseWriter, _ *http.Request) bool {
				if n == 7 {
					lost(nil)
				}
				return false
			},
		},
		"its answer is lost, and nothing can be read": {
			fail: func(n int, apply func(), _ http.ResponseWriter, _ *http.Request) bool {
				if n == 7 {
					lost(apply)
				}
				return false
			},
			get: func(w http.ResponseWriter, r *http.Request) bool {
				refuse(500, "Failed to retrieve offsets")(w, r)
				return true
			},
			is: connectrest.ErrOutcomeUnknown, states: [3]int{6, 1, 13},
			says:  []string{"; written: parts 1 to 6 (30 partitions); unknown: part 7 (5 partitions); not written: parts 8 to 20 (65 partitions)"},
			again: []string{"GET", `PATCH {"p":35}`}, // it is seen, and not sent again
		},
		"the worker gives it up after 90 s, twice": {
			fail: func(n int, _ func(), w http.ResponseWriter, r *http.Request) bool {
				if n == 7 || n == 8 {
					refuse(500, timedOut)(w, r)
				}
				return n == 7 || n == 8
			},
			is: connectrest.ErrTimedOut, states: [3]int{6, 1, 13},
			says:  []string{"outcome unknown", "unknown: part 7 (5 partitions)", "smaller parts, WithPartSize"},
			again: []string{"GET", "GET", seventh},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStoringWorker(t)
			s.patch, s.get = tt.fail, tt.get
			size := connectrest.WithPartSize(5, 1<<20)
			client := dial(t, s.URL, newClock(), connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: 100 * time.Millisecond}))
			err := client.AlterOffsetsInParts(t.Context(), "mm2", list, size)
			if tt.is == nil {
				if err == nil {
					err = s.is(list)
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			e, ok := errors.AsType[*connectrest.PartsError](err)
			if !ok || !errors.Is(err, tt.is) || e.Failed != 7 || states(e) != tt.states {
				t.Fatalf("got %v", err)
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("it does not say %q: %v", says, err)
				}
			}
			s.patch, s.get, s.log = nil, nil, nil
			var last connectrest.PartsProgress
			if err := client.ContinueOffsets(t.Context(), e, connectrest.WithPartsProgress(func(p connectrest.PartsProgress) { last = p })); err != nil {
				t.Fatal(err)
			}
			if err := s.is(list); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.again, s.log[:len(tt.again)]); diff != "" {
				t.Errorf("sent first (-want +got):\n%s", diff)
			}
			for _, sent := range s.log {
				if strings.HasPrefix(sent, "PATCH") && slices.Contains([]string{`PATCH {"p":0}`, `PATCH {"p":25}`}, sent) {
					t.Errorf("a part that was written was sent again: %v", s.log)
				}
			}
			if last.Written != 100 || last.Part.Number != 20 || states(e) != tt.states {
				t.Errorf("the last report is %v, %d written; the first error now has %v", last.Part, last.Written, states(e))
			}
		})
	}
}

// A worker said of each part that it is stored, and then does not show it all.
func TestReadBackOfPartsNamesThoseThatAreNotSeen(t *testing.T) {
	list := listOf(20)
	s := newStoringWorker(t)
	s.patch = func(n int, apply func(), w http.ResponseWriter, r *http.Request) bool {
		if n == 3 {
			status(200, `{"message":"ok"}`)(w, r)
		}
		return n == 3
	}
	client := dial(t, s.URL, newClock(), connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: time.Second}))
	size := connectrest.WithPartSize(5, 1<<20)
	err := client.AlterOffsetsInParts(t.Context(), "mm2", list, size)
	e, ok := errors.AsType[*connectrest.PartsError](err)
	if !ok || !errors.Is(err, connectrest.ErrReadBack) || e.Failed != 0 || states(e) != [3]int{3, 1, 0} || e.Parts[2].State != connectrest.PartUnknown {
		t.Fatalf("got %v", err)
	}
	for _, says := range []string{"all of it was sent, in 4 parts: ", `{"p":11} is null, want {"offset":11}`, "; written: parts 1 to 2, 4 (15 partitions); unknown: part 3 (5 partitions)"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	if err := client.AlterOffsetsInParts(t.Context(), "mm2", list, size, connectrest.WithoutPartsReadBack()); err != nil {
		t.Error(err)
	}
	s.log = nil
	if err := client.ContinueOffsets(t.Context(), e); err != nil || !cmp.Equal(s.log, []string{"GET", "GET"}) {
		t.Errorf("got %v after %v: want it seen, and everything read back", err, s.log)
	}
}

// What is written in one request is told without a word of parts, and however many
// partitions it has, a few are named.
func TestErrorOfTheOnlyPartNamesAFewPartitions(t *testing.T) {
	const orders = `{"cluster":"source","topic":"orders","partition":%d}`
	list := make([]connectrest.Offset, 100)
	for i := range list {
		list[i] = connectrest.Offset{Partition: raw(fmt.Sprintf(orders, i)), Offset: raw(`{"offset":7}`)}
	}
	sink := connectrest.Offset{Partition: raw(`{"kafka_topic":"orders","kafka_partition":0}`), Offset: raw(`{"kafka_offset":7}`)}
	for name, tt := range map[string]struct {
		list []connectrest.Offset
		lose bool // the write, although it is acknowledged
		says string
	}{
		"one":             {list[:1], false, `offsets of connector "mm2": orders-0: connector is not stopped: `},
		"all are named":   {list[:3], false, `offsets of connector "mm2": orders-0, orders-1, orders-2: connector is not stopped: `},
		"a few are named": {list, false, `offsets of connector "mm2": orders-0, orders-1, orders-2 and 97 more: connector is not stopped: `},
		"of a sink":       {[]connectrest.Offset{sink}, false, `offsets of connector "mm2": {"kafka_topic":"orders","kafka_partition":0}: connector is not stopped: `},
		"not read back":   {list, true, `offsets of connector "mm2": orders-0, orders-1, orders-2 and 97 more: sent: offsets read back are not as expected: `},
	} {
		s := newStoringWorker(t)
		s.patch = func(_ int, _ func(), w http.ResponseWriter, r *http.Request) bool {
			if tt.lose {
				status(200, `{"message":"ok"}`)(w, r)
			} else {
				refuse(400, mustBeStopped)(w, r)
			}
			return true
		}
		client := dial(t, s.URL, newClock(), connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: time.Second}))
		err := client.AlterOffsetsInParts(t.Context(), "mm2", tt.list)
		if err == nil || !strings.HasPrefix(err.Error(), tt.says) || strings.Contains(strings.SplitN(err.Error(), "://", 2)[0], "part ") {
			t.Errorf("%s: got %v\nwant %s...", name, err, tt.says)
		}
	}
}

func TestPartsEndWithTheContextBetweenTwo(t *testing.T) {
	list := listOf(20)
	s := newStoringWorker(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := dial(t, s.URL, newClock()).AlterOffsetsInParts(ctx, "mm2", list, connectrest.WithPartSize(5, 1<<20),
		connectrest.WithPartsProgress(func(p connectrest.PartsProgress) {
			if p.Part.Number == 2 {
				cancel()
			}
		}))
	e, ok := errors.AsType[*connectrest.PartsError](err)
	if !ok || !errors.Is(err, context.Canceled) || errors.Is(err, connectrest.ErrOutcomeUnknown) || states(e) != [3]int{2, 0, 2} {
		t.Errorf("got %v", err)
	}
}

// A part that is refused for a moment is sent again whole.
func TestPartIsSentWholeAgainAfterARebalance(t *testing.T) {
	list := listOf(10)
	s := newStoringWorker(t)
	s.patch = func(n int, _ func(), w http.ResponseWriter, r *http.Request) bool {
		if n == 2 {
			refuse(409, rebalance)(w, r)
		}
		return n == 2
	}
	err := dial(t, s.URL, newClock()).AlterOffsetsInParts(t.Context(), "mm2", list, connectrest.WithPartSize(5, 1<<20))
	if err == nil {
		err = s.is(list)
	}
	if err != nil || !cmp.Equal(s.entries, []int{5, 5, 5}) || s.sizes[1] != s.sizes[2] {
		t.Errorf("%v, sent %v of %v bytes", err, s.entries, s.sizes)
	}
}
