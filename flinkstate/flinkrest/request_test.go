package flinkrest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// answering is a server that gives one answer after the other, the last one for
// ever.
func answering(t *testing.T, answers ...http.HandlerFunc) *httptest.Server {
	t.Helper()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := answers[min(n, len(answers)-1)]
		n++
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

const noJobs = `{"jobs":[]}`

func TestWhatAnAnswerMeans(t *testing.T) {
	const trace = `\n\tat org.apache.flink.runtime.rest.handler.AbstractHandler.respondAsLeader(AbstractHandler.java:188)`
	for name, tc := range map[string]struct {
		status   int
		body     string
		want     error
		attempts int
		text     string
	}{
		"leader election":      {503, `{"errors":["Service temporarily unavailable due to an ongoing leader election. Please refresh."]}`, ErrNotReady, 4, "leader election. Please refresh. (after 4 attempts)"},
		"gateway":              {502, `<html>bad gateway</html>`, ErrNotReady, 4, "<html>bad gateway</html>"},
		"internal error":       {500, `{"errors":["Internal server error.","<Exception on server side:` + trace + `"]}`, ErrUnexpected, 3, "Internal server error. <Exception on server side: (after 3 attempts)"},
		"credentials":          {401, "", ErrUnauthorized, 1, "status 401"},
		"another server":       {404, "<html>nginx</html>", ErrUnexpected, 1, "is the base URL that of Flink's REST API"},
		"a history server":     {404, `{"errors":["File not found."]}`, ErrUnexpected, 1, "is the base URL that of Flink's REST API"},
		"another page":         {200, "<html>grafana</html>", ErrUnexpected, 1, "is not the JSON of this call"},
		"another API":          {200, `{"version":"4.0.0"}`, ErrUnexpected, 1, `it has no "jobs"`},
		"more than one value":  {200, noJobs + noJobs, ErrUnexpected, 1, "more follows the JSON value"},
		"cut":                  {200, `{"jobs":[`, ErrNoAnswer, 4, "unexpected EOF"},
		"empty":                {200, ``, ErrNoAnswer, 4, "unexpected EOF"},
		"no id":                {200, `{"jobs":[{"name":"a","state":"RUNNING"}]}`, ErrJobID, 1, `job 0: "jid": not a job id: ""`},
		"an id that is a path": {200, `{"jobs":[{"jid":"../../config","name":"a","state":"RUNNING"}]}`, ErrJobID, 1, "want 32 hex digits"},
		"no state":             {200, `{"jobs":[{"jid":"` + otherID + `","name":"a"}]}`, ErrUnexpected, 1, "has no state"},
		"a job twice":          {200, `{"jobs":[{"jid":"` + otherID + `","state":"RUNNING"},{"jid":"` + otherID + `","state":"FINISHED"}]}`, ErrUnexpected, 1, "is there twice"},
		"a number too large":   {200, `{"jobs":[{"jid":"` + otherID + `","state":"RUNNING","start-time":99999999999999999999}]}`, ErrUnexpected, 1, "cannot unmarshal number"},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, status(tc.status, tc.body))
			c, _ := connect(t, s.URL, WithRetry(RetryPolicy{MinPause: time.Second, Budget: 6 * time.Second}))
			_, err := c.Jobs(t.Context())
			if !errors.Is(err, tc.want) || err == nil || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v\nwant %v with %q", err, tc.want, tc.text)
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Attempts != tc.attempts || e.URL != s.URL+"/jobs/overview" {
				t.Errorf("%d attempts on %s, want %d", e.Attempts, e.URL, tc.attempts)
			}
			if strings.ContainsAny(err.Error(), "\n\t") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestLeaderElectionIsWaitedFor(t *testing.T) {
	s := answering(t, status(503, ""), status(503, ""), status(200, noJobs))
	c, clock := connect(t, s.URL)
	if _, err := c.Jobs(t.Context()); err != nil || len(clock.slept) != 2 {
		t.Errorf("%v after %v", err, clock.slept)
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}, status(200, noJobs))
	c, clock := connect(t, s.URL)
	if _, err := c.Jobs(t.Context()); err != nil || len(clock.slept) != 1 || clock.slept[0] != 5*time.Second {
		t.Errorf("%v after %v", err, clock.slept)
	}
}

func TestContextEndsTheCall(t *testing.T) {
	s := answering(t, status(503, ""))
	ctx, cancel := context.WithCancel(t.Context())
	c, clock := connect(t, s.URL)
	clock.after = cancel
	if _, err := c.Jobs(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrNotReady) {
		t.Error(err)
	}
	if _, err := c.Jobs(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnswerWithoutEnd(t *testing.T) {
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jobs":[],"more":"`)
		chunk := bytes.Repeat([]byte("a"), 1<<20)
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	c, _ := connect(t, s.URL, WithAttemptTimeout(5*time.Minute)) // on a busy machine it takes its time
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrUnexpected) || !strings.Contains(err.Error(), fmt.Sprint("longer than ", maxAnswer)) {
		t.Error(err)
	}
}

func TestPathOfAReverseProxyIsKept(t *testing.T) {
	r := load(t, "1.20.5-stopped-ended")
	s := serve(t, r)
	proxy := httptest.NewServer(http.StripPrefix("/flink/copy%20orders", s))
	t.Cleanup(proxy.Close)
	proxy2 := httptest.NewServer(http.StripPrefix("/flink", s))
	t.Cleanup(proxy2.Close)
	for _, base := range []string{proxy2.URL + "/flink", proxy2.URL + "/flink/"} {
		c, _ := connect(t, base)
		if _, ok := ask(t, c, Job{Name: "copy orders"}).StoppedWithSavepoint().Get(); !ok {
			t.Errorf("%s: no savepoint", base)
		}
	}
	for _, asked := range s.asked {
		if strings.HasPrefix(asked, "/flink") {
			t.Errorf("asked for %s", asked)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	for base, want := range map[string]string{
		"":                                       "must begin with http",
		"jobmanager:8081":                        "must begin with http",
		"http://":                                "has no host",
		"http://a:0":                             "port",
		"http://a/x/../y":                        `holds ".."`,
		"http://a:8081/?token=hunter2":           "a query or fragment",
		"http://a:8081/#/job/completed/x":        "a query or fragment",
		"http://user:hunter2 hunter2@a:8081":     "its text is withheld",
		"http://user:hunter2@jobmanager:port/x%": "its text is withheld",
	} {
		_, err := New(base)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestCredentialsStayWithTheirServer(t *testing.T) {
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, noJobs)
	}))
	t.Cleanup(other.Close)
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "ops" || password != "hun/ter2" {
			t.Errorf("sent %q %q", user, password)
		}
		http.Redirect(w, r, other.URL+"/jobs/overview", http.StatusTemporaryRedirect)
	})
	c, _ := connect(t, strings.Replace(s.URL, "http://", "http://ops:hun%2Fter2@", 1))
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrUnexpected) || !strings.Contains(err.Error(), "status 307") {
		t.Error(err)
	}
	if len(stolen) > 0 {
		t.Errorf("another server was asked, with %q", stolen)
	}

	within := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/moved", http.StatusFound)
	}, status(200, noJobs))
	c, _ = connect(t, within.URL)
	if _, err := c.Jobs(t.Context()); err != nil {
		t.Errorf("redirected on the same server: %v", err)
	}
}

func TestNoSecretComesOut(t *testing.T) {
	const password = `hun"ter2&+`
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		if err := json.NewEncoder(w).Encode(map[string][]string{"errors": {"bad login " + password + ", header " + r.Header.Get("Authorization")}}); err != nil {
			t.Error(err)
		}
	}, status(503, password))
	var log bytes.Buffer
	c, _ := connect(t, s.URL, WithBasicAuth("ops", password), WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	_, err := c.Jobs(t.Context())
	_, err2 := c.Jobs(t.Context())
	text, marshalErr := json.Marshal(c)
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	all := fmt.Sprintf("%v %+v %#v %v %#v %v %#v %s %s", c, c, c, err, err, err2, err2, log.String(), text)
	if !errors.Is(err, ErrUnauthorized) || !strings.Contains(all, offsetmap.SecretMark) {
		t.Errorf("%s", all)
	}
	for _, secret := range []string{password, `hun\"ter2`, "b3BzOmh1bi"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in %s", secret, all)
		}
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(status(200, noJobs))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	c, _ := connect(t, s.URL, WithRetry(RetryPolicy{Budget: -1}))
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "RootCAs") {
		t.Errorf("unknown CA: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, _ = connect(t, s.URL, WithTLSConfig(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}))
	if _, err := c.Jobs(t.Context()); err != nil {
		t.Error(err)
	}
	c, _ = connect(t, strings.Replace(serve(t, nil).URL, "http:", "https:", 1), WithRetry(RetryPolicy{Budget: -1}))
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "use http://") {
		t.Errorf("plain HTTP: %v", err)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for name, o := range map[string]Option{
		"transport": WithTransport(nil), "TLS": WithTLSConfig(nil), "logger": WithLogger(nil), "clock": WithClock(nil),
		"jitter": WithJitter(nil), "timeout": WithAttemptTimeout(0), "retry": WithRetry(RetryPolicy{MinPause: -1}),
	} {
		if _, err := New("http://a", o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New("http://a:b@c", WithBasicAuth("a", "b")); err == nil {
		t.Error("credentials twice: no error")
	}
	if _, err := New("http://a", WithTransport(http.DefaultTransport), WithTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12})); err == nil {
		t.Error("transport and TLS: no error")
	}
}
