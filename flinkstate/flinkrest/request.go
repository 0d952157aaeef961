package flinkrest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// maxAnswer bounds one answer, in bytes. The details of a job hold a plan with a
// line for each operator: megabytes at most.
const maxAnswer = 64 << 20

// quickRetries bounds the attempts after failures that waiting seldom mends.
const quickRetries = 2

// get reads path, which begins with a slash and needs no escaping, into out.
// valid says what an answer lacks that could be decoded.
func (c *Client) get(ctx context.Context, path string, out any, valid func() error) error {
	k := &call{client: c, url: c.base + path, out: out, valid: valid, attempts: 1}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("GET %s: %w", k.url, err)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", k.url, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "flinkmm2-flinkrest")
	if c.authorize != nil {
		c.authorize(req.Request)
	}
	req.SetResponseHandler(k.decode)
	sender := &retryablehttp.Client{
		HTTPClient: c.http,
		// The policy decides by time, so the count never does.
		RetryMax:   math.MaxInt32,
		CheckRetry: k.check,
		// The pause is made in PrepareRetry, where the clock can be another.
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: k.pause,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	c.log.DebugContext(ctx, "flink request", "url", k.url)
	// The body is closed by check or decode, whichever read it.
	_, err = sender.Do(req) //nolint:bodyclose // see above
	if k.failed == nil {
		return err
	}
	if ctxErr := ctx.Err(); ctxErr != nil && !errors.Is(k.failed, ctxErr) {
		if k.failed.cause != nil {
			ctxErr = fmt.Errorf("%w: %w", k.failed.cause, ctxErr)
		}
		k.failed.cause = ctxErr
	}
	return k.failed
}

// call is one request on its way: what was tried, and what came of it.
type call struct {
	client *Client
	url    string
	out    any
	valid  func() error

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
	e := &Error{URL: k.url, Attempts: k.attempts}
	var asked time.Duration
	switch {
	case err != nil:
		a = judgeFailure(ctx, err)
		e.cause = scrubError(restapi.WithoutURL(err), k.client.scrub)
		if resp != nil {
			e.StatusCode = resp.StatusCode
		}
	case resp.StatusCode == http.StatusOK:
		k.failed = nil
		return false, nil
	default:
		k.judged = resp
		text, isFlink := refusal(resp)
		a = judgeAnswer(resp.StatusCode, isFlink, text)
		e.StatusCode, e.Message = resp.StatusCode, plainText(k.client.scrub(text))
		asked = restapi.RetryAfter(resp)
	}
	e.meaning, e.Hint = a.meaning, a.hint
	k.failed = e
	return ctx.Err() == nil && k.mayRepeat(ctx, a, asked), nil
}

func (k *call) mayRepeat(ctx context.Context, a answer, asked time.Duration) bool {
	switch a.again {
	case never:
		return false
	case quickly:
		if k.quick == quickRetries {
			return false
		}
		k.quick++
	case patiently:
	}
	p := k.client.retry
	pause := p.MinPause
	for range k.attempts - 1 {
		if pause *= 2; pause >= p.MaxPause {
			break
		}
	}
	pause = min(pause, p.MaxPause)
	pause = pause/2 + time.Duration(k.client.jitter()*float64(pause/2))
	pause = max(pause, min(asked, p.MaxPause))
	if k.paused+pause > p.Budget {
		return false
	}
	k.next = pause
	k.client.log.WarnContext(ctx, "flink request will be sent again", "attempt", k.attempts, "pause", pause, "reason", k.failed)
	return true
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

// decode reads an answer that says that all went well. It is the
// retryablehttp.ResponseHandlerFunc of the call, which is asked for every answer
// that check does not want again.
func (k *call) decode(resp *http.Response) error {
	if resp == k.judged {
		return nil
	}
	defer resp.Body.Close()
	return restapi.Decode(resp, maxAnswer, k.out, k.valid)
}

// refusal reads an answer that does not say that all went well, and leaves
// nothing to close. Flink answers {"errors": [text, …]}, the text often with a
// stack trace in the lines that follow.
func refusal(resp *http.Response) (text string, isFlink bool) {
	// What cannot be read of it is missing in the text, no more.
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	resp.Body = http.NoBody
	var body struct {
		Errors []string `json:"errors"`
	}
	if err := json.Unmarshal(b, &body); err == nil && len(body.Errors) > 0 {
		// The first may be a summary ("Internal server error."), the rest its cause.
		text, _, _ = strings.Cut(strings.Join(body.Errors, " "), "\n")
		return text, true
	}
	text = strings.Join(strings.Fields(string(b)), " ")
	return text, false
}
