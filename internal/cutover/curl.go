package cutover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

type producer = *kgo.Client

// curl sends a request past the library, as somebody else would. A worker that
// is busy is asked again.
func (w *world) curl(ctx context.Context, method, path string, body []byte) error {
	var last error
	err := w.until(ctx, func() (bool, error) {
		req, err := http.NewRequestWithContext(ctx, method, w.Connect+path, bytes.NewReader(body))
		if err != nil {
			return false, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return false, err
		}
		last = fmt.Errorf("%s %s: %s %s", method, path, resp.Status, text)
		return resp.StatusCode/100 == 2, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return nil
}

func (w *world) put(ctx context.Context, path string, config connectrest.Config) error {
	var body []byte
	if config != nil {
		var err error
		if body, err = json.Marshal(map[string]string(config)); err != nil {
			return err
		}
	}
	return w.curl(ctx, http.MethodPut, path, body)
}

func (w *world) patch(ctx context.Context, path string, body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return w.curl(ctx, http.MethodPatch, path, raw)
}

func (w *world) configWith(topic, key, value string) connectrest.Config {
	c := maps.Clone(w.config([]string{topic}))
	c[key] = value
	return c
}

// until asks again and again, for as long as the stage has patience.
func (w *world) until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, w.Patience)
	defer cancel()
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s", w.Patience)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (w *world) withClient(bootstrap string, do func(producer) error) error {
	c, err := kgo.NewClient(clientOptions(bootstrap)...)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}
