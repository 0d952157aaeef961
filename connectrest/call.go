package connectrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// quickRetries bounds the attempts after failures that waiting seldom mends.
const quickRetries = 2

// call is one request on its way: what was tried, and what came of it.
type call struct {
	client *Client
	request

	// Of the attempt that is on its way:
	worker *worker
	at     int64  // of the worker, as workers.leave wants it
	url    string // without query
	scrub  func(string) string
	// connected says that it got a connection, of which only a transport of our own
	// tells for certain (Client.traced).
	connected atomic.Bool

	plain http.Header // of each request, before credentials
	// authorized says that credentials of ours go with the request.
	authorized bool
	attempts   int
	quick      int
	tried      map[*worker]bool
	paused     time.Duration
	next       time.Duration
	failed     *Error         // the last attempt's, nil once one succeeded
	judged     *http.Response // the answer that failed is about
}

// turn chooses the worker that is asked next.
func (k *call) turn() {
	k.at, k.worker = k.client.workers.current()
	if k.tried == nil {
		k.tried = make(map[*worker]bool, 1)
	}
	k.tried[k.worker] = true
	k.connected.Store(false)
	k.scrub = restapi.NewScrubber(k.secrets...)
	var u strings.Builder
	u.WriteString(k.worker.base)
	for _, s := range k.path {
		u.WriteByte('/')
		u.WriteString(escapeSegment(s))
	}
	if len(k.path) == 0 {
		u.WriteByte('/')
	}
	k.url = u.String()
}

// target is the URL with the query, which no error shows.
func (k *call) target() string {
	if len(k.query) == 0 {
		return k.url
	}
	return k.url + "?" + k.query.Encode()
}

// equip puts the credentials on a request, and learns what no text may show. An
// error says that they could not be had, and nothing was sent.
func (k *call) equip(req *http.Request) error {
	// A new map: the transport may still read the one of an earlier attempt.
	req.Header = k.plain.Clone()
	authorize := k.worker.authorize
	if authorize == nil {
		authorize = k.client.authorize
	}
	k.authorized = authorize != nil
	secrets := k.secrets
	for _, put := range []authorizer{authorize, k.client.headers} {
		if put == nil {
			continue
		}
		s, err := put(req)
		secrets = slices.Concat(secrets, s)
		k.scrub = restapi.NewScrubber(secrets...)
		if err != nil {
			k.failed = &Error{
				Method: k.method, URL: k.url, Attempts: k.attempts - 1,
				meanings: []error{ErrUnauthorized}, cause: scrubError(err, k.scrub), again: never,
				Hint: "the credentials could not be had, so this attempt was not sent",
			}
			return k.failed
		}
	}
	return nil
}

// check is the retryablehttp.CheckRetry of the call. It is asked after each
// attempt, and again when decode could not read the answer.
func (k *call) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if err == nil && resp == k.judged {
		return false, nil
	}
	var a answer
	e := &Error{Method: k.method, URL: k.url, Attempts: k.attempts}
	var asked time.Duration
	switch {
	case err != nil:
		a = judgeFailure(ctx, err, resp != nil || k.connected.Load() || !k.client.traced)
		e.cause = scrubError(restapi.WithoutURL(err), k.scrub)
		if resp != nil {
			e.StatusCode = resp.StatusCode
			if resp.StatusCode/100 != 2 {
				// One of alsoOK that was none.
				a = judgeAnswer(resp.StatusCode, false, "", k.request)
			}
		}
	case resp.StatusCode/100 == 2 || slices.Contains(k.alsoOK, resp.StatusCode):
		k.failed = nil
		return false, nil
	default:
		k.judged = resp
		body, isConnect, text := refusal(resp)
		// Judged before it is scrubbed: a secret may be a word of the text.
		a = judgeAnswer(resp.StatusCode, isConnect, text, k.request)
		e.StatusCode, e.Code, e.Message = resp.StatusCode, body.Code, k.message(isConnect, text)
		if location := resp.Header.Get("Location"); location != "" && resp.StatusCode/100 == 3 {
			e.Hint = "it points to " + restapi.Line(k.scrub(withoutQuery(location)), 512) + ", which is not followed: if that is the worker, use it as base URL"
		}
		asked = restapi.RetryAfter(resp)
	}
	e.meanings, e.again = a.meanings, a.again
	if e.Hint == "" {
		e.Hint = a.hint
		if a.hint == hintCredential && k.authorized {
			e.Hint = hintRefused
		}
	}
	if k.mode != read && a.effect == unknown {
		e.meanings = append([]error{ErrOutcomeUnknown}, e.meanings...)
	}
	k.failed = e
	if a.elsewhere {
		k.client.workers.leave(k.at)
	}
	return ctx.Err() == nil && k.mayRepeat(ctx, a, asked), nil
}

func (k *call) mayRepeat(ctx context.Context, a answer, asked time.Duration) bool {
	switch {
	case k.single || a.again == never || k.client.retry.Budget < 0:
		return false
	case k.mode == write && a.effect == unknown, k.mode == sendOnce && a.effect != notSent:
		return false
	}
	if _, next := k.client.workers.current(); a.elsewhere && !k.tried[next] {
		// Another worker need not be waited for.
		k.next = 0
		k.again(ctx)
		return true
	}
	if a.again == quickly {
		if k.quick == quickRetries {
			return false
		}
		k.quick++
	}
	p := k.client.retry
	pause := p.pause(k.attempts)
	pause = pause/2 + time.Duration(k.client.jitter()*float64(pause/2))
	pause = max(pause, min(asked, p.MaxPause))
	_, hasDeadline := ctx.Deadline()
	if k.paused+pause > p.Budget && (a.again != untilEnd || !hasDeadline) {
		return false
	}
	k.next = pause
	k.again(ctx)
	return true
}

func (k *call) again(ctx context.Context) {
	k.client.log.WarnContext(ctx, "kafka connect request will be sent again",
		"attempt", k.attempts, "pause", k.next, "reason", k.failed)
}

// pause returns the pause after the given attempt, before jitter.
func (p RetryPolicy) pause(attempt int) time.Duration {
	d := p.MinPause
	for range attempt - 1 {
		if d >= p.MaxPause/2 {
			return p.MaxPause
		}
		d *= 2
	}
	return min(d, p.MaxPause)
}

// pause is the retryablehttp.PrepareRetry of the call: after the pause, the
// request goes to the worker whose turn it is.
func (k *call) pause(req *http.Request) error {
	if k.next > 0 {
		if err := k.client.clock.Sleep(req.Context(), k.next); err != nil {
			return err
		}
	}
	k.paused += k.next
	k.attempts++
	k.turn()
	u, err := url.Parse(k.target())
	if err != nil {
		return err
	}
	req.URL, req.Host = u, u.Host
	return k.equip(req)
}

// end completes the last failure when the context, and not the worker, ended
// the call.
func (k *call) end(ctx context.Context, err error) error {
	e := k.failed
	if ctxErr := ctx.Err(); ctxErr != nil && !errors.Is(e, ctxErr) {
		if e.cause != nil {
			ctxErr = fmt.Errorf("%w: %w", e.cause, ctxErr)
		}
		e.cause = ctxErr
	} else if err != nil && e.cause == nil {
		e.cause = scrubError(err, k.scrub)
	}
	level := k.client.log.DebugContext
	if errors.Is(e, ErrOutcomeUnknown) {
		level = k.client.log.WarnContext
	}
	level(ctx, "kafka connect request failed", "reason", e)
	return e
}
