package connectrest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// What a call does after its answer was lost, in every way in which it can be.
func TestLostAnswersAreReadBackBeforeAnythingIsSentAgain(t *testing.T) {
	unknown, noAnswer := connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer
	one := []connectrest.Offset{{Partition: raw(`{"p":1}`), Offset: raw(`{"o":9007199254740993}`)}}
	alter := func(ctx context.Context, c *connectrest.Client) error { return c.AlterOffsets(ctx, "mm2", one) }
	reset := func(ctx context.Context, c *connectrest.Client) error { return c.ResetOffsets(ctx, "mm2") }
	stop := func(ctx context.Context, c *connectrest.Client) error { return c.Stop(ctx, "mm2") }
	resume := func(ctx context.Context, c *connectrest.Client) error { return c.Resume(ctx, "mm2") }
	del := func(ctx context.Context, c *connectrest.Client) error { return c.Delete(ctx, "mm2") }
	topics := func(ctx context.Context, c *connectrest.Client) error { return c.ResetActiveTopics(ctx, "mm2") }
	const (
		patchOffsets  = "PATCH /connectors/mm2/offsets"
		deleteOffsets = "DELETE /connectors/mm2/offsets"
		putStop       = "PUT /connectors/mm2/stop"
		putResume     = "PUT /connectors/mm2/resume"
		deleteIt      = "DELETE /connectors/mm2"
		putTopics     = "PUT /connectors/mm2/topics/reset"
		getOffsets    = "GET /connectors/mm2/offsets"
		getStatus     = "GET /connectors/mm2/status"
		getIt         = "GET /connectors/mm2"
		getTopics     = "GET /connectors/mm2/topics"

		none     = `{"offsets":[]}`
		as       = `{"offsets":[{"partition":{"x":1},"offset":{"o":1}},{"offset":{"o":9007199254740993},"partition":{"p":1}}]}`
		rounded  = `{"offsets":[{"partition":{"p":1},"offset":{"o":9007199254740992}}]}`
		stillOne = `{"offsets":[{"partition":{"p":1},"offset":{"o":1}}]}`
	)
	concurrent := refuse(500, "Failed to retrieve offsets for source connector mm2")
	for _, tt := range []struct {
		name   string
		call   func(context.Context, *connectrest.Client) error
		write  string
		writes []reply
		read   string
		reads  []reply
		sent   int
		want   []error // nil for success
	}{
		{"alter: done", alter, patchOffsets, []reply{broken}, getOffsets, []reply{status(200, as)}, 1, nil},
		{"alter: done, answer cut", alter, patchOffsets, []reply{cut(200, `{"message`)}, getOffsets, []reply{status(200, as)}, 1, nil},
		{"alter: done, read short and refused first", alter, patchOffsets, []reply{refuse(500, timedOut)}, getOffsets, []reply{concurrent, status(200, none), concurrent, status(200, as)}, 1, nil},
		{"alter: not done, sent again", alter, patchOffsets, []reply{broken, status(200, `{"message":"ok"}`)}, getOffsets, []reply{status(200, none)}, 2, nil},
		{"alter: another number stands there", alter, patchOffsets, []reply{broken}, getOffsets, []reply{status(200, rounded)}, 2, []error{unknown, noAnswer}},
		{"alter: done only after the second", alter, patchOffsets, []reply{broken, broken}, getOffsets, append(many(40, status(200, none)), status(200, as)), 2, nil},
		{"alter: never shown", alter, patchOffsets, []reply{broken}, getOffsets, []reply{status(200, none)}, 2, []error{unknown, noAnswer}},
		{"alter: never readable, so never again", alter, patchOffsets, []reply{broken}, getOffsets, []reply{concurrent}, 1, []error{unknown, noAnswer}},
		{"alter: forbidden to read, so never again", alter, patchOffsets, []reply{refuse(500, forwarding)}, getOffsets, []reply{status(403, "")}, 1, []error{unknown, connectrest.ErrForwarding, connectrest.ErrForbidden}},
		{"alter: refused the second time", alter, patchOffsets, []reply{broken, refuse(400, mustBeStopped)}, getOffsets, []reply{status(200, none)}, 2, []error{unknown, noAnswer, connectrest.ErrNotStopped}},
		{"alter: a conflict before the loss is no write", alter, patchOffsets, []reply{refuse(409, stale), broken, refuse(409, stale), status(200, `{"message":"ok"}`)}, getOffsets, []reply{status(200, none)}, 4, nil},

		{"reset: done", reset, deleteOffsets, []reply{broken}, getOffsets, []reply{status(200, none)}, 1, nil},
		{"reset: empty once is no proof", reset, deleteOffsets, []reply{broken, status(200, `{"message":"ok"}`)}, getOffsets, []reply{status(200, none), status(200, stillOne)}, 2, nil},
		{"reset: failed on known partitions", reset, deleteOffsets, []reply{refuse(500, "Failed to modify offsets for source connector mm2"), status(200, `{"message":"ok"}`)}, getOffsets, []reply{status(200, stillOne)}, 2, nil},

		{"stop: done", stop, putStop, []reply{broken}, getStatus, []reply{status(200, running), refuse(404, noStatus), status(200, stoppedOne)}, 1, nil},
		{"stop: not done, sent again", stop, putStop, []reply{broken, status(204, "")}, getStatus, []reply{status(200, running)}, 2, nil},
		{"stop: forwarding failed, sent again", stop, putStop, []reply{refuse(500, forwarding), status(204, "")}, getStatus, []reply{status(200, running)}, 2, nil},
		{"stop: lost twice", stop, putStop, []reply{broken}, getStatus, []reply{status(200, running)}, 2, []error{unknown, noAnswer}},

		{"resume: done", resume, putResume, []reply{broken}, getStatus, []reply{status(200, stopped), status(200, runningNoTask)}, 1, nil},
		{"resume: not shown, never again", resume, putResume, []reply{broken}, getStatus, []reply{status(200, stopped)}, 1, []error{unknown, noAnswer}},
		{"resume: a PAUSED one has its tasks before it too", resume, putResume, []reply{broken}, getStatus, []reply{status(200, pausedOne)}, 1, []error{unknown, noAnswer}},
		{"resume: tasks that still end are no start", resume, putResume, []reply{broken}, getStatus, []reply{status(200, stoppedOne)}, 1, []error{unknown, noAnswer}},
		{"resume: a restart is no start", resume, putResume, []reply{broken}, getStatus, []reply{status(200, strings.Replace(stopped, "STOPPED", "RESTARTING", 1))}, 1, []error{unknown, noAnswer}},
		{"resume: done, and failed at once", resume, putResume, []reply{broken}, getStatus, []reply{status(200, strings.Replace(stopped, "STOPPED", "FAILED", 1))}, 1, nil},
		{"resume: not readable, never again", resume, putResume, []reply{status(502, "")}, getStatus, []reply{status(401, "")}, 1, []error{unknown, connectrest.ErrNotReady, connectrest.ErrUnauthorized}},
		{"resume: rebalance, never again", resume, putResume, []reply{refuse(409, rebalance)}, getStatus, nil, 1, []error{connectrest.ErrRebalance}},
		{"resume: stale, never again", resume, putResume, []reply{refuse(409, stale)}, getStatus, nil, 1, []error{connectrest.ErrStaleConfig}},
		{"resume: starting worker, never again", resume, putResume, []reply{status(404, jettyNotFound)}, getStatus, nil, 1, []error{connectrest.ErrNotReady}},
		{"resume: unknown connector", resume, putResume, []reply{refuse(404, "Unknown connector mm2")}, getStatus, nil, 1, []error{connectrest.ErrNotFound}},

		{"delete: done", del, deleteIt, []reply{broken}, getIt, []reply{status(200, created), refuse(404, absent)}, 1, nil},
		{"delete: done after it was read", del, deleteIt, []reply{broken, refuse(404, absent)}, getIt, []reply{status(200, created)}, 2, nil},
		{"delete: was not there", del, deleteIt, []reply{refuse(404, absent)}, getIt, nil, 1, []error{connectrest.ErrNotFound}},
		{"delete: a starting worker's 404 is no absence", del, deleteIt, []reply{broken}, getIt, []reply{status(404, jettyNotFound)}, 1, []error{unknown, noAnswer}},
		{"delete: lost twice", del, deleteIt, []reply{broken}, getIt, []reply{status(200, created)}, 2, []error{unknown, noAnswer}},

		{"topics: done", topics, putTopics, []reply{broken}, getTopics, []reply{status(200, `{"mm2":{"topics":[]}}`)}, 1, nil},
		{"topics: not done, sent again", topics, putTopics, []reply{broken, status(202, "")}, getTopics, []reply{status(200, `{"mm2":{"topics":["a"]}}`)}, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on(tt.write, tt.writes...).on(tt.read, tt.reads...)
			err := tt.call(t.Context(), s.client())
			if tt.want == nil {
				if err != nil {
					t.Errorf("got %v", err)
				}
			} else {
				checkMeanings(t, err, tt.want...)
			}
			if n := s.sent(tt.write); n != tt.sent {
				t.Errorf("%s was sent %d times, want %d", tt.write, n, tt.sent)
			}
			// No two writes of unknown outcome without a read between them.
			unread := 0
			for i, r := range s.all() {
				switch {
				case r != tt.write:
					unread = 0
				case strings.HasPrefix(tt.name, "alter: a conflict") && i != 1:
					// The conflicts did nothing.
				default:
					unread++
				}
				if unread > 1 {
					t.Fatalf("two blind writes: %v", s.all())
				}
			}
		})
	}
}

// A worker shows none of its offsets while it reads them, or few, for seconds.
func TestOffsetsThatAreNotReadYetAreNoResetThatWasDone(t *testing.T) {
	c := newClock()
	start := c.Now()
	s := newScript(t).on("DELETE /connectors/mm2/offsets", broken, status(200, `{"message":"ok"}`)).
		on("GET /connectors/mm2/offsets", func(w http.ResponseWriter, r *http.Request) {
			list := `{"offsets":[]}`
			if c.Now().Sub(start) > 8*time.Second {
				list = `{"offsets":[{"partition":{"p":1},"offset":{"o":1}}]}`
			}
			status(200, list)(w, r)
		})
	if err := s.client(connectrest.WithClock(c)).ResetOffsets(t.Context(), "mm2"); err != nil {
		t.Errorf("got %v", err)
	}
	if n := s.sent("DELETE /connectors/mm2/offsets"); n != 2 {
		t.Errorf("it was sent %d times, want 2", n)
	}
}

// A page to sign in at, and whatever else is no worker's, comes with a 200 too.
func TestAnswerThatIsNotAWorkersIsNoWriteThatWasDone(t *testing.T) {
	one := []connectrest.Offset{{Partition: raw(`{"p":1}`), Offset: raw(`{"o":1}`)}}
	page := status(200, "<html>sign in</html>")
	for _, tt := range []struct {
		name        string
		call        func(context.Context, *connectrest.Client) error
		write, read string
		is          reply // what is read back: it was not done
		answers     []reply
	}{
		{"stop", func(ctx context.Context, c *connectrest.Client) error { return c.Stop(ctx, "mm2") }, "PUT /connectors/mm2/stop", "GET /connectors/mm2/status", status(200, running), []reply{page, status(204, "")}},
		{"pause", func(ctx context.Context, c *connectrest.Client) error { return c.Pause(ctx, "mm2") }, "PUT /connectors/mm2/pause", "GET /connectors/mm2/status", status(200, running), []reply{page, status(202, "")}},
		{"resume", func(ctx context.Context, c *connectrest.Client) error { return c.Resume(ctx, "mm2") }, "PUT /connectors/mm2/resume", "GET /connectors/mm2/status", status(200, stopped), []reply{page}},
		{"delete", func(ctx context.Context, c *connectrest.Client) error { return c.Delete(ctx, "mm2") }, "DELETE /connectors/mm2", "GET /connectors/mm2", status(200, created), []reply{page, status(204, "")}},
		{"restart", func(ctx context.Context, c *connectrest.Client) error { return c.RestartTask(ctx, "mm2", 0) }, "POST /connectors/mm2/tasks/0/restart", "", nil, []reply{page}},
		{"topics", func(ctx context.Context, c *connectrest.Client) error { return c.ResetActiveTopics(ctx, "mm2") }, "PUT /connectors/mm2/topics/reset", "GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":["a"]}}`), []reply{page, status(202, "")}},
		{"alter", func(ctx context.Context, c *connectrest.Client) error { return c.AlterOffsets(ctx, "mm2", one) }, "PATCH /connectors/mm2/offsets", "GET /connectors/mm2/offsets", status(200, `{"offsets":[]}`), []reply{page, status(200, `{"message":"ok"}`)}},
		{"alter, without a word", func(ctx context.Context, c *connectrest.Client) error { return c.AlterOffsets(ctx, "mm2", one) }, "PATCH /connectors/mm2/offsets", "GET /connectors/mm2/offsets", status(200, `{"offsets":[]}`), []reply{status(200, `{}`), status(200, `{"message":"ok"}`)}},
		{"reset", func(ctx context.Context, c *connectrest.Client) error { return c.ResetOffsets(ctx, "mm2") }, "DELETE /connectors/mm2/offsets", "GET /connectors/mm2/offsets", status(200, `{"offsets":[{"partition":{"p":1},"offset":{"o":1}}]}`), []reply{page, status(200, `{"message":"ok"}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on(tt.write, tt.answers...)
			if tt.is != nil {
				s.on(tt.read, tt.is)
			}
			err := tt.call(t.Context(), s.client())
			if len(tt.answers) == 1 {
				checkMeanings(t, err, connectrest.ErrOutcomeUnknown, connectrest.ErrUnexpected)
			} else if err != nil {
				t.Errorf("got %v", err)
			}
			if n := s.sent(tt.write); n != len(tt.answers) {
				t.Errorf("it was sent %d times, want %d", n, len(tt.answers))
			}
			if all := s.all(); tt.is != nil && (len(all) < 2 || all[1] != tt.read) {
				t.Errorf("it was not read back: %v", all)
			}
		})
	}
}

func TestPolicyWithoutRetriesReadsALostWriteBackAndSendsNothingMore(t *testing.T) {
	none := connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1})
	s := newScript(t).on("PUT /connectors/mm2/stop", broken).on("GET /connectors/mm2/status", status(200, running))
	checkMeanings(t, s.client(none).Stop(t.Context(), "mm2"), connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer)
	if n := s.sent("PUT /connectors/mm2/stop"); n != 1 || s.sent("GET /connectors/mm2/status") == 0 {
		t.Errorf("sent %v", s.all())
	}
}

func many(n int, r reply) []reply {
	list := make([]reply, n)
	for i := range list {
		list[i] = r
	}
	return list
}

func TestUnknownOutcomeSaysBothFailures(t *testing.T) {
	s := newScript(t).on("PUT /connectors/mm2/resume", broken).on("GET /connectors/mm2/status", status(200, stopped))
	err := s.client(connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: 3 * time.Second})).Resume(t.Context(), "mm2")
	for _, want := range []string{"outcome unknown", "/resume", "read back", "the state is STOPPED"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if e, ok := errors.AsType[*connectrest.Error](err); !ok || e.Attempts != 1 {
		t.Errorf("got %v", err)
	}
}

// A caller's deadline is often shorter than the read-back. Spent on it whole, it
// left a write that never came to be unsent, and the other worker unasked.
func TestReadBackLeavesTimeForTheWriteThatMustBeSentAgain(t *testing.T) {
	const patch, get = "PATCH /connectors/mm2/offsets", "GET /connectors/mm2/offsets"
	one := []connectrest.Offset{{Partition: raw(`{"p":1}`), Offset: raw(`{"o":1}`)}}
	for _, tt := range []struct {
		name      string
		deadline  time.Duration // 0 for none
		less, tot time.Duration // bounds of all pauses before the second write
	}{
		{"no deadline", 0, 30 * time.Second, 31 * time.Second},
		{"a far one", time.Hour, 30 * time.Second, 31 * time.Second},
		{"a near one", 20 * time.Second, 5 * time.Second, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := newScript(t).on(patch, refuse(500, forwarding)).on(get, status(200, `{"offsets":[]}`))
			good := newScript(t).on(patch, status(200, `{"message":"ok"}`)).on(get, status(200, `{"offsets":[]}`))
			clock := newClock()
			client, err := connectrest.NewCluster([]string{bad.URL, good.URL}, connectrest.WithClock(clock))
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			ctx := t.Context()
			if tt.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			if err := client.AlterOffsets(ctx, "mm2", one); err != nil {
				t.Error(err)
			}
			if bad.sent(patch) != 1 || good.sent(patch) != 1 {
				t.Errorf("sent %d and %d times, want once each", bad.sent(patch), good.sent(patch))
			}
			var paused time.Duration
			for _, d := range clock.slept() {
				paused += d
			}
			if paused < tt.less || paused > tt.tot {
				t.Errorf("the write was sent again after %v, want %v to %v", paused, tt.less, tt.tot)
			}
		})
	}
}
