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

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// authorizer puts credentials on a request and returns the texts that must
// appear nowhere. An error means that there are none to send.
type authorizer func(*http.Request) (secrets []string, err error)

// worker is one address at which the Connect cluster is asked.
type worker struct {
	base string // without user-info, query and trailing slash
	// authorize holds the credentials of this address's user-info, nil for the
	// client's own: what was given for one host is sent to no other.
	authorize authorizer
}

// workers are the addresses of one Connect cluster. Requests go to one of them
// until it fails.
type workers struct {
	list []worker
	at   atomic.Int64 // counts up; its rest by len(list) is the one that is asked
}

func (w *workers) current() (int64, *worker) {
	at := w.at.Load()
	return at, &w.list[at%int64(len(w.list))]
}

// leave turns to the next worker, unless another request has done so already.
func (w *workers) leave(at int64) {
	if len(w.list) > 1 {
		w.at.CompareAndSwap(at, at+1)
	}
}

// parseWorkers reads the base URLs, each of which is named once.
func parseWorkers(baseURLs []string) (*workers, error) {
	if len(baseURLs) == 0 {
		return nil, errors.New("base URL of Kafka Connect: none is given")
	}
	w := &workers{}
	for i, s := range baseURLs {
		one, err := parseWorker(s)
		if err != nil {
			if len(baseURLs) > 1 {
				return nil, fmt.Errorf("base URL %d of Kafka Connect: %w", i+1, err)
			}
			return nil, fmt.Errorf("base URL of Kafka Connect: %w", err)
		}
		if slices.ContainsFunc(w.list, func(o worker) bool { return sameAddress(o.base, one.base) }) {
			return nil, fmt.Errorf("base URL %d of Kafka Connect: %s stands twice", i+1, one.base)
		}
		w.list = append(w.list, one)
	}
	return w, nil
}

func parseWorker(baseURL string) (w worker, err error) {
	u, err := restapi.ParseBase(baseURL, "")
	if err != nil {
		return w, err
	}
	if u.User != nil {
		if w.authorize, err = basicAuth(u.User); err != nil {
			return w, err
		}
		u.User = nil
	}
	switch {
	case strings.Contains(u.Host, ","):
		return w, fmt.Errorf("%s://%s: the host holds a comma: give each URL as one of its own", u.Scheme, u.Host)
	case strings.Contains(u.RawPath, "%") && u.EscapedPath() != u.RawPath:
		// net/url then escapes the path anew, and an escaped slash becomes one that parts.
		return w, fmt.Errorf("%s://%s: some of its path is escaped and some that must be is not", u.Scheme, u.Host)
	}
	w.base = strings.TrimRight(u.String(), "/")
	return w, nil
}

// sameAddress reports whether two base URLs differ at most in how the host is
// written and in a port that the scheme implies.
func sameAddress(a, b string) bool {
	plain := func(base string) string {
		u, err := url.Parse(base)
		if err != nil {
			return base
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port + u.EscapedPath()
	}
	return plain(a) == plain(b)
}

// basicAuth holds the credentials in a closure, so that nothing that prints a
// Client prints them.
func basicAuth(u *url.Userinfo) (authorizer, error) {
	if strings.Contains(u.Username(), ":") {
		return nil, errors.New("basic authentication: the user holds a colon, at which a server would end it (RFC 7617, section 2)")
	}
	return func(r *http.Request) ([]string, error) {
		password, _ := u.Password()
		r.SetBasicAuth(u.Username(), password)
		secrets := restapi.BasicAuthSecrets(u.Username(), password)
		if password == "" {
			// Then the user is what nobody else may know: many gateways take a token so.
			secrets = append(secrets, u.Username())
		}
		return secrets, nil
	}, nil
}

// String lists the addresses.
func (w *workers) String() string {
	all := make([]string, len(w.list))
	for i := range w.list {
		all[i] = w.list[i].base
	}
	return strings.Join(all, ", ")
}

// answering returns a client of a worker that answers now, and of no other.
func (c *Client) answering(ctx context.Context) (*Client, error) {
	if len(c.workers.list) == 1 {
		return c, nil
	}
	if _, err := c.Info(ctx); err != nil {
		return nil, err
	}
	at, _ := c.workers.current()
	return c.only(int(at % int64(len(c.workers.list)))), nil
}

// only returns a client that asks worker i alone.
func (c *Client) only(i int) *Client {
	one := *c
	one.workers = &workers{list: c.workers.list[i : i+1]}
	return &one
}
