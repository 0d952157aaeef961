package flinkrest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// again says whether a failure may mend by itself.
type again int

const (
	never     again = iota
	quickly         // seldom: try twice more
	patiently       // as long as the policy lasts
)

// answer is what a failed attempt means.
type answer struct {
	meaning error
	again   again
	hint    string
}

const hintBase = "is the base URL that of Flink's REST API (rest.port of the JobManager, or historyserver.web.port), with the path of a reverse proxy if there is one?"

// judgeAnswer tells what a status and its text mean, by the texts of
// org.apache.flink.runtime.rest.handler and of HistoryServerStaticFileServerHandler.
func judgeAnswer(status int, isFlink bool, text string) answer {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return answer{meaning: ErrUnauthorized}
	case status == http.StatusNotFound && isFlink && strings.Contains(text, "Job ") && strings.Contains(text, "not found"),
		status == http.StatusNotFound && isFlink && strings.Contains(text, "FlinkJobNotFoundException"):
		return answer{meaning: ErrJobNotFound}
	case status == http.StatusNotFound && isFlink && text == historyNotFound:
		return answer{meaning: errNoFile}
	case status == http.StatusNotFound:
		return answer{meaning: ErrUnexpected, hint: hintBase}
	case status == http.StatusServiceUnavailable, status == http.StatusBadGateway,
		status == http.StatusGatewayTimeout, status == http.StatusTooManyRequests:
		return answer{meaning: ErrNotReady, again: patiently}
	case status/100 == 3:
		return answer{meaning: ErrUnexpected, hint: "redirects are followed within the scheme and host of the base URL only: if another address is right, use it as base URL"}
	case status >= 500:
		return answer{meaning: ErrUnexpected, again: quickly}
	default:
		return answer{meaning: ErrUnexpected}
	}
}

// historyNotFound is all that a history server says of a job that it does not
// have, and of a path that it never has.
const historyNotFound = "File not found."

// errNoFile stays inside this package: whether it means that there is no such
// job, only the caller knows.
var errNoFile = errors.New("file not found")

// judgeFailure tells what the lack of a complete answer means.
func judgeFailure(ctx context.Context, err error) answer {
	if _, ok := errors.AsType[*restapi.AnswerError](err); ok {
		return answer{meaning: ErrUnexpected, hint: hintBase}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return answer{meaning: ErrUnreachable, hint: "give the CA that signed the server's certificate by WithTLSConfig, as RootCAs, or in the file that SSL_CERT_FILE names"}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return answer{meaning: ErrUnreachable, hint: "the server's certificate does not fit the host of the base URL, or is not valid now"}
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return answer{meaning: ErrUnreachable, hint: "the server speaks plain HTTP: use http:// in the base URL"}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return answer{meaning: ErrUnreachable, again: quickly}
		}
		return answer{meaning: ErrUnreachable, again: patiently}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return answer{meaning: ErrUnreachable, again: patiently}
	}
	if ctx.Err() != nil {
		return answer{meaning: ErrNoAnswer}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return answer{meaning: ErrNoAnswer, again: quickly, hint: "the time for one attempt (WithAttemptTimeout) ran out"}
	}
	return answer{meaning: ErrNoAnswer, again: patiently}
}
