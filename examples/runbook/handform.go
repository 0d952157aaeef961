package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// theForms are those of --form.
var theForms = []string{string(flinkmm2.FormInitializer), string(flinkmm2.FormLegacy), string(flinkmm2.FormSQL), string(flinkmm2.FormOldSavepoint)}

// askedForForm are the arguments of the same command, with what it lacks for a person to
// fill in.
func (h *handBack) askedForForm() []string {
	return append([]string{"rollback", "--form", h.form}, h.word()...)
}

// formArgs are the arguments of the command that gives out C' in a form.
func formArgs() []string {
	h := handBack{form: strings.Join(theForms, "|")}
	return h.askedForForm()
}

// handedForm is a hand-back with what Flink is given.
type handedForm struct {
	*flinkmm2.HandedBack
	// Text is Java or SQL; empty for the old savepoint.
	Text string `json:"text"`
}

// handForm gives Flink what it goes on from. What needs no cluster is asked first, before
// a rollback changes anything.
func (a *app) handForm(ctx context.Context, s *session, plan *offsetmap.Plan, to handBack) error {
	request := flinkmm2.HandBack{Form: flinkmm2.HandBackForm(to.form), FlinkStopped: to.attested(), Acceptances: s.acceptedBack()}
	if err := request.Check(); err != nil {
		return &hintedError{err: fmt.Errorf("rollback refused, nothing was changed: %w", err), next: to.askedForForm()}
	}
	boundary, err := a.boundaryFor(ctx, s, plan, to)
	if err != nil {
		return err
	}
	if boundary == nil && request.Form != flinkmm2.FormOldSavepoint {
		return &blockedError{err: errors.New("the rollback is done, and there are no starting offsets: the connector never ran, so there is no C'; start Flink from its savepoint")}
	}
	out, err := s.steps.HandBack(ctx, plan, boundary, request)
	if err != nil {
		return s.handBackAgain(err, to.askedForForm())
	}
	handed := handedForm{HandedBack: out}
	if handed.Text, err = startText(boundary, request.Form); err != nil {
		return err
	}
	for _, f := range out.Findings {
		a.note("%s", f)
	}
	if err := a.printValue(handed, func(w io.Writer) { handedFormTable(w, handed) }); err != nil {
		return err
	}
	a.note("%s", howToGoOn(handed, plan, boundary))
	return nil
}

// boundaryFor is boundaryOf, but for the old savepoint: that needs none, and a rollback
// only where none was begun.
func (a *app) boundaryFor(ctx context.Context, s *session, plan *offsetmap.Plan, to handBack) (*flinkmm2.Boundary, error) {
	if flinkmm2.HandBackForm(to.form) != flinkmm2.FormOldSavepoint {
		return a.boundaryOf(ctx, s, plan)
	}
	entries, err := flinkmm2.NewFileJournal(filepath.Join(s.dir, journalFile)).Read(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(entries, func(e flinkmm2.Entry) bool { return e.Plan == plan.Digest && e.Act == "rollback" }) {
		return nil, nil
	}
	quiet := *a
	quiet.out = io.Discard
	_, err = quiet.rollback(ctx, s, plan)
	return nil, err
}

func startText(b *flinkmm2.Boundary, form flinkmm2.HandBackForm) (string, error) {
	var out strings.Builder
	switch form {
	case flinkmm2.FormInitializer:
		return textFrom(&out, b.OffsetsInitializer(&out))
	case flinkmm2.FormLegacy:
		return textFrom(&out, b.LegacyOffsets(&out))
	case flinkmm2.FormSQL:
		for _, topic := range b.Topics() {
			offsets, err := b.SpecificOffsets(topic)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "'topic' = '%s',\n'scan.startup.mode' = 'specific-offsets',\n'scan.startup.specific-offsets' = '%s'\n", topic, offsets)
		}
	}
	return out.String(), nil
}

func textFrom(out *strings.Builder, err error) (string, error) { return out.String(), err }

func handedFormTable(w io.Writer, h handedForm) {
	if h.Form != flinkmm2.FormOldSavepoint {
		fmt.Fprint(w, h.Text)
		return
	}
	line(w, "PARTITION", "C")
	for _, p := range h.Partitions {
		line(w, p.TopicPartition, p.Next)
	}
}

// howToGoOn is what a person does with what was printed.
func howToGoOn(h handedForm, plan *offsetmap.Plan, b *flinkmm2.Boundary) string {
	out := fmt.Sprintf("in the journal since %s; Flink %s, attested by %s: %s\n", h.Since, h.FlinkStopped.Value, h.FlinkStopped.By, h.FlinkStopped.Reason)
	switch h.Form {
	case flinkmm2.FormInitializer:
		out += `in Flink, start the job without a savepoint, and give its KafkaSource
setStartingOffsets(FlinkMM2Boundary.offsets()), which is what was printed, as
FlinkMM2Boundary.java; restored state would win over it`
	case flinkmm2.FormLegacy:
		out += `in Flink, start the job without a savepoint, and give its FlinkKafkaConsumer
setStartFromSpecificOffsets(FlinkMM2Boundary.next()), which is what was printed,
as FlinkMM2Boundary.java, and the property auto.offset.reset=none: by default a
partition whose offset is gone goes on at the latest record; restored state would
win over both`
	case flinkmm2.FormSQL:
		out += `in Flink, start the job without a savepoint, each table WITH the options printed
for its topic, and one topic alone; restored state would win over them`
		if topics := b.Topics(); len(topics) > 1 {
			out += fmt.Sprintf("\na table that reads all of %s cannot have them: split it, or take --form initializer", strings.Join(topics, ", "))
		}
	case flinkmm2.FormOldSavepoint:
		out += fmt.Sprintf("in Flink, restore the job from %s: all that was copied since C comes again\n", shown.Argument(savepointOf(plan))) +
			"no plan can be made from that savepoint any more, nor from an older one"
	}
	return out + fmt.Sprintf("\nleave connector %s STOPPED: two would write", plan.Body.Connector.Name)
}
