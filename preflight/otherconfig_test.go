package preflight_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestEachSettingOfAnotherConfigIsNamed(t *testing.T) {
	t.Parallel()
	facts := preflight.Facts{Connector: offsetmap.Known(connectrest.ConnectorInfo{Config: connectrest.Config{
		"topics": "orders", "tasks.max": "1", "name": "mm2", "producer.override.sasl.jaas.config": `password="uno11"`,
	}})}
	var got []string
	for _, f := range facts.OtherConfig(connectrest.Config{
		"topics": "payments", "header.converter": "X", "name": "mm2", "producer.override.sasl.jaas.config": `password="dos22"`,
		"source.cluster.sasl.jaas.config": `password="tres33"`,
	}) {
		if f.Severity != offsetmap.Block || f.Acceptable != offsetmap.Never {
			t.Errorf("%s is acceptable %q", f, f.Acceptable)
		}
		got = append(got, f.Scope+": "+f.Detail)
	}
	want := []string{
		`header.converter: the connector does not have it, the migration gives it "X"`,
		`source.cluster.sasl.jaas.config: the connector does not have it, the migration gives it "<secret>"`,
		`tasks.max: the connector has "1", the migration does not give it`,
		`topics: the connector has "orders", the migration gives it "payments"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, secret := range []string{"uno11", "dos22", "tres33"} {
		if strings.Contains(strings.Join(got, "\n"), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

func TestAConfigThatNobodyGivesIsNotHeldAgainstTheConnector(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.set("tasks.max", "7")
	l.want(l.judge())
}
