package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// s3Bucket is one bucket of S3, by minio-go.
type s3Bucket struct {
	core  minio.Core
	name  string
	scrub func(text string) string
}

// s3Attempts bounds how often minio-go sends one request, with growing pauses.
const s3Attempts = 4

func newS3(o *options, bucket string) (objects, func(), error) {
	endpoint := cmp.Or(o.s3Endpoint, o.getenv("AWS_ENDPOINT_URL_S3"), o.getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := endpointURL("S3", endpoint)
	if err != nil {
		return nil, nil, err
	}
	if u.Path != "" || u.User != nil {
		return nil, nil, fmt.Errorf("endpoint of S3: %s: neither a path nor credentials have a place in it", u.Host)
	}
	transport, closeIdle, err := o.httpTransport()
	if err != nil {
		return nil, nil, err
	}
	known := newSecrets(transport, o.s3Secret, o.getenv("AWS_SECRET_ACCESS_KEY"))
	c, err := minio.New(u.Host, &minio.Options{
		Creds: o.s3Credentials(transport), Secure: u.Scheme == "https", Transport: known, MaxRetries: s3Attempts,
		Region: cmp.Or(o.s3Region, o.getenv("AWS_REGION"), o.getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		closeIdle()
		return nil, nil, fmt.Errorf("endpoint of S3: %w", err)
	}
	return &s3Bucket{minio.Core{Client: c}, bucket, known.scrub}, closeIdle, nil
}

func (o *options) s3Credentials(transport http.RoundTripper) *credentials.Credentials {
	if o.s3Access != "" {
		return credentials.NewStaticV4(o.s3Access, o.s3Secret, "")
	}
	if access, secret := o.getenv("AWS_ACCESS_KEY_ID"), o.getenv("AWS_SECRET_ACCESS_KEY"); access != "" && secret != "" {
		return credentials.NewStaticV4(access, secret, o.getenv("AWS_SESSION_TOKEN"))
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.FileAWSCredentials{},
		// Where there is no metadata service its address may swallow what is sent.
		&credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second, Transport: transport}},
	})
}

func (b *s3Bucket) stat(ctx context.Context, key string) (object, error) {
	info, err := b.core.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		return object{}, b.fail(err)
	}
	return object{key: key, size: info.Size, mod: info.LastModified, version: info.ETag}, nil
}

func (b *s3Bucket) open(ctx context.Context, o object, offset, length int64) (io.ReadCloser, error) {
	var opts minio.GetObjectOptions
	if o.version != "" {
		if err := opts.SetMatchETag(o.version); err != nil {
			return nil, err
		}
	}
	var err error
	switch {
	case length > 0:
		err = opts.SetRange(offset, offset+length-1)
	case offset > 0:
		err = opts.SetRange(offset, 0)
	}
	if err != nil {
		return nil, err
	}
	body, info, header, err := b.core.GetObject(ctx, b.name, o.key, opts)
	if err != nil {
		return nil, b.fail(err)
	}
	if offset > 0 || length > 0 {
		if err := checkRange(header, offset, length); err != nil {
			_ = body.Close()
			return nil, err
		}
	}
	// Not every store that speaks the protocol knows the condition.
	if info.ETag != o.version {
		_ = body.Close()
		return nil, errReplaced
	}
	return body, nil
}

func (b *s3Bucket) list(ctx context.Context, key string, limit int) ([]object, error) {
	prefix := key
	if prefix != "" {
		prefix += "/"
	}
	// What the iterator still does when it is left ends with its context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all []object
	for c := range b.core.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, MaxKeys: min(limit, 1000)}) {
		switch {
		case c.Err != nil:
			return nil, b.fail(c.Err)
		case strings.HasSuffix(c.Key, "/") && c.Key != prefix:
			all = append(all, object{key: strings.TrimSuffix(c.Key, "/"), folder: true})
		case c.Key != prefix:
			// A head says whole seconds, a list more.
			all = append(all, object{key: c.Key, size: c.Size, mod: c.LastModified.Truncate(time.Second), version: c.ETag})
		case limit == 1:
			// The console makes an empty object of the name of a folder.
			all = append(all, object{key: key, folder: true})
		}
		if len(all) == limit {
			break
		}
	}
	return all, nil
}

// fail gives an answer of S3 the meaning that package fs has for it.
func (b *s3Bucket) fail(err error) error {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return restapi.WithoutURL(err)
	}
	text := fmt.Errorf("s3 says %s: %s", oneLine([]byte(b.scrub(r.Code))), oneLine([]byte(b.scrub(r.Message))))
	switch {
	case r.Code == "NoSuchBucket":
		// Not an fs.ErrNotExist: it is not the file that is missing.
		return fmt.Errorf("s3 has no bucket %s", b.name)
	case r.Code == "NoSuchKey", r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, text)
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w; of a bucket that may not be listed, S3 says so of what is not there, too", fs.ErrPermission, text)
	case r.StatusCode == http.StatusPreconditionFailed:
		return errReplaced
	default:
		return text
	}
}
