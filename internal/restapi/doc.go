// Package restapi holds what the clients of REST APIs share, so that it is decided
// once: which URL is a base URL, where a redirect may lead, what an answer that
// decodes badly is, and above all that no secret is in a text that a person or a
// log sees.
//
// What an answer means, and whether a request may be sent again, differs from
// API to API and is not here.
package restapi
