package connectrest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// meanings are all sentinels that an answer can mean, so that a table row holds
// what it is and what it is not.
var meanings = []error{
	connectrest.ErrNotFound, connectrest.ErrNoStatus, connectrest.ErrExists, connectrest.ErrRebalance,
	connectrest.ErrStaleConfig, connectrest.ErrNotStopped, connectrest.ErrUnsupported, connectrest.ErrUnauthorized,
	connectrest.ErrForwarding, connectrest.ErrNotReady, connectrest.ErrUnreachable, connectrest.ErrNoAnswer,
	connectrest.ErrOutcomeUnknown, connectrest.ErrRejected, connectrest.ErrBadRequest, connectrest.ErrUnexpected,
	connectrest.ErrName, connectrest.ErrForbidden, connectrest.ErrTimedOut,
}

func checkMeanings(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, m := range meanings {
		wanted := false
		for _, w := range want {
			wanted = wanted || errors.Is(w, m)
		}
		if got := errors.Is(err, m); got != wanted {
			t.Errorf("errors.Is(err, %q) = %v, want %v\nerr: %v", m, got, wanted, err)
		}
	}
}

// The answers are those that real workers gave (status and text).
func TestAnswersOfReadsAreJudgedByStatusAndText(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply reply
		want  error
		sent  int // with a budget of one pause
	}{
		{"no such connector", refuse(404, "Connector mm2 not found"), connectrest.ErrNotFound, 1},
		{"another connector is missing", refuse(404, "Connector mm3 not found"), connectrest.ErrUnexpected, 1},
		{"no status yet", refuse(404, noStatus), connectrest.ErrNoStatus, 1},
		{"no such endpoint", refuse(404, "HTTP 404 Not Found"), connectrest.ErrUnsupported, 1},
		{"jetty before the resources are registered", status(404, jettyNotFound), connectrest.ErrNotReady, 2},
		{"a gateway's JSON 404", status(404, `{"error":"no route"}`), connectrest.ErrNotReady, 2},
		{"empty 404", status(404, ""), connectrest.ErrNotReady, 2},
		{"method not allowed", refuse(405, "HTTP 405 Method Not Allowed"), connectrest.ErrUnsupported, 1},
		{"unauthorized", status(401, "<html>Unauthorized</html>"), connectrest.ErrUnauthorized, 1},
		{"forbidden", status(403, ""), connectrest.ErrForbidden, 1},
		{"topic tracking off", refuse(403, "Topic tracking is disabled."), connectrest.ErrUnsupported, 1},
		{"rebalance", refuse(409, rebalance), connectrest.ErrRebalance, 2},
		{"no leader", refuse(409, "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."), connectrest.ErrRebalance, 2},
		{"rebalance, of a read", refuse(500, "Request cannot be completed because a rebalance is expected"), connectrest.ErrRebalance, 2},
		{"stale configuration", refuse(409, stale), connectrest.ErrStaleConfig, 2},
		{"conflict of unknown text", refuse(409, "Conflict"), connectrest.ErrUnexpected, 1},
		{"conflict that is not Connect's", status(409, "<html>already exists</html>"), connectrest.ErrUnexpected, 1},
		{"too many requests", status(429, ""), connectrest.ErrNotReady, 2},
		{"forwarding failed", refuse(500, forwarding), connectrest.ErrForwarding, 2},
		{"leader answered HTML", refuse(500, "IO Error trying to forward REST request: Unexpected character ('<' (code 60)): expected a valid value\n at [Source: (String)\"<html>\"; line: 1, column: 2]"), connectrest.ErrForwarding, 2},
		{"worker flushes for 90 s", refuse(500, "Request timed out. The worker is currently flushing updates to the status topic, which began at 2026-01-02T03:04:05Z"), connectrest.ErrTimedOut, 2},
		{"known partitions change", refuse(500, "Failed to retrieve offsets for source connector mm2"), connectrest.ErrNotReady, 2},
		{"500 of unknown text", refuse(500, "null"), connectrest.ErrUnexpected, 2},
		{"500 of a proxy", status(500, "<html>oops</html>"), connectrest.ErrUnexpected, 2},
		{"bad gateway", status(502, "<html>Bad Gateway</html>"), connectrest.ErrNotReady, 2},
		{"service unavailable", status(503, ""), connectrest.ErrNotReady, 2},
		{"gateway timeout", status(504, ""), connectrest.ErrNotReady, 2},
		{"a gateway's request timeout", status(408, ""), connectrest.ErrNotReady, 2},
		{"teapot", status(418, ""), connectrest.ErrUnexpected, 1},
		{"200 of a login page", status(200, "<html>sign in</html>"), connectrest.ErrUnexpected, 1},
		{"200 without the list", status(200, `{}`), connectrest.ErrUnexpected, 1},
		{"200 with null for the list", status(200, `{"offsets":null}`), connectrest.ErrUnexpected, 1},
		{"200 of another type", status(200, `{"offsets":{}}`), connectrest.ErrUnexpected, 1},
		{"200 followed by more", status(200, `{"offsets":[]}{"offsets":[]}`), connectrest.ErrUnexpected, 1},
		{"200 cut", cut(200, `{"offsets":[{"partition":{}`), connectrest.ErrNoAnswer, 2},
		{"200 empty", status(200, ""), connectrest.ErrNoAnswer, 2},
		{"connection broken", broken, connectrest.ErrNoAnswer, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on("GET /connectors/mm2/offsets", tt.reply).on("GET /", status(200, worker39))
			client := s.client(connectrest.WithRetry(connectrest.RetryPolicy{MinPause: 1, Budget: 1}))
			offsets, err := client.Offsets(t.Context(), "mm2")
			if err == nil {
				t.Fatalf("no error, offsets %v", offsets)
			}
			checkMeanings(t, err, tt.want)
			if got := s.sent("GET /connectors/mm2/offsets"); got != tt.sent {
				t.Errorf("sent %d times, want %d", got, tt.sent)
			}
		})
	}
}

func TestAnswersOfWritesAreJudgedByStatusAndText(t *testing.T) {
	unknown := connectrest.ErrOutcomeUnknown
	for _, tt := range []struct {
		name  string
		reply reply
		want  []error
		// sent with a budget of one pause. An unknown outcome is read back, which
		// fails here, so that nothing is sent again.
		sent int
	}{
		{"not stopped", refuse(400, mustBeStopped), []error{connectrest.ErrNotStopped}, 1},
		{"nothing given", refuse(400, "Partitions / offsets need to be provided for an alter offsets request"), []error{connectrest.ErrBadRequest}, 1},
		{"media type", refuse(415, "HTTP 415 Unsupported Media Type"), []error{connectrest.ErrBadRequest}, 1},
		{"ambiguous path refused by jetty", status(400, "<html>\n<head>\n<title>Error 400 Ambiguous URI path encoding</title>\n</head>\n<body></body></html>"), []error{connectrest.ErrBadRequest, connectrest.ErrName}, 1},
		{"backslash refused by jetty", status(400, "<html>\n<title>Error 400 Suspicious Path Character</title></html>"), []error{connectrest.ErrBadRequest, connectrest.ErrName}, 1},
		{"plain HTTP on a TLS port", status(400, "Client sent an HTTP request to an HTTPS server."), []error{connectrest.ErrBadRequest}, 1},
		{"negative offset", refuse(500, "Source offset {offset=-1} for source partition {cluster=source, partition=0, topic=orders} has an invalid value -1 for the 'offset' key, which cannot be negative"), []error{connectrest.ErrRejected}, 1},
		{"missing key", refuse(500, "Source partition {cluster=source, topic=orders} is missing the 'partition' key, which is required"), []error{connectrest.ErrRejected}, 1},
		{"null partition", refuse(500, "Source partitions may not be null"), []error{connectrest.ErrRejected}, 1},
		{"offset beyond 64 bits", refuse(500, "Offsets may only contain primitive types as values, but field offset contains class java.math.BigInteger"), []error{connectrest.ErrRejected}, 1},
		{"class cannot alter", refuse(500, "Failed to modify offsets for connector mm2 because it doesn't support external modification of offsets"), []error{connectrest.ErrUnsupported}, 1},
		{"unknown field", refuse(500, "Unrecognized field \"x\" (class org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets), not marked as ignorable (one known property: \"offsets\"])\n at [Source: (ByteArrayInputStream); line: 1, column: 8]"), []error{connectrest.ErrBadRequest}, 1},
		{"no body", refuse(500, `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets.offsets()" because "offsets" is null`), []error{connectrest.ErrBadRequest}, 1},
		{"some other null", refuse(500, `Cannot invoke "java.util.Map.get()" because "x" is null`), []error{unknown, connectrest.ErrUnexpected}, 1},
		{"no such connector", refuse(404, "Connector mm2 not found"), []error{connectrest.ErrNotFound}, 1},
		{"rebalance", refuse(409, rebalance), []error{connectrest.ErrRebalance}, 2},
		{"stale configuration", refuse(409, stale), []error{connectrest.ErrStaleConfig}, 2},
		{"conflict of unknown text", refuse(409, "Conflict"), []error{unknown, connectrest.ErrUnexpected}, 1},
		{"config topic not read", refuse(500, "Failed to read to end of config topic before modifying connector offsets"), []error{connectrest.ErrNotReady}, 2},
		{"jetty before the resources are registered", status(404, jettyNotFound), []error{connectrest.ErrNotReady}, 2},
		{"unauthorized", status(401, ""), []error{connectrest.ErrUnauthorized}, 1},
		{"target broker hung inside", refuse(500, timedOut), []error{unknown, connectrest.ErrTimedOut}, 1},
		{"plain time-out of old workers", refuse(500, "Request timed out"), []error{unknown, connectrest.ErrTimedOut}, 1},
		{"forwarding failed", refuse(500, forwarding), []error{unknown, connectrest.ErrForwarding}, 1},
		{"failed to modify", refuse(500, "Failed to modify offsets for source connector mm2"), []error{unknown, connectrest.ErrUnexpected}, 1},
		{"bad gateway", status(502, "<html>Bad Gateway</html>"), []error{unknown, connectrest.ErrNotReady}, 1},
		{"service unavailable", status(503, ""), []error{unknown, connectrest.ErrNotReady}, 1},
		{"500 of a proxy", status(500, "<html>oops</html>"), []error{unknown, connectrest.ErrUnexpected}, 1},
		{"connection broken", broken, []error{unknown, connectrest.ErrNoAnswer}, 1},
		{"answer cut", cut(200, `{"mess`), []error{unknown, connectrest.ErrNoAnswer}, 1},
		{"see other", status(303, ""), []error{unknown, connectrest.ErrUnexpected}, 1},
		{"moved", status(301, ""), []error{connectrest.ErrUnexpected}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).
				on("PATCH /connectors/mm2/offsets", tt.reply).
				on("GET /connectors/mm2/offsets", refuse(401, "read-back is not allowed")).
				on("GET /", status(200, worker39))
			client := s.client(connectrest.WithRetry(connectrest.RetryPolicy{MinPause: 1, Budget: 1}))
			err := client.AlterOffsets(t.Context(), "mm2", []connectrest.Offset{{Partition: raw(`{"a":1}`), Offset: raw(`{"b":2}`)}})
			if err == nil {
				t.Fatal("no error")
			}
			want := tt.want
			if errors.Is(errors.Join(want...), unknown) {
				want = append([]error{connectrest.ErrUnauthorized}, want...) // of the read-back
			}
			checkMeanings(t, err, want...)
			if got := s.sent("PATCH /connectors/mm2/offsets"); got != tt.sent {
				t.Errorf("sent %d times, want %d", got, tt.sent)
			}
		})
	}
}

func TestWebPageIsToldByItsTitle(t *testing.T) {
	s := newScript(t).on("GET /connectors", status(403, "<!doctype html>\n<html><head><TITLE>\n Sign in &amp; go on </TITLE></head><body>"+strings.Repeat("x", 9999)+"</body>"))
	_, err := s.client().Connectors(t.Context())
	if e, ok := errors.AsType[*connectrest.Error](err); !ok || e.Message != "Sign in & go on" {
		t.Errorf("got %v", err)
	}
}

func TestAnswerAboutAnotherConnectorSaysSo(t *testing.T) {
	s := newScript(t).on("DELETE /connectors/mm2", refuse(404, "Connector mm not found"))
	err := s.client().Delete(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnexpected)
	if !strings.Contains(err.Error(), "about another name") {
		t.Errorf("got %v", err)
	}
}

func TestErrorNamesRequestAndAnswer(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2", refuse(404, "Connector mm2 not found"))
	_, err := s.client().Connector(t.Context(), "mm2")
	e, ok := errors.AsType[*connectrest.Error](err)
	if !ok {
		t.Fatalf("%T is no *Error", err)
	}
	if e.Method != http.MethodGet || e.URL != s.URL+"/connectors/mm2" || e.StatusCode != http.StatusNotFound || e.Code != http.StatusNotFound ||
		e.Message != "Connector mm2 not found" || e.Attempts != 1 {
		t.Errorf("got %+v", *e)
	}
	if want := "not found: GET " + s.URL + "/connectors/mm2: status 404: Connector mm2 not found"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
