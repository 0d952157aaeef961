package connectrest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// answer is what an answer of the worker, or its absence, means.
type answer struct {
	meanings []error
	effect   effect
	again    again
	hint     string
	// elsewhere says that another worker may answer better.
	elsewhere bool
}

// effect says what a request may have done.
type effect int

const (
	unknown effect = iota // the zero value, so that what is not understood is unknown
	nothing               // it was received, and nothing was done
	notSent               // no connection was made
)

// again says whether the same request may have another answer later.
type again int

const (
	never     again = iota
	quickly         // perhaps, but waiting seldom helps
	patiently       // yes, it is a matter of time
	untilEnd        // yes, says the worker itself
)

const (
	hintAdvertised = "the workers must reach each other at their rest.advertised.host.name and port: check them, and that no NetworkPolicy or firewall closes the port"
	hintJetty      = "this worker's web server (Jetty 12, Kafka 4.x) takes no % and no \\ in a name"
	hintBase       = "if it stays so, the base URL is not that of a Kafka Connect worker"
	hintCredential = "give credentials by WithBasicAuth, the user-info of the URL, WithBearerToken, WithBearerTokenFile, WithTokenSource, or a transport of your own"
	hintRefused    = "the credentials that were sent are not taken: they are wrong, expired, or another server's"
)

// judgeAnswer tells what an answer that is not a 2xx means. isConnect says
// whether it is JSON as a worker writes it, text is its message or body, and r
// the request. The texts are those of Kafka's ConnectorsResource, LoggingResource,
// HerderRequestHandler, RestClient, AbstractHerder, DistributedHerder, Worker and
// MirrorSourceConnector, recorded from 3.4 to 4.3.
func judgeAnswer(status int, isConnect bool, text string, r request) answer {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	refused := func(meaning error) answer { return answer{meanings: []error{meaning}, effect: nothing} }
	switch {
	case status == http.StatusUnauthorized || status == http.StatusProxyAuthRequired:
		return answer{meanings: []error{ErrUnauthorized}, effect: nothing, hint: hintCredential}
	case status == http.StatusForbidden && isConnect && has("Topic tracking"):
		return answer{meanings: []error{ErrUnsupported}, effect: nothing, hint: "see topic.tracking.enable and topic.tracking.allow.reset of the worker"}
	case status == http.StatusForbidden:
		return answer{meanings: []error{ErrForbidden}, effect: nothing, hint: "the credentials were understood, and do not suffice"}
	case status == http.StatusNotFound:
		return judgeNotFound(isConnect, text, r)
	case status == http.StatusMethodNotAllowed:
		return refused(ErrUnsupported)
	case status == http.StatusConflict && isConnect:
		return judgeConflict(has)
	case status == http.StatusBadRequest && isConnect && has("must be in the STOPPED state"):
		return refused(ErrNotStopped)
	case status == http.StatusBadRequest && has("Ambiguous URI", "Suspicious Path"):
		return answer{meanings: []error{ErrBadRequest, ErrName}, effect: nothing, hint: hintJetty}
	case status == http.StatusBadRequest, status == http.StatusNotAcceptable, status == http.StatusRequestEntityTooLarge,
		status == http.StatusRequestURITooLong, status == http.StatusUnsupportedMediaType, status == http.StatusUnprocessableEntity:
		return refused(ErrBadRequest)
	case status == http.StatusTooManyRequests:
		return answer{meanings: []error{ErrNotReady}, effect: nothing, again: patiently, elsewhere: true}
	case status == http.StatusMovedPermanently, status == http.StatusFound,
		status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return refused(ErrUnexpected)
	case status == http.StatusInternalServerError && isConnect:
		return judgeServerError(text, has)
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout,
		status == http.StatusRequestTimeout:
		// A gateway cannot say how far the worker came.
		return answer{meanings: []error{ErrNotReady}, again: patiently, elsewhere: true}
	case status >= 500:
		return answer{meanings: []error{ErrUnexpected}, again: quickly}
	default:
		return answer{meanings: []error{ErrUnexpected}}
	}
}

// judgeNotFound parts a missing connector from all that is not there yet.
func judgeNotFound(isConnect bool, text string, r request) answer {
	about := func(s string, forms ...string) bool {
		return s != "" && slices.ContainsFunc(forms, func(f string) bool { return text == strings.ReplaceAll(f, "*", s) })
	}
	switch {
	case !isConnect:
		// A starting worker's Jetty answers every path so.
		return answer{meanings: []error{ErrNotReady}, effect: nothing, again: patiently, elsewhere: true, hint: hintBase}
	case about(r.connector, "Connector * not found", "Unknown connector *", "Unknown connector: *"),
		about(r.part, "Unknown task: *", "Unknown task *", "Unknown plugin *.", "Logger * not found."):
		return answer{meanings: []error{ErrNotFound}, effect: nothing}
	case strings.HasPrefix(text, "No status found for connector"), strings.HasPrefix(text, "No status found for task"),
		about(r.connector, "Status for connector * not found"):
		return answer{meanings: []error{ErrNoStatus}, effect: nothing}
	case strings.HasPrefix(text, "invalid log level"):
		return answer{meanings: []error{ErrBadRequest}, effect: nothing}
	case text == "HTTP 404 Not Found":
		return answer{meanings: []error{ErrUnsupported}, effect: nothing, hint: "the worker has no such endpoint: it is too old, or the base URL has a path too much"}
	case strings.HasPrefix(text, "Connector ") || strings.HasPrefix(text, "Unknown connector"):
		return answer{meanings: []error{ErrUnexpected}, effect: nothing, hint: "the answer is about another name: the path was changed on the way"}
	default:
		return answer{meanings: []error{ErrUnexpected}, effect: nothing}
	}
}

// judgeConflict parts the two meanings of 409. A worker says 409 only before it
// has done anything, but a text that is not known proves nothing.
func judgeConflict(has func(...string) bool) answer {
	switch {
	case has("already exists"):
		return answer{meanings: []error{ErrExists}, effect: nothing}
	case has("stale configuration"):
		return answer{meanings: []error{ErrStaleConfig}, effect: nothing, again: untilEnd}
	case has("rebalance", "conflicting operation", "no known leader"):
		return answer{meanings: []error{ErrRebalance}, effect: nothing, again: untilEnd}
	default:
		return answer{meanings: []error{ErrUnexpected}}
	}
}

// judgeServerError reads the text of a worker's 500. What went wrong on the way
// to the leader comes first: such a text holds another error's.
func judgeServerError(text string, has func(...string) bool) answer {
	refused := func(meaning error) answer { return answer{meanings: []error{meaning}, effect: nothing} }
	switch {
	case has("forward REST request", "handling forwarded request", "Failed to start RestClient"):
		// How far it came on the way is not told, whatever the cause in the text.
		return answer{meanings: []error{ErrForwarding}, again: quickly, hint: hintAdvertised, elsewhere: true}
	case has("a rebalance is expected"):
		// What reads of a connector answer during a rebalance, where writes get a
		// 409 (RebalanceNeededException, seen from 3.5 on).
		return answer{meanings: []error{ErrRebalance}, effect: nothing, again: untilEnd}
	case has("Request timed out"):
		return answer{meanings: []error{ErrTimedOut}, again: quickly}
	case has("Request interrupted"):
		return answer{meanings: []error{ErrNotReady}, again: quickly, elsewhere: true}
	case has("Failed to read to end of config topic"):
		// Said before anything is written.
		return answer{meanings: []error{ErrNotReady}, effect: nothing, again: patiently}
	case has("Failed to retrieve offsets"):
		return answer{meanings: []error{ErrNotReady}, again: patiently}
	case has("external modification of offsets"):
		return answer{meanings: []error{ErrUnsupported}, effect: nothing, hint: "the connector's class cannot alter offsets"}
	case has(`Unrecognized field "initial_state"`):
		return refused(ErrUnsupported)
	case strings.HasPrefix(text, "Source offset"), strings.HasPrefix(text, "Source partition"),
		strings.HasPrefix(text, "Offsets may only contain primitive types"):
		return refused(ErrRejected)
	case has("[Source: ") && has("Unrecognized", "Unexpected ", "Cannot deserialize", "Cannot construct"),
		has("No enum constant ", "ConnectorOffsets.offsets()", "Failed to find any class that implements Connector"):
		// The first are Jackson's, which has not come to the end of the body.
		return refused(ErrBadRequest)
	default:
		return answer{meanings: []error{ErrUnexpected}, again: quickly}
	}
}

// withoutQuery keeps of a Location what can hold no secret.
func withoutQuery(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "a URL that cannot be parsed"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
