package connectrest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// A version, a state and the target of a redirect stand in errors, whatever a server
// makes of them: it may repeat credentials, break lines, and write a megabyte.
func TestErrorsShowLittleOfAWordOfAnAnswer(t *testing.T) {
	large := strings.Repeat("9", 1<<20)
	for name, tt := range map[string]struct {
		key   string
		reply func(r *http.Request, echo string) any // nil for a redirect
		call  func(context.Context, *connectrest.Client) error
	}{
		"version": {"GET /", func(_ *http.Request, echo string) any { return map[string]any{"version": echo} }, func(ctx context.Context, c *connectrest.Client) error {
			_, err := c.Version(ctx)
			return err
		}},
		"state": {"GET /connectors/mm2/status", func(_ *http.Request, echo string) any {
			task := map[string]any{"id": 0, "state": echo, "worker_id": "w\n" + large}
			return map[string]any{"name": "mm2", "connector": map[string]any{"state": echo, "worker_id": "w"}, "tasks": []any{task}}
		}, func(ctx context.Context, c *connectrest.Client) error {
			return c.AlterOffsetsOnceStopped(ctx, "mm2", listOf(1), time.Second)
		}},
		"redirect": {"PUT /connectors/mm2/stop", nil, func(ctx context.Context, c *connectrest.Client) error { return c.Stop(ctx, "mm2") }},
	} {
		s := newScript(t).on("GET /connectors/mm2", status(200, `{"name":"mm2","config":{},"tasks":[]}`))
		s.on(tt.key, func(w http.ResponseWriter, r *http.Request) {
			echo := "key\nof " + r.Header.Get("X-Api-Key") + " " + large
			if tt.reply == nil {
				w.Header().Set("Location", "http://elsewhere/"+r.Header.Get("X-Api-Key")+large[:1<<19])
				w.WriteHeader(http.StatusTemporaryRedirect)
				return
			}
			_ = json.NewEncoder(w).Encode(tt.reply(r, echo))
		})
		err := tt.call(t.Context(), dial(t, s.URL, newClock(), connectrest.WithHeader("X-Api-Key", "hunter2")))
		if err == nil || len(err.Error()) > 4096 || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "<secret>") {
			t.Errorf("%s: got %.1000v", name, err)
		}
	}
}
