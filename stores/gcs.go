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
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// gcsBucket is one bucket of Google Cloud Storage, by its JSON API: what is
// needed of it are three reads. The credentials are Google's own package's.
type gcsBucket struct {
	rest rest
	base *url.URL
	name string
}

const gcsScope = "https://www.googleapis.com/auth/devstorage.read_only"

func newGCS(ctx context.Context, o *options, bucket string) (objects, func(), error) {
	endpoint, anonymous := cmp.Or(o.gcsEndpoint, "https://storage.googleapis.com"), o.gcsAnonymous
	// The clients of Google take it with and without a scheme, and send no
	// credentials there.
	if emulator := o.getenv("STORAGE_EMULATOR_HOST"); o.gcsEndpoint == "" && emulator != "" {
		if endpoint, anonymous = emulator, true; !strings.Contains(emulator, "://") {
			endpoint = "http://" + emulator
		}
	}
	u, err := endpointURL("GCS", endpoint)
	if err != nil {
		return nil, nil, err
	}
	if u.User != nil {
		return nil, nil, fmt.Errorf("endpoint of GCS: %s: credentials have no place in it", u.Host)
	}
	transport, closeIdle, err := o.httpTransport()
	if err != nil {
		return nil, nil, err
	}
	known := newSecrets(transport)
	transport = known
	if !anonymous {
		c, err := google.FindDefaultCredentials(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport}), gcsScope)
		if err != nil {
			closeIdle()
			return nil, nil, fmt.Errorf("credentials of Google Cloud Storage: %w (of a public bucket: WithGCSAnonymous)", err)
		}
		transport = &oauth2.Transport{Source: c.TokenSource, Base: transport}
	}
	return &gcsBucket{
		// A redirect would carry the token to wherever it points.
		rest: rest{http: &http.Client{Transport: transport, CheckRedirect: noRedirect}, explain: gcsError, scrub: known.scrub},
		base: u, name: bucket,
	}, closeIdle, nil
}

// url is that of an object, or of the list of objects for an empty key.
func (b *gcsBucket) url(key string, query url.Values) *url.URL {
	path, raw := "/storage/v1/b/"+b.name+"/o", "/storage/v1/b/"+url.PathEscape(b.name)+"/o"
	if key != "" {
		// The slashes of a key are escaped, too.
		path, raw = path+"/"+key, raw+"/"+url.PathEscape(key)
	}
	return &url.URL{Scheme: b.base.Scheme, Host: b.base.Host, Path: b.base.Path + path, RawPath: b.base.Path + raw, RawQuery: query.Encode()}
}

type gcsObject struct {
	Name       string    `json:"name"`
	Size       string    `json:"size"`
	Updated    time.Time `json:"updated"`
	Generation string    `json:"generation"`
}

func (j gcsObject) object(key string) (object, error) {
	size, err := strconv.ParseInt(j.Size, 10, 64)
	if err != nil || size < 0 {
		return object{}, fmt.Errorf("google cloud storage says the size %q of %s", j.Size, key)
	}
	return object{key: key, size: size, mod: j.Updated, version: j.Generation}, nil
}

func (b *gcsBucket) stat(ctx context.Context, key string) (object, error) {
	var out gcsObject
	if err := b.rest.json(ctx, b.url(key, url.Values{"fields": {"name,size,updated,generation"}}), nil, &out); err != nil {
		return object{}, err
	}
	if out.Name != key {
		return object{}, fmt.Errorf("asked for %q, google cloud storage answers about %q", key, out.Name)
	}
	return out.object(key)
}

func (b *gcsBucket) open(ctx context.Context, o object, offset, length int64) (io.ReadCloser, error) {
	q := url.Values{"alt": {"media"}}
	if o.version != "" {
		q.Set("ifGenerationMatch", o.version)
	}
	// Without it an object that is stored compressed would be decompressed on the
	// way, to another size than it says.
	resp, err := b.rest.content(ctx, b.url(o.key, q), http.Header{"Accept-Encoding": {"gzip"}}, offset, length)
	if err != nil {
		return nil, err
	}
	// What stands between may not know the condition.
	if g := resp.Header.Get("X-Goog-Generation"); g != "" && g != o.version {
		_ = resp.Body.Close()
		return nil, errReplaced
	}
	return resp.Body, nil
}

func (b *gcsBucket) list(ctx context.Context, key string, limit int) ([]object, error) {
	prefix := key
	if prefix != "" {
		prefix += "/"
	}
	var all []object
	for token := ""; ; {
		q := url.Values{
			"prefix": {prefix}, "delimiter": {"/"}, "maxResults": {strconv.Itoa(min(limit, 1000))},
			"fields": {"prefixes,items(name,size,updated,generation),nextPageToken"},
		}
		if token != "" {
			q.Set("pageToken", token)
		}
		var page struct {
			Prefixes []string    `json:"prefixes"`
			Items    []gcsObject `json:"items"`
			Next     string      `json:"nextPageToken"`
		}
		err := b.rest.json(ctx, b.url("", q), nil, &page)
		if errors.Is(err, fs.ErrNotExist) {
			// A list of nothing is empty: it is the bucket that is missing.
			return nil, fmt.Errorf("google cloud storage has no bucket %s", b.name)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range page.Prefixes {
			all = append(all, object{key: strings.TrimSuffix(p, "/"), folder: true})
		}
		for _, i := range page.Items {
			o, err := i.object(i.Name)
			switch {
			case err != nil:
				return nil, err
			case i.Name != prefix:
				all = append(all, o)
			case limit == 1:
				// The console makes an empty object of the name of a folder.
				all = append(all, object{key: key, folder: true})
			}
		}
		if len(all) >= limit || page.Next == "" {
			return all[:min(limit, len(all))], nil
		}
		token = page.Next
	}
}

func gcsError(status int, body []byte, line func(text string) string) error {
	var out struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &out); err == nil && out.Error.Message != "" {
		return meaning(status, fmt.Errorf("google cloud storage says %q", line(out.Error.Message)))
	}
	// What is not GCS cannot say either that an object is not there.
	err := fmt.Errorf("the answer is none of Google Cloud Storage: %q", line(string(body)))
	if status == http.StatusNotFound {
		return err
	}
	return meaning(status, err)
}
