package connecttest

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// negotiate is what Jersey does with Content-Type and Accept before a resource
// sees the request. Every resource takes and makes JSON. An answer with a status
// is one of the HTTP server beneath.
func (r *request) negotiate(takesBody bool) (answer, *restError) {
	unreadable := takesBody && len(r.body) > 0
	if sent, ok := r.header["Content-Type"]; ok {
		t := mediaType(sent[0])
		switch {
		case t == "":
			return jettyPage(http.StatusBadRequest, "http://"+r.host+r.path, "Bad Request"), nil
		case t == contentJSON:
			unreadable = false
		case t != "application/*" && t != "*/*":
			// Whether there is a body, and whether the resource wants one, is not asked.
			return answer{}, routeError(http.StatusUnsupportedMediaType)
		}
	}
	if accepted, ok := r.header["Accept"]; ok && !acceptsJSON(strings.Join(accepted, ",")) {
		return answer{}, routeError(http.StatusNotAcceptable)
	}
	if unreadable {
		// The resource was chosen, and nothing reads its parameter from such a body.
		err := routeError(http.StatusUnsupportedMediaType)
		err.bare = false
		return answer{}, err
	}
	return answer{}, nil
}

func acceptsJSON(accept string) bool {
	return slices.ContainsFunc(strings.Split(accept, ","), func(s string) bool {
		t := mediaType(s)
		return t == contentJSON || t == "application/*" || t == "*/*"
	})
}

// mediaType is the type without its parameters, empty for none.
func mediaType(header string) string {
	t, _, err := mime.ParseMediaType(strings.TrimSpace(header))
	if err != nil || !strings.Contains(t, "/") {
		return ""
	}
	return t
}

// methodOrder is the order in which a worker lists methods, that of a HashSet.
var methodOrder = []string{
	http.MethodHead, http.MethodDelete, http.MethodPost, http.MethodGet, http.MethodOptions, http.MethodPut, http.MethodPatch,
}

// optionsAnswer lists the methods of a path.
func optionsAnswer(allowed []string) answer {
	allowed = append(allowed, http.MethodOptions)
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.SortFunc(allowed, func(a, b string) int { return slices.Index(methodOrder, a) - slices.Index(methodOrder, b) })
	return answer{
		status: http.StatusOK, contentType: "text/plain", allow: strings.Join(allowed, ","), body: []byte(strings.Join(allowed, ", ")),
	}
}

// internalOnly are resources that workers call among themselves, with a
// signature.
func (w *Worker) internalOnly(*request) (answer, *restError) {
	return answer{}, badRequest("Internal request missing required signature")
}
