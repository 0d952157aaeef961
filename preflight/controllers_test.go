package preflight_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestWhatMovesWithoutAnActOfOursHasAnotherController(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(l *lab)
		want string
	}{
		"nothing": {func(*lab) {}, ""},
		"its config": {func(l *lab) {
			l.config["tasks.max"], l.config["our.note"] = "7", "x"
			_, err := l.client.ReplaceConfig(l.t.Context(), connector, l.config)
			l.must(err)
		}, "block mm2: within 30s has changed, which this program did not do: of its config our.note, tasks.max"},
		"its state": {func(l *lab) {
			l.must(l.client.Pause(l.t.Context(), connector))
			l.eventually(func() bool {
				s, err := l.client.Status(l.t.Context(), connector)
				return err == nil && s.Connector.State == connectrest.StatePaused
			}, "it is PAUSED")
		}, "block mm2: within 30s has changed, which this program did not do: its state from STOPPED to PAUSED"},
		"it is deleted":           {func(l *lab) { l.must(l.client.Delete(l.t.Context(), connector)) }, "block mm2: within 30s it was deleted, which this program did not do"},
		"it cannot be seen again": {func(l *lab) { l.refuse("/connectors/" + connector) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			clock := &fastClock{}
			acted := false
			l.probe.Now, l.probe.Sleep = clock.Now, func(ctx context.Context, d time.Duration) error {
				if !acted {
					acted = true
					c.act(l)
				}
				return clock.Sleep(ctx, d)
			}
			if name == "it cannot be seen again" {
				if f := found(l.whole(), "connector/other-controller"); len(f) != 1 || !f[0].Unmade || f[0].Scope != connector {
					t.Errorf("findings %v", f)
				}
				return
			}
			if c.want == "" {
				l.finds("connector/other-controller")
				return
			}
			l.finds("connector/other-controller", c.want)
		})
	}
	t.Run("it is created", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.must(l.client.Delete(t.Context(), connector))
		l.probe.Sleep = func(context.Context, time.Duration) error { l.put(); return nil }
		if f := l.one("connector/other-controller"); f.Scope != connector {
			t.Error(f)
		}
	})
	t.Run("looked at once", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.probe.Calm = 0
		l.finds("connector/other-controller")
	})
}

func TestWhatStrimziRunsMayBeControlledByIt(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://my-connect-connect-0.my-connect-connect.kafka.svc:8083/":             "KafkaConnect:my-connect kubectl annotate -n kafka KafkaConnect my-connect strimzi.io/pause-reconciliation=true",
		"http://copy-mirrormaker2-12.copy-mirrormaker2.prod.svc.cluster.local:8083/": "KafkaMirrorMaker2:copy kubectl annotate -n prod KafkaMirrorMaker2 copy strimzi.io/pause-reconciliation=true",
		"http://a-connect-0.b-connect.kafka.svc:8083/":                               "",
		"http://connect-0.connect.kafka.svc:8083/":                                   "",
		"http://my-connect-connect-0.example.com:8083/":                              "",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			second := l.member(l.target, "connect-cluster", url)
			l.together(l.workerMember, second)
			f := found(l.whole(), "connector/other-controller")
			switch {
			case want == "" && len(f) == 0:
			case len(f) != 1 || f[0].Scope+" "+f[0].Detail[len(f[0].Detail)-len(want)+len(f[0].Scope)+1:] != want:
				t.Errorf("findings %v, want %q", f, want)
			}
		})
	}
	t.Run("by its name", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		const name = "east->west.MirrorSourceConnector"
		_, err := l.client.Create(t.Context(), connectrest.CreateRequest{Name: name, Config: l.config, InitialState: connectrest.StateStopped})
		l.must(err)
		l.probe.Connector = name
		f := found(l.whole(), "connector/other-controller")
		if len(f) != 1 || f[0].Scope != "KafkaMirrorMaker2" {
			t.Fatalf("findings %v", f)
		}
		l.says(f[0], "not proven: the connector "+name+" is named as", "kubectl annotate KafkaMirrorMaker2 NAME strimzi.io/pause-reconciliation=true")
	})
}

func TestOthersActsAreReported(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	l.question.OtherActs = []preflight.OtherAct{{Act: "stop", By: "an\x1ba", At: at}}
	l.finds("connector/other-controller", `warn journal: the last acts are somebody else's: stop by "an\x1ba" at 2026-03-04T05:06:07Z; agree on who goes on`)
	l.question.OtherActs = append(l.question.OtherActs, preflight.OtherAct{Act: "apply", By: "ben", At: at, Meanwhile: true})
	l.finds("connector/other-controller", "block journal: while this was looked at, somebody acted by the same journal: apply by ben at 2026-03-04T05:06:07Z")
}

func TestTheConnectorIsLookedAtTwiceWhereASurveyWaits(t *testing.T) {
	t.Parallel()
	const once = "the connector was looked at once"
	for name, c := range map[string]struct {
		calm, window time.Duration
		once         bool
	}{
		"nothing is waited for": {0, 0, true},
		"for the workers":       {time.Second, 0, false},
		"for the brokers":       {0, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			clock := &fastClock{}
			l.probe.Now, l.probe.Sleep, l.probe.Calm, l.probe.Window = clock.Now, clock.Sleep, c.calm, c.window
			r := l.whole()
			i := slices.IndexFunc(r.Results, func(r preflight.Result) bool { return r.Check == "connector/other-controller" })
			if saw := r.Results[i].Saw; slices.Contains(saw, once) != c.once || !slices.Contains(saw, "no name and no address as the Strimzi operator gives them") {
				t.Errorf("saw %q", saw)
			}
		})
	}
}

func TestAConnectorThatWasNotSeenFirstWasNotCreatedSince(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	seen := l.refuse("/connectors/" + connector)
	l.probe.Sleep = func(context.Context, time.Duration) error { seen(); return nil }
	r := l.whole()
	if len(found(r, "connector/unknown")) != 1 || len(found(r, "connector/other-controller")) > 0 {
		t.Errorf("findings %v", r.Findings)
	}
}
