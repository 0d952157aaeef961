package stores

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// webHDFS is one HDFS, by the reads of WebHDFS (org.apache.hadoop.hdfs.web): of
// its clients for Go those that are kept speak the protocol of the name node
// instead, which needs the ports of all data nodes.
type webHDFS struct {
	rest  rest
	bases []*url.URL
	query url.Values

	mu     sync.Mutex
	active int // of bases: the one that answered last
}

func newWebHDFS(o *options, l location) (objects, func(), error) {
	bases := o.hdfs
	switch {
	case l.scheme != "hdfs":
		scheme := map[string]string{"webhdfs": "http", "swebhdfs": "https"}[l.scheme]
		u, err := endpointURL("WebHDFS", scheme+"://"+l.authority)
		if err != nil {
			return nil, nil, err
		}
		bases = []*url.URL{u}
	case len(bases) == 0:
		return nil, nil, errors.New("the port of an hdfs: location is not that of WebHDFS: give webhdfs://NAMENODE:9870/path instead (swebhdfs for HTTPS), or in Go WithWebHDFS")
	}
	transport, closeIdle, err := o.httpTransport()
	if err != nil {
		return nil, nil, err
	}
	q := url.Values{}
	if o.hdfsToken != "" {
		q.Set("delegation", o.hdfsToken)
	} else if user := cmp.Or(o.hdfsUser, o.getenv("HADOOP_USER_NAME")); user != "" {
		q.Set("user.name", user)
	}
	given := []string{o.hdfsToken}
	for _, b := range bases {
		if password, ok := b.User.Password(); ok {
			given = append(given, restapi.BasicAuthSecrets(b.User.Username(), password)...)
		}
	}
	known := newSecrets(transport, given...)
	return &webHDFS{
		// The name node redirects a read to a data node by design, with what that
		// needs in the query.
		rest: rest{
			http:    &http.Client{Transport: known, CheckRedirect: guardRedirect},
			explain: explainHDFS, scrub: known.scrub,
		},
		bases: bases, query: q,
	}, closeIdle, nil
}

// try asks the active name node, and the others where that is none.
func (h *webHDFS) try(key, op string, more url.Values, ask func(u *url.URL, header http.Header) error) error {
	q := url.Values{"op": {op}}
	for _, v := range []url.Values{h.query, more} {
		for k := range v {
			q.Set(k, v.Get(k))
		}
	}
	h.mu.Lock()
	first := h.active
	h.mu.Unlock()
	var errs []error
	for i := range h.bases {
		n := (first + i) % len(h.bases)
		base := h.bases[n]
		u := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path.Join(base.Path, "/webhdfs/v1", key), RawQuery: q.Encode()}
		header := http.Header{}
		if base.User != nil {
			password, _ := base.User.Password()
			r := http.Request{Header: header}
			r.SetBasicAuth(base.User.Username(), password)
		}
		err := ask(u, header)
		if err == nil {
			h.mu.Lock()
			h.active = n
			h.mu.Unlock()
			return nil
		}
		errs = append(errs, err)
		if answered, ok := errors.AsType[*hdfsError](err); ok && answered.exception != "StandbyException" {
			return err
		}
	}
	return errors.Join(errs...)
}

type fileStatus struct {
	Suffix   string `json:"pathSuffix"`
	Type     string `json:"type"`
	Length   int64  `json:"length"`
	Modified int64  `json:"modificationTime"`
}

func (s fileStatus) object(key string) (object, error) {
	o := object{key: key, size: s.Length, mod: time.UnixMilli(s.Modified).UTC()}
	switch {
	case s.Type == "DIRECTORY":
		o.folder, o.size = true, 0
	case s.Type != "FILE":
		return object{}, fmt.Errorf("webhdfs says that %s is a %q", key, s.Type)
	case s.Length < 0:
		return object{}, fmt.Errorf("webhdfs says the length %d of %s", s.Length, key)
	}
	return o, nil
}

func (h *webHDFS) stat(ctx context.Context, key string) (o object, err error) {
	err = h.try(key, "GETFILESTATUS", nil, func(u *url.URL, header http.Header) error {
		var out struct {
			Status *fileStatus `json:"FileStatus"`
		}
		if err := h.rest.json(ctx, u, header, &out); err != nil {
			return err
		}
		if out.Status == nil {
			return fmt.Errorf("GET %s://%s%s: the answer has no FileStatus", u.Scheme, u.Host, u.Path)
		}
		o, err = out.Status.object(key)
		return err
	})
	return o, err
}

func (h *webHDFS) open(ctx context.Context, o object, offset, length int64) (body io.ReadCloser, err error) {
	q := url.Values{"offset": {strconv.FormatInt(offset, 10)}}
	if length >= 0 {
		q.Set("length", strconv.FormatInt(length, 10))
	}
	want := length
	if length < 0 {
		want = o.size - offset
	}
	err = h.try(o.key, "OPEN", q, func(u *url.URL, header http.Header) error {
		// net/http drops the length of what it unpacks.
		header.Set("Accept-Encoding", "identity")
		resp, err := h.rest.get(ctx, u, header)
		if err != nil {
			return err
		}
		if err := checkLength(resp.ContentLength, offset, want); err != nil {
			_ = resp.Body.Close()
			return fmt.Errorf("GET %s://%s%s: %w", u.Scheme, u.Host, u.Path, err)
		}
		body = resp.Body
		return nil
	})
	return body, err
}

// checkLength makes sure that an answer is the range that was asked for, which in
// WebHDFS only its length can show. A data node says that (WebHdfsHandler.onOpen),
// a gateway may not: then only what begins at the first byte is sure to be it.
func checkLength(got, offset, want int64) error {
	switch {
	case got == want, got < 0 && offset == 0:
		return nil
	case got < 0:
		return fmt.Errorf("the answer has no Content-Length: whether it begins at byte %d is not known", offset)
	default:
		return fmt.Errorf("the answer has %d bytes where %d were due: the server does not know ranges, or the file was replaced", got, want)
	}
}

func (h *webHDFS) list(ctx context.Context, key string, limit int) (all []object, err error) {
	err = h.try(key, "LISTSTATUS", nil, func(u *url.URL, header http.Header) error {
		var out struct {
			Statuses *struct {
				Status []fileStatus `json:"FileStatus"`
			} `json:"FileStatuses"`
		}
		if err := h.rest.json(ctx, u, header, &out); err != nil {
			return err
		}
		if out.Statuses == nil {
			return fmt.Errorf("GET %s://%s%s: the answer has no FileStatuses", u.Scheme, u.Host, u.Path)
		}
		all = all[:0]
		for _, s := range out.Statuses.Status[:min(limit, len(out.Statuses.Status))] {
			o, err := s.object(path.Join(key, s.Suffix))
			if err != nil {
				return err
			}
			all = append(all, o)
		}
		return nil
	})
	return all, err
}

// hdfsError is what a name node or data node says.
type hdfsError struct{ exception, text string }

func (e *hdfsError) Error() string { return "webhdfs says " + e.exception + ": " + e.text }

// Is gives the exceptions of HDFS the meaning that package fs has for them.
func (e *hdfsError) Is(target error) bool {
	switch e.exception {
	case "FileNotFoundException":
		return target == fs.ErrNotExist
	case "AccessControlException", "SecurityException":
		return target == fs.ErrPermission
	default:
		return false
	}
}

func explainHDFS(status int, body []byte, line func(text string) string) error {
	var out struct {
		Remote struct {
			Exception string `json:"exception"`
			Message   string `json:"message"`
		} `json:"RemoteException"`
	}
	if err := json.Unmarshal(body, &out); err == nil && out.Remote.Exception != "" {
		text, _, _ := strings.Cut(out.Remote.Message, "\n")
		return &hdfsError{line(out.Remote.Exception), line(text)}
	}
	// What is not WebHDFS cannot say either that a file is not there.
	err := fmt.Errorf("the answer is none of WebHDFS (is that the HTTP port of the name node?): %q", line(string(body)))
	if status == http.StatusNotFound {
		return err
	}
	return meaning(status, err)
}
