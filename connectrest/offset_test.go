package connectrest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

func TestOffsetsKeepEveryDigit(t *testing.T) {
	const body = `{"offsets":[{"partition":{"cluster":"source","partition":0,"topic":"orders"},"offset":{"offset":9007199254740993}},` +
		`{"partition":{"server":"db1"},"offset":{"lsn":9223372036854775807,"snapshot":false,"f":1.50,"s":"\u0041"}},` +
		`{"partition":{"cluster":"source","partition":1,"topic":"orders"},"offset":null}]}`
	s := newScript(t).on("GET /connectors/mm2/offsets", status(200, body)).on("PATCH /connectors/mm2/offsets", status(200, `{"message":"ok"}`))
	c := s.client()
	got, err := c.Offsets(t.Context(), "mm2")
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Offset) != `{"offset":9007199254740993}` || string(got[1].Offset) != `{"lsn":9223372036854775807,"snapshot":false,"f":1.50,"s":"\u0041"}` || !got[2].IsNull() || got[1].IsNull() {
		t.Errorf("got %s", got)
	}
	if err := c.AlterOffsets(t.Context(), "mm2", got); err != nil {
		t.Fatal(err)
	}
	if sent := s.body("PATCH /connectors/mm2/offsets"); sent != body {
		t.Errorf("sent %s\nwant %s", sent, body)
	}
}

// For a worker an entry without the member is a deletion, so a forgotten value
// must never become one, and a deletion is always written out.
func TestDeletionIsExplicitAndAForgottenOffsetIsRefused(t *testing.T) {
	s := newScript(t).on("PATCH /connectors/mm2/offsets", status(200, `{"message":"ok"}`))
	o := connectrest.Offset{Partition: raw(`{"p":1}`), Offset: raw(`{"o":1}`)}
	if err := s.client().AlterOffsets(t.Context(), "mm2", []connectrest.Offset{o.Clear()}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.body("PATCH /connectors/mm2/offsets"), `{"offsets":[{"partition":{"p":1},"offset":null}]}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	for _, zero := range []connectrest.Offset{{}, {Partition: raw(`{}`)}} {
		b, err := json.Marshal(zero)
		if err != nil || !strings.Contains(string(b), `"offset":null`) {
			t.Errorf("the zero offset is written as %s, %v", b, err)
		}
	}
}

func TestOffsetsThatCannotBeWrittenAreRefusedBeforeAnyRequest(t *testing.T) {
	ok := connectrest.Offset{Partition: raw(`{"topic":"a","n":1}`), Offset: raw(`{"o":1}`)}
	for name, offsets := range map[string][]connectrest.Offset{
		"nothing":                    nil,
		"no partition":               {{Offset: raw(`{}`)}},
		"null partition":             {{Partition: raw(`null`), Offset: raw(`{}`)}},
		"partition is a list":        {{Partition: raw(`[1]`), Offset: raw(`{}`)}},
		"partition is broken":        {{Partition: raw(`{"a"`), Offset: raw(`{}`)}},
		"partition has more":         {{Partition: raw(`{}{}`), Offset: raw(`{}`)}},
		"partition repeats a key":    {{Partition: raw(`{"a":1,"a":2}`), Offset: raw(`{}`)}},
		"offset not set":             {ok, {Partition: raw(`{"b":1}`)}},
		"offset is a number":         {{Partition: raw(`{}`), Offset: raw(`5`)}},
		"offset is text":             {{Partition: raw(`{}`), Offset: raw(`"null"`)}},
		"offset repeats a key":       {{Partition: raw(`{}`), Offset: raw(`{"offset":1,"offset":2}`)}},
		"same partition twice":       {ok, ok},
		"same partition, other keys": {ok, {Partition: raw(`{ "n":1, "topic":"\u0061" }`), Offset: raw(`null`)}},
	} {
		s := newScript(t)
		err := s.client().AlterOffsets(t.Context(), "mm2", offsets)
		if !errors.Is(err, connectrest.ErrBadRequest) || len(s.all()) != 0 {
			t.Errorf("%s: got %v after %v", name, err, s.all())
		}
		if strings.HasPrefix(name, "same") && !errors.Is(err, connectrest.ErrDuplicatePartition) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestDiffOffsets(t *testing.T) {
	set := func(s string) []connectrest.Offset {
		var offsets []connectrest.Offset
		if err := json.Unmarshal([]byte(s), &offsets); err != nil {
			t.Fatal(err)
		}
		return offsets
	}
	const a1 = `{"partition":{"t":"a","p":0},"offset":{"o":1}}`
	for _, tt := range []struct{ want, got, says string }{
		{`[]`, `[]`, ""},
		{`[` + a1 + `]`, `[{"offset":{"o":1},"partition":{"p":0,"t":"a"}}]`, ""},
		{`[{"partition":{"t":"a"},"offset":null}]`, `[]`, ""},
		{`[]`, `[{"partition":{"t":"a"},"offset":null}]`, ""},
		{`[` + a1 + `]`, `[]`, `is missing, want {"o":1}`},
		{`[` + a1 + `]`, `[{"partition":{"t":"a","p":0},"offset":null}]`, `is missing, want {"o":1}`},
		{`[` + a1 + `]`, `[{"partition":{"t":"a","p":0},"offset":{"o":2}}]`, `is {"o":2}, want {"o":1}`},
		{`[` + a1 + `]`, `[{"partition":{"t":"a","p":0},"offset":{"o":1.0}}]`, `is {"o":1.0}, want {"o":1}`},
		{`[]`, `[` + a1 + `]`, `is {"o":1}, want none`},
		{`[{"partition":{"t":"a","p":0},"offset":null}]`, `[` + a1 + `]`, `is {"o":1}, want none`},
		{`[` + a1 + `]`, `[` + a1 + `,{"partition":{"t":"a","p":"0"},"offset":{"o":1}}]`, `{"p":"0","t":"a"} is {"o":1}, want none`},
		{`[]`, `[` + a1 + `,` + a1 + `]`, "stored offsets: entry 1: partition stands twice"},
		{`[` + a1 + `,` + a1 + `]`, `[]`, "wanted offsets: entry 1: partition stands twice"},
	} {
		err := connectrest.DiffOffsets(set(tt.want), set(tt.got))
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("want %s, got %s: %v, should say %q", tt.want, tt.got, err, tt.says)
		}
	}
	var many []connectrest.Offset
	for i := range 8 {
		many = append(many, connectrest.Offset{Partition: raw(fmt.Sprintf(`{"p":%d}`, i)), Offset: raw(`{"o":1}`)})
	}
	want := `partitions that differ: 8: {"p":0} is missing, want {"o":1}, {"p":1} is missing, want {"o":1}, {"p":2} is missing, want {"o":1}, {"p":3} is missing, want {"o":1}, {"p":4} is missing, want {"o":1}, and 3 more`
	if err := connectrest.DiffOffsets(many, nil); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A worker that has just stored many offsets answers 500, then a part, then all.
func TestReadBackGoesOnUntilEverythingIsThere(t *testing.T) {
	const all, part = `{"offsets":[{"partition":{"p":1},"offset":{"o":1}},{"partition":{"p":2},"offset":{"o":2}}]}`, `{"offsets":[{"partition":{"p":2},"offset":{"o":2}}]}`
	want := []connectrest.Offset{{Partition: raw(`{"p":2}`), Offset: raw(`{"o":2}`)}, {Partition: raw(`{"p":1}`), Offset: raw(`{"o":1}`)}}
	equal := func(got []connectrest.Offset) error { return connectrest.DiffOffsets(want, got) }
	concurrent := refuse(500, "Failed to retrieve offsets for source connector mm2")

	t.Run("in the end", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", concurrent, status(200, part), broken, concurrent, status(200, part), status(200, all))
		got, err := s.client().AwaitOffsets(t.Context(), "mm2", equal, time.Minute)
		if err != nil || len(got) != 2 {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("never", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, part))
		got, err := s.client().AwaitOffsets(t.Context(), "mm2", equal, 10*time.Second)
		e, ok := errors.AsType[*connectrest.ReadBackError](err)
		if !ok || !errors.Is(err, connectrest.ErrReadBack) || errors.Is(err, context.DeadlineExceeded) || e.Reads < 10 || len(got) != 1 {
			t.Fatalf("got %s, %v", got, err)
		}
		if !strings.Contains(err.Error(), `{"p":1} is missing, want {"o":1}`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no complete answer", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", concurrent)
		got, err := s.client().AwaitOffsets(t.Context(), "mm2", equal, 10*time.Second)
		if e, ok := errors.AsType[*connectrest.ReadBackError](err); !ok || e.Reads != 0 || got != nil || !strings.Contains(err.Error(), "Failed to retrieve offsets") {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("no time at all is one read", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, part))
		if _, err := s.client().AwaitOffsets(t.Context(), "mm2", equal, 0); !errors.Is(err, connectrest.ErrReadBack) || len(s.all()) != 1 {
			t.Errorf("got %v after %v", err, s.all())
		}
	})
	t.Run("what waiting cannot mend", func(t *testing.T) {
		for _, r := range []reply{status(401, ""), refuse(404, absent), status(200, `{}`)} {
			s := newScript(t).on("GET /connectors/mm2/offsets", status(200, part), r)
			got, err := s.client().AwaitOffsets(t.Context(), "mm2", equal, time.Hour)
			if err == nil || errors.Is(err, connectrest.ErrReadBack) || len(s.all()) != 2 || len(got) != 1 {
				t.Errorf("got %v after %v", err, s.all())
			}
		}
	})
	t.Run("the caller's context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, part))
		c := newClock()
		c.during = cancel
		_, err := dial(t, s.URL, c).AwaitOffsets(ctx, "mm2", equal, time.Hour)
		if !errors.Is(err, connectrest.ErrReadBack) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("got %v", err)
		}
	})
}

func TestStableOffsetsAreTwoEqualAnswersApart(t *testing.T) {
	const none, one, two = `{"offsets":[]}`, `{"offsets":[{"partition":{"p":1},"offset":{"o":1}}]}`, `{"offsets":[{"partition":{"p":1},"offset":{"o":2}}]}`
	t.Run("a late answer shows what was hidden", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, none), status(200, one), refuse(409, stale), status(200, two), status(200, two))
		c := newClock()
		start := c.Now()
		got, err := dial(t, s.URL, c).AwaitStableOffsets(t.Context(), "mm2", 5*time.Second, time.Minute)
		if err != nil || string(got[0].Offset) != `{"o":2}` {
			t.Errorf("got %s, %v", got, err)
		}
		if waited := c.Now().Sub(start); waited < 15*time.Second {
			t.Errorf("waited %v, want 5 s before each of three answers", waited)
		}
	})
	t.Run("empty twice is empty", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, none))
		got, err := s.client().AwaitStableOffsets(t.Context(), "mm2", time.Second, time.Minute)
		if err != nil || got == nil || len(got) != 0 || len(s.all()) != 2 {
			t.Errorf("got %v, %v after %v", got, err, s.all())
		}
	})
	t.Run("never still", func(t *testing.T) {
		var i int
		s := newScript(t).on("GET /connectors/mm2/offsets", func(w http.ResponseWriter, r *http.Request) {
			i++
			status(200, fmt.Sprintf(`{"offsets":[{"partition":{"p":1},"offset":{"o":%d}}]}`, i))(w, r)
		})
		_, err := s.client().AwaitStableOffsets(t.Context(), "mm2", time.Second, 10*time.Second)
		if !errors.Is(err, connectrest.ErrReadBack) || !strings.Contains(err.Error(), "they still change") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no time for two", func(t *testing.T) {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, none))
		_, err := s.client().AwaitStableOffsets(t.Context(), "mm2", time.Minute, 10*time.Second)
		if !errors.Is(err, connectrest.ErrReadBack) || !strings.Contains(err.Error(), "only one answer") {
			t.Errorf("got %v", err)
		}
	})
}

// manyOffsets is the answer for n partitions.
func manyOffsets(n int) string {
	var b strings.Builder
	b.WriteString(`{"offsets":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"partition":{"cluster":"source","partition":%d,"topic":"orders"},"offset":{"offset":%d}}`, i, 9007199254740993+int64(i))
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestLargeListOfOffsets(t *testing.T) {
	const n = 100_000
	s := newScript(t).on("GET /connectors/mm2/offsets", status(200, manyOffsets(n)))
	got, err := s.client().Offsets(t.Context(), "mm2")
	if err != nil || len(got) != n {
		t.Fatalf("%d offsets, %v", len(got), err)
	}
	m, err := connectrest.MirrorSourceOffsets("source", got)
	if err != nil || len(m.Stored) != n || len(m.Foreign) != 0 {
		t.Fatalf("%d stored, %d foreign, %v", len(m.Stored), len(m.Foreign), err)
	}
	last := got[n-1]
	if diff := cmp.Diff(fmt.Sprintf(`{"offset":%d}`, int64(9007199254740993+n-1)), string(last.Offset)); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkOffsets(b *testing.B) {
	const n = 100_000
	body := manyOffsets(n)
	client, err := connectrest.New("http://w", connectrest.WithTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	})))
	if err != nil {
		b.Fatal(err)
	}
	offsets, err := client.Offsets(b.Context(), "mm2")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := client.Offsets(b.Context(), "mm2"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mirror", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := connectrest.MirrorSourceOffsets("source", offsets); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("diff", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := connectrest.DiffOffsets(offsets, offsets); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// PATCH is refused while a task is left, although the state says STOPPED.
func TestAlterAfterAwaitStopped(t *testing.T) {
	s := newScript(t).
		on("GET /connectors/mm2/status", refuse(404, noStatus), status(200, stoppedOne), status(200, stoppedOne), status(200, stopped)).
		on("GET /connectors/mm2", status(200, withTask), status(200, withTask), status(200, withTask), status(200, withTask), status(200, created)).
		on("PATCH /connectors/mm2/offsets", status(200, `{"message":"ok"}`))
	c := s.client()
	got, err := c.AwaitStopped(t.Context(), "mm2")
	if err != nil || got.Connector.State != connectrest.StateStopped || len(got.Tasks) != 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := s.sent("GET /connectors/mm2/status"); n != 5 {
		t.Errorf("read %d times, want 5: the configured task must be gone too", n)
	}
	if err := c.AlterOffsets(t.Context(), "mm2", []connectrest.Offset{{Partition: raw(`{}`), Offset: raw(`null`)}}); err != nil {
		t.Error(err)
	}
}

func TestAwaitStoppedNamesWhatIsLeft(t *testing.T) {
	for name, tt := range map[string]struct{ status, info, says string }{
		"a task":                {stoppedOne, created, "state STOPPED and task 0 RUNNING on w:8083"},
		"a configured task":     {stopped, withTask, "state STOPPED and task 0 configured"},
		"paused is not stopped": {`{"name":"mm2","connector":{"state":"PAUSED","worker_id":"w"},"tasks":[],"type":"source"}`, created, "state PAUSED and no task"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newScript(t).on("GET /connectors/mm2/status", status(200, tt.status)).on("GET /connectors/mm2", status(200, tt.info))
		c := newClock()
		c.during = func() {
			if len(c.slept()) == 3 {
				cancel()
			}
		}
		got, err := dial(t, s.URL, c).AwaitStopped(ctx, "mm2")
		e, ok := errors.AsType[*connectrest.NotStoppedError](err)
		if !ok || !errors.Is(err, connectrest.ErrNotStopped) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), tt.says) || e.State != got.Connector.State {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAwaitStoppedEndsAtOnceOnWhatWaitingCannotMend(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2/status", refuse(404, noStatus)).on("GET /connectors/mm2", refuse(404, absent))
	_, err := s.client().AwaitStopped(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrNotFound)
	s = newScript(t).on("GET /connectors/mm2/status", status(401, ""))
	_, err = s.client().AwaitStopped(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnauthorized)
}
