package connectrest_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const (
	user     = "ops"
	password = `hunter2/"p@ss&word>%41`
	jaas     = `org.apache.kafka.common.security.plain.PlainLoginModule required username="mm2" password="kafka-secret-7";`
)

// planted are all forms in which a secret could come out.
func planted() []string {
	quoted := strconv.Quote(password) // as JSON quotes it
	return []string{
		password, url.QueryEscape(password), url.PathEscape(password), quoted[1 : len(quoted)-1],
		base64.StdEncoding.EncodeToString([]byte(user + ":" + password)), "hunter2", "kafka-secret-7", "hidden-token",
	}
}

func noSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range planted() {
		if strings.Contains(text, s) {
			t.Errorf("%s holds the secret %q:\n%s", where, s, text)
		}
	}
}

// printed is v in every way in which a program may print it.
func printed(v any) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v %s %q\n", v, v, v, v, v)
	if j, err := json.Marshal(v); err == nil {
		b.Write(j)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	return b.String()
}

// The text of Create's error may repeat a configuration's secret alone.
func TestConfigurationSecretsAreTakenOutOfTheWorkersText(t *testing.T) {
	s := ready(t).on("POST /connectors", refuse(400, `Invalid value kafka-secret-7 for configuration password: "`+jaas+`"`))
	req := createMM2()
	req.Config["sasl.jaas.config"] = jaas
	_, err := s.client().Create(t.Context(), req)
	noSecret(t, "error", printed(err))
	if !strings.Contains(err.Error(), "Invalid value <secret> for configuration password") {
		t.Errorf("got %v", err)
	}
}

func TestConfigShowsNoSecretUnlessItIsSent(t *testing.T) {
	config := connectrest.Config{
		"name":                                          "mm2",
		"source.cluster.sasl.jaas.config":               jaas,
		"source.cluster.ssl.keystore.password":          "kafka-secret-7",
		"source.cluster.ssl.keystore.key":               "kafka-secret-7",
		"source.cluster.ssl.key.password":               "${file:/run/secrets/mm2:key}",
		"basic.auth.user.info":                          "u:kafka-secret-7",
		"aws.secret.access.key":                         "kafka-secret-7",
		"oauth.client.secret":                           "kafka-secret-7",
		"proxy":                                         "http://u:kafka-secret-7@proxy:3128",
		"sasl.oauthbearer.token.endpoint.url":           "https://idp/token",
		"value.converter.basic.auth.credentials.source": "USER_INFO",
		"empty.password":                                "",
	}
	for name, v := range map[string]any{
		"config":         config,
		"create request": connectrest.CreateRequest{Name: "mm2", Config: config},
		"connector":      connectrest.ConnectorInfo{Name: "mm2", Config: config},
		"task":           connectrest.TaskInfo{Config: config},
		"patch":          connectrest.ConfigPatch{Set: config},
		"list":           connectrest.ConnectorList{"mm2": {Info: connectrest.ConnectorInfo{Config: config}}},
	} {
		noSecret(t, name, printed(v))
	}
	want := connectrest.Config{
		"name":                                          "mm2",
		"source.cluster.sasl.jaas.config":               "<secret>",
		"source.cluster.ssl.keystore.password":          "<secret>",
		"source.cluster.ssl.keystore.key":               "<secret>",
		"source.cluster.ssl.key.password":               "${file:/run/secrets/mm2:key}",
		"basic.auth.user.info":                          "<secret>",
		"aws.secret.access.key":                         "<secret>",
		"oauth.client.secret":                           "<secret>",
		"proxy":                                         "http://<secret>@proxy:3128",
		"sasl.oauthbearer.token.endpoint.url":           "https://idp/token",
		"value.converter.basic.auth.credentials.source": "USER_INFO",
		"empty.password":                                "",
	}
	for k, v := range config.Redacted() {
		if v != want[k] {
			t.Errorf("%s is redacted to %q, want %q", k, v, want[k])
		}
	}
	sent := newScript(t).on("GET /connectors/mm2", status(200, created)).on("PUT /connectors/mm2/config", status(200, created))
	send := connectrest.Config{"connector.class": "x", "oauth.client.secret": "kafka-secret-7"}
	if _, err := sent.client().ReplaceConfig(t.Context(), "mm2", send); err != nil || !strings.Contains(sent.body("PUT /connectors/mm2/config"), "kafka-secret-7") {
		t.Errorf("the worker was sent %s, %v", sent.body("PUT /connectors/mm2/config"), err)
	}
}

// What was redacted for a person must not come back as a configuration.
func TestRedactedConfigurationIsNeverSent(t *testing.T) {
	redacted := connectrest.Config{"connector.class": "x", "oauth.client.secret": "kafka-secret-7"}.Redacted()
	s := newScript(t)
	c, ctx := s.client(), t.Context()
	_, errCreate := c.Create(ctx, connectrest.CreateRequest{Name: "mm2", Config: redacted})
	_, errReplace := c.ReplaceConfig(ctx, "mm2", redacted)
	_, errPatch := c.PatchConfig(ctx, "mm2", connectrest.ConfigPatch{Set: redacted})
	for _, err := range []error{errCreate, errReplace, errPatch} {
		checkMeanings(t, err, connectrest.ErrBadRequest)
		if !strings.Contains(err.Error(), "oauth.client.secret") {
			t.Errorf("the key is not named: %v", err)
		}
	}
	if sent := s.all(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
}

func TestBaseURLsThatAreRefusedShowNoPassword(t *testing.T) {
	for _, base := range []string{
		"", "connect:8083", "ftp://u:hunter2@host", "http://", "http://:8083", "://hunter2",
		"http://u:hunter2/x@host", "http://u:hunter2#x@host", "http://u:hunter2%zz@host", "u:hunter2@host:8083",
		"http://host:port", "http://host:0", "http://host:65536", "http://host/?token=hunter2", "http://host/#hunter2",
		"http://u:hunter2@host/?", "http://u%3Av:hunter2@host", "http://host/a/../b", "http://host/%2e%2e/b", "http://u:hunter2 @host\x7f",
	} {
		c, err := connectrest.New(base)
		if err == nil {
			t.Errorf("%q: accepted as %v", base, c)
			continue
		}
		noSecret(t, base, err.Error())
	}
}

func TestOptionsThatContradictEachOther(t *testing.T) {
	for name, opts := range map[string][]connectrest.Option{
		"two transports":    {connectrest.WithHTTPClient(http.DefaultClient), connectrest.WithTransport(http.DefaultTransport)},
		"TLS and client":    {connectrest.WithTLSConfig(&tls.Config{}), connectrest.WithHTTPClient(http.DefaultClient)},
		"credentials":       {connectrest.WithBasicAuth("a", "hunter2"), connectrest.WithBasicAuth("a", "hunter2")},
		"colon in the user": {connectrest.WithBasicAuth("a:b", "hunter2")},
		"timeout":           {connectrest.WithAttemptTimeout(0)},
		"pause":             {connectrest.WithRetry(connectrest.RetryPolicy{MinPause: -1})},
		"version":           {connectrest.WithAssumedVersion(connectrest.Version{})},
		"nil client":        {connectrest.WithHTTPClient(nil)},
		"nil transport":     {connectrest.WithTransport(nil)},
		"nil TLS":           {connectrest.WithTLSConfig(nil)},
		"nil logger":        {connectrest.WithLogger(nil)},
		"nil clock":         {connectrest.WithClock(nil)},
		"nil jitter":        {connectrest.WithJitter(nil)},
		"credentials, URL":  nil,
	} {
		base := "http://host"
		if opts == nil {
			base, opts = "http://u:hunter2@host", []connectrest.Option{connectrest.WithBasicAuth("a", "b")}
		}
		_, err := connectrest.New(base, opts...)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		noSecret(t, name, err.Error())
	}
}

func TestPrivateCAClientCertificateAndBasicAuth(t *testing.T) {
	s := newPrivateWorker(t)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	certs := []tls.Certificate{s.TLS.Certificates[0]}
	withUser := strings.Replace(s.URL, "https://", "https://"+url.UserPassword(user, password).String()+"@", 1)

	for _, tt := range []struct {
		name, base string
		opts       []connectrest.Option
		says       string // empty for success
		is         error
	}{
		{"no CA", withUser, nil, "WithTLSConfig, as RootCAs", connectrest.ErrUnreachable},
		{"no client certificate", withUser, []connectrest.Option{connectrest.WithTLSConfig(&tls.Config{RootCAs: roots})}, "Certificates", connectrest.ErrUnreachable},
		{"another host", strings.Replace(withUser, "127.0.0.1", "localhost", 1), []connectrest.Option{connectrest.WithTLSConfig(&tls.Config{RootCAs: roots, Certificates: certs})}, "does not fit the host", connectrest.ErrUnreachable},
		{"no credentials", s.URL, []connectrest.Option{connectrest.WithTLSConfig(&tls.Config{RootCAs: roots, Certificates: certs})}, "WithBasicAuth", connectrest.ErrUnauthorized},
		{"by the URL", withUser, []connectrest.Option{connectrest.WithTLSConfig(&tls.Config{RootCAs: roots, Certificates: certs})}, "", nil},
		{"by the option", s.URL, []connectrest.Option{connectrest.WithBasicAuth(user, password), connectrest.WithTLSConfig(&tls.Config{RootCAs: roots, Certificates: certs})}, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			_, err := dial(t, tt.base, c, tt.opts...).Connectors(t.Context())
			if tt.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			noSecret(t, "error", printed(err))
			if n := len(c.slept()); n != 0 {
				t.Errorf("tried again %d times", n)
			}
		})
	}
	if _, err := dial(t, s.URL, newClock()).Connectors(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("got %v", err)
	}
}

func TestUnverifiedTLSIsLoggedAsAWarning(t *testing.T) {
	var log bytes.Buffer
	dial(t, "https://host", newClock(), logTo(&log), connectrest.WithTLSConfig(&tls.Config{InsecureSkipVerify: true}))
	if !strings.Contains(log.String(), `"level":"WARN"`) || !strings.Contains(log.String(), "not verified") {
		t.Errorf("log: %s", &log)
	}
}

func TestNothingIsLoggedByDefault(t *testing.T) {
	var std bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&std, nil)))
	defer slog.SetDefault(old)
	s := newScript(t).on("GET /connectors", refuse(409, stale), broken, status(200, `[]`))
	if _, err := s.client().Connectors(t.Context()); err != nil {
		t.Fatal(err)
	}
	if std.Len() != 0 {
		t.Errorf("logged: %s", &std)
	}
}

// Of a secret that is cut, or whose white space is changed, a part would be left.
func TestSecretsAreTakenOutOfAForeignTextBeforeItIsCut(t *testing.T) {
	for name, key := range map[string]string{"one word": "key-hunter2", "two spaces": "key  hunter2"} {
		for at := 500; at < 515; at++ {
			s := newScript(t).on("GET /connectors", status(403, strings.Repeat("x", at-1)+" "+key+" "+strings.Repeat("y", 100)))
			_, err := s.client(connectrest.WithHeader("X-Api-Key", key)).Connectors(t.Context())
			e, ok := errors.AsType[*connectrest.Error](err)
			if !ok || !strings.HasSuffix(e.Message, "[cut]") || strings.Contains(e.Message, " k") {
				t.Errorf("%s at byte %d: %v", name, at, err)
			}
		}
	}
}

// The trace of a connector that fails may repeat what its configuration holds.
func TestTraceOfAConnectorThatStartedAnywayShowsNoSecretOfItsConfiguration(t *testing.T) {
	trace := `"trace":"org.apache.kafka.common.config.ConfigException: kafka-secret-7 is no password"`
	s := ready(t).on("POST /connectors", status(201, created)).
		on("GET /connectors/mm2/status", status(200, `{"name":"mm2","connector":{"state":"RUNNING",`+trace+`},"tasks":[{"id":0,"state":"FAILED",`+trace+`}],"type":"source"}`)).
		on("PUT /connectors/mm2/stop", status(204, "")).on("GET /connectors/mm2/topics", status(200, noTopics))
	req := createMM2()
	req.Config["sasl.jaas.config"] = jaas
	_, err := s.client().Create(t.Context(), req)
	e, ok := errors.AsType[*connectrest.StartedError](err)
	if !ok || !strings.Contains(e.Status.Connector.Trace, "<secret> is no password") {
		t.Fatalf("got %+v", err)
	}
	noSecret(t, "error", printed(err)+printed(*e))
}

func TestTextOfAnAnswerIsBoundedAndPlain(t *testing.T) {
	s := newScript(t).on("GET /connectors", refuse(400, "\x1b[31mred\x07\n"+strings.Repeat("ü", 70_000)))
	_, err := s.client().Connectors(t.Context())
	e, ok := errors.AsType[*connectrest.Error](err)
	if !ok || len(e.Message) > 5<<10 || !strings.HasSuffix(e.Message, "[cut]") || strings.ContainsAny(e.Message, "\x1b\x07") {
		t.Errorf("%d bytes: %.100q", len(e.Message), e.Message)
	}
}
