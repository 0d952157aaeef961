package connecttest

import (
	"fmt"
	"net/http"
	"strconv"
)

// answer is one HTTP answer, complete before the first byte is sent, so that a
// fault can keep it back, cut it or replace it.
type answer struct {
	status      int
	contentType string // none when empty, as real workers send for 404, 405 and 415 of a route
	location    string
	allow       string
	body        []byte
}

const (
	contentJSON = "application/json"
	contentHTML = "text/html;charset=iso-8859-1" // Jetty's own error pages
)

func jsonAnswer(status int, v any) answer {
	return answer{status: status, contentType: contentJSON, body: encodeJSON(v)}
}

func emptyAnswer(status int) answer { return answer{status: status} }

// errorBody is ErrorMessage of org.apache.kafka.connect.runtime.rest.entities.
type errorBody struct {
	Code    int    `json:"error_code"`
	Message string `json:"message"`
}

// restError is an exception that ConnectExceptionMapper turns into an answer.
type restError struct {
	status  int
	message string
	bare    bool // sent without a Content-Type: the error came from the router, not from a resource
}

func (e *restError) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

func (e *restError) answer() answer {
	a := jsonAnswer(e.status, errorBody{e.status, e.message})
	if e.bare {
		a.contentType = ""
	}
	return a
}

func badRequest(format string, args ...any) *restError {
	return &restError{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *restError {
	return &restError{status: http.StatusNotFound, message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) *restError {
	return &restError{status: http.StatusForbidden, message: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) *restError {
	return &restError{status: http.StatusConflict, message: fmt.Sprintf(format, args...)}
}

func internalError(format string, args ...any) *restError {
	return &restError{status: http.StatusInternalServerError, message: fmt.Sprintf(format, args...)}
}

// routeError is what Jersey answers before a resource is reached.
func routeError(status int) *restError {
	return &restError{status: status, message: fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)), bare: true}
}

// jettyPage is an error page of the HTTP server beneath Connect: what is sent
// for a path that Jetty refuses, and for every path while the worker starts.
func jettyPage(status int, uri, message string) answer {
	return answer{status: status, contentType: contentHTML, body: fmt.Appendf(nil, `<html>
<head>
<meta http-equiv="Content-Type" content="text/html;charset=ISO-8859-1"/>
<title>Error %[1]d %[3]s</title>
</head>
<body>
<h2>HTTP ERROR %[1]d %[3]s</h2>
<table>
<tr><th>URI:</th><td>%[2]s</td></tr>
<tr><th>STATUS:</th><td>%[1]d</td></tr>
<tr><th>MESSAGE:</th><td>%[3]s</td></tr>
</table>
<hr/><a href="https://jetty.org/">Powered by Jetty://</a><hr/>

</body>
</html>
`, status, uri, message)}
}

// send writes a. With cut it sends the headers and half of the body and then
// breaks the connection; of an answer without a body, nothing.
func (a answer) send(w http.ResponseWriter, cut bool) {
	if cut && len(a.body) == 0 {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	} else {
		h["Content-Type"] = nil // or net/http would guess one
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	body := a.body
	if a.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if cut {
		body = body[:len(body)/2]
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the caller is gone: nobody is left to be told
	if cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
