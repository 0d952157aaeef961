package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ParseBase reads a base URL. noQuery is added to what it says of a query or a
// fragment. It never repeats the URL in an error: where a URL cannot be parsed,
// any part of it may be a password.
func ParseBase(baseURL, noQuery string) (*url.URL, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be parsed (its text is withheld, since it may hold a password; characters such as / ? # % in a password must be escaped, or use WithBasicAuth)")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("it has no host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%s://%s: a query or fragment has no place in it%s", u.Scheme, u.Host, noQuery)
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%s://%s: the port is not one from 1 to 65535", u.Scheme, u.Host)
		}
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return nil, fmt.Errorf("%s://%s: the path holds %q", u.Scheme, u.Host, segment)
		}
	}
	return u, nil
}

// CheckRedirect follows reads within the same scheme and host: elsewhere the
// credentials do not belong, and another server's answer is no evidence. A
// redirected write would become a GET (301 to 303) or reach another server with
// its credentials, so it is handed back as it is.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > 5 || req.URL.User != nil ||
		req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// WithoutURL drops what net/http puts around an error: the method and the URL,
// which may hold a secret and which the callers' errors say themselves.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
