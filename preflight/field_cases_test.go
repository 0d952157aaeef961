package preflight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// one returns the only finding with the id.
func (l *lab) one(id string) offsetmap.Finding {
	l.t.Helper()
	r := l.judge()
	all := found(r, id)
	if len(all) != 1 {
		l.t.Fatalf("%d findings of %s, want 1: %v", len(all), id, r.Findings)
	}
	return all[0]
}

func (l *lab) says(f offsetmap.Finding, parts ...string) {
	l.t.Helper()
	for _, part := range parts {
		if !strings.Contains(f.Detail, part) {
			l.t.Errorf("%s does not say %q", f, part)
		}
	}
}

// recheck measures anew and holds the rows of an earlier report against it.
func (l *lab) recheck(rows []offsetmap.Row) []offsetmap.Finding {
	l.t.Helper()
	f := l.observe()
	source, ok := f.Source.Get()
	if !ok {
		l.t.Fatal(f.Source.Err())
	}
	var out []offsetmap.Finding
	for _, row := range rows {
		out = append(out, row.Recheck(offsetmap.Measured{
			TopicPartition: row.TopicPartition, TopicID: source.Topics[row.Topic].ID, Range: f.Ranges[row.TopicPartition],
		})...)
	}
	return out
}

func TestPC03TopicDeletedAndCreatedAgain(t *testing.T) {
	t.Parallel()
	for name, records := range map[string]int{"C is beyond the new log": 3, "C lies inside the new log by chance": 9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			rows := l.judge().Rows
			l.remove(l.source, "orders")
			l.create(l.source, "orders", 2)
			l.from = l.connect(l.source) // producers keep the old id; the probe's client stays
			l.produce("orders", 0, records)
			l.produce("orders", 1, 10)
			again := l.recheck(rows)
			if len(again) != 2 {
				t.Fatalf("findings %v, want one for each partition of orders", again)
			}
			for _, f := range again {
				if f.Check != "source/topic-recreated" || f.Severity != offsetmap.Block || f.Acceptable != offsetmap.Never {
					t.Errorf("%s, want source/topic-recreated", f)
				}
				l.says(f, "created again")
			}
			// A new plan has no id to compare, so only the range can tell.
			if beyond := found(l.judge(), "source/offset-beyond-end"); (records < 5) != (len(beyond) == 1) {
				t.Errorf("C = 5 and %d records: %v", records, beyond)
			}
		})
	}
}

func TestPC04RetentionOvertakesThePlan(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.produce("orders", 0, 1300)
	l.must(l.source.DeleteRecords("orders", 0, 900))
	l.question.Positions[0] = at("orders", 0, 1000)
	r := l.judge()
	l.want(r)
	l.must(l.source.DeleteRecords("orders", 0, 1200))

	gone := l.recheck(r.Rows)
	if len(gone) != 1 || gone[0].Check != "source/offset-expired" || gone[0].Acceptable != offsetmap.Never {
		t.Fatalf("findings %v, want source/offset-expired", gone)
	}
	l.says(gone[0], "200 offsets", "1000 to 1199", "1200")

	l.want(l.judge(), "block source/offset-expired orders-0:200")
	for _, scope := range []string{"*", "orders", "orders-0", "orders-0:100"} {
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/offset-expired", Scope: scope, By: "ann", Reason: "they are in the archive"}}
		if r := l.judge(); r.Err() == nil || r.Rows != nil {
			t.Errorf("accepted by the scope %q: %v", scope, r.Findings)
		}
	}
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/offset-expired", Scope: "orders-0:200", By: "ann", Reason: "they are in the archive"}}
	r = l.judge()
	l.want(r, "warn source/offset-expired orders-0:200")
	if r.Err() != nil || len(r.Rows) != 3 || r.Rows[0].Lost != 200 || r.Rows[0].Next != next(1200) {
		t.Errorf("rows %+v, error %v", r.Rows, r.Err())
	}
	if f := found(r, "source/offset-expired"); f[0].Accepted == nil || f[0].Accepted.By != "ann" {
		t.Errorf("%v does not say who accepted it", f)
	}
}

func TestPC10TheWorkerLivesOnTheWrongCluster(t *testing.T) {
	t.Parallel()
	t.Run("a: on the source", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "source"})
		l.says(l.one("worker/producer-cluster"), "endless echo", "source-1")
		if l.judge().Err() == nil {
			t.Error("it does not block")
		}
	})
	t.Run("b: on a third cluster", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "third"})
		l.says(l.one("worker/producer-cluster"), "third-1", "target-1")
	})
	t.Run("c: on the target", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "target"})
		l.want(l.judge())
	})
	t.Run("d: on a third cluster, with an override that leads to the target", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "third"})
		l.set("producer.override.bootstrap.servers", strings.Join(l.target.ListenAddrs(), ","))
		r := l.judge()
		l.want(r, "info worker/producer-override producer.override.bootstrap.servers", "warn worker/internal-topics", "warn worker/rebalancing")
		l.says(found(r, "worker/rebalancing")[0], "not proven", "third-1")
		l.says(found(r, "worker/producer-override")[0], "target-1", "third-1", "override.policy")
	})
	t.Run("d: the override cannot be resolved", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{home: "third"})
		l.set("producer.override.bootstrap.servers", "${env:TARGET}")
		f := l.one("worker/producer-cluster")
		l.says(f, "config provider")
		if !f.Unmade {
			t.Errorf("%s: want unmade", f)
		}
		l.probe.ResolveProducer = nil
		if f := l.one("worker/producer-cluster"); !f.Unmade || f.Severity != offsetmap.Block {
			t.Errorf("without a resolver: %s", f)
		}
	})
	t.Run("source and target are one", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.probe.Source = l.probe.Target
		l.says(l.one("target/same-cluster"), "target-1")
	})
}

func TestPC11NullOffsetMeetsTheResetRule(t *testing.T) {
	t.Parallel()
	const own, common, cluster = "source.consumer.auto.offset.reset", "consumer.auto.offset.reset", "source.cluster.consumer.auto.offset.reset"
	none := []string{own, ""}
	for name, c := range map[string]struct {
		set           []string
		null, allSet  string // finding of config/reset-rule when a partition is cleared, and when none is
		alsoUnreadKey bool
	}{
		"a: nothing":         {none, "", "", false},
		"b: own is latest":   {[]string{own, "latest"}, "block " + own, "warn " + own, false},
		"c: common latest":   {append(none, common, "latest"), "block " + common, "warn " + common, false},
		"d: own wins":        {[]string{own, "earliest", common, "latest"}, "", "", false},
		"e: none":            {[]string{own, "none"}, "block " + own, "warn " + own, false},
		"e: by duration":     {[]string{own, "by_duration:PT1H"}, "block " + own, "warn " + own, false},
		"f: unread prefix":   {append(none, cluster, "latest"), "", "", true},
		"g: a provider":      {[]string{own, "${file:/run/x:reset}"}, "block " + own, "block " + own, false},
		"h: with spaces":     {[]string{own, " earliest "}, "", "", false},
		"i: override prefix": {append(none, "consumer.override.auto.offset.reset", "latest"), "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.config = with(l.config, c.set...)
			defer l.show(l.config)() // a worker of 3.x does not know by_duration
			for _, null := range []bool{true, false} {
				want := c.null
				if !null {
					want = c.allSet
					l.produce("payments", 0, 3)
					l.question.Positions[2] = at("payments", 0, 2)
				}
				r := l.judge()
				var got []string
				for _, f := range found(r, "config/reset-rule") {
					got = append(got, string(f.Severity)+" "+f.Scope)
					if null && f.Severity == offsetmap.Block && !f.Unmade {
						l.says(f, "1 partitions: payments-0")
					}
				}
				if !slices.Equal(got, strings.FieldsFunc(want, func(r rune) bool { return r == '|' })) {
					t.Errorf("null %t: %v, want %q", null, r.Findings, want)
				}
				if unread := found(r, "config/unread-prefix"); (len(unread) == 1) != c.alsoUnreadKey {
					t.Errorf("null %t: unread keys %v", null, unread)
				}
			}
		})
	}
}

func TestPC16OpenTransactionsAndTheLastStableOffset(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.produce("orders", 0, 190)
	l.open("orders", 0, 100)
	l.set("source.consumer.isolation.level", "read_committed")
	l.question.Attestations.Isolation = attest(offsetmap.ReadCommitted)
	l.question.Positions[0] = at("orders", 0, 200)

	r := l.judge()
	l.want(r, "warn source/open-transaction orders-0")
	if r.Err() != nil {
		t.Error(r.Err())
	}
	l.says(r.Findings[0], "last stable offset 200", "100 below the end 300", "producer id ", "epoch ", "from offset 200", " ago")

	l.question.Positions[0] = at("orders", 0, 250)
	r = l.judge()
	l.want(r, "block source/offset-above-stable orders-0", "warn source/open-transaction orders-0")
	if f := found(r, "source/offset-above-stable")[0]; f.Acceptable != offsetmap.Never {
		t.Errorf("%s can be accepted for a read_committed job", f)
	}

	// A read_uncommitted job can stand there: a person decides.
	l.set("source.consumer.isolation.level", "read_uncommitted")
	l.question.Attestations.Isolation = attest(offsetmap.ReadUncommitted)
	if f := l.one("source/offset-above-stable"); f.Acceptable != offsetmap.ByScope {
		t.Errorf("%s cannot be accepted for a read_uncommitted job", f)
	}
}

func TestPC19TopicNamesThatConfuse(t *testing.T) {
	t.Parallel()
	names := []string{"orders-2024-01", "a.b_c", "pay.internal", "stock.replica", "__audit", strings.Repeat("n", 249)}
	start := func(t *testing.T, version string) *lab {
		l := newLab(t, setup{version: version})
		for _, n := range names {
			l.create(l.source, n, 1)
			l.create(l.target, n, 1)
		}
		l.probe.Topics = names
		l.question.Positions = nil
		for _, n := range names {
			l.question.Positions = append(l.question.Positions, at(n, 0, 0))
		}
		l.config["topics"] = `orders-2024-01, a\.b_c, pay\.internal, stock\.replica, __audit, n{249}`
		l.put()
		return l
	}
	unselected := func(l *lab) []string {
		var out []string
		for _, f := range found(l.judge(), "config/topics-unselected") {
			if f.Acceptable != offsetmap.Never {
				t.Errorf("%s can be accepted", f)
			}
			out = append(out, f.Scope)
		}
		return out
	}
	for version, c := range map[string]struct{ before, after []string }{
		"3.9.2": {[]string{"__audit", "pay.internal", "stock.replica"}, []string{"__audit", "pay.internal"}},
		"4.3.1": {[]string{"__audit", "stock.replica"}, []string{"__audit"}},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := start(t, version)
			if got := unselected(l); !slices.Equal(got, c.before) {
				t.Errorf("not copied are %q, want %q", got, c.before)
			}
			l.set("topics.exclude", "nothing")
			if got := unselected(l); !slices.Equal(got, c.after) {
				t.Errorf("with topics.exclude set, not copied are %q, want %q", got, c.after)
			}
		})
	}
	t.Run("only copied ones are planned", func(t *testing.T) {
		t.Parallel()
		l := start(t, "4.3.1")
		l.set("topics.exclude", "__.*")
		l.probe.Topics = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "__audit" })
		l.question.Positions = slices.DeleteFunc(l.question.Positions, func(p offsetmap.Position) bool { return p.Topic == "__audit" })
		r := l.judge()
		l.want(r)
		for _, row := range r.Rows {
			if row.TargetTopic != row.Topic || row.String() != row.Topic+"-0" {
				t.Errorf("row %s is copied to %s", row, row.TargetTopic)
			}
		}
	})
	t.Run("names that differ by dot and underscore", func(t *testing.T) {
		t.Parallel()
		l := start(t, "4.3.1")
		l.remove(l.target, "a.b_c")
		l.create(l.target, "a_b.c", 1)
		l.says(l.one("target/name-collision"), "a.b_c", "a_b.c", "refuse to create")
		l.one("target/topic-missing")
	})
	t.Run("a heartbeats topic that MirrorMaker 2 adds by itself", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{version: "3.9.2"})
		l.create(l.source, "heartbeats", 1)
		f := l.one("config/topics-unplanned")
		l.says(f, "heartbeats", "although topics does not select")
		if f.Acceptable != offsetmap.ByScope {
			t.Errorf("%s: 3.9 has no switch, so a person must be able to accept it", f)
		}
		later := newLab(t, setup{version: "4.3.1"})
		later.create(later.source, "heartbeats", 1)
		later.want(later.judge()) // heartbeats.replication.enabled=false
	})
	t.Run("names that end in heartbeats are renamed even by the identity policy", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.create(l.source, "device-heartbeats", 1)
		l.create(l.target, "device-heartbeats", 1)
		l.probe.Topics = append(l.probe.Topics, "device-heartbeats")
		l.set("topics", "orders|payments|device-heartbeats")
		if f := l.one("target/topic-missing"); f.Scope != "source.device-heartbeats" {
			t.Errorf("%s, want source.device-heartbeats", f)
		}
	})
	t.Run("an unquoted dot", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.create(l.source, "a.b", 1)
		l.create(l.source, "axb", 1)
		l.create(l.target, "a.b", 1)
		l.probe.Topics = append(l.probe.Topics, "a.b")
		l.set("topics", "orders, payments, a.b")
		if f := l.one("config/topics-unplanned"); f.Scope != "axb" {
			t.Errorf("%s, want axb", f)
		}
		l.set("topics", `orders, payments, a\.b`)
		l.want(l.judge())
	})
}
