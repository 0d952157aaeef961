package preflight_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// Other MirrorSourceConnectors that the worker really has.
func TestOtherMirrorsOfTheWorker(t *testing.T) {
	t.Parallel()
	const (
		double, reverse = "connector/double-writer other", "connector/reverse-flow other"
		prefixing       = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
		running         = connectrest.StateRunning
	)
	for name, c := range map[string]struct {
		state connectrest.State
		pairs func(l *lab) []string
		want  string // severity, id, scope
	}{
		"the same topics": {running, func(*lab) []string { return []string{"topics", "orders"} }, "block " + double},
		"stopped":         {connectrest.StateStopped, func(*lab) []string { return []string{"topics", "orders"} }, "warn " + double},
		"paused":          {connectrest.StatePaused, func(*lab) []string { return []string{"topics", "orders"} }, "warn " + double},
		"other topics":    {running, func(*lab) []string { return []string{"topics", "refunds"} }, ""},
		"excluded topics": {running, func(*lab) []string { return []string{"topics.exclude", "orders,payments"} }, ""},
		"other names": {running, func(*lab) []string {
			return []string{"replication.policy.class", prefixing, "source.cluster.alias", "east"}
		}, ""},
		"to another cluster": {running, func(l *lab) []string {
			return []string{"producer.override.bootstrap.servers", strings.Join(brokers(l.t, "third-1").ListenAddrs(), ",")}
		}, ""},
		"to a cluster that is not known": {connectrest.StateStopped, func(l *lab) []string {
			gone := brokers(l.t, "gone-1")
			at := strings.Join(gone.ListenAddrs(), ",") // which a closed one does not tell
			gone.Close()
			return []string{"topics", "orders", "producer.override.bootstrap.servers", at}
		}, "warn " + double},
		"back": {running, func(l *lab) []string {
			return []string{
				"source.cluster.bootstrap.servers", l.config["target.cluster.bootstrap.servers"],
				"producer.override.bootstrap.servers", l.config["source.cluster.bootstrap.servers"],
			}
		}, "block " + reverse},
		"back, with names of its own": {running, func(l *lab) []string {
			return []string{
				"source.cluster.bootstrap.servers", l.config["target.cluster.bootstrap.servers"],
				"producer.override.bootstrap.servers", l.config["source.cluster.bootstrap.servers"],
				"replication.policy.class", prefixing, "source.cluster.alias", "west",
			}
		}, ""},
		"to the source, from elsewhere": {running, func(l *lab) []string {
			return []string{
				"source.cluster.bootstrap.servers", strings.Join(brokers(l.t, "third-1").ListenAddrs(), ","),
				"producer.override.bootstrap.servers", l.config["source.cluster.bootstrap.servers"],
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.mirror("other", c.state, c.pairs(l)...)()
			var got []string
			for _, f := range l.judge().Findings {
				if strings.HasPrefix(f.Check, "connector/") {
					got = append(got, string(f.Severity)+" "+f.Check+" "+f.Scope)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What a connector of another class writes is known by what it has written.
func TestWhatOtherClassesHaveWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, topics string // the body of GET /connectors/jdbc/topics
		want         string
	}{
		"one of ours":    {"source", `{"jdbc":{"topics":["orders","invoices"]}}`, "block connector/double-writer: it has written to orders, and is RUNNING with 1 tasks"},
		"others":         {"source", `{"jdbc":{"topics":["invoices"]}}`, ""},
		"a sink's":       {"sink", `{"jdbc":{"topics":["orders"]}}`, ""},
		"not told":       {"source", "", "block connector/double-writer: could not be checked: which topics it has written"},
		"nothing so far": {"source", `{"jdbc":{"topics":[]}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.lists("jdbc", "io.example.JdbcSourceConnector", c.kind, connectrest.StateRunning, connectrest.TaskStatus{State: connectrest.StateRunning})()
			if c.topics == "" {
				defer l.refuse("/connectors/jdbc/topics")()
			} else {
				defer l.respond("/connectors/jdbc/topics", 200, c.topics)()
			}
			r := l.judge()
			got := found(r, "connector/double-writer")
			switch {
			case c.want == "" && len(r.Findings) > 0:
				t.Errorf("got %v", r.Findings)
			case c.want != "" && (len(got) != 1 || got[0].Scope != "jdbc" || !strings.HasPrefix(string(got[0].Severity)+" "+got[0].Check+": "+got[0].Detail, c.want)):
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestCompanionsAreKnownByAlias(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]string{
		"MirrorCheckpoint":          "connector/checkpoint",
		"MirrorCheckpointConnector": "connector/checkpoint",
		"MirrorHeartbeat":           "connector/heartbeat",
		"org.apache.kafka.connect.mirror.MirrorHeartbeatConnector": "connector/heartbeat",
		"org.example.HeartbeatConnector":                           "",
	} {
		l := newLab(t, setup{})
		defer l.respond("/connectors/beside/topics", 200, `{"beside":{"topics":[]}}`)()
		mend := l.lists("beside", class, "source", connectrest.StateStopped)
		got := l.judge().Findings
		mend()
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Check != want || got[0].Scope != "beside" || got[0].Severity != "warn") {
			t.Errorf("%s: got %v, want %q", class, got, want)
		}
	}
}

// A list that lacks what the worker has proves nothing of the others.
func TestAListWithoutTheConnectorIsNone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.respond("/connectors", 200, "{}")()
	r := l.judge()
	for _, id := range []string{"connector/double-writer", "connector/reverse-flow", "connector/checkpoint", "connector/heartbeat"} {
		if got := found(r, id); len(got) != 1 || !got[0].Unmade {
			t.Errorf("%s: got %v", id, got)
		}
	}
}

// A worker that does not say how it is has not said that it is well.
func TestHealthThatIsNotToldIsNotHealth(t *testing.T) {
	t.Parallel()
	for body, unmade := range map[string]bool{
		`{"status":"unhealthy","message":"Worker was unable to handle this request."}`: false,
		`{"status":"fine"}`: true,
		`{}`:                true,
		"<html>":            true,
	} {
		l := newLab(t, setup{})
		defer l.respond("/health", 200, body)()
		if got := l.one("worker/unhealthy"); got.Severity != "block" || got.Unmade != unmade {
			t.Errorf("%s: got %s, unmade %t", body, got, got.Unmade)
		}
	}
}

// A follower that may not send what a leader must answer is a thing that was not checked.
func TestForwardingThatMayNotBeTried(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	f, _ := l.several()
	deletes := connecttest.Requests{Method: "DELETE"}
	f.Inject(connecttest.Answer{Requests: deletes, Status: 403, Body: `{"error_code":403,"message":"read only"}`})
	if got := l.one("worker/forwarding"); !got.Unmade || got.Scope != f.URL {
		t.Errorf("got %s, unmade %t", got, got.Unmade)
	}
}

// One worker is asked nothing that it could take for a change.
func TestOneWorkerIsOnlyRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.worker.Inject(connecttest.Answer{Requests: connecttest.Requests{Method: "DELETE"}, Status: 403, Body: `{"error_code":403,"message":"read only"}`})
	l.want(l.judge())
}
