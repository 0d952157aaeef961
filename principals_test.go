package flinkmm2_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// What a person states of the worker, since no API shows it, reaches the checks.
func TestTheStatedPrincipalsAndTopicsAreLookedAt(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	w.options = append(w.options, flinkmm2.WithPrincipals(preflight.Principals{Source: "User:reader", Target: "User:writer"}),
		flinkmm2.WithConnectTopics(preflight.ConnectTopics{Config: "c", Offset: "o", Status: "s"}))
	w.steps = w.migration(w.source.admin)
	ctx := t.Context()
	acl := kadm.NewACLs().Topics("other").Allow("User:someone").AllowHosts("*").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral)
	for _, admin := range []*kadm.Client{w.source.admin, w.target.admin} {
		if _, err := admin.CreateACLs(ctx, acl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	report, err := w.steps.Preflight(ctx, w.requestFrom("20", "32"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range report.Findings {
		got[f.Check] += f.Scope + " "
	}
	for check, scopes := range map[string]string{"source/rights": "User:reader ", "target/rights": "User:writer ", "worker/internal-topics": "c o s "} {
		if got[check] != scopes {
			t.Errorf("%s found something of %q, want %q", check, got[check], scopes)
		}
	}
}

func TestWhatIsStatedOfTheWorkerMustBeWhole(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	for want, option := range map[string]flinkmm2.Option{
		`the principal on the source is "mm2"`:           flinkmm2.WithPrincipals(preflight.Principals{Source: "mm2"}),
		"the worker's offset.storage.topic is not named": flinkmm2.WithConnectTopics(preflight.ConnectTopics{Config: "c", Status: "s"}),
	} {
		_, err := flinkmm2.New(flinkmm2.Config{
			Source:  flinkmm2.Cluster{Admin: w.source.admin, Options: w.source.client.Opts()},
			Target:  flinkmm2.Cluster{Admin: w.target.admin, Options: w.target.client.Opts()},
			Connect: w.connect, Connector: "mm2", Journal: w.journal,
		}, option)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
