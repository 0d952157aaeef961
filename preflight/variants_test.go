package preflight_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("of a vendor", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{version: "4.3.1", reported: "eventhub-12"})
		l.want(l.judge(), "block worker/version worker", "block worker/version plugin", "block config/offset-syncs",
			"block config/topics-unplanned topics", "block config/topics-unselected topics")
		for _, f := range found(l.judge(), "worker/version") {
			if !f.Unmade || !strings.Contains(f.Detail, "eventhub-12") {
				t.Errorf("%s, unmade %t", f, f.Unmade)
			}
		}
		// A plan records it as it is.
		if v, err := l.observe().PluginVersion(); v != "eventhub-12" || err != nil {
			t.Errorf("plugin version %q, %v", v, err)
		}
		if _, err := l.observe().MirrorVersion(); !errors.Is(err, connectrest.ErrVersion) {
			t.Errorf("version of Kafka: %v", err)
		}
	})
	t.Run("a plugin older than the worker", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.plugin("4.0.0")()
		r := l.judge()
		l.want(r, "warn worker/plugin")
		l.says(r.Findings[0], "4.0.0", "4.3.1")
	})
	t.Run("a plugin too old", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.plugin("3.5.2")()
		if f := l.one("worker/version"); f.Scope != "plugin" || f.Severity != offsetmap.Block {
			t.Error(f)
		}
	})
	t.Run("a worker with several", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.answer("/connector-plugins", []connectrest.PluginInfo{
			{Class: mirrorSource, Type: "source", Version: "3.6.0"}, {Class: mirrorSource, Type: "source", Version: "4.3.1"},
		})()
		l.want(l.judge()) // the status says 4.3.1
		defer l.answer("/connectors/"+connector+"/status", connectrest.Status{
			Name: connector, Connector: connectrest.ConnectorStatus{State: connectrest.StateStopped}, Tasks: []connectrest.TaskStatus{},
		})()
		f := l.one("worker/version")
		l.says(f, "3.6.0", "4.3.1", "which one")
		if v, err := l.observe().PluginVersion(); v != "" || err == nil {
			t.Errorf("plugin version %q, %v", v, err)
		}
		if !f.Unmade {
			t.Errorf("%s: want unmade", f)
		}
	})
	t.Run("the plugins cannot be listed", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.refuse("/connector-plugins")()
		if f := l.one("worker/plugin"); !f.Unmade {
			t.Error(f)
		}
	})
	t.Run("a worker without initial states", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{version: "3.6.2"})
		r := l.judge()
		l.want(r, "warn worker/version worker", "warn config/offset-syncs-unavoidable")
		l.says(found(r, "worker/version")[0], "3.6.2", "enabled=false", "stopped, and given its config only then")
		l.says(found(r, "config/offset-syncs-unavoidable")[0], "3.6.2 always writes offset-syncs")
		if diff := cmp.Diff(found(r, "worker/version"), l.observe().WorkerVersion()); diff != "" {
			t.Errorf("of the worker alone (-the check +alone):\n%s", diff)
		}
	})
	t.Run("a worker that cannot alter offsets", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.answer("/", connectrest.WorkerInfo{Version: version("3.5.2"), KafkaClusterID: "target-1"})()
		f := l.one("worker/version")
		l.says(f, "3.5.2", "older than 3.6")
		if f.Scope != "worker" || f.Severity != offsetmap.Block || f.Acceptable != offsetmap.Never {
			t.Error(f)
		}
	})
	for _, v := range []string{"3.7.0", "3.7.2.redhat-1", "7.7.0-ccs", "4.4.0-SNAPSHOT"} {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.answer("/", connectrest.WorkerInfo{Version: version(v), KafkaClusterID: "target-1"})()
			if bad := found(l.judge(), "worker/version"); bad != nil {
				t.Error(bad)
			}
		})
	}
}

func TestStatesOfTheConnector(t *testing.T) {
	t.Parallel()
	stopped := connectrest.ConnectorStatus{State: connectrest.StateStopped, WorkerID: "w"}
	for name, c := range map[string]struct {
		status connectrest.Status
		says   string
	}{
		"paused":             {connectrest.Status{Name: connector, Connector: connectrest.ConnectorStatus{State: connectrest.StatePaused}, Tasks: []connectrest.TaskStatus{}}, "PAUSED with 0 tasks"},
		"a task is left":     {connectrest.Status{Name: connector, Connector: stopped, Tasks: []connectrest.TaskStatus{{ID: 1, State: connectrest.StateRunning}}}, "STOPPED, but 1 tasks still exist (the first, 1, is RUNNING)"},
		"of a later version": {connectrest.Status{Name: connector, Connector: connectrest.ConnectorStatus{State: "SLEEPING"}, Tasks: []connectrest.TaskStatus{}}, "SLEEPING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.answer("/connectors/"+connector+"/status", c.status)()
			r := l.judge()
			l.want(r, "block connector/state")
			l.says(r.Findings[0], c.says)
		})
	}
	t.Run("a task is still configured", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.answer("/connectors/"+connector, connectrest.ConnectorInfo{
			Name: connector, Config: with(l.config), Type: "source", Tasks: []connectrest.TaskID{{Connector: connector}},
		})()
		r := l.judge()
		l.want(r, "block connector/state")
		l.says(r.Findings[0], "still configured")
	})
	t.Run("no status yet", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		defer l.respond("/connectors/"+connector+"/status", 404, `{"error_code":404,"message":"No status found for connector mm2"}`)()
		r := l.judge()
		l.want(r, "block connector/state")
		if !r.Findings[0].Unmade {
			t.Error(r.Findings)
		}
	})
}

func TestPartitionCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target int32
		says   string
	}{"fewer": {1, "would add 1"}, "more": {5, "nothing would be copied to the last 3"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.remove(l.target, "orders")
			l.create(l.target, "orders", c.target)
			r := l.judge()
			l.want(r, "block target/partition-count orders")
			l.says(r.Findings[0], c.says)
			l.question.Acceptances = []offsetmap.Acceptance{{Check: "target/partition-count", Scope: "orders", By: "ann", Reason: "nobody needs the order"}}
			r = l.judge()
			l.want(r, "warn target/partition-count orders")
			if len(r.Rows) != 3 || r.Rows[1].TargetEnd != next(0) {
				t.Errorf("rows %v", r.Rows)
			}
		})
	}
}

func TestStoredOffsets(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.store(
		`{"cluster":"source","topic":"orders","partition":0,"extra":1}`, `{"offset":3}`,
		`{"cluster":"source","topic":"orders","partition":0}`, `{"offset":9223372036854775807}`,
		`{"cluster":"source","topic":"orders","partition":1}`, `{"offset":9}`, // as planned
		`{"cluster":"source","topic":"payments","partition":0}`, `{"offset":0}`, // planned is a clear
		`{"cluster":"source","topic":"payments","partition":9}`, `{"offset":0}`,
	)
	r := l.judge()
	l.want(r,
		`block offsets/foreign {"cluster":"source","extra":1,"partition":0,"topic":"orders"}`,
		"block offsets/rewind orders-0:9223372036854775803",
		"block offsets/rewind payments-0:1",
		"block offsets/unplanned payments-9",
	)
	l.says(found(r, "offsets/foreign")[0], `"extra":1`, `{"offset":3}`)
	for _, f := range r.Findings {
		want := offsetmap.Exact
		if f.Check == "offsets/unplanned" || f.Check == "offsets/foreign" {
			want = offsetmap.Never // apply and start refuse them, whatever a plan accepts
		}
		if f.Acceptable != want {
			t.Errorf("%s: acceptable %q", f, f.Acceptable)
		}
	}
	// Below what is planned, by the least that there is.
	other := newLab(t, setup{})
	other.store(`{"cluster":"source","topic":"orders","partition":1}`, `{"offset":8}`)
	other.want(other.judge(), "block offsets/skip orders-1:1")

	// A count that has moved is not accepted any more.
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "offsets/rewind", Scope: "payments-0:2", By: "ann", Reason: "copied twice is fine"}}
	if len(found(l.judge(), "plan/acceptance-unused")) != 1 {
		t.Error("an acceptance of another count is used")
	}
}

func TestStoredOffsetsAreNotCalledUnplannedWhileTheSourceIsUnknown(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.store(`{"cluster":"source","topic":"orders","partition":0}`, `{"offset":4}`)
	l.question.Earlier = earlier(wrote("orders", 1, "9"))
	defer cut(l.source, kmsg.Metadata)()
	r := l.judge()
	if len(found(r, "source/unknown")) != 1 || len(found(r, "offsets/unplanned"))+len(found(r, "offsets/earlier-rewound")) > 0 {
		t.Error(r.Findings)
	}
}

func TestEarlierPartitionsThatWereSetBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.source, "refunds", 5)
	l.set("topics", "orders, payments, refunds")
	const refunds = `{"cluster":"source","topic":"refunds","partition":`
	l.store(refunds+"0}", `{"offset":6}`, refunds+"1}", `{"offset":7}`, refunds+"2}", `{"offset":8}`)
	l.question.Earlier = earlier(
		wrote("orders", 0, "9"), // now this migration's, so offsets/rewind and offsets/skip judge it
		wrote("refunds", 0, "7"), wrote("refunds", 1, "7"), wrote("refunds", 2, "7"), wrote("refunds", 3, "0"), wrote("refunds", 4, "null"),
	)
	r := l.judge()
	l.want(r, "block offsets/earlier-rewound refunds-0", "block offsets/earlier-rewound refunds-3")
	l.says(r.Findings[0], "stored 6", "had come to 7")
	l.says(r.Findings[1], "stored none", "had come to 0")
	for _, f := range r.Findings {
		if f.Acceptable != offsetmap.Never {
			t.Errorf("%s can be accepted", f)
		}
	}
	// Where several plans wrote it, the highest counts.
	l.question.Earlier = append(earlier(wrote("refunds", 2, "9")), earlier(wrote("refunds", 0, "1"), wrote("refunds", 1, "1"), wrote("refunds", 2, "1"))...)
	l.want(l.judge(), "block offsets/earlier-rewound refunds-2")
	// Nothing is said of offsets that could not be read.
	defer l.refuse("/connectors/" + connector + "/offsets")()
	l.want(l.judge(), "block offsets/unknown")
}

func TestTheTopicsOfEarlierPlansAreStillCopied(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.source, "refunds", 1)
	l.store(`{"cluster":"source","topic":"refunds","partition":0}`, `{"offset":3}`)
	l.question.Earlier = earlier(wrote("orders", 7, "null"), wrote("refunds", 0, "3"))
	r := l.judge()
	l.want(r, "block config/topics-unselected refunds")
	l.says(r.Findings[0], "earlier plan")
	l.set("topics", "orders, payments, refunds")
	l.want(l.judge())
}

func TestOffsetsThatVanishAreNotTakenForNone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.respond("/connectors/"+connector+"/offsets", 404, `{"error_code":404,"message":"Connector mm2 not found"}`)()
	if f := l.one("offsets/unknown"); !f.Unmade || f.Acceptable != offsetmap.Never {
		t.Errorf("%s: unmade %t, acceptable %q", f, f.Unmade, f.Acceptable)
	}
}

func TestAnEndThatIsUnknownHasItsReasonUnderAnyName(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.target, "source.orders", 2)
	l.create(l.target, "source.payments", 1)
	l.set("replication.policy.class", "")
	l.question.Attestations.Confirm.TargetNames = attest(offsetmap.PrefixedNames)
	deny(l.target, kmsg.ListOffsets, "source.orders", 1, kerr.KafkaStorageError)
	r := l.judge()
	l.want(r, "block target/end-unknown orders-1")
	l.says(r.Findings[0], "source.orders-1", "KAFKA_STORAGE_ERROR")
}

func TestAShortAnswerAboutOffsetsIsNotTheTruth(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.store(`{"cluster":"source","topic":"payments","partition":9}`, `{"offset":0}`)
	short := l.worker.Inject(connecttest.ShortOffsets{Requests: connecttest.Requests{Times: 1}})
	l.want(l.judge(), "block offsets/unplanned payments-9")
	if short.Hits() == 0 {
		t.Error("no answer was short")
	}
}

func TestAnOldWorkerThatHidesProducersIsNoObstacle(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.open("orders", 0, 2)
	mend := deny(l.source, kmsg.DescribeProducers, "orders", 0, kerr.TopicAuthorizationFailed)
	r := l.judge()
	l.want(r, "warn source/open-transaction orders-0")
	l.says(r.Findings[0], "could not be found out", "TOPIC_AUTHORIZATION_FAILED")
	mend()
	l.says(l.one("source/open-transaction"), "producer id")
}

func TestADeniedTopicIsNotTakenForMissing(t *testing.T) {
	t.Parallel()
	denied := func(c *kfake.Cluster) {
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "orders", Err: kerr.TopicAuthorizationFailed, Count: -1})
	}
	t.Run("on the target", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		denied(l.target)
		f := l.one("target/topic-missing")
		l.says(f, "TOPIC_AUTHORIZATION_FAILED")
		if !f.Unmade {
			t.Errorf("%s: want unmade", f)
		}
		for _, end := range found(l.judge(), "target/end-unknown") {
			if end.Acceptable != offsetmap.Never {
				t.Errorf("%s can be accepted", end)
			}
		}
		if n := len(found(l.judge(), "target/end-unknown")); n != 2 {
			t.Errorf("%d ends are unknown, want 2", n)
		}
	})
	t.Run("on the source", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		denied(l.source)
		f := l.one("source/topic-missing")
		l.says(f, "TOPIC_AUTHORIZATION_FAILED")
		if !f.Unmade || f.Acceptable != offsetmap.Never {
			t.Errorf("%s: unmade %t, acceptable %q", f, f.Unmade, f.Acceptable)
		}
	})
}

func TestWhetherTheConnectorRanMayNotBeKnown(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	const path = "/connectors/" + connector + "/topics"
	mend := l.respond(path, 403, `{"error_code":403,"message":"Topic tracking is disabled."}`)
	l.want(l.judge(), "info connector/active-topics")
	mend()
	defer l.respond(path, 401, `{"error_code":401,"message":"no"}`)()
	if f := l.one("connector/active-topics"); !f.Unmade || f.Severity != offsetmap.Block {
		t.Errorf("%s: want unmade", f)
	}
}
