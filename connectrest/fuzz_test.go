package connectrest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// answering returns a client that gets the one answer to everything, without a
// network.
func answering(t *testing.T, code int, body string) *connectrest.Client {
	return dial(t, "http://u:fuzz-password@w:8083", newClock(),
		connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1, ReadBack: 1}),
		connectrest.WithTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: code, Header: http.Header{"Location": {body}}, Request: r,
				Body: io.NopCloser(strings.NewReader(body)),
			}, nil
		})))
}

// Whatever refuses a request: a connector is missing or exists only by the
// worker's own words, a write that may have been done is never called refused,
// and no secret comes out.
func FuzzErrorBodies(f *testing.F) {
	for _, message := range []string{
		absent, noStatus, stale, rebalance, mustBeStopped, timedOut, forwarding, "Connector mm2 already exists",
		"HTTP 404 Not Found", "Source offset {offset=-1} for source partition {}", "", "null", "Unknown connector mm2",
		"Authorization: Basic dTpmdXp6LXBhc3N3b3Jk", "http://u:fuzz-password@w:8083/",
	} {
		b, err := json.Marshal(connectrest.ErrorBody{Code: 409, Message: message})
		if err != nil {
			f.Fatal(err)
		}
		for _, code := range []int{302, 400, 404, 409, 500, 503} {
			f.Add(code, string(b))
			f.Add(code, message)
		}
	}
	f.Add(404, jettyNotFound)
	f.Add(404, `{"error_code":404}`)
	f.Add(404, `{"error_code":"404","message":"Connector mm2 not found"}`)
	f.Fuzz(func(t *testing.T, code int, body string) {
		if code < 200 || code > 599 || code/100 == 2 {
			return
		}
		c := answering(t, code, body)
		err := c.Stop(t.Context(), "mm2")
		if err == nil {
			t.Fatal("a refusal succeeded")
		}
		var parsed connectrest.ErrorBody
		isConnect := json.Unmarshal([]byte(body), &parsed) == nil
		if errors.Is(err, connectrest.ErrNotFound) && (code != 404 || !isConnect || parsed.Message != absent && parsed.Message != "Unknown connector mm2") {
			t.Errorf("%d %q is taken for a missing connector", code, body)
		}
		if errors.Is(err, connectrest.ErrExists) && (code != 409 || !isConnect || !strings.Contains(parsed.Message, "already exists")) {
			t.Errorf("%d %q is taken for an existing name", code, body)
		}
		if code >= 500 && !isConnect && !errors.Is(err, connectrest.ErrOutcomeUnknown) {
			t.Errorf("%d %q is taken for a write that was not done", code, body)
		}
		e, ok := errors.AsType[*connectrest.Error](err)
		if !ok || e.StatusCode != code && code/100 != 3 || len(e.Message) > 5<<10 {
			t.Errorf("got %+v", e)
		}
		if strings.Contains(err.Error(), "fuzz-password") || strings.Contains(err.Error(), "dTpmdXp6LXBhc3N3b3Jk") {
			t.Errorf("the password comes out: %v", err)
		}
	})
}

func FuzzStatus(f *testing.F) {
	for _, s := range []string{stopped, stoppedOne, running, `{}`, `null`, `{"name":"mm2","connector":{"state":"X"},"tasks":null}`, stopped + stopped, stopped[:20]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, err := answering(t, 200, body).Status(t.Context(), "mm2")
		if err == nil && (s.Name != "mm2" || s.Connector.State == "") {
			t.Errorf("%q was read as %+v", body, s)
		}
		if err != nil && !errors.Is(err, connectrest.ErrUnexpected) && !errors.Is(err, connectrest.ErrNoAnswer) {
			t.Errorf("%q: %v", body, err)
		}
	})
}

// What is read must be written as it was, whatever the connector.
func FuzzOffsets(f *testing.F) {
	for _, s := range []string{
		`{"offsets":[]}`, `{"offsets":null}`, `{}`, `[]`,
		`{"offsets":[{"partition":{"a":1},"offset":{"b":9007199254740993}}]}`,
		`{"offsets":[{"partition":{"a":1.0},"offset":null},{"partition":{"a":1}}]}`,
		`{"offsets":[{"partition":{"a":"\u2028<>&"},"offset":{"b":1e400}}]}`,
		`{"offsets":[{"partition":null,"offset":5}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		offsets, err := answering(t, 200, body).Offsets(t.Context(), "mm2")
		if err != nil {
			return
		}
		b, err := json.Marshal(connectrest.OffsetsBody{Offsets: offsets})
		if err != nil {
			t.Fatalf("%q cannot be written: %v", body, err)
		}
		again, err := answering(t, 200, string(b)).Offsets(t.Context(), "mm2")
		if err != nil || len(again) != len(offsets) {
			t.Fatalf("%q was written as %q: %v", body, b, err)
		}
		diff := connectrest.DiffOffsets(offsets, again)
		if diff != nil && connectrest.DiffOffsets(offsets, offsets) == nil {
			t.Errorf("%q was written as %q: %v", body, b, diff)
		}
	})
}

func FuzzVersion(f *testing.F) {
	for _, s := range []string{"3.9.2", "3.7.0.redhat-00007", "4.0.0-SNAPSHOT", "7.6.1-ccs", "9.9.9-ccs", "", "3", "3.", "3.9.2 ", "3.9.2\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := connectrest.ParseVersion(s)
		if v.Known() != (err == nil) {
			t.Fatalf("%q: known %v, error %v", s, v.Known(), err)
		}
		b, err := v.MarshalText()
		if err != nil || string(b) != s {
			t.Errorf("%q is written as %q, %v", s, b, err)
		}
		if v.AtLeast(3, 7) && v.Compare(connectrest.KafkaVersion(3, 7)) < 0 {
			t.Errorf("%q is at least 3.7 and orders before it", s)
		}
	})
}

// Every entry is stored, foreign or without an offset; none is both or lost.
func FuzzMirrorSourceOffsets(f *testing.F) {
	for _, s := range [][2]string{
		{`{"cluster":"source","partition":0,"topic":"orders"}`, `{"offset":1}`},
		{`{"cluster":"source","partition":-0,"topic":"orders"}`, `{"offset":-0}`},
		{`{"cluster":"source","cluster":"x","partition":0,"topic":"orders"}`, `{"offset":1,"offset":2}`},
		{`{"cluster":"other","partition":0,"topic":"orders"}`, `null`},
		{`{}`, `{}`},
		{`null`, `5`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, partition, offset string) {
		o := connectrest.Offset{Partition: raw(partition), Offset: raw(offset)}
		got, err := connectrest.MirrorSourceOffsets("source", []connectrest.Offset{o})
		if err != nil {
			if json.Valid(o.Partition) && json.Valid(o.Offset) {
				t.Errorf("%s %s: %v", partition, offset, err)
			}
			return
		}
		want := 1
		if o.IsNull() {
			want = 0
		}
		if len(got.Stored)+len(got.Foreign) != want {
			t.Fatalf("%s %s: got %v", partition, offset, got)
		}
		for tp, m := range got.Stored {
			if err := tp.Validate(); err != nil || m.IsNone() {
				t.Errorf("%s %s is read as %v at %v", partition, offset, tp, m)
			}
		}
	})
}
