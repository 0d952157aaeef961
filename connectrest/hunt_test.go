package connectrest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// oauthToken is a token as golang.org/x/oauth2 has it.
type oauthToken struct{ access string }

func (t *oauthToken) SetAuthHeader(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+t.access)
}

// tokens is a source of such tokens.
type tokens func() (*oauthToken, error)

func (f tokens) Token() (*oauthToken, error) { return f() }

// credentials are all ways to give them, and each gives a planted one.
func credentials(t *testing.T) map[string]func(base string) (*connectrest.Client, *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("file-hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(opts ...connectrest.Option) func(string) (*connectrest.Client, *bytes.Buffer) {
		return func(base string) (*connectrest.Client, *bytes.Buffer) {
			var log bytes.Buffer
			return dial(t, base, newClock(), append(opts, logTo(&log))...), &log
		}
	}
	return map[string]func(string) (*connectrest.Client, *bytes.Buffer){
		"URL": func(base string) (*connectrest.Client, *bytes.Buffer) {
			return with()(strings.Replace(base, "http://", "http://"+url.UserPassword(user, password).String()+"@", 1))
		},
		"basic": with(connectrest.WithBasicAuth(user, password)),
		"token": with(connectrest.WithBearerToken("hunter2.token")),
		"file":  with(connectrest.WithBearerTokenFile(file)),
		"OAuth": with(connectrest.WithTokenSource(tokens(func() (*oauthToken, error) { return &oauthToken{"oauth-hunter2"}, nil }))),
		"header": with(connectrest.WithHeader("X-Api-Key", "key-hunter2"), connectrest.WithBasicAuth(user, password),
			connectrest.WithHeader("X-Other", "hunter2 & more")),
	}
}

// echoed is all that a request brought, in the words of a server that repeats it.
func echoed(r *http.Request, body []byte) string {
	u, p, _ := r.BasicAuth()
	return fmt.Sprintf("Authorization: %s user %s password %s at http://%s:%s@host/ keys %s %s body %s bearer hidden-token",
		r.Header.Get("Authorization"), u, p, url.QueryEscape(u), url.QueryEscape(p), r.Header.Get("X-Api-Key"), r.Header.Get("X-Other"), body)
}

// failing answers every request with a status and an echo.
func failing(code int, isJSON bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u, p, _ := r.BasicAuth()
		w.Header().Set("Location", "http://"+url.UserPassword(u, p).String()+"@elsewhere/x?password="+url.QueryEscape(p))
		w.WriteHeader(code)
		if !isJSON {
			_, _ = io.WriteString(w, "<html>"+echoed(r, body)+"</html>")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"error_code": code, "message": echoed(r, body)})
	}
}

// serving is a worker that serves every call for connector mm2, and puts an echo
// wherever an answer has free text. A name other than mm2 exists once it was
// created.
func serving(version string) http.HandlerFunc {
	existing := map[string]map[string]string{"mm2": {"connector.class": "MirrorSourceConnector", "topics": "orders", "name": "mm2", "sasl.jaas.config": jaas}}
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := echoed(r, body)
		answer := func(code int, v any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			if v != nil {
				_ = json.NewEncoder(w).Encode(v)
			}
		}
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		name := ""
		if len(parts) > 1 {
			name = parts[1]
		}
		info := func() map[string]any {
			return map[string]any{"name": name, "config": existing[name], "tasks": []any{}, "type": "source"}
		}
		state := "STOPPED"
		if parts[len(parts)-1] == "restart" {
			state = "RESTARTING"
		}
		statusOf := func(name string) map[string]any {
			return map[string]any{"name": name, "connector": map[string]any{"state": state, "worker_id": "w:8083", "trace": text}, "tasks": []any{}, "type": "source"}
		}
		switch key := r.Method + " " + strings.Join(append(parts[:1:1], parts[min(2, len(parts)):]...), "/"); {
		case parts[0] == "connectors" && name != "" && existing[name] == nil && key != "PUT connectors/config":
			answer(404, map[string]any{"error_code": 404, "message": "Connector " + name + " not found"})
		case r.URL.Path == "/":
			answer(200, map[string]any{"version": version, "commit": "c", "kafka_cluster_id": "id"})
		case key == "GET health":
			answer(503, map[string]any{"status": "starting", "message": text})
		case key == "GET connector-plugins" && name == "", key == "GET connector-plugins/config":
			answer(200, []any{})
		case key == "PUT connector-plugins/config/validate":
			answer(200, map[string]any{"error_count": 1, "configs": []any{map[string]any{"definition": map[string]any{"name": "x"}, "value": map[string]any{"errors": []string{text}}}}})
		case key == "GET connectors" && name == "" && r.URL.RawQuery != "":
			name = "mm2"
			answer(200, map[string]any{"mm2": map[string]any{"status": statusOf("mm2"), "info": info()}})
		case key == "GET connectors" && name == "":
			answer(200, []string{"mm2"})
		case key == "POST connectors":
			var req struct {
				Name   string            `json:"name"`
				Config map[string]string `json:"config"`
			}
			_ = json.Unmarshal(body, &req)
			name, existing[req.Name] = req.Name, req.Config
			existing[req.Name]["name"] = req.Name
			answer(201, info())
		case key == "PUT connectors/config":
			var config map[string]string
			_ = json.Unmarshal(body, &config)
			existing[name] = config
			answer(200, info())
		case key == "GET connectors", key == "PATCH connectors/config":
			answer(200, info())
		case key == "GET connectors/config":
			answer(200, existing[name])
		case key == "GET connectors/status":
			answer(200, statusOf(name))
		case key == "POST connectors/restart":
			answer(202, statusOf(name))
		case key == "GET connectors/tasks":
			answer(200, []any{map[string]any{"id": map[string]any{"connector": name, "task": 0}, "config": map[string]string{"sasl.jaas.config": jaas}}})
		case key == "GET connectors/tasks/0/status":
			answer(200, map[string]any{"id": 0, "state": "FAILED", "worker_id": "w:8083", "trace": text})
		case key == "GET connectors/topics":
			answer(200, map[string]any{name: map[string]any{"topics": []string{}}})
		case key == "GET connectors/offsets":
			answer(200, connectrest.OffsetsBody{Offsets: []connectrest.Offset{{Partition: raw(`{"topic":"orders"}`), Offset: raw(`{"offset":1}`)}}})
		case key == "PATCH connectors/offsets", key == "DELETE connectors/offsets":
			answer(200, map[string]any{"message": text})
		case key == "GET admin/mm2", key == "PUT admin/mm2", key == "GET admin":
			switch {
			case r.Method == http.MethodPut:
				answer(200, []string{"mm2"})
			case len(parts) == 2:
				answer(200, map[string]any{"root": map[string]any{"level": "INFO"}})
			default:
				answer(200, map[string]any{"level": "DEBUG", "last_modified": nil})
			}
		case r.Method == http.MethodDelete:
			delete(existing, name)
			answer(204, nil)
		default: // pause, stop, resume, restart of a task, reset of topics
			answer(202, nil)
		}
	}
}

func TestServedCallsShowNoSecretThatTheWorkerRepeats(t *testing.T) {
	for how, client := range credentials(t) {
		for name, call := range publicCalls() {
			version, connector := "4.3.1", "mm2"
			switch name {
			case "Create":
				connector = "fresh"
			case "CreateThenStop":
				version, connector = "3.6.2", "fresh"
			}
			srv := httptest.NewServer(serving(version))
			c, log := client(srv.URL)
			got, err := call(t.Context(), c, connector)
			// The worker says that it starts, and that a probe's connector is not there.
			if err != nil && name != "Probe" && name != "ProbeForwarding" && name != "Resume" && name != "Pause" {
				t.Errorf("%s, %s: %v", how, name, err)
			}
			noSecret(t, name+" by "+how+": result", printed(got))
			noSecret(t, name+" by "+how+": error", printed(err))
			noSecret(t, name+" by "+how+": log", log.String())
			noSecret(t, name+" by "+how+": client", printed(c)+fmt.Sprintf("%v %+v %#v", *c, *c, *c))
			srv.Close()
		}
	}
}

func TestFailedCallsShowNoSecretThatTheServerRepeats(t *testing.T) {
	ways, calls := credentials(t), publicCalls()
	for _, code := range []int{200, 302, 307, 400, 401, 403, 404, 405, 409, 415, 429, 500, 502, 503} {
		for _, isJSON := range []bool{true, false} {
			srv := httptest.NewServer(failing(code, isJSON))
			for how, client := range ways {
				if how != "URL" && code != 401 && code != 500 {
					continue // how a secret got on a request matters little to what is said of the answer
				}
				c, log := client(srv.URL)
				for name, call := range calls {
					ctx, cancel := context.WithCancel(t.Context())
					if name == "AwaitStopped" {
						// Only the context bounds it.
						cancel()
					}
					got, err := call(ctx, c, "mm2")
					cancel()
					where := fmt.Sprintf("%s by %s, status %d", name, how, code)
					if (code != 200 || !isJSON) && err == nil {
						t.Errorf("%s: it succeeded", where)
					}
					noSecret(t, where+": result", printed(got))
					huntError(t, where, err)
				}
				noSecret(t, fmt.Sprintf("log by %s, status %d", how, code), log.String())
			}
			srv.Close()
		}
	}
}

// huntError looks into every error that is in err.
func huntError(t *testing.T, where string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	noSecret(t, where+": error", printed(err))
	if e, ok := errors.AsType[*connectrest.Error](err); ok {
		noSecret(t, where+": Error by value", fmt.Sprintf("%v %+v %#v", *e, *e, *e))
	}
	switch u := err.(type) { //nolint:errorlint // every level is looked at
	case interface{ Unwrap() error }:
		huntError(t, where, u.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range u.Unwrap() {
			huntError(t, where, one)
		}
	}
}

// The values themselves are what a program panics with.
func TestPanicTextShowsNoSecret(t *testing.T) {
	const which = "CONNECTREST_PANIC_WITH"
	config := connectrest.Config{"connector.class": "x", "sasl.jaas.config": jaas}
	values := map[string]func() any{
		"client": func() any { return dial(t, "http://host", newClock(), connectrest.WithBasicAuth(user, password)) },
		"error": func() any {
			srv := httptest.NewServer(failing(401, true))
			defer srv.Close()
			_, err := dial(t, srv.URL, newClock(), connectrest.WithBasicAuth(user, password)).Info(t.Context())
			return err
		},
		"config":  func() any { return config },
		"request": func() any { return connectrest.CreateRequest{Name: "mm2", Config: config} },
		"patch":   func() any { return connectrest.ConfigPatch{Set: config} },
		"option":  func() any { return connectrest.WithBearerToken("hunter2.token") },
	}
	if v := os.Getenv(which); v != "" {
		panic(values[v]())
	}
	for name := range values {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanicTextShowsNoSecret$")
		cmd.Env = append(os.Environ(), which+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("panic: ")) {
			t.Errorf("%s: no panic: %v\n%s", name, err, out)
		}
		noSecret(t, "panic with "+name, string(out))
	}
}
