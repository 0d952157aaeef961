package proof

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestAPartitionIsDecidedOnlyByEndsMeasuredAfterwards(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+2)
	target, source := logRange(0, targetFrom+1), logRange(0, sourceFrom+2)
	p.take(sourceSide, fetch("AB", sourceFrom, 0))
	p.take(targetSide, fetch("A", targetFrom, 0))
	if p.look(o, target, source) {
		t.Fatal("decided with a record to come")
	}
	// The last record, and behind it, unread yet, a repeat.
	p.take(targetSide, fetch("B", targetFrom+1, 0))
	target = logRange(0, targetFrom+3)
	if p.look(o, target, source) {
		t.Fatal("decided before the target was read to an end that was measured after its last record")
	}
	p.take(targetSide, fetch("A", targetFrom+2, 0))
	if !p.look(o, target, source) {
		t.Fatal("not decided")
	}
	if p.report.Outcome != PartitionProven || p.report.Counts.Repeated != 1 {
		t.Errorf("%s, %+v", p.report.Outcome, p.report.Counts)
	}
	if p.look(o, target, source) {
		t.Error("decided twice")
	}
}

func TestASourceThatGoesOnIsReadUpToWhatTheTargetMayHave(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+1)
	p.take(sourceSide, fetch("A", sourceFrom, 0))
	p.take(targetSide, fetch("AB", targetFrom, 0))
	if p.look(o, logRange(0, targetFrom+2), logRange(0, sourceFrom+2)) {
		t.Fatal("decided before the source was read up to where the target may have copied it")
	}
	if got := p.goal(sourceSide); got != sourceFrom+2 {
		t.Errorf("goal %d", got)
	}
	p.take(sourceSide, fetch("B", sourceFrom+1, 0))
	if !p.look(o, logRange(0, targetFrom+9), logRange(0, sourceFrom+9)) {
		t.Fatal("not decided by the ends that were measured first")
	}
	if c := p.report.Counts; c.Later != 1 || c.Foreign != 0 {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsNotThereYetIsSaidWithItsReason(t *testing.T) {
	open := offsetmap.Range{Start: place(0), Stable: place(targetFrom), End: place(targetFrom + 3)}
	shut := logRange(0, targetFrom+3)
	for _, tt := range []struct {
		name      string
		isolation offsetmap.Isolation
		target    offsetmap.Range
		source    string
		want      PartitionOutcome
		say       string
	}{
		{"an open transaction hides it", offsetmap.ReadCommitted, open, "AB", PartitionHidden, "2 records are not there yet, and a transaction that is open since offset 5000"},
		{"no transaction is open", offsetmap.ReadCommitted, shut, "AB", PartitionPending, "2 records are not there yet, and none of the partition has come; target: ill"},
		{"an open transaction hides nothing", offsetmap.ReadUncommitted, open, "AB", PartitionPending, "2 records are not there yet, and none of the partition has come; target: ill"},
		{"the target was not measured", offsetmap.ReadCommitted, offsetmap.Range{}, "AB", PartitionPending, "2 records are not there yet, and none of the partition has come; target: ill"},
		{"the source is not read", offsetmap.ReadCommitted, open, "A", PartitionPending, "the source is read up to 101 of 102; target: ill"},
		{"nothing of the source is read", offsetmap.ReadCommitted, shut, "", PartitionPending, "the source is read up to 100 of 102; target: ill"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, o := alone(t, sourceFrom, sourceFrom+2)
			o.Target.Isolation = tt.isolation
			p.take(sourceSide, fetch(tt.source, sourceFrom, 0))
			p.fail(targetSide, errors.New("ill"), false)
			p.look(o, tt.target, offsetmap.Range{})
			p.decide(o)
			if p.report.Outcome != tt.want || !strings.HasPrefix(p.report.Reason, tt.say) {
				t.Errorf("%s (%s)", p.report.Outcome, p.report.Reason)
			}
		})
	}
}

func TestWhatComesAfterTheDecisionIsLeft(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom)
	p.begin(logRange(0, sourceFrom), logRange(0, targetFrom), 0)
	if !p.look(o, logRange(0, targetFrom), logRange(0, sourceFrom)) {
		t.Fatal("not decided")
	}
	before := p.report
	p.take(sourceSide, fetch("A", sourceFrom, 0))
	p.take(targetSide, fetch("A", targetFrom, 0))
	p.probed(sourceSide, sourceFrom+9, errors.New("ill"))
	p.outOfRange(targetSide)
	if _, ok := p.resolve(targetSide, logRange(0, targetFrom+9)); ok {
		t.Error("read on after the decision")
	}
	if d := cmp.Diff(before, p.report, places); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

func TestTheReportAsJSON(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+3)
	p.take(sourceSide, fetch("ABC", sourceFrom, 0))
	p.take(targetSide, fetch("AC", targetFrom, 0))
	p.look(o, logRange(0, targetFrom+2), logRange(0, sourceFrom+3))
	r := Conclude([]PartitionReport{p.report})
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`{
  "outcome": "failed",
  "total": {
    "source": 3,
    "target": 2,
    "copied": 2,
    "missing": 1,
    "altered": 0,
    "outOfOrder": 0,
    "unprovable": 0,
    "pending": 0,
    "repeated": 0,
    "early": 0,
    "foreign": 0,
    "older": 0,
    "later": 0,
    "undecided": 0
  },
  "partitions": [
    {
      "source": {
        "topic": "orders",
        "partition": 0
      },
      "target": {
        "topic": "orders",
        "partition": 0
      },
      "next": 100,
      "end": 103,
      "targetEnd": 5000,
      "outcome": "failed",
      "reason": "1 missing",
      "sourceRead": 103,
      "targetRead": 5002,
      "sourceExpired": 0,
      "moved": true,
      "lag": 0,
      "unread": 0,
      "waits": null,
      "first": {
        "source": 100,
        "target": 5000
      },
      "counts": {
        "source": 3,
        "target": 2,
        "copied": 2,
        "missing": 1,
        "altered": 0,
        "outOfOrder": 0,
        "unprovable": 0,
        "pending": 0,
        "repeated": 0,
        "early": 0,
        "foreign": 0,
        "older": 0,
        "later": 0,
        "undecided": 0
      },
      "examples": [
        {
          "fault": "missing",
          "source": 101,
          "target": null,
          "sourceDigest": "DIGEST"
        }
      ]
    }
  ]
}`, "DIGEST", letters['B'].sum.String())
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheOutcomeOfARun(t *testing.T) {
	waits := Counts{Pending: 3}
	for _, tt := range []struct {
		name  string
		parts []PartitionReport
		want  Outcome
	}{
		{"all proven", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionProven, Moved: true}}, Proven},
		{"proven and nothing to copy", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionNothingToCopy}}, Proven},
		{"nothing to copy", []PartitionReport{{Outcome: PartitionNothingToCopy}}, NothingToCopy},
		{"one failed", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionFailed}, {Outcome: PartitionPending, Counts: waits}}, Failed},
		{"one unprovable", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionUnprovable}}, NotProven},
		{"one unread", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionUnread}}, NotProven},
		{"one waits, another moved", []PartitionReport{{Outcome: PartitionPending, Counts: waits, Moved: true}, {Outcome: PartitionPending, Counts: waits}}, NotProven},
		{"none moved", []PartitionReport{{Outcome: PartitionPending, Counts: waits}, {Outcome: PartitionNothingToCopy}}, NoProgress},
		{"one waits for a transaction", []PartitionReport{{Outcome: PartitionProven, Moved: true}, {Outcome: PartitionWaiting}}, NotProven},
		{"hidden", []PartitionReport{{Outcome: PartitionHidden, Counts: waits}}, NotProven},
		{"the source was not read, so nothing is known to wait", []PartitionReport{{Outcome: PartitionPending}}, NotProven},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := Conclude(tt.parts); r.Outcome != tt.want {
				t.Errorf("%s, want %s", r.Outcome, tt.want)
			}
		})
	}
}

func TestEndsOfBeforeAreForgotten(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+2)
	r := &runner{Options: o, parts: []*partition{p}}
	r.ranges[targetSide] = map[offsetmap.TopicPartition]offsetmap.Range{p.Target: logRange(0, targetFrom)}
	r.measure(t.Context()) // asks nobody while the source is read
	if len(r.ranges[targetSide]) != 0 {
		t.Error("a partition could be decided by ends that were measured before it was complete")
	}
}
