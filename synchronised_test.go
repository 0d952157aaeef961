package flinkmm2_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (s *side) create(t *testing.T, topic string) {
	t.Helper()
	created, err := s.admin.CreateTopic(t.Context(), 1, 1, nil, topic)
	if err := errors.Join(err, created.Err); err != nil {
		t.Fatal(err)
	}
}

func (s *side) write(t *testing.T, topic string) {
	t.Helper()
	if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("sync")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (s *side) set(t *testing.T, key, value string) {
	t.Helper()
	answers, err := s.admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}, "orders")
	if err != nil || answers[0].Err != nil {
		t.Fatal(err, answers)
	}
}

func (s *side) commits(t *testing.T, group string, at int64) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset("orders", 0, at, -1)
	if err := s.admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatal(err)
	}
}

func (s *side) grants(t *testing.T, topic string) {
	t.Helper()
	acl := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpRead).Allow("User:eve").AllowHosts()
	created, err := s.admin.CreateACLs(t.Context(), acl)
	if err != nil || len(created) != 1 || created[0].Err != nil {
		t.Fatal(err, created)
	}
}

// What has moved since the start is named, and judged as far as it can be known.
func TestWhatWasSynchronisedSinceTheStartIsHeldAgainstItsBaseline(t *testing.T) {
	t.Parallel()
	const silent = "" // a case that says so holds what is not said
	for name, c := range map[string]struct {
		before, after func(*testing.T, *wayBack)
		want          string // in the evidence of a point that is shown, or in what is open
		attest        bool   // a person's word may stand for it
		shown         bool
	}{
		"a setting of a topic": {
			after: func(t *testing.T, w *wayBack) { w.target.set(t, "retention.ms", "86400000") },
			want:  "the settings of 1 target topics have changed", attest: true,
		},
		"a setting that is put back": {
			before: func(t *testing.T, w *wayBack) { w.target.set(t, "retention.ms", "700000000") },
			after: func(t *testing.T, w *wayBack) {
				w.target.set(t, "retention.ms", "800000000")
				w.target.set(t, "retention.ms", "700000000")
			},
			want: "the settings of the target topics are as they were", shown: true,
		},
		"a right on a topic": {
			after: func(t *testing.T, w *wayBack) { w.target.grants(t, "orders") },
			want:  "the rights on 1 target topics have changed", attest: true,
		},
		"a right on another topic": {
			after: func(t *testing.T, w *wayBack) { w.target.grants(t, "bills") },
			want:  "the rights on the target topics are as they were", shown: true,
		},
		"a group without a member": {
			before: func(t *testing.T, w *wayBack) { w.target.commits(t, "report", 3) },
			after:  func(t *testing.T, w *wayBack) { w.target.commits(t, "report", 4) },
			want:   "the offsets of 1 groups without a member have moved", shown: true,
		},
		"a new group and checkpoints of this flow": {
			before: func(t *testing.T, w *wayBack) { w.target.create(t, "source.checkpoints.internal") },
			after: func(t *testing.T, w *wayBack) {
				w.target.commits(t, "report", 4)
				w.target.write(t, "source.checkpoints.internal")
			},
			want: "source.checkpoints.internal, which is this flow's, has moved",
		},
		"offset-syncs of this flow on the source": {
			after: func(t *testing.T, w *wayBack) { w.source.create(t, "mm2-offset-syncs.target.internal") },
			want:  "mm2-offset-syncs.target.internal, which is this flow's, has moved",
		},
		"offset-syncs of another flow": {
			before: func(t *testing.T, w *wayBack) { w.source.create(t, "mm2-offset-syncs.us.internal") },
			after:  func(t *testing.T, w *wayBack) { w.source.write(t, "mm2-offset-syncs.us.internal") },
			want:   "mm2-offset-syncs.us.internal has moved since the start; it is another flow's", shown: true,
		},
		"rights that cannot be read": {
			before: func(_ *testing.T, w *wayBack) { w.target.answersACLs(kerr.ClusterAuthorizationFailed) },
			want:   "the rights on the target topics at the start are not known", attest: true,
		},
		"brokers without an authorizer": {
			before: func(_ *testing.T, w *wayBack) { w.target.answersACLs(kerr.SecurityDisabled) },
			want:   "the rights on the target topics are as they were", shown: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := prepared(t)
			if c.before != nil {
				c.before(t, w)
			}
			w, proof := copied(t, w)
			if c.after != nil {
				c.after(t, w)
			}
			list, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: words()})
			got := point(t, list, flinkmm2.AcceptNoSynchronisation)
			if (err == nil) != c.shown || (got.State == flinkmm2.Shown) != c.shown {
				t.Fatalf("%s: %s, %v", got.State, got.Open, err)
			}
			where := got.Open
			if c.shown {
				where = got.Evidence
			}
			if c.want == silent || !slices.ContainsFunc(where, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("%q has no %q", where, c.want)
			}
			if c.shown {
				return
			}
			attested := words()
			attested[flinkmm2.AcceptNoSynchronisation] = *offsetmap.Attest("it was us", "ana", "change 4711")
			list, _ = w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: attested})
			if got := point(t, list, flinkmm2.AcceptNoSynchronisation); (got.State == flinkmm2.Attested) != c.attest {
				t.Errorf("with a word for it: %s, %s", got.State, got.Open)
			}
		})
	}
}

// answersACLs lets the brokers refuse to tell rights.
func (s *side) answersACLs(with *kerr.Error) {
	s.ControlKey(int16(kmsg.DescribeACLs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		s.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeACLsResponse)
		resp.ErrorCode = with.Code
		return resp, nil, true
	})
}

// A worker before 3.9 writes offset-syncs whatever its config says: that none was written
// is never shown then, and a person may answer for it, unless something else was seen.
func TestOffsetSyncsThatAWorkerCannotLeaveOutAreAPersonsMatter(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*testing.T, *wayBack){
		"offset-syncs alone": nil,
		"checkpoints too": func(t *testing.T, w *wayBack) {
			w.target.create(t, "source.checkpoints.internal")
			w.target.write(t, "source.checkpoints.internal")
		},
		"offset-syncs on the source": func(t *testing.T, w *wayBack) { w.source.create(t, "mm2-offset-syncs.target.internal") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proof := copied(t, preparedOn(t, "3.8.1", map[string]string{"offset-syncs.topic.location": "target", "offset-syncs.topic.replication.factor": "1", "emit.offset-syncs.enabled": ""}))
			if after != nil {
				after(t, w)
			}
			list, err := w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: words()})
			const says = "mm2-offset-syncs.source.internal, which is this flow's, has moved since the start, as the plan says that it would: MirrorMaker 2 3.8.1 always writes offset-syncs"
			if got := point(t, list, flinkmm2.AcceptNoSynchronisation); !errors.Is(err, flinkmm2.ErrNotProven) || got.State != flinkmm2.NotProven || !strings.Contains(strings.Join(got.Open, "\n"), says) {
				t.Errorf("%v, %s, %s", err, got.State, got.Open)
			}
			attested := words()
			attested[flinkmm2.AcceptNoSynchronisation] = *offsetmap.Attest("one small topic more", "ana", "change 4711: nobody reads it")
			list, err = w.steps.AcceptanceList(t.Context(), w.plan, flinkmm2.AcceptanceRequest{Proof: proof, Attested: attested})
			got := point(t, list, flinkmm2.AcceptNoSynchronisation)
			if after != nil {
				if !errors.Is(err, flinkmm2.ErrNotProven) || got.State != flinkmm2.NotProven {
					t.Errorf("a word stands against what was seen: %v, %s", err, got.State)
				}
				return
			}
			if err != nil || got.State != flinkmm2.Attested || !list.Complete || !strings.Contains(strings.Join(got.Open, "\n"), says) {
				t.Errorf("with a word for it: %v, %s, %s", err, got.State, got.Open)
			}
		})
	}
}
