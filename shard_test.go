package flinkmm2_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestShardsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0/1", "0/4", "3/4"} {
		if s, err := flinkmm2.ParseShard(text); err != nil || s.String() != text {
			t.Errorf("%s: %s, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "1", "4/4", "-1/4", "0/0", "a/4", "1/b", "1/4/2", "auto"} {
		if s, err := flinkmm2.ParseShard(text); err == nil {
			t.Errorf("%q is read as %s", text, s)
		}
	}
	if got := (flinkmm2.Shard{}).String(); got != "all" {
		t.Error(got)
	}
}

// shards watches a plan in parts, through files.
func (w *wayBack) shards(of int, o flinkmm2.WatchOptions) (parts []*flinkmm2.Proof) {
	w.Helper()
	for i := range of {
		o.Within, o.Shard = time.Minute, flinkmm2.Shard{Index: i, Of: of}
		proof, err := w.steps.Watch(w.Context(), w.plan, o)
		if proof == nil {
			w.Fatal(err)
		}
		raw, err := proof.Encode()
		path := filepath.Join(w.TempDir(), "proof.json")
		if err := errors.Join(err, os.WriteFile(path, raw, 0o600)); err != nil {
			w.Fatal(err)
		}
		if err := schematest.Check(flinkmm2.ProofSchema(), raw); err != nil {
			w.Errorf("%v\n%s", err, raw)
		}
		read, err := flinkmm2.ReadProof(path)
		if err != nil {
			w.Fatal(err)
		}
		parts = append(parts, read)
	}
	return parts
}

func TestShardsTogetherAreTheWhole(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.target.produce(t, 2, 1) // of another writer
	whole, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []int{1, 2, len(w.plan.Body.Rows)} {
		merged, err := flinkmm2.MergeProofs(w.plan, w.shards(of, flinkmm2.WatchOptions{})...)
		if err != nil {
			t.Fatal(err)
		}
		merged.CreatedAt = whole.CreatedAt
		if n := len(merged.Lag); n == 0 || merged.Lag[n-1].Copied != whole.Copied {
			t.Errorf("lag %+v", merged.Lag)
		}
		merged.Lag = whole.Lag
		places := cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b })
		if d := cmp.Diff(whole, merged, places, cmp.AllowUnexported(flinkmm2.Until{})); d != "" {
			t.Errorf("of %d (-whole +merged):\n%s", of, d)
		}
	}
	if _, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Shard: flinkmm2.Shard{Index: 90, Of: 99}}); err == nil || !strings.Contains(err.Error(), "has no partition") {
		t.Errorf("%v", err)
	}
	if _, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Shard: flinkmm2.Shard{Index: 2, Of: 2}}); err == nil || !strings.Contains(err.Error(), "no shard 2 of 2") {
		t.Errorf("%v", err)
	}
}

func TestProofsThatAreNotThePartsOfOneAreRefused(t *testing.T) {
	t.Parallel()
	w := started(t)
	for _, tt := range []struct {
		say    string
		change func(parts []*flinkmm2.Proof) []*flinkmm2.Proof
	}{
		{"there are none", func([]*flinkmm2.Proof) []*flinkmm2.Proof { return nil }},
		{"shard 1/2 is not there", func(p []*flinkmm2.Proof) []*flinkmm2.Proof { return p[:1] }},
		{"shard 0/2 is there twice", func(p []*flinkmm2.Proof) []*flinkmm2.Proof { return append(p, p[0]) }},
		{"is the proof of the whole plan", func(p []*flinkmm2.Proof) []*flinkmm2.Proof { p[1].Shard = nil; return p }},
		{"shard 0/3 is one of 3, and another is one of 2", func(p []*flinkmm2.Proof) []*flinkmm2.Proof {
			p[1].Shard = &flinkmm2.Shard{Index: 0, Of: 3}
			return p
		}},
		{"is of plan sha256:0", func(p []*flinkmm2.Proof) []*flinkmm2.Proof { p[1].Plan = "sha256:0"; return p }},
		{`connector "mm3"`, func(p []*flinkmm2.Proof) []*flinkmm2.Proof { p[0].Connector = "mm3"; return p }},
		{"was watched until boundary, and another until end", func(p []*flinkmm2.Proof) []*flinkmm2.Proof {
			p[1].Until = flinkmm2.UntilFirst(1)
			return p
		}},
		{"does not have the partitions of that shard", func(p []*flinkmm2.Proof) []*flinkmm2.Proof {
			p[0].Shard.Index, p[1].Shard.Index = 1, 0
			return p
		}},
		{"add up to", func(p []*flinkmm2.Proof) []*flinkmm2.Proof { p[1].Missing++; return p }},
	} {
		parts := w.shards(2, flinkmm2.WatchOptions{})
		merged, err := flinkmm2.MergeProofs(w.plan, tt.change(parts)...)
		if !errors.Is(err, flinkmm2.ErrParts) || merged != nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%v, want %q", err, tt.say)
		}
	}
	edited := *w.plan
	edited.Digest = "sha256:0"
	if _, err := flinkmm2.MergeProofs(&edited, w.shards(1, flinkmm2.WatchOptions{})...); err == nil {
		t.Error("an edited plan is taken")
	}
}

func TestOutcomesOfPartsAreJoinedAsAWatchWould(t *testing.T) {
	t.Parallel()
	w := started(t)
	parts := func(outcomes ...string) []*flinkmm2.Proof {
		all := w.shards(2, flinkmm2.WatchOptions{})
		for i, o := range outcomes {
			all[i].Outcome = o
			for k := range all[i].Partitions {
				p := &all[i].Partitions[k]
				p.Outcome = o
				if o == "no-progress" {
					p.Outcome, p.First = "pending", offsetmap.NextOffset{}
					p.Pending, p.Records, p.Copied = 1, 1, 0
				}
			}
			all[i].ProofCounts = flinkmm2.ProofCounts{}
			for _, p := range all[i].Partitions {
				all[i].Pending, all[i].Records, all[i].Copied = all[i].Pending+p.Pending, all[i].Records+p.Records, all[i].Copied+p.Copied
			}
		}
		return all
	}
	for want, of := range map[string][]string{
		"proven":                   {"proven", "nothing-to-copy"},
		"failed":                   {"failed", "progress-without-records"},
		"nothing-to-copy":          {"nothing-to-copy", "nothing-to-copy"},
		"progress-without-records": {"proven", "progress-without-records"},
		"no-progress":              {"no-progress", "no-progress"},
		"not-proven":               {"proven", "no-progress"},
	} {
		merged, err := flinkmm2.MergeProofs(w.plan, parts(of...)...)
		if err != nil || merged.Outcome != want {
			t.Errorf("%v: %v, %+v, want %s", of, err, merged, want)
		}
	}
	behind := parts("proven", "proven")
	behind[1].Outcome = "not-proven" // it was not caught up with
	if merged, err := flinkmm2.MergeProofs(w.plan, behind...); err != nil || merged.Outcome != "not-proven" {
		t.Errorf("%v, %+v", err, merged)
	}
}
