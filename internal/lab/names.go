package lab

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// TopicName returns a name that begins with base and that no other call on this lab returned, so that tests may share
// a stage. It is made of lower-case letters, digits and hyphens, as long as base is: as a regular expression it then
// matches itself alone, and it is none of the names that MirrorMaker 2 never copies.
func (l *Lab) TopicName(t testing.TB, base string) string {
	l.mu.Lock()
	l.numNames++
	n := l.numNames
	l.mu.Unlock()
	test := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	// Kafka allows 249 characters; what matters is the number.
	return fmt.Sprintf("%s-%.60s-%d", base, test, n)
}

// ConnectorName is like [Lab.TopicName], and removes the connector of that name, if there is one, from the lab's first
// worker at the end of the test. Its offsets stay, as Connect keeps them; no other test sees them under another name.
func (l *Lab) ConnectorName(t testing.TB, base string) string {
	name := l.TopicName(t, base)
	t.Cleanup(func() {
		if !l.shared {
			return // nobody comes after
		}
		ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
		defer cancel()
		if err := l.startStopped(ctx); err != nil {
			t.Errorf("removing connector %s: %v", name, err)
			return
		}
		if err := l.deleteConnector(ctx, name); err != nil {
			t.Error(err)
		}
	})
	return name
}

// deleteConnector repeats the request while the worker answers that it is rebalancing (409).
func (l *Lab) deleteConnector(ctx context.Context, name string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.Worker.RESTURL+"/connectors/"+name, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("removing connector %s: %w", name, err)
		}
		resp.Body.Close()
		switch resp.StatusCode {
		case http.StatusNoContent, http.StatusNotFound:
			return nil
		case http.StatusConflict:
		default:
			return fmt.Errorf("removing connector %s: the worker answers %s", name, resp.Status)
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return fmt.Errorf("removing connector %s: %w", name, ctx.Err())
		}
	}
}
