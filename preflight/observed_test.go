package preflight

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A broker leaves out the value of a secret, or marks it: neither comes into the facts.
func TestSecretSettingsAreNotKept(t *testing.T) {
	got := settingsOf(kadm.ResourceConfig{Configs: []kadm.Config{
		{Key: "a", Value: new("1")}, {Key: "b", Value: new("secret"), Sensitive: true}, {Key: "c", Sensitive: true}, {Key: "d"},
	}})
	if len(got) != 1 || got["a"] != "1" {
		t.Errorf("kept %v", got)
	}
}

func TestOnlyTopicsThatWereToldExist(t *testing.T) {
	c := Cluster{Topics: map[string]Topic{"a": {Name: "a"}, "b": {Name: "b", Err: kerr.TopicAuthorizationFailed}}}
	if got := c.existing([]string{"a", "b", "c"}); len(got) != 1 || got[0] != "a" {
		t.Errorf("existing are %v", got)
	}
}

// A connector is held back when neither it nor a task of it runs.
func TestAConnectorIsIdleWithoutATaskThatRuns(t *testing.T) {
	const stopped, paused, running = connectrest.StateStopped, connectrest.StatePaused, connectrest.StateRunning
	for _, c := range []struct {
		connector connectrest.State
		tasks     []connectrest.State
		want      bool
	}{
		{stopped, nil, true},
		{paused, []connectrest.State{paused, paused}, true},
		{paused, []connectrest.State{paused, running}, false},
		{running, nil, false},
		{running, []connectrest.State{paused}, false},
		{stopped, []connectrest.State{connectrest.StateFailed}, false},
	} {
		o := OtherConnector{Status: connectrest.Status{Connector: connectrest.ConnectorStatus{State: c.connector}}}
		for _, s := range c.tasks {
			o.Status.Tasks = append(o.Status.Tasks, connectrest.TaskStatus{State: s})
		}
		if o.idle() != c.want {
			t.Errorf("%s with tasks %v: idle is %t", c.connector, c.tasks, !c.want)
		}
	}
}

// Two workers of one address are one too many, and one alone may have any.
func TestWorkersAdvertiseAddressesOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		urls []string
		want []string
	}{
		"one on its own host":      {[]string{"http://localhost:8083/"}, nil},
		"two":                      {[]string{"http://w1:8083/", "http://w2:8083/"}, nil},
		"two of one address":       {[]string{"http://w1:8083/", "http://w1:8083/"}, []string{"block w1:8083 2 workers of group connect advertise the one address"}},
		"one of two on loopback":   {[]string{"http://localhost:8083/", "http://w2:8083/"}, []string{"block localhost:8083 a worker of group connect advertises it, where only its own host reaches it"}},
		"both on one machine":      {[]string{"http://localhost:8083/", "http://localhost:8084/"}, nil},
		"one of three on loopback": {[]string{"http://localhost:8083/", "http://w2:8083/", "http://w3:8083/"}, []string{"block localhost:8083"}},
	} {
		s := &Surroundings{Workers: offsetmap.Known(connectrest.ProbeReport{})}
		looks := ConnectLooks{First: ConnectGroup{ID: "connect", State: groupStable}}
		for i, u := range c.urls {
			looks.First.Members = append(looks.First.Members, ConnectMember{ID: string(rune('a' + i)), URL: u})
		}
		s.ConnectGroup = offsetmap.Known(looks)
		got, _ := findings(func(r *Reporter) { advertised(nil, s, r) })
		agree(t, name, got, c.want)
	}
}

// That no job of the name runs is said where the server tells of all.
func TestThatNoJobRunsIsSaidWhereItIsKnown(t *testing.T) {
	old := flinkrest.JobSummary{ID: "a1", Name: "copy", State: flinkrest.Finished}
	other := flinkrest.JobSummary{ID: "b2", Name: "copy", State: flinkrest.Running}
	for name, c := range map[string]struct {
		namesakes offsetmap.Fact[[]flinkrest.JobSummary]
		want      bool
	}{
		"none":      {offsetmap.Known([]flinkrest.JobSummary{}), true},
		"one runs":  {offsetmap.Known([]flinkrest.JobSummary{other}), false},
		"not known": {offsetmap.NotKnown[[]flinkrest.JobSummary](errNoAge), false},
	} {
		kase := &Case{Facts: Facts{Flink: offsetmap.Known(flinkrest.Evidence{From: "flink", Server: offsetmap.Known(flinkrest.Server{Kind: flinkrest.JobManager}), Job: offsetmap.Known(old), Namesakes: c.namesakes})}}
		got, _ := findings(func(r *Reporter) { jobEvidence(kase, r) })
		if len(got) != 1 || strings.Contains(got[0], "no job of its name runs there") != c.want {
			t.Errorf("%s: %q, want %t", name, got, c.want)
		}
	}
	for _, c := range []struct {
		job  flinkrest.Job
		want string
	}{
		{flinkrest.Job{Name: "copy"}, "copy"}, {flinkrest.Job{Name: "a\nb"}, `"a\nb"`}, {flinkrest.Job{ID: "a1", Name: "a\nb"}, "a1"}, {flinkrest.Job{ID: "a1"}, "a1"},
	} {
		if got := jobScope(c.job); got != c.want {
			t.Errorf("%+v: %q, want %q", c.job, got, c.want)
		}
	}
}

// Nobody is asked for the owners of transactions where none is open, or none is known.
func TestOwnersAreAskedForWhereATransactionIsOpen(t *testing.T) {
	none := describeOwners(t.Context(), nil, offsetmap.Known([]OpenTransaction{}), time.Now())
	if !none.IsAbsent() {
		t.Errorf("of no transaction: %v", none)
	}
	unknown := describeOwners(t.Context(), nil, offsetmap.NotKnown[[]OpenTransaction](errNoAge), time.Now())
	if _, ok := unknown.Get(); ok || unknown.IsAbsent() || !errors.Is(unknown.Err(), errNoAge) {
		t.Errorf("of transactions that are not known: %v", unknown)
	}
}

// What would be created on the target is known where the target and its names are.
func TestWhatWouldBeCreatedNeedsTheNames(t *testing.T) {
	kase := pairCase(nil, nil, nil)
	delete(must(kase.Facts.Target).Topics, "a")
	s := settings{connectrest.Config{"topics": "a,b"}}
	if got := kase.created(s); len(got) != 1 || got[0] != "the topic a" {
		t.Errorf("created: %q", got)
	}
	kase.policy = offsetmap.NotKnown[policy](errNoAge)
	if got := kase.created(s); len(got) != 0 {
		t.Errorf("created without names: %q", got)
	}
}

// A target topic that is not there, or was not told, has no partitions to look at.
func TestLeadersAreLookedForInTopicsThatWereTold(t *testing.T) {
	judge := func(*Case, *Reporter) {}
	for _, c := range Checks() {
		if c.ID == "target/partition-leaderless" {
			judge = c.Judge
		}
	}
	for name, change := range map[string]func(map[string]Topic){
		"missing":  func(m map[string]Topic) { delete(m, "a") },
		"not told": func(m map[string]Topic) { m["a"] = Topic{Name: "a", Err: kerr.TopicAuthorizationFailed} },
	} {
		kase := pairCase(nil, nil, nil)
		change(must(kase.Facts.Target).Topics)
		if _, saw := findings(func(r *Reporter) { judge(kase, r) }); len(saw) != 1 || !strings.HasPrefix(saw[0], "b: ") {
			t.Errorf("%s: saw %q", name, saw)
		}
	}
}
