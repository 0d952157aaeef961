package stores

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Option changes how a [Store] is opened.
type Option func(*options) error

type options struct {
	transport http.RoundTripper
	getenv    func(string) string
	read      []flinkstate.Option

	s3Endpoint, s3Region string
	s3Access, s3Secret   string

	gcsEndpoint  string
	gcsAnonymous bool

	hdfs      []*url.URL
	hdfsUser  string
	hdfsToken string
}

func newOptions(opts []Option) (*options, error) {
	o := &options{getenv: os.Getenv}
	for _, opt := range opts {
		if err := opt(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// WithTransport sends all requests through t, with a TLS configuration or a proxy
// of its own. By default, a clone of [http.DefaultTransport], which takes HTTP
// proxies from the environment.
func WithTransport(t http.RoundTripper) Option {
	return func(o *options) error {
		if t == nil {
			return errors.New("the transport is nil")
		}
		o.transport = t
		return nil
	}
}

// WithEnv looks up environment variables by getenv. By default, by [os.Getenv].
// The files of S3 credentials and of Google's are found by the process's own.
func WithEnv(getenv func(string) string) Option {
	return func(o *options) error {
		if getenv == nil {
			return errors.New("the lookup of environment variables is nil")
		}
		o.getenv = getenv
		return nil
	}
}

// WithReadOptions hands opts to flinkstate in [ReadSavepoint], its path map
// aside. By default, there are none.
func WithReadOptions(opts ...flinkstate.Option) Option {
	return func(o *options) error {
		o.read = append(o.read, opts...)
		return nil
	}
}

// WithS3Endpoint asks for the buckets of S3 at endpoint, such as
// "https://minio.example:9000". By default, that of AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL, else https://s3.amazonaws.com.
func WithS3Endpoint(endpoint string) Option {
	return func(o *options) error {
		_, err := endpointURL("S3", endpoint)
		o.s3Endpoint = endpoint
		return err
	}
}

// WithS3Region names the region of the bucket. By default, that of AWS_REGION or
// AWS_DEFAULT_REGION; without one the service is asked.
func WithS3Region(region string) Option {
	return func(o *options) error {
		o.s3Region = region
		return nil
	}
}

// WithS3Keys signs requests to S3 by an access key and its secret. By default,
// credentials are looked for as the package comment says.
func WithS3Keys(access, secret string) Option {
	return func(o *options) error {
		if access == "" || secret == "" {
			return errors.New("an S3 key is empty")
		}
		o.s3Access, o.s3Secret = access, secret
		return nil
	}
}

// WithGCSEndpoint asks for the buckets of Google Cloud Storage at endpoint. By
// default, https://storage.googleapis.com.
func WithGCSEndpoint(endpoint string) Option {
	return func(o *options) error {
		_, err := endpointURL("GCS", endpoint)
		o.gcsEndpoint = endpoint
		return err
	}
}

// WithGCSAnonymous sends no credentials to Google Cloud Storage, for public
// buckets and emulators. By default, application default credentials are needed.
func WithGCSAnonymous() Option {
	return func(o *options) error {
		o.gcsAnonymous = true
		return nil
	}
}

// WithWebHDFS says where WebHDFS answers for every hdfs location, such as
// "http://namenode:9870", or behind a gateway
// "https://knox.example/gateway/default": several for the name nodes of one
// cluster, of which the first that is active is used. User-info becomes basic
// authentication. By default, hdfs locations are refused, and webhdfs ones name
// the host themselves.
func WithWebHDFS(endpoints ...string) Option {
	return func(o *options) error {
		if len(endpoints) == 0 {
			return errors.New("no endpoint of WebHDFS is given")
		}
		for _, e := range endpoints {
			u, err := endpointURL("WebHDFS", e)
			if err != nil {
				return err
			}
			o.hdfs = append(o.hdfs, u)
		}
		return nil
	}
}

// WithWebHDFSUser sends user as user.name, which a cluster without security takes
// for the caller. By default, HADOOP_USER_NAME, or none.
func WithWebHDFSUser(user string) Option {
	return func(o *options) error {
		o.hdfsUser = user
		return nil
	}
}

// WithWebHDFSToken authenticates by a delegation token. By default, there is none.
func WithWebHDFSToken(token string) Option {
	return func(o *options) error {
		if token == "" {
			return errors.New("the delegation token is empty")
		}
		o.hdfsToken = token
		return nil
	}
}

// endpointURL does not repeat what it cannot parse: any part of it may be a
// password.
func endpointURL(of, s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("endpoint of %s: it cannot be parsed as a URL (its text is withheld, since it may hold a password)", of)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("endpoint of %s: want http://host:port or https://host:port", of)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("endpoint of %s: %s: a query or fragment has no place in it", of, u.Host)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// httpTransport is the transport of one client, and what closes its idle
// connections.
func (o *options) httpTransport() (http.RoundTripper, func(), error) {
	if o.transport != nil {
		return o.transport, func() {}, nil
	}
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, nil, fmt.Errorf("http.DefaultTransport is a %T: use WithTransport", http.DefaultTransport)
	}
	t = t.Clone()
	// What follows the head of an answer is bounded by the context alone: a file
	// may be large.
	t.ResponseHeaderTimeout = time.Minute
	return t, t.CloseIdleConnections, nil
}
