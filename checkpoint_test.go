package flinkmm2_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
)

// kept is a checkpoint in memory.
type kept struct {
	text  string
	saves int
	fails error
}

func (k *kept) Load(context.Context) ([]byte, error) {
	if k.text == "" {
		return nil, fs.ErrNotExist
	}
	return []byte(k.text), nil
}

func (k *kept) Save(_ context.Context, checkpoint []byte) error {
	k.text = string(checkpoint)
	k.saves++
	return k.fails
}

// secretly produces records whose contents a checkpoint must not hold.
func (s *side) secretly(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Key: []byte("card-4711"), Value: []byte("pin-0815")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAWatchGoesOnWhereTheLastOneStood(t *testing.T) {
	t.Parallel()
	w := started(t)
	store := flinkmm2.FileCheckpoint(filepath.Join(t.TempDir(), "proof.checkpoint.json"))
	watch := func(o flinkmm2.WatchOptions) (*flinkmm2.Proof, error) {
		o.Within, o.Checkpoint = time.Minute, store
		return w.steps.Watch(t.Context(), w.plan, o)
	}
	w.source.secretly(t, 3)
	first, err := watch(flinkmm2.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := store.Load(t.Context())
	if err := schematest.Check(flinkmm2.CheckpointSchema(), raw); err != nil {
		t.Errorf("%v\n%s", err, raw)
	}
	if err != nil || strings.Contains(string(raw), "4711") || strings.Contains(string(raw), "0815") {
		t.Fatalf("%v, %s", err, raw)
	}
	w.source.secretly(t, 5)
	second, err := watch(flinkmm2.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if second.Records != first.Records+5 || second.Copied != second.Records || second.Outcome != "proven" {
		t.Errorf("%d records, then %d, %d copied, %s: want five more, and all of them", first.Records, second.Records, second.Copied, second.Outcome)
	}
	for i, p := range second.Partitions {
		if p.First != first.Partitions[i].First || p.Next != first.Partitions[i].Next {
			t.Errorf("%s: first %s of %s, was %s", p.TopicPartition, p.First, p.Next, first.Partitions[i].First)
		}
	}
	whole, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil || whole.ProofCounts != second.ProofCounts {
		t.Errorf("%v: from C on %+v, in two parts %+v", err, whole, second)
	}
}

func TestACheckpointThatIsNotOfThisProofIsRefused(t *testing.T) {
	t.Parallel()
	w := started(t)
	right := &kept{}
	if _, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute, Checkpoint: right}); err != nil {
		t.Fatal(err)
	}
	if right.saves == 0 {
		t.Fatal("nothing was kept")
	}
	id := right.text[strings.Index(right.text, `"targetTopics":[{"topic":"orders","id":"`)+len(`"targetTopics":[{"topic":"orders","id":"`):][:22]
	for _, tt := range []struct{ name, old, new, say string }{
		{"another plan", w.plan.Digest, "sha256:0", "it is of plan sha256:0"},
		{"another connector", `"connector":"mm2"`, `"connector":"mm3"`, `connector "mm3"`},
		{"another version", `flinkmm2/v1`, `flinkmm2/v9`, `apiVersion "flinkmm2/v9"`},
		{"another file", flinkmm2.CheckpointKind, flinkmm2.ProofKind, `kind "Proof"`},
		{"a target topic that was created again", id, "AAAAAAAAAAAAAAAAAAAAAA", "it was created again"},
		{"another target topic", `"topic":"orders","id"`, `"topic":"others","id"`, "the target topic others where the plan has orders"},
		{"a partition of another topic", `"topic":"orders","partition"`, `"topic":"others","partition"`, "none of the plan's partitions"},
		{"half of it", "}]", "", "unexpected end"},
		{"what no version knows", `"kind"`, `"more":1,"kind"`, "more"},
		{"counts that do not add up", `"read":`, `"read":1`, "do not add up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(right.text, tt.old) {
				t.Fatalf("%q is not in %s", tt.old, right.text)
			}
			wrong := &kept{text: strings.Replace(right.text, tt.old, tt.new, 1)}
			if tt.name == "half of it" {
				wrong.text = right.text[:len(right.text)/2]
			}
			proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute, Checkpoint: wrong})
			if err == nil || proof != nil || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("%v, want %q", err, tt.say)
			}
			if wrong.saves != 0 {
				t.Error("it was replaced")
			}
		})
	}
}

// A proof does not fail for want of a place to keep its checkpoint.
func TestAProofStandsWhenItsCheckpointIsNotKept(t *testing.T) {
	t.Parallel()
	w := started(t)
	full := &kept{fails: errors.New("disk full")}
	if proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute, Checkpoint: full}); err != nil || proof.Outcome != "proven" {
		t.Errorf("%v, %+v", err, proof)
	}
	if full.saves == 0 {
		t.Error("it was not tried")
	}
}
