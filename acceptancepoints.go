package flinkmm2

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// acceptancePoint is a point and how it is judged.
type acceptancePoint struct {
	id          AcceptanceID
	title, next string
	sees        func(acceptanceFacts, *judgement)
}

// judgement gathers what is seen for a point and against it.
type judgement struct {
	evidence, open []string
	against        bool // something of open was seen, so that no word stands against it
	attested       *offsetmap.Attestation[string]
}

func (j *judgement) saw(format string, args ...any) {
	j.evidence = append(j.evidence, text(format, args))
}

// lacks notes what could not be seen.
func (j *judgement) lacks(format string, args ...any) { j.open = append(j.open, text(format, args)) }

// denies notes what was seen against the point.
func (j *judgement) denies(format string, args ...any) {
	j.lacks(format, args...)
	j.against = true
}

// text takes user and password out of addresses that workers, brokers and people name.
func text(format string, args []any) string {
	return offsetmap.RedactSetting("text", fmt.Sprintf(format, args...))
}

// mostNamed bounds how many partitions, or names, one piece of evidence lists.
const mostNamed = 10

// named lists some of many.
type named struct {
	n     int
	first []string
}

func (l *named) add(format string, args ...any) {
	if l.n++; l.n <= mostNamed {
		l.first = append(l.first, fmt.Sprintf(format, args...))
	}
}

func (l *named) String() string {
	all := strings.Join(l.first, ", ")
	if more := l.n - mostNamed; more > 0 {
		all += fmt.Sprintf(" and %d more", more)
	}
	return all
}

func (p acceptancePoint) judge(f acceptanceFacts, r AcceptanceRequest) AcceptancePoint {
	var j judgement
	p.sees(f, &j)
	if a, given := r.Attested[p.id]; given {
		j.attested = &a
	}
	out := AcceptancePoint{ID: p.id, Title: p.title, State: Shown, Evidence: append([]string{}, j.evidence...), Open: append([]string{}, j.open...)}
	switch {
	case len(j.open) == 0:
		return out
	case j.attested != nil && !j.against:
		out.State, out.Attested = Attested, j.attested
		return out
	case j.attested != nil:
		out.Open = append(out.Open, text("the word of %s does not stand against what was seen", []any{j.attested.By}))
	}
	out.State, out.Next = NotProven, p.next
	return out
}

func acceptancePoints() []acceptancePoint {
	const (
		watch = "Watch again, until everything is proven: `runbook -f <MIGRATION> watch --until caught-up`"
		back  = "; else go back: `runbook -f <MIGRATION> rollback`"
	)
	return []acceptancePoint{
		{AcceptImported, "Every partition of the plan was written to Connect, and read back", "Start the plan, or look who has altered the connector's offsets since: `curl <WORKER>/connectors/<CONNECTOR>/offsets`" + back, imported},
		{AcceptFirstRecord, "MirrorMaker 2 reads each partition from C, or from the first visible record behind it", watch + ". Of a partition that nobody writes to, state what is known of it", firstRecord},
		{AcceptNothingMissing, "No record behind the boundary is missing", watch + back, nothingMissing},
		{AcceptRunning, "Connector and tasks are RUNNING, the source offsets advance, and the lag goes to nothing", "Read the worker's log, and `curl <WORKER>/connectors/<CONNECTOR>/status`. Watch again: `runbook -f <MIGRATION> watch --until caught-up`" + back, isRunning},
		{AcceptImage, "The workers run the image as agreed: no root, the pod's address advertised, logs to stdout", "No API shows it: state it (attest.confirm.image and attest.confirm.kubernetes before the plan, or the point image now)", imageAsAgreed},
		{AcceptRestart, "After a restart of the workers the copying goes on from Connect's offsets", "Mark, restart the workers one by one, and prove: `runbook -f <MIGRATION> watch --mark-restart`, then `runbook -f <MIGRATION> watch --after-restart`. Of a restart that was not marked, state what was seen", afterRestart},
		{AcceptNoCompanions, "There is no MirrorCheckpointConnector and no MirrorHeartbeatConnector", "Delete it: `curl -X DELETE <WORKER>/connectors/<OTHER>`", noCompanions},
		{AcceptNoSynchronisation, "No offset-sync, group offset, topic config or ACL was synchronised since the start", "Find out who has changed it: `kafka-configs.sh --bootstrap-server <TARGET> --describe --topic <NAME>`, `kafka-acls.sh --bootstrap-server <TARGET> --list --topic <NAME>`, `kafka-consumer-groups.sh --bootstrap-server <TARGET> --describe --group <CONSUMER-GROUP>`. State what is known of it", noSynchronisation},
		{AcceptAsBefore, "Target topics, partitions and the form of records are as the old job left them", "Compare a record of before with one of after C, tell the consumers, and state what is known of it", asBefore},
	}
}

// imported: a start demands that Connect holds every offset of the plan, read back
// directly before, and the journal has its record of that.
func imported(f acceptanceFacts, j *judgement) {
	start := f.journal.record
	if start == nil {
		j.lacks("the journal has no start record of the plan")
		return
	}
	if a := f.journal.applied; a != nil {
		j.saw("written to Connect and read back by the apply of %s: %s", offsetmap.At(a.At), a.Detail)
	}
	j.saw("read back equal to the plan, %d partitions, directly before the start of %s, which %s approved", len(f.plan.Body.Rows), offsetmap.At(start.At), start.Approved)
	stored, ok := f.later.stored.Get()
	if !ok {
		j.lacks("what Connect holds now is not known: %v", f.later.stored.Err())
		return
	}
	var wrong named
	for _, r := range f.plan.Body.Rows {
		if is := stored[r.TopicPartition]; below(is, r.Write.Result()) {
			wrong.add("%s (%s, planned %s)", r.TopicPartition, is, r.Write.Result())
		}
	}
	if wrong.n > 0 {
		j.denies("Connect holds less than was planned of %d partitions: %s", wrong.n, &wrong)
		return
	}
	j.saw("Connect holds what was planned of each partition, or a later offset")
}

// proofOf returns the proof when it is of all partitions of the plan.
func (f acceptanceFacts) proofOf(j *judgement) *Proof {
	if f.proof == nil {
		j.lacks("there is no proof of the plan")
		return nil
	}
	if !f.whole(f.proof, j) {
		return nil
	}
	return f.proof
}

// whole reports whether a proof is of all partitions of the plan.
func (f acceptanceFacts) whole(p *Proof, j *judgement) bool {
	got := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, p := range p.Partitions {
		got[p.TopicPartition] = p.Next
	}
	var lack named
	for _, r := range f.plan.Body.Rows {
		if next, there := got[r.TopicPartition]; !there || next != r.Next {
			lack.add("%s", r.TopicPartition)
		}
	}
	if lack.n > 0 {
		j.lacks("the proof of %s is not of %d partitions of the plan, or of another C: %s", p.CreatedAt, lack.n, &lack)
	}
	return lack.n == 0
}

// toTheEnd reports whether a proof reaches to the source's end: one until the boundary, or
// until a number of records, says nothing of what follows.
func toTheEnd(p *Proof, j *judgement) bool {
	if p.Until == (Until{}) || p.Until == UntilCaughtUp() {
		return true
	}
	j.lacks("the proof of %s reaches no further than %s, and says nothing of what follows", p.CreatedAt, p.Until)
	return false
}

func firstRecord(f acceptanceFacts, j *judgement) {
	p := f.proofOf(j)
	if p == nil {
		return
	}
	var right, quiet, wrong, open named
	for _, one := range p.Partitions {
		switch {
		case one.Early > 0:
			wrong.add("%s (%d records from before C = %s)", one.TopicPartition, one.Early, one.Next)
		case one.Outcome == outcomeProven && !one.First.IsNone():
			right.add("%s from %s (C = %s)", one.TopicPartition, one.First, one.Next)
		case one.Outcome == outcomeNothingToCopy:
			quiet.add("%s", one.TopicPartition)
		default:
			open.add("%s (%s)", one.TopicPartition, one.Outcome)
		}
	}
	if right.n > 0 {
		j.saw("by the proof of %s the first record on the target is the first visible one from C on, in %d partitions: %s", p.CreatedAt, right.n, &right)
	}
	if wrong.n > 0 {
		j.denies("records from before C came to the target, in %d partitions: %s", wrong.n, &wrong)
	}
	if open.n > 0 {
		j.denies("%d partitions are not proven: %s", open.n, &open)
	}
	if quiet.n > 0 {
		j.lacks("in %d partitions no record has come since C, so that nothing shows where they are read from: %s", quiet.n, &quiet)
	}
}

func nothingMissing(f acceptanceFacts, j *judgement) {
	p := f.proofOf(j)
	if p == nil {
		return
	}
	if p.Outcome != outcomeProven {
		j.denies("the proof of %s ended with %s: %d missing, %d altered, %d out of order, %d not there yet, %d that cannot be proven", p.CreatedAt, p.Outcome, p.Missing, p.Altered, p.OutOfOrder, p.Pending, p.Unprovable)
		return
	}
	if !toTheEnd(p, j) {
		return
	}
	j.saw("by the proof of %s, of %d records from C on to the source's end of then %d are on the target, none missing, altered or out of order; %d came more than once", p.CreatedAt, p.Records, p.Copied, p.Repeated)
	if p.Lost > 0 {
		j.saw("%d offsets before C were given up as lost when the plan was made", p.Lost)
	}
}

// Outcomes of proofs that the list goes by.
const (
	outcomeProven        = "proven"
	outcomeNothingToCopy = "nothing-to-copy"
)
