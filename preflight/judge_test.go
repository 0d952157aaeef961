package preflight_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestASoundMigrationHasNoFinding(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.9.2", "4.0.0", "4.3.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{version: version})
			if version < "4" {
				l.set("heartbeats.replication.enabled", "")
			}
			r := l.judge()
			l.want(r)
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			if len(r.Rows) != 3 {
				t.Fatalf("%d rows, want 3", len(r.Rows))
			}
			for i, want := range []string{"set 4", "set 9", "clear"} {
				if got := r.Rows[i].Write.String(); got != want {
					t.Errorf("%s: %s, want %s", r.Rows[i], got, want)
				}
			}
			if row := r.Rows[0]; row.TargetTopic != "orders" || row.TargetEnd != next(0) || row.TopicID == (offsetmap.TopicID{}) {
				t.Errorf("row %+v", row)
			}
		})
	}
}

func TestTheRowsHoldBackupAndTargetEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.run(10)() // copies all of orders from 0
	l.question.Positions = []offsetmap.Position{at("orders", 0, 10), at("orders", 1, 10), at("payments", 0, 0)}
	r := l.judge()
	l.want(r, "warn connector/active-topics")
	for i, want := range []string{"9 10", "9 10", "none 0"} {
		if got := fmt.Sprintf("%s %s", r.Rows[i].Backup, r.Rows[i].TargetEnd); got != want {
			t.Errorf("%s: backup and target end %s, want %s", r.Rows[i], got, want)
		}
	}
}

func TestJudgeGivesTheSameForTheSame(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.store(`{"cluster":"source","topic":"orders","partition":0}`, `{"offset":8}`, `{"cluster":"x","topic":"orders","partition":0}`, `{"offset":8}`)
	l.set("topics", ".*", "consumer.auto.offset.reset", "latest", "source.consumer.auto.offset.reset", "")
	for i := range 30 {
		l.create(l.source, fmt.Sprintf("t%d", i), 1)
	}
	f := l.observe()
	first := preflight.Judge(f, l.question)
	for range 20 {
		if d := cmp.Diff(fmt.Sprint(first), fmt.Sprint(preflight.Judge(f, l.question))); d != "" {
			t.Fatal(d)
		}
	}
	if !slices.IsSortedFunc(first.Findings, offsetmap.Finding.Compare) {
		t.Error("the findings are not sorted")
	}
	if first.Rows != nil {
		t.Error("there are rows, although something blocks")
	}
}

func TestACheckThatCouldNotBeMadeIsAcceptedByNameAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.config["topics"] = "(?!refunds).*" // Java only
	l.config["replication.factor"] = "1"
	l.put()
	want := []string{"block config/topics-unplanned topics", "block config/topics-unselected topics"}
	r := l.judge()
	l.want(r, want...)
	for _, f := range r.Findings {
		if !f.Unmade || f.Acceptable != offsetmap.Exact {
			t.Errorf("%s: unmade %t, acceptable %q", f, f.Unmade, f.Acceptable)
		}
	}
	accept := func(scope string) {
		l.question.Acceptances = nil
		for _, id := range []string{"config/topics-unplanned", "config/topics-unselected"} {
			l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: id, Scope: scope, By: "ann", Reason: "tried it with jshell"})
		}
	}
	accept("*")
	if r := l.judge(); r.Err() == nil {
		t.Errorf("a wildcard lets through what could not be checked: %v", r.Findings)
	}
	accept("topics")
	r = l.judge()
	l.want(r, strings.ReplaceAll(want[0], "block", "warn"), strings.ReplaceAll(want[1], "block", "warn"))
	if r.Err() != nil || len(r.Rows) != 3 {
		t.Errorf("%d rows, error %v", len(r.Rows), r.Err())
	}
}

func TestWhatThePlanRecordsMustBeKnown(t *testing.T) {
	t.Parallel()
	for id, broken := range map[string]breakage{
		"source/unknown":            brokerBreakages()["source/unknown"],
		"target/unknown":            brokerBreakages()["target/unknown"],
		"worker/unknown":            workerBreakages()["worker/unknown"],
		"connector/unknown":         workerBreakages()["connector/unknown"],
		"offsets/unknown":           offsetBreakages()["offsets/unknown"],
		"config/replication-policy": configBreakages()["config/replication-policy"],
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			broken(l)
			all := l.judge().Findings
			for _, f := range all {
				l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: f.Check, Scope: f.Scope, By: "ann", Reason: "never mind"})
			}
			r := l.judge()
			if r.Err() == nil || r.Rows != nil {
				t.Errorf("everything was accepted away: %v", r.Findings)
			}
			if f := l.one(id); f.Severity != offsetmap.Block || !f.Unmade {
				t.Errorf("%s, unmade %t", f, f.Unmade)
			}
			if n := len(all); n > 4 {
				t.Errorf("one cause makes %d findings: %v", n, all)
			}
		})
	}
}

func TestObserveNeverFails(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.worker.Close()
	l.source.Close()
	l.target.Close()
	r := l.judge()
	if r.Rows != nil || r.Err() == nil {
		t.Errorf("rows %v, error %v", r.Rows, r.Err())
	}
	l.want(r, "block connector/unknown", "block source/unknown", "block target/unknown", "block worker/plugin", "block worker/unknown")
	// Nothing was even looked for.
	r = preflight.Judge(preflight.Facts{}, l.question)
	l.want(r, "block connector/unknown", "block flink/job-unknown", "block source/unknown", "block target/unknown", "block worker/plugin", "block worker/unknown")
}

func TestAMissingConnectorIsOneFinding(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.must(l.client.Delete(t.Context(), connector))
	l.want(l.judge(), "block connector/absent")
}

func TestThePositionsOfAGroupAloneNeedMore(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 5)
	l.commit("orders", 1, 10)
	l.commit("payments", 0, 0)
	l.question.Origin = offsetmap.FromGroup
	l.lookTwice(2 * time.Minute)
	l.want(l.judge(), "block attest/checkpointing", "block flink/group-only", "warn flink/state-beyond-copying")
	l.question.Attestations.Checkpointing = attest("1m")
	// No word stands for what the target has to show.
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/group-only", By: "ann", Reason: "compared the last records"}}
	if err := l.judge().Err(); err == nil || !strings.Contains(err.Error(), "flink/group-only") {
		t.Errorf("nobody looked at the target: %v", err)
	}
	l.question.Acceptances = nil
	l.looks(preflight.DeliveryBounds{})
	r := l.judge()
	l.want(r, "warn flink/group-only", "warn flink/state-beyond-copying")
	if f := found(r, "flink/group-only")[0]; !strings.Contains(f.Detail, "Records that come twice: none") {
		t.Error(f.Detail)
	}
	if len(r.Rows) != 3 || r.Rows[0].Origin != offsetmap.FromGroup {
		t.Errorf("rows %v", r.Rows)
	}
}

func TestWhatBlocksSaysWhatToDo(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.show(with(l.config, "errors.tolerance", "all", "source.consumer.check.crcs", "false"))()
	l.question.Attestations.CopyOnly = nil
	text := l.judge().Err().Error()
	for _, id := range []string{"config/errors-tolerance", "config/check-crcs", "attest/copy-only"} {
		check, _ := preflight.Explain(id)
		if strings.Count(text, id) != 1 || strings.Count(text, check.Remedy) != 1 {
			t.Errorf("%s and its remedy do not stand once in:\n%s", id, text)
		}
	}
	if strings.Contains(text, password) {
		t.Errorf("a secret stands in:\n%s", text)
	}
	if got := preflight.Remedies([]offsetmap.Finding{{Check: "ours/own"}, {Check: "target/ends-moved"}}); len(got) != 1 || got["target/ends-moved"] == "" {
		t.Errorf("remedies %v", got)
	}
}

func TestOwnChecksAreMadeBesideTheOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.checks = []preflight.Check{{
		ID: "ours/small-plans", Title: "A plan has at most two partitions", Severity: offsetmap.Block, Acceptable: offsetmap.Exact,
		Judge: func(c *preflight.Case, r *preflight.Reporter) {
			if n := len(c.Rows); n > 2 {
				r.Block("", "the plan has %d partitions on %s", n, c.Facts.Name)
			}
			r.Unmade("phase of the moon", errors.New("it is cloudy"))
		},
	}}
	r := l.judge()
	l.want(r, "block ours/small-plans", "block ours/small-plans phase of the moon")
	if r.Rows != nil {
		t.Error("rows, although an own check blocks")
	}
	l.question.Acceptances = []offsetmap.Acceptance{
		{Check: "ours/small-plans", By: "ann", Reason: "for once"},
		{Check: "ours/small-plans", Scope: "phase of the moon", By: "ann", Reason: "for once"},
	}
	r = l.judge()
	l.want(r, "warn ours/small-plans", "warn ours/small-plans phase of the moon")
	if len(r.Rows) != 3 {
		t.Errorf("rows %v", r.Rows)
	}

	l.checks = []preflight.Check{{}, {ID: "ours/nothing"}, {ID: "ours/x", Judge: l.checks[0].Judge}, {ID: "ours/x", Judge: l.checks[0].Judge}}
	bad := found(l.judge(), "plan/check-invalid")
	var scopes []string
	for _, f := range bad {
		scopes = append(scopes, f.Scope)
	}
	if !slices.Equal(scopes, []string{"", "ours/nothing", "ours/x"}) {
		t.Errorf("findings %v", bad)
	}
}

func TestManyPartitionsCostOneListOffsetsPerKind(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{brokers: 3})
	l.question.Positions, l.probe.Topics = nil, nil
	const topics, partitions = 100, 100
	for i := range topics {
		topic := fmt.Sprintf("t%d", i)
		l.create(l.source, topic, partitions)
		l.create(l.target, topic, partitions)
		l.probe.Topics = append(l.probe.Topics, topic)
		for p := range int32(partitions) {
			l.question.Positions = append(l.question.Positions, at(topic, p, 0))
		}
	}
	l.open("t0", 0, 1)
	l.open("t1", 0, 1)
	l.set("topics", `t\d\d?`)
	source, target := requests(l.source), requests(l.target)
	r := l.judge()
	l.want(r, "warn source/open-transaction t0-0", "warn source/open-transaction t1-0")
	if len(r.Rows) != topics*partitions {
		t.Errorf("%d rows", len(r.Rows))
	}
	// Each moment that ages are asked about is a kind, and where no record is as young
	// kadm asks for the end in its place.
	moments := 0
	for kind := range source() {
		if strings.HasPrefix(kind, "ListOffsets since ") {
			moments++
		}
	}
	if moments != 9 {
		t.Errorf("ages are asked about %d moments, want the 5 of the countdown and 4 halvings", moments)
	}
	for what, c := range map[string]struct {
		got  map[string][]int32
		ends int // how often the ends may be asked for
	}{"source": {source(), 1 + moments}, "target": {target(), 1}} {
		for kind, perBroker := range c.got {
			most := 1
			switch kind {
			case "ListOffsets end":
				most = c.ends
			case "DescribeConfigs": // one for all topics beside that for the broker, and one for the workers'
				most = 2
				if what == "target" {
					most = 3
				}
			}
			for _, n := range perBroker {
				if int(n) > most {
					t.Errorf("%s: a broker gets %d requests %s, want %d at most", what, n, kind, most)
				}
			}
		}
		for _, kind := range []string{"ListOffsets end", "ListOffsets stable"} {
			if n := len(c.got[kind]); n != 3 {
				t.Errorf("%s: %d brokers count for %s, and 3 lead", what, n, kind)
			}
		}
	}
	if len(target()["DescribeProducers"]) != 0 || len(source()["DescribeProducers"]) == 0 {
		t.Errorf("DescribeProducers: %v on the source, %v on the target", source()["DescribeProducers"], target()["DescribeProducers"])
	}
}

// requests counts from now on what each broker is asked, by kind.
func requests(c *kfake.Cluster) func() map[string][]int32 {
	var mu sync.Mutex
	counts := map[string]map[int32]int32{}
	for _, key := range []kmsg.Key{kmsg.ListOffsets, kmsg.DescribeProducers, kmsg.DescribeConfigs} {
		c.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			kind := key.Name()
			if list, ok := req.(*kmsg.ListOffsetsRequest); ok {
				switch ts := list.Topics[0].Partitions[0].Timestamp; {
				case ts == -1 && list.IsolationLevel == 1:
					kind += " stable"
				case ts == -1:
					kind += " end"
				case ts == -2:
					kind += " start"
				default:
					kind += fmt.Sprintf(" since %d", ts)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if counts[kind] == nil {
				counts[kind] = map[int32]int32{}
			}
			counts[kind][c.CurrentNode()]++
			return nil, nil, false
		})
	}
	return func() map[string][]int32 {
		mu.Lock()
		defer mu.Unlock()
		out := map[string][]int32{}
		for kind, perBroker := range counts {
			out[kind] = slices.Collect(maps.Values(perBroker))
		}
		return out
	}
}
