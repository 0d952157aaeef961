package preflight_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Which way another connector copies is said only where both of its clusters are known.
func TestAReverseFlowIsCalledOneWhereItsClustersAreKnown(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	facts := l.observe()
	lost := errors.New("the brokers do not answer")
	unknown := offsetmap.NotKnown[string](lost)
	known := offsetmap.Known[string]
	for _, c := range []struct {
		writes, reads offsetmap.Fact[string]
		want          string // empty: it is none
	}{
		{known("source-1"), known("target-1"), "from the target to the source"},
		{known("source-1"), unknown, "between which clusters is not known (the brokers do not answer)"},
		{unknown, known("target-1"), "between which clusters is not known (the brokers do not answer)"},
		{unknown, unknown, "between which clusters is not known (the brokers do not answer)"},
		{known("third-1"), known("target-1"), ""},
		{known("source-1"), known("third-1"), ""},
		{known("third-1"), unknown, ""},
		{unknown, known("third-1"), ""},
	} {
		around := *facts.Surroundings
		around.Connectors = offsetmap.Known([]preflight.OtherConnector{{
			Name: "back", Type: "source",
			Config: soundConfig("source.cluster.alias", "target", "target.cluster.alias", "source"),
			Status: connectrest.Status{Connector: connectrest.ConnectorStatus{State: connectrest.StateRunning}},
			Writes: c.writes, Reads: c.reads,
		}})
		f := facts
		f.Surroundings = &around
		got := ""
		if all := found(preflight.Judge(f, l.question), "connector/reverse-flow"); len(all) > 0 {
			got = all[0].Detail
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("writes to %v, reads from %v: %q, want %q", c.writes, c.reads, got, c.want)
		}
	}
}

// Without the clusters, or the names of the copies, nothing is known of what another
// connector would meet: another check blocks for each.
func TestOtherConnectorsAreNotJudgedWithoutWhatTheyWouldMeet(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	facts := l.observe()
	gone := errors.New("gone")
	for name, change := range map[string]func(*preflight.Facts) []string{
		"no target": func(f *preflight.Facts) []string {
			f.Target = offsetmap.NotKnown[preflight.Cluster](gone)
			return []string{"connector/double-writer", "connector/reverse-flow"}
		},
		"no source": func(f *preflight.Facts) []string {
			f.Source = offsetmap.NotKnown[preflight.Cluster](gone)
			return []string{"connector/reverse-flow"}
		},
		"no names": func(f *preflight.Facts) []string {
			info, _ := f.Connector.Get()
			info.Config = with(info.Config, "replication.policy.class", "com.acme.Policy")
			f.Connector = offsetmap.Known(info)
			return []string{"connector/double-writer", "connector/reverse-flow"}
		},
	} {
		f := facts
		ids := change(&f)
		r := preflight.Judge(f, l.question)
		for _, id := range ids {
			if got := result(t, r, id); got.State != preflight.NotAsked {
				t.Errorf("%s: %s is %+v", name, id, got)
			}
		}
	}
}

// Of many topics some are named, and the rest is counted.
func TestOfManyTopicsThatAreCopiedTwiceSomeAreNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for n, want := range map[int]string{
		5: "t1, t2, t3, t4, t5",
		6: "t1, t2, t3, t4, t5 and 1 more topics",
		8: "t1, t2, t3, t4, t5 and 3 more topics",
	} {
		f := l.observe()
		around := *f.Surroundings
		f.Topics = nil
		for i := range n {
			f.Topics = append(f.Topics, fmt.Sprintf("t%d", i+1))
		}
		around.Connectors = offsetmap.Known([]preflight.OtherConnector{{
			Name: "other", Type: "source", Config: soundConfig("topics", strings.Join(f.Topics, ",")),
			Status: connectrest.Status{Connector: connectrest.ConnectorStatus{State: connectrest.StateRunning}},
			Writes: offsetmap.Known("target-1"), Reads: offsetmap.Known("source-1"),
		}})
		f.Surroundings = &around
		got := found(preflight.Judge(f, l.question), "connector/double-writer")
		if len(got) != 1 || !strings.Contains(got[0].Detail, want) || strings.Contains(want, "more") != strings.Contains(got[0].Detail, "more topics") {
			t.Errorf("%d topics: %v, want %q", n, got, want)
		}
	}
}
