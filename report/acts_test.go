package report_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/report"
)

// acted is a journal in a few words: an act with + behind it is begun, with ! has
// failed, with ? is of unknown outcome, and else is done.
func acted(s report.Sources, acts string) []flinkmm2.Entry {
	var out []flinkmm2.Entry
	for i, act := range strings.Fields(acts) {
		phase := flinkmm2.PhaseDone
		for end, p := range map[string]flinkmm2.Phase{"+": flinkmm2.PhaseBegin, "!": flinkmm2.PhaseFailed, "?": flinkmm2.PhaseUnknown} {
			if name, is := strings.CutSuffix(act, end); is {
				act, phase = name, p
			}
		}
		out = append(out, entry(s, i, act, phase))
	}
	return out
}

func TestTheStageFollowsFromTheJournal(t *testing.T) {
	t.Parallel()
	const toStart = "create+ create plan apply+ apply start resume+ resume "
	for acts, want := range map[string]report.Stage{
		"":                                              report.Planned,
		"create+ create plan":                           report.Planned,
		"plan apply+":                                   report.Unknown,
		"plan apply+ apply?":                            report.Unknown,
		"plan apply+ apply!":                            report.Planned,
		"plan apply+ plan apply+ apply":                 report.Applied, // the first program was killed
		"plan apply+ apply start":                       report.Applied,
		"plan apply+ apply start resume+":               report.Unknown,
		toStart:                                         report.Started,
		"plan apply+ start resume+ resume":              report.Started, // it demands that everything is applied
		toStart + "rollback+":                           report.GoingBack,
		toStart + "rollback+ stop+":                     report.Unknown,
		toStart + "rollback+ stop+ stop":                report.GoingBack,
		toStart + "rollback+ rollback!":                 report.GoingBack,
		toStart + "rollback+ stop+ rollback":            report.WentBack,
		"plan apply+ rollback+ rollback":                report.WentBack,
		toStart + "rollback+ rollback commit-boundary+": report.Unknown,
		toStart + "rollback+ rollback commit-boundary+ commit-boundary!": report.WentBack,
		toStart + "rollback+ rollback commit-boundary+ commit-boundary":  report.HandedBack,
	} {
		s := small(t)
		s.Journal = acted(s, acts)
		if got := newDocument(t, s).Stage; got != want {
			t.Errorf("%q: %s, want %s", acts, got, want)
		}
	}
}

func TestOnlyTheActsOfThePlanAndThoseBeforeItAreShown(t *testing.T) {
	t.Parallel()
	s := small(t)
	other := entry(s, 0, "apply", flinkmm2.PhaseDone)
	other.Plan = "sha256:" + strings.Repeat("1", 64)
	elsewhere := entry(s, 1, "resume", flinkmm2.PhaseDone)
	elsewhere.Connector = "mm2"
	later := entry(s, 9, "create", flinkmm2.PhaseDone)
	s.Journal = append([]flinkmm2.Entry{other, elsewhere}, acted(s, "create+ create plan apply+ apply")...)
	s.Journal = append(s.Journal, later)
	d := newDocument(t, s)
	var got []string
	for _, a := range d.Acts {
		got = append(got, a.Act+" "+string(a.Phase))
	}
	if want := "create begin, create done, plan done, apply begin, apply done"; strings.Join(got, ", ") != want || d.Stage != report.Applied {
		t.Errorf("%s: %q, want %q", d.Stage, got, want)
	}
}

func TestTheApprovalIsTheFirstStartsWord(t *testing.T) {
	t.Parallel()
	s := small(t)
	if d := newDocument(t, s); d.Approval != nil {
		t.Errorf("%+v approved a plan that nobody has started", d.Approval)
	}
	s.Journal = acted(s, "plan apply+ apply start resume+ resume! start resume+ resume")
	s.Journal[6].Approved = "somebody else"
	if a := newDocument(t, s).Approval; a == nil || a.By != "li" || a.At != offsetmap.At(s.Journal[3].At) {
		t.Errorf("%+v", a)
	}
}

func TestTheSummarySaysHowItStands(t *testing.T) {
	t.Parallel()
	const lost = " 200 offsets before C had expired and are lost, by acceptance."
	proof := func(outcome string) func(*report.Sources) {
		return func(s *report.Sources) {
			s.Journal, s.Proof = journalOf(*s), proofOf(s.Plan)
			s.Proof.Outcome = outcome
		}
	}
	const counts = "2,260 of 2,260 records copied; missing 0, altered 0, out of order 0, repeated 0."
	for want, change := range map[string]func(*report.Sources){
		"Planned. Nothing was written to Connect yet.":                                   func(*report.Sources) {},
		"Applied, not started. Connect held M of every partition when it was read back.": func(s *report.Sources) { s.Journal = acted(*s, "apply") },
		"Started. Nothing is proven yet: there is no proof of this plan.":                func(s *report.Sources) { s.Journal = journalOf(*s) },
		"Started. Proven: " + counts:                                                     proof("proven"),
		"Started. The proof failed: " + counts:                                           proof("failed"),
		"Started. Not proven within the bound: " + counts:                                proof("not-proven"),
		"Started. There was nothing to copy, so nothing is proven yet.":                  proof("nothing-to-copy"),
		"Started. The proof says no-progress: " + counts:                                 proof("no-progress"),
		"A rollback has begun, and the journal tells no good end of it.":                 func(s *report.Sources) { s.Journal = acted(*s, "rollback+") },
		"Rolled back. Flink goes on at C'; 27 offsets were copied since C.":              func(s *report.Sources) { s.Journal, s.Boundary = acted(*s, "rollback"), boundaryOf(s.Plan) },
		"Rolled back.": func(s *report.Sources) { s.Journal = acted(*s, "rollback") },
		"Rolled back, and Flink was handed what it goes on from.":                        func(s *report.Sources) { s.Journal = acted(*s, "rollback commit-boundary") },
		"Outcome unknown: an act has begun, and the journal does not tell how it ended.": func(s *report.Sources) { s.Journal = acted(*s, "apply+") },
	} {
		s := small(t)
		change(&s)
		if got := newDocument(t, s).Summary; got != want+lost {
			t.Errorf("%q, want %q", got, want+lost)
		}
	}
}
