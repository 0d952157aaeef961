package connectrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// quickRetries bounds the attempts after failures that waiting seldom mends.
const quickRetries = 2

// call is one request on its way: what was tried, and what came of it.
type call struct {
	client *Client
	request
	url   string
	scrub func(string) string

	attempts int
	quick    int
	paused   time.Duration
	next     time.Duration
	failed   *Error         // the last attempt's, nil once one succeeded
	judged   *http.Response // the answer that failed is about
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
		a = judgeFailure(ctx, err)
		e.cause = scrubError(restapi.WithoutURL(err), k.scrub)
		if resp != nil {
			e.StatusCode = resp.StatusCode
		}
	case resp.StatusCode/100 == 2:
		k.failed = nil
		return false, nil
	default:
		k.judged = resp
		body, isConnect, text := refusal(resp)
		// Judged before it is scrubbed: a secret may be a word of the text.
		a = judgeAnswer(resp.StatusCode, isConnect, text, k.connector)
		e.StatusCode, e.Code, e.Message = resp.StatusCode, body.Code, plainText(k.scrub(text))
		if location := resp.Header.Get("Location"); location != "" && resp.StatusCode/100 == 3 {
			e.Hint = "it points to " + k.scrub(withoutQuery(location)) + ", which is not followed: if that is the worker, use it as base URL"
		}
		asked = restapi.RetryAfter(resp)
	}
	e.meanings, e.again = a.meanings, a.again
	if e.Hint == "" {
		e.Hint = a.hint
	}
	if k.mode != read && a.effect == unknown {
		e.meanings = append([]error{ErrOutcomeUnknown}, e.meanings...)
	}
	k.failed = e
	return ctx.Err() == nil && k.mayRepeat(ctx, a, asked), nil
}

func (k *call) mayRepeat(ctx context.Context, a answer, asked time.Duration) bool {
	switch {
	case k.single || a.again == never:
		return false
	case k.mode == write && a.effect == unknown, k.mode == sendOnce && a.effect != notSent:
		return false
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
	if k.paused+pause > p.Budget && (a.again != untilEnd || !hasDeadline || p.Budget < 0) {
		return false
	}
	k.next = pause
	k.client.log.WarnContext(ctx, "kafka connect request will be sent again",
		"attempt", k.attempts, "pause", pause, "reason", k.failed)
	return true
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

// pause is the retryablehttp.PrepareRetry of the call.
func (k *call) pause(req *http.Request) error {
	if err := k.client.clock.Sleep(req.Context(), k.next); err != nil {
		return err
	}
	k.paused += k.next
	k.attempts++
	return nil
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
