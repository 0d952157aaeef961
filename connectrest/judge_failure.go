package connectrest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// proxyError is an HTTP proxy that makes no connection (CONNECT).
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("the HTTP proxy refuses to connect: status %d %s", e.status, http.StatusText(e.status))
}

// refusedByProxy is an http.Transport.OnProxyConnectResponse: what net/http makes
// of a refusal is a text alone.
func refusedByProxy(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{resp.StatusCode}
}

// judgeFailure tells what the lack of a complete answer means. connected says
// that there was a connection, or that nobody knows: without one, nothing was sent.
func judgeFailure(ctx context.Context, err error, connected bool) answer {
	if _, ok := errors.AsType[*restapi.AnswerError](err); ok {
		return answer{meanings: []error{ErrUnexpected}, hint: hintBase}
	}
	if a, ok := judgeTLS(err); ok {
		return a
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		a := answer{meanings: []error{ErrUnreachable}, effect: notSent, again: patiently, elsewhere: true}
		if dns.IsNotFound {
			a.again = quickly
		}
		return a
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return answer{meanings: []error{ErrUnreachable}, effect: notSent, again: patiently, elsewhere: true}
	}
	if proxy, ok := errors.AsType[*proxyError](err); ok {
		if proxy.status == http.StatusProxyAuthRequired {
			return answer{meanings: []error{ErrUnauthorized}, effect: notSent, hint: "the proxy wants credentials: give them in the URL of HTTPS_PROXY"}
		}
		a := answer{meanings: []error{ErrUnreachable}, effect: notSent, again: quickly, elsewhere: true}
		if proxy.status >= 500 {
			a.again = patiently // it cannot reach the worker, which may start
		}
		return a
	}
	a := answer{meanings: []error{ErrNoAnswer}, again: patiently, elsewhere: true}
	if !connected {
		a.meanings, a.effect = []error{ErrUnreachable}, notSent
	}
	switch timeout, ok := errors.AsType[net.Error](err); {
	case ctx.Err() != nil:
		a.again, a.elsewhere = never, false
	case ok && timeout.Timeout():
		a.meanings = append([]error{ErrTimedOut}, a.meanings...)
		a.again = quickly
		if errors.Is(err, context.DeadlineExceeded) { // and not a bound of the transport's own
			a.hint = "the time for one attempt (WithAttemptTimeout) ran out"
		}
	}
	return a
}

// judgeTLS finds failures of TLS and of the scheme: nothing was sent, and
// nothing mends them but another configuration.
func judgeTLS(err error) (answer, bool) {
	a := answer{meanings: []error{ErrUnreachable}, effect: notSent}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		a.hint = "give the CA that signed the worker's certificate by WithCAFile, or WithTLSConfig, as RootCAs"
		return a, true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		a.hint = "the worker's certificate does not fit the host of the base URL, or is not valid now"
		return a, true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" && handshakeAlert[op.Err.Error()] {
		a.hint = "the worker refuses the TLS handshake: it may want a client certificate (WithClientCertificate, or WithTLSConfig, Certificates)"
		return a, true
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		a.hint = "the worker speaks plain HTTP: use http:// in the base URL"
		return a, true
	}
	return a, false
}

// handshakeAlert are the alerts that end a connection before any request is
// handled (RFC 8446, section 6.2), by the texts of crypto/tls, whose type for
// them is not exported.
var handshakeAlert = map[string]bool{
	"tls: handshake failure":              true,
	"tls: bad certificate":                true,
	"tls: unsupported certificate":        true,
	"tls: revoked certificate":            true,
	"tls: expired certificate":            true,
	"tls: unknown certificate":            true,
	"tls: unknown certificate authority":  true,
	"tls: access denied":                  true,
	"tls: protocol version not supported": true,
	"tls: insufficient security level":    true,
	"tls: unrecognized name":              true,
	"tls: certificate required":           true,
	"tls: no application protocol":        true,
}
