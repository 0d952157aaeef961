package connectrest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// Bounds of one answer in bytes, unpacked: a few hundred kilobytes of gzip can hold
// gigabytes. Lists of offsets and of connectors grow with both; 256 MiB are about 20
// times the offsets of 100,000 partitions.
const (
	maxList   = 256 << 20
	maxAnswer = 32 << 20 // of everything else
)

// request is one call of the API, as the methods of Client describe it.
type request struct {
	method string
	path   []string // segments, escaped here and nowhere else
	query  url.Values
	mode   mode
	// body is sent as JSON, nil for none. A retryablehttp.ReaderFunc is sent as
	// it is, and asked again for each attempt.
	body any
	// out takes the JSON of the answer, nil to ignore it: see restapi.Decode.
	out any
	// valid reports what an answer lacks that decoded; nil to accept it.
	valid func() error
	// clean takes secrets out of an answer's texts; nil where it has none.
	clean func(scrub func(string) string)
	// answered is told the status of an answer that was decoded; nil not to be.
	answered func(status int)
	// alsoOK is a status that is no failure, if the answer can be decoded.
	alsoOK []int
	// connector is the name whose absence is ErrNotFound.
	connector string
	// part is what else may be absent: a task, a plugin, a logger.
	part  string
	needs feature
	// secrets are texts of the body that a server may echo.
	secrets []string
	// list says that the answer is a list of offsets or of connectors.
	list bool
	// single leaves sending again to the caller.
	single bool
	// unseen says that no read-back shows for certain what came of it.
	unseen bool
}

// mode says what sending a request twice would do.
type mode int

const (
	read     mode = iota // changes nothing
	write                // may be repeated only when nothing was done
	sendOnce             // may be repeated only when nothing was sent
)

// feature is what a worker must have for a call.
type feature struct {
	name         string
	major, minor int
}

var (
	featureRestart      = feature{"restarting a connector with its tasks (KIP-745)", 3, 0}
	featurePlugins      = feature{"listing all plugins and their configurations (KIP-769)", 3, 2}
	featureStop         = feature{"stopping a connector (KIP-875)", 3, 5}
	featureOffsets      = feature{"reading offsets (KIP-875)", 3, 5}
	featureAlter        = feature{"altering or resetting offsets (KIP-875)", 3, 6}
	featureInitialState = feature{"creating a connector in an initial state (KIP-980)", 3, 7}
	featureLogScope     = feature{"setting a log level on every worker (KIP-976)", 3, 7}
	featurePatchConfig  = feature{"patching a configuration (KIP-477)", 3, 8}
	featureHealth       = feature{"asking for a worker's health (KIP-1017)", 3, 9}
)

// do sends r until it is answered, or must not be sent again, or the context or
// the policy ends it.
func (c *Client) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		// Nothing was sent: not even the outcome of a write is unknown.
		return fmt.Errorf("%s of Kafka Connect at %s: %w", r.method, c, err)
	}
	k := &call{client: c, request: r, attempts: 1}
	k.turn()
	var body any // retryablehttp takes bytes as they are and rewinds them by itself
	switch b := r.body.(type) {
	case nil:
	case retryablehttp.ReaderFunc:
		body = b
	default:
		marshaled, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("%w: %s %s: %w", ErrBadRequest, r.method, k.url, err)
		}
		body = marshaled
	}
	traced := ctx
	if c.traced {
		traced = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { k.connected.Store(true) }})
	}
	req, err := retryablehttp.NewRequestWithContext(traced, r.method, k.target(), body)
	if err != nil {
		return fmt.Errorf("%w: %s %s: %w", ErrBadRequest, r.method, k.url, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	k.plain = req.Header
	if err := k.equip(req.Request); err != nil {
		return k.end(ctx, err)
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
	if r.unseen {
		// A kept connection may be closed already: Jetty 12 (Kafka 4.x) does so after
		// some answers, and what is sent on it then is lost without a trace.
		c.http.CloseIdleConnections()
	}
	c.log.DebugContext(ctx, "kafka connect request", "method", r.method, "url", k.url)
	// The body is closed by check or decode, whichever read it.
	_, err = sender.Do(req) //nolint:bodyclose // see above
	if k.failed != nil {
		if r.out != nil {
			// What was decoded of an answer that is no good was not looked at either.
			reflect.ValueOf(r.out).Elem().SetZero()
		}
		return c.explain(ctx, r, k.end(ctx, err))
	}
	return err
}

// explain names the version needed and the one found where the worker has no
// such call.
func (c *Client) explain(ctx context.Context, r request, err error) error {
	if !errors.Is(err, ErrUnsupported) || r.needs.name == "" {
		return err
	}
	info, infoErr := c.Info(ctx)
	if infoErr != nil || info.Version.AtLeast(r.needs.major, r.needs.minor) {
		return err
	}
	return &UnsupportedError{Feature: r.needs.name, Needed: KafkaVersion(r.needs.major, r.needs.minor), Found: info.Version, Err: err}
}

// decode reads an answer that says that all went well. It is the
// retryablehttp.ResponseHandlerFunc of the call, which is asked for every answer
// that check does not want again.
func (k *call) decode(resp *http.Response) error {
	if resp == k.judged {
		return nil
	}
	defer resp.Body.Close()
	if k.out == nil {
		return k.decodeNothing(resp)
	}
	if _, streamed := k.out.(restapi.Streamed); !streamed {
		// json keeps what an earlier attempt, or the read-back between two, left there.
		reflect.ValueOf(k.out).Elem().SetZero()
	}
	most := k.client.maxList
	if !k.list {
		most = min(most, maxAnswer)
	}
	if err := restapi.Decode(resp, most, k.out, k.valid); err != nil {
		return err
	}
	if k.clean != nil {
		k.clean(k.scrub)
	}
	if k.answered != nil {
		k.answered(resp.StatusCode)
	}
	return nil
}

// decodeNothing reads an answer in which a worker has nothing to say. What is no
// JSON is not a worker's: a gateway's page to sign in at comes with a 200 too, and
// then no write was done.
func (k *call) decodeNothing(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody+1))
	if err != nil || len(bytes.TrimSpace(b)) == 0 {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(b))
	var ignored any
	return restapi.Decode(resp, maxErrorBody, &ignored, nil)
}

var htmlTitle = regexp.MustCompile(`(?is)<title>(.*?)</title>`)

// foreignText is what a body that is not Kafka Connect's says: the title of a web
// page, or all of it.
func foreignText(b []byte) string {
	if m := htmlTitle.FindSubmatch(b); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	return string(b)
}

// message makes of the text of a refusal what an error may show. Secrets go first:
// of one that is cut, or whose white space is changed, the scrubber knows nothing.
func (k *call) message(isConnect bool, text string) string {
	text = k.scrub(text)
	if !isConnect {
		text = restapi.Bound(strings.Join(strings.Fields(text), " "), maxForeign)
	}
	return plainText(text)
}

// refusal reads an answer that does not say that all went well, and leaves
// nothing to close.
func refusal(resp *http.Response) (body ErrorBody, isConnect bool, text string) {
	// What cannot be read of it is missing in the text, no more.
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	resp.Body = http.NoBody
	var read struct {
		Code    *int    `json:"error_code"`
		Message *string `json:"message"`
	}
	if err := json.Unmarshal(b, &read); err != nil || read.Code == nil || read.Message == nil {
		return ErrorBody{}, false, foreignText(b)
	}
	return ErrorBody{Code: *read.Code, Message: *read.Message}, true, *read.Message
}
