package connectrest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// What a worker always writes and an answer lacks would read as nothing stored.
func TestEntryThatLacksAMemberIsNoAnswer(t *testing.T) {
	for _, list := range []string{`[null]`, `[{}]`, `[{"partition":{"p":1}}]`, `[{"offset":{"o":1}}]`, `[{"partition":{"p":1},"offset":null},{"partition":{"p":2}}]`} {
		s := newScript(t).on("GET /connectors/mm2/offsets", status(200, `{"offsets":`+list+`}`))
		got, err := dial(t, s.URL, newClock()).Offsets(t.Context(), "mm2")
		checkMeanings(t, err, connectrest.ErrUnexpected)
		if got != nil || !strings.Contains(err.Error(), "lacks its partition or its offset") {
			t.Errorf("%s: got %v, %v", list, got, err)
		}
	}
}

// bytes.TrimSpace takes more for white space than JSON does, and the body would be
// no JSON.
func TestWhiteSpaceThatJSONHasNotIsNoNull(t *testing.T) {
	s := newScript(t) // which expects nothing
	c := dial(t, s.URL, newClock())
	for _, offset := range []string{"\u00a0null", "null\v", "\u2028null"} {
		o := connectrest.Offset{Partition: raw(`{"p":1}`), Offset: raw(offset)}
		if o.IsNull() {
			t.Errorf("%q is null", offset)
		}
		checkMeanings(t, c.AlterOffsets(t.Context(), "mm2", []connectrest.Offset{o}), connectrest.ErrBadRequest)
	}
}

// An error ends in logs and reports, and what is stored is of anybody's making.
func TestErrorsShowLittleOfALargeEntry(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	wide := connectrest.Offset{Partition: raw(`{"p":"` + large + `"}`), Offset: raw(`{"o":1}`)}
	deep := connectrest.Offset{Partition: raw(`{"p":1}`), Offset: raw(`{"o":"` + large + `"}`)}
	little := connectrest.Offset{Partition: raw(`{"p":1}`), Offset: raw(`{"o":1}`)}
	list := func(o ...connectrest.Offset) []connectrest.Offset { return o }
	_, mirror := connectrest.MirrorSourceOffsets("a", list(wide, wide))
	for name, err := range map[string]error{
		"stored":  connectrest.DiffOffsets(list(little), list(deep)),
		"wanted":  connectrest.DiffOffsets(list(deep), list(little)),
		"foreign": connectrest.DiffOffsets(nil, list(wide)),
		"missing": connectrest.DiffOffsets(list(wide), nil),
		"twice":   connectrest.DiffOffsets(list(wide, wide), nil),
		"mirror":  mirror,
		"part":    dial(t, "http://host", newClock()).AlterOffsetsInParts(t.Context(), "mm2", list(wide)),
	} {
		if err == nil || len(err.Error()) > 2048 {
			t.Errorf("%s: %d bytes", name, len(fmt.Sprint(err)))
		}
	}
}

// Each of the unknown parts would be waited for as long as all of them.
func TestUnknownPartsAreReadBackTogether(t *testing.T) {
	s := newStoringWorker(t)
	s.patch = func(n int, apply func(), w http.ResponseWriter, r *http.Request) bool {
		if n > 20 {
			return false
		}
		if n == 7 {
			apply() // late, as is seen when the work goes on
		}
		status(200, `{"message":"ok"}`)(w, r)
		return true
	}
	clock := newClock()
	c := dial(t, s.URL, clock, connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: 10 * time.Second}))
	err := c.AlterOffsetsInParts(t.Context(), "mm2", listOf(100), connectrest.WithPartSize(5, 1<<20))
	failed, ok := errors.AsType[*connectrest.PartsError](err)
	if !ok || len(failed.In(connectrest.PartUnknown)) != 19 {
		t.Fatalf("got %v", err)
	}
	start := clock.Now()
	if err := c.ContinueOffsets(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	if took := clock.Now().Sub(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(s.sizes) != 20+19 {
		t.Errorf("%d parts were sent, want the 20 and the 19 that were not seen", len(s.sizes))
	}
}

// Which of two entries counts is not for this package to say.
func TestPartOfWhichAPartitionStandsTwiceIsNotSeen(t *testing.T) {
	s := newStoringWorker(t)
	s.get = func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, `{"offsets":[{"partition":{"p":0},"offset":{"offset":0}},{"partition":{"p":0},"offset":{"offset":9}},{"partition":{"p":1},"offset":{"offset":1}}]}`)
		return true
	}
	c := dial(t, s.URL, newClock(), connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: time.Second}))
	err := c.AlterOffsetsInParts(t.Context(), "mm2", listOf(2), connectrest.WithPartSize(1, 1<<20))
	e, ok := errors.AsType[*connectrest.PartsError](err)
	if !ok || !errors.Is(err, connectrest.ErrDuplicatePartition) || e.Parts[0].State != connectrest.PartUnknown || e.Parts[1].State != connectrest.PartWritten {
		t.Errorf("got %v", err)
	}
}
