package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func shopMigration() *migration {
	m := &migration{path: "shop migration.yaml"}
	m.Source.Bootstrap = []string{"source-1:9092", "source-2:9092"}
	m.Target.Bootstrap = []string{"target-1:9092"}
	m.Connect.URLs = []string{"http://li:hunter2@connect-1:8083", "http://connect-2:8083"}
	m.Connector.Name, m.config, m.Topics = "shop", map[string]string{"source.cluster.alias": "old"}, []string{"orders"}
	return m
}

// What an error lists can be pasted as well as what a table does, and holds no password.
func TestAnErrorsCommandsHaveTheMigrationsNames(t *testing.T) {
	a := &app{read: shopMigration()}
	err := fmt.Errorf("plan: %w", preflight.Blocked([]offsetmap.Finding{
		{Check: "connector/state", Severity: offsetmap.Block, Detail: "it is RUNNING"},
		{Check: "source/retention", Severity: offsetmap.Block, Scope: "orders-0", Detail: "they go"},
		{Check: "source/hanging-transaction", Severity: offsetmap.Block, Scope: "orders-0:7", Detail: "Abort it: `kafka-transactions.sh --bootstrap-server <SOURCE> abort`"},
		{Check: "source/offset-expired", Severity: offsetmap.Block, Scope: "orders-0:1", Detail: "gone"},
		{Check: "source/offset-expired", Severity: offsetmap.Block, Scope: "orders-1:2", Detail: "gone"},
	}))
	got := a.filled(err)
	for _, want := range []string{
		"-> `curl -X PUT http://connect-1:8083/connectors/shop/stop`, then",
		"`kafka-configs.sh --bootstrap-server source-1:9092,source-2:9092 --alter --entity-type topics --entity-name orders --add-config retention.ms=<MS>`",
		"Abort it: `kafka-transactions.sh --bootstrap-server source-1:9092,source-2:9092 abort`",
		"accepts <PARTITION>:<COUNT>:", // each has its own, and its scope beside it
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, not := range []string{"hunter2", "<SOURCE>", "<WORKER>"} {
		if strings.Contains(got, not) {
			t.Errorf("%s in\n%s", not, got)
		}
	}
	if got := (&app{}).filled(err); got != err.Error() {
		t.Errorf("without a migration: %s", got)
	}
}

// A check may have a command for each of many topics.
func TestTheTableOfRemediesIsBounded(t *testing.T) {
	topics := map[string]string{}
	var findings []offsetmap.Finding
	for i := range 500 {
		topic := fmt.Sprintf("t%03d", i)
		topics[topic] = topic
		for p := range 5 {
			findings = append(findings, offsetmap.Finding{Check: "source/retention", Severity: offsetmap.Block, Scope: fmt.Sprintf("%s-%d", topic, p)})
		}
	}
	all := remedies(findings, preflight.Names{Topics: topics})
	if len(all) != 500 {
		t.Fatalf("%d remedies", len(all))
	}
	var b bytes.Buffer
	remediesTable(&b, all)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var heads []string
	for _, l := range lines {
		heads = append(heads, strings.Join(strings.Split(l, "\t")[:min(2, strings.Count(l, "\t")+1)], " | "))
	}
	want := []string{
		"CHECK | ABOUT", "source/retention | t000-0, t000-1, t000-2 and 2 more", "source/retention | t001-0, t001-1, t001-2 and 2 more",
		"source/retention | t002-0, t002-1, t002-2 and 2 more", "and 497 more to mend source/retention likewise: -o json lists all",
	}
	if d := cmp.Diff(want, heads); d != "" {
		t.Error(d)
	}
}

// What the table has shown is not said again, and still decides status and hint.
func TestFindingsThatWereShownAreCountedAlone(t *testing.T) {
	var findings []offsetmap.Finding
	for p := range 10_000 {
		findings = append(findings, offsetmap.Finding{Check: "source/offset-expired", Severity: offsetmap.Block, Scope: fmt.Sprintf("orders-%d:1", p), Detail: "gone"})
	}
	a := &app{file: "migration.yaml", read: shopMigration()}
	err := shownError{fmt.Errorf("preflight: %w", preflight.Blocked(findings))}
	var b bytes.Buffer
	a.report(&b, "preflight", err)
	if want := "runbook: preflight: blocked by 10000 findings\nhint: runbook explain source/offset-expired\n"; b.String() != want {
		t.Errorf("%q", b.String()[:min(200, b.Len())])
	}
	if got := exitStatus(err); got != 3 {
		t.Errorf("status %d", got)
	}
}
