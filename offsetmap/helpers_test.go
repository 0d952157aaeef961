package offsetmap_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// next, source and parse take constants only, so an error is the test's fault.
func next(v int64) offsetmap.NextOffset {
	c, err := offsetmap.Next(v)
	if err != nil {
		panic(err)
	}
	return c
}

func source(v int64) offsetmap.SourceOffset {
	m, err := offsetmap.Source(v)
	if err != nil {
		panic(err)
	}
	return m
}

func tp(s string) offsetmap.TopicPartition {
	p, err := offsetmap.ParseTopicPartition(s)
	if err != nil {
		panic(err)
	}
	return p
}

var (
	none     offsetmap.NextOffset
	noSource offsetmap.SourceOffset
	ordersID = offsetmap.TopicID{1, 2, 3, 250}
)

// log is a range without open transactions.
func log(start, end int64) offsetmap.Range {
	return offsetmap.Range{Start: next(start), End: next(end), Stable: next(end)}
}

func openLog(start, end, stable int64) offsetmap.Range {
	return offsetmap.Range{Start: next(start), End: next(end), Stable: next(stable)}
}

func measured(name string, r offsetmap.Range) offsetmap.Measured {
	p := tp(name)
	return offsetmap.Measured{TopicPartition: p, TopicID: ordersID, Range: r, TargetTopic: p.Topic, TargetEnd: next(0)}
}

func at(name string, c int64) offsetmap.Position {
	return offsetmap.Position{TopicPartition: tp(name), Next: next(c)}
}

func unread(name string, m offsetmap.Marker) offsetmap.Position {
	return offsetmap.Position{TopicPartition: tp(name), Unread: m}
}

func accept(check, scope string) offsetmap.Acceptance {
	return offsetmap.Acceptance{Check: check, Scope: scope, Reason: "agreed with the owners", By: "ana"}
}

// lines renders findings without their details: the words may change, the
// check, its weight and its scope may not.
func lines(findings []offsetmap.Finding) []string {
	var out []string
	for _, f := range findings {
		s := string(f.Severity) + " " + f.Check + " " + f.Scope + " " + string(f.Acceptable)
		if f.Unmade {
			s += " unmade"
		}
		if f.Accepted != nil {
			s += " accepted by " + f.Accepted.By
		}
		out = append(out, s)
	}
	return out
}

// offsets lets go-cmp compare the offset types, whose fields are not exported.
var offsets = cmp.Options{
	cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b }),
	cmp.Comparer(func(a, b offsetmap.SourceOffset) bool { return a == b }),
	cmp.Comparer(func(a, b offsetmap.Write) bool { return a == b }),
}

func diff(t testing.TB, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, offsets); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// wave is an earlier plan that wrote 9 for each partition.
func wave(partitions ...string) offsetmap.EarlierPlan {
	e := offsetmap.EarlierPlan{Digest: goldenDigest}
	for _, p := range partitions {
		e.Partitions = append(e.Partitions, offsetmap.EarlierPartition{TopicPartition: tp(p), Offset: source(9)})
	}
	return e
}

func attested[T any](v T) *offsetmap.Attestation[T] {
	return &offsetmap.Attestation[T]{Value: v, By: "ana", Reason: "seen in the job's code"}
}

func attestations() offsetmap.Attestations {
	return offsetmap.Attestations{
		CopyOnly:       attested(true),
		FlinkStopped:   attested(offsetmap.StoppedWithSavepoint),
		AutoRestartOff: attested(true),
		SinkGuarantee:  attested(offsetmap.SinkAtLeastOnce),
		Isolation:      attested(offsetmap.ReadUncommitted),
		RollbackWindow: attested("72h"),
		MaxDuplicates:  attested(int64(1000)),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     attested("Flink 1.20.1, connector 3.4.0"),
			SinkEvidence:      attested("flink stop printed the savepoint"),
			ClustersAndTopics: attested("source-1 to target-1"),
			TargetNames:       attested(offsetmap.SameNames),
			Image:             attested("mm2 of Kafka 4.3.1, 3 workers"),
			Kubernetes:        attested("namespace mm2"),
			Limits:            attested("a pause of 10m, retention of 7d"),
		},
	}
}

// bodyOf is a whole body over what Resolve made of in.
func bodyOf(in offsetmap.Input) offsetmap.Body {
	rows, findings := offsetmap.Resolve(in)
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := offsetmap.Body{
		Tool:      offsetmap.Tool{Name: "runbook", Version: "v0.1.0"},
		CreatedAt: offsetmap.At(made),
		ExpiresAt: offsetmap.At(made.Add(offsetmap.DefaultLifetime)),
		Source:    offsetmap.Cluster{ID: "MkU3OEVBNTcwNTJENDM2Qg"},
		Target:    offsetmap.Cluster{ID: "vPeOCWypqUOSepEvx0cbog"},
		Connector: offsetmap.Connector{
			Name: "orders-mirror", SourceAlias: "source",
			Config: "sha256:" + strings.Repeat("c0", 32), ActiveTopics: []string{"orders", "pay"},
		},
		Worker: offsetmap.Worker{
			Version: "3.9.1", Commit: "f745dfdcee2b9851", ClusterID: "vPeOCWypqUOSepEvx0cbog",
			PluginVersion: "3.9.1", ProducerClusterID: "vPeOCWypqUOSepEvx0cbog",
		},
		Savepoint: &offsetmap.Savepoint{
			Location: "s3://flink/savepoints/savepoint-1f2e3d-0a1b2c3d4e5f", MetadataVersion: 5, CheckpointID: 4711,
			OperatorID: "cbc357ccb763df2852fee8c4fc7d55f2", UID: "orders-source",
			Files: []offsetmap.File{{Name: "_metadata", SHA256: strings.Repeat("5e", 32)}},
		},
		Group:        &offsetmap.Group{ID: "orders-copy"},
		Isolation:    in.Isolation,
		Attestations: attestations(),
		Acceptances:  in.Acceptances,
		Findings:     findings,
		Rows:         rows,
	}
	b.Attestations.Isolation = attested(in.Isolation)
	if in.Origin == offsetmap.FromGroup {
		b.Savepoint = nil
		b.Attestations.Checkpointing = attested("1m")
	}
	return b
}

func seal(t testing.TB, b offsetmap.Body) *offsetmap.Plan {
	t.Helper()
	p, err := offsetmap.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t testing.TB, p *offsetmap.Plan) []byte {
	t.Helper()
	raw, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// everyRule is an input in which each rule decides at least one partition.
func everyRule() offsetmap.Input {
	m := func(name string, r offsetmap.Range, group offsetmap.NextOffset, backup offsetmap.SourceOffset) offsetmap.Measured {
		out := measured(name, r)
		out.Group, out.Backup, out.TargetEnd = group, backup, next(90)
		return out
	}
	ledger := m("ledger.eu_v1-0", log(0, 9007199254740999), none, source(9007199254740992))
	ledger.TopicID = offsetmap.TopicID{9, 8, 7}
	bounded := at("orders-0", 1000)
	bounded.Stop = next(5000)
	reason := func(check, scope, reason string) offsetmap.Acceptance {
		return offsetmap.Acceptance{Check: check, Scope: scope, Reason: reason, By: "Łukasz"}
	}
	return offsetmap.Input{
		Origin: offsetmap.FromSavepoint,
		Positions: []offsetmap.Position{
			at("ledger.eu_v1-0", 9007199254740993), // no double holds it
			bounded,
			at("orders-1", 0),
			unread("orders-2", offsetmap.Latest),
			unread("orders-4", offsetmap.Earliest),
			{TopicPartition: tp("orders-5"), State: offsetmap.FinishedOrUnassigned, Start: next(7)},
			at("orders-6", 100),
			at("orders-7", 60),
		},
		Measured: []offsetmap.Measured{
			ledger,
			m("orders-0", log(900, 1200), next(990), noSource),
			m("orders-1", log(0, 3), next(0), source(41)),
			m("orders-2", log(500, 500), none, noSource),
			m("orders-3", log(0, 0), none, noSource),
			m("orders-4", log(0, 10), none, noSource),
			m("orders-5", log(20, 30), none, source(0)),
			m("orders-6", log(300, 400), next(100), noSource),
			m("orders-7", openLog(10, 80, 55), next(60), noSource),
		},
		Isolation: offsetmap.ReadUncommitted,
		Acceptances: []offsetmap.Acceptance{
			reason("source/unread-earliest", "orders", "nichts gelesen – geprüft"),
			reason("source/position-missing", "*", "новая партиция <7>"),
			reason("source/offset-expired", "orders-6:200", "期限切れは了承済み 😀"),
			reason("source/offset-above-stable", "orders-7", "tab\tand \"quotes\" \\ \u007f \u2028"),
			reason("target/ends-moved", "*", "an audit job writes there as well"),
		},
	}
}
