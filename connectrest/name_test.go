package connectrest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// Connector names that are not plain words: each call must escape them exactly
// once, in whatever the path is made of.
func TestNamesAreEscapedExactlyOnceByEveryCall(t *testing.T) {
	for name, escaped := range map[string]string{
		"flink to mm2":                "flink%20to%20mm2",
		"a->b.MirrorSourceConnector":  "a-%3Eb.MirrorSourceConnector",
		"50%":                         "50%25",
		"50%2":                        "50%252",
		"100%ig":                      "100%25ig",
		"x+y":                         "x%2By",
		"订单复制":                        "%E8%AE%A2%E5%8D%95%E5%A4%8D%E5%88%B6",
		"a,b?c#d&e=f@g:h":             "a%2Cb%3Fc%23d%26e%3Df%40g%3Ah",
		`quote"back\slash|<x>`:        "quote%22back%5Cslash%7C%3Cx%3E",
		"...":                         "...",
		"~tilde_under-dash.dot":       "~tilde_under-dash.dot",
		strings.Repeat("long", 60):    strings.Repeat("long", 60),
		"orders (copy) [2024] 'a', b": "orders%20%28copy%29%20%5B2024%5D%20%27a%27%2C%20b",
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				lines = append(lines, r.Method+" "+r.RequestURI)
				if want := "/gate way/connectors/" + name; !strings.HasPrefix(r.URL.Path, want) && r.URL.Path != "/gate way/connectors" && r.URL.Path != "/gate way/" {
					t.Errorf("the server sees %q, want it to begin with %q", r.URL.Path, want)
				}
				refuse(400, "enough")(w, r)
			}))
			defer srv.Close()
			c := dial(t, srv.URL+"/gate%20way/", newClock())
			ctx := t.Context()
			_, err1 := c.Connector(ctx, name)
			_, err2 := c.Config(ctx, name)
			_, err3 := c.Status(ctx, name)
			_, err4 := c.Tasks(ctx, name)
			_, err5 := c.Offsets(ctx, name)
			_, err6 := c.ActiveTopics(ctx, name)
			errs := []error{
				err1, err2, err3, err4, err5, err6,
				c.AlterOffsets(ctx, name, []connectrest.Offset{{Partition: raw(`{}`), Offset: raw(`null`)}}),
				c.ResetOffsets(ctx, name), c.Stop(ctx, name), c.Resume(ctx, name), c.Delete(ctx, name), c.ResetActiveTopics(ctx, name),
			}
			for _, err := range errs {
				checkMeanings(t, err, connectrest.ErrBadRequest)
			}
			p := "/gate%20way/connectors/" + escaped
			want := []string{
				"GET " + p, "GET " + p + "/config", "GET " + p + "/status", "GET " + p + "/tasks", "GET " + p + "/offsets", "GET " + p + "/topics",
				"PATCH " + p + "/offsets", "DELETE " + p + "/offsets", "PUT " + p + "/stop", "PUT " + p + "/resume", "DELETE " + p, "PUT " + p + "/topics/reset",
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatCannotBeAddressedAreRefusedBeforeAnyRequest(t *testing.T) {
	for _, name := range []string{"", "a/b", "/", ".", "..", "a\nb", "a\x00", "a\u0085", "\xff", " a", "a ", "a\u00a0", "\t", "a;b", "50%25", "%aF", "a{x}", "{", "}"} {
		s := newScript(t)
		c := s.client()
		ctx := t.Context()
		req := createMM2()
		req.Name = name
		_, errCreate := c.Create(ctx, req)
		_, errConnector := c.Connector(ctx, name)
		_, errConfig := c.Config(ctx, name)
		_, errStatus := c.Status(ctx, name)
		_, errTasks := c.Tasks(ctx, name)
		_, errOffsets := c.Offsets(ctx, name)
		_, errTopics := c.ActiveTopics(ctx, name)
		_, errStopped := c.AwaitStopped(ctx, name)
		_, errValidate := c.Validate(ctx, name, nil)
		for i, err := range []error{
			errCreate, errConnector, errConfig, errStatus, errTasks, errOffsets, errTopics, errStopped, errValidate,
			c.AlterOffsets(ctx, name, nil), c.ResetOffsets(ctx, name), c.Stop(ctx, name), c.Resume(ctx, name),
			c.Delete(ctx, name), c.ResetActiveTopics(ctx, name), connectrest.CheckName(name),
		} {
			if !errors.Is(err, connectrest.ErrName) {
				t.Errorf("name %q, call %d: got %v, want ErrName", name, i, err)
			}
		}
		if got := s.all(); len(got) != 0 {
			t.Errorf("name %q: sent %v", name, got)
		}
	}
}
