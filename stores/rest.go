package stores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

const (
	// restAttempts bounds how often one request is sent.
	restAttempts = 4
	// maxJSON bounds an answer that is not the content of a file, in bytes.
	maxJSON = 16 << 20
)

// rest sends the reads of a store that has a plain HTTP interface.
type rest struct {
	http *http.Client
	// explain makes a store's words of an answer that refuses. What it repeats of
	// that goes through line.
	explain func(status int, body []byte, line func(text string) string) error
	// scrub takes out of a text what no error may show.
	scrub func(text string) string
}

// get returns the body of an answer with status 200 or 206. What is shown in
// errors is the URL without its query, which may hold a token.
func (r rest) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", shown, restapi.WithoutURL(err))
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "flinkmm2-stores")
	sender := &retryablehttp.Client{
		HTTPClient: r.http, RetryMax: restAttempts - 1,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			if errors.Is(err, errRedirect) { // it will lead there again
				return false, err
			}
			return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
		},
		Backoff: func(_, _ time.Duration, attempt int, _ *http.Response) time.Duration {
			return 200 * time.Millisecond << attempt
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := sender.Do(req)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", shown, restapi.WithoutURL(err))
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent {
		return resp, nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	// What is cut first may end with a part of a secret, which is not known any more.
	line := func(text string) string { return oneLine([]byte(r.scrub(text))) }
	return nil, fmt.Errorf("GET %s: status %d: %w", shown, resp.StatusCode, r.explain(resp.StatusCode, body, line))
}

// meaning gives a status the meaning that package fs has for it.
func meaning(status int, err error) error {
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case http.StatusPreconditionFailed:
		return errReplaced
	default:
		return err
	}
}

// json reads a small answer into out.
func (r rest) json(ctx context.Context, u *url.URL, header http.Header, out any) error {
	resp, err := r.get(ctx, u, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := &io.LimitedReader{R: resp.Body, N: maxJSON + 1}
	err = json.NewDecoder(body).Decode(out)
	switch {
	case body.N <= 0:
		err = fmt.Errorf("the answer is longer than %d bytes", maxJSON)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("GET %s://%s%s: %w", u.Scheme, u.Host, u.Path, err)
	}
	return nil
}

// content reads a range of a file, and makes sure that it is that range: a
// server may answer with all of it.
func (r rest) content(ctx context.Context, u *url.URL, header http.Header, offset, length int64) (*http.Response, error) {
	want := http.StatusOK
	if offset > 0 || length >= 0 {
		want = http.StatusPartialContent
		last := ""
		if length >= 0 {
			last = strconv.FormatInt(offset+length-1, 10)
		}
		header.Set("Range", fmt.Sprintf("bytes=%d-%s", offset, last))
	}
	resp, err := r.get(ctx, u, header)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != want {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("GET %s://%s%s: status %d where %d was due: the server does not know ranges", u.Scheme, u.Host, u.Path, resp.StatusCode, want)
	}
	if want == http.StatusPartialContent {
		if err := checkRange(resp.Header, offset, length); err != nil {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("GET %s://%s%s: %w", u.Scheme, u.Host, u.Path, err)
		}
	}
	return resp, nil
}

// checkRange makes sure that an answer is the range that was asked for, to the
// end when length is negative: bytes from elsewhere would be spliced in unseen.
func checkRange(header http.Header, offset, length int64) error {
	want := fmt.Sprintf("bytes %d-", offset)
	if length > 0 {
		want += fmt.Sprintf("%d/", offset+length-1)
	}
	if got := header.Get("Content-Range"); !strings.HasPrefix(got, want) {
		return fmt.Errorf("the answer has the Content-Range %q where %q was due: the server does not know ranges", oneLine([]byte(got)), want)
	}
	return nil
}

// oneLine is the beginning of a foreign text.
func oneLine(b []byte) string {
	return restapi.Bound(strings.ToValidUTF8(strings.Join(strings.Fields(string(b)), " "), "\uFFFD"), 300)
}

// errRedirect says that a redirect is not followed.
var errRedirect = errors.New("the redirect is not followed")

// guardRedirect follows a redirect, but not out of TLS. net/http keeps credentials
// for another port and for hosts of a subdomain, and its Referer has the query.
func guardRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) == 10:
		return fmt.Errorf("%w: it is the 10th in a row", errRedirect)
	case from.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("%w: it leads from https to %s, at %s", errRedirect, req.URL.Scheme, req.URL.Host)
	case req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme:
		req.Header.Del("Authorization")
		req.Header.Del("Referer")
	}
	return nil
}

// noRedirect hands a redirect back as it is.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
