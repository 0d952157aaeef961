package offsetmap

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// validator collects what is wrong with a body, with the place of each.
type validator struct {
	errs []error
}

func (v *validator) bad(place, format string, args ...any) {
	v.errs = append(v.errs, &PlaceError{"body." + place, fmt.Sprintf(format, args...)})
}

// text asks for UTF-8: in JSON other bytes would become U+FFFD in silence. Each
// text by itself, since halves of a character may meet.
func (v *validator) text(place string, texts ...string) {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			v.bad(place, "%q is not UTF-8", s)
		}
	}
}

func (v *validator) need(place, s string) {
	v.text(place, s)
	if strings.TrimSpace(s) == "" {
		v.bad(place, "empty")
	}
}

// validate holds the body to the rules that a plan made by Resolve obeys, so
// that a plan that anything else made obeys them too. The error is an ErrPlan
// over every problem.
func (b *Body) validate() error {
	var v validator
	v.head(b)
	v.attestations(b)
	v.findings(b)
	v.earlier(b.Earlier)
	v.rows(b)
	if v.errs == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrPlan, errors.Join(v.errs...))
}

func (v *validator) head(b *Body) {
	v.need("tool.name", b.Tool.Name)
	v.need("tool.version", b.Tool.Version)
	v.need("source.id", b.Source.ID)
	v.need("target.id", b.Target.ID)
	v.need("connector.name", b.Connector.Name)
	v.need("connector.sourceAlias", b.Connector.SourceAlias)
	v.need("worker.version", b.Worker.Version)
	v.text("worker.commit", b.Worker.Commit)
	v.text("worker.clusterId", b.Worker.ClusterID)
	v.text("worker.pluginVersion", b.Worker.PluginVersion)
	if !digestForm.MatchString(b.Connector.Config) {
		v.bad("connector.configDigest", "%q is not a digest", b.Connector.Config)
	}
	for i, t := range b.Connector.ActiveTopics {
		place := fmt.Sprintf("connector.activeTopics[%d]", i)
		if err := ValidateTopic(t); err != nil {
			v.bad(place, "%v", err)
		}
		if i > 0 && b.Connector.ActiveTopics[i-1] >= t {
			v.bad(place, "%s after %s: not sorted, or twice", t, b.Connector.ActiveTopics[i-1])
		}
	}
	if b.Source.ID != "" && b.Source.ID == b.Target.ID {
		v.bad("target.id", "the same cluster as the source")
	}
	if b.Worker.ProducerClusterID != b.Target.ID {
		v.bad("worker.producerClusterId", "the data producer reaches cluster %q, the target is %q", b.Worker.ProducerClusterID, b.Target.ID)
	}
	for _, t := range []struct {
		place string
		time  Time
	}{{"createdAt", b.CreatedAt}, {"expiresAt", b.ExpiresAt}} {
		if t.time.Nanosecond() != 0 { // of which the digest would know nothing
			v.bad(t.place, "%s and a fraction of a second", t.time)
		}
	}
	if b.CreatedAt.Year() < 1970 {
		v.bad("createdAt", "%s is not the time of a plan", b.CreatedAt)
	}
	if !b.ExpiresAt.After(b.CreatedAt.Time) || b.ExpiresAt.Year() > 9999 {
		v.bad("expiresAt", "%s is not a time after createdAt, %s", b.ExpiresAt, b.CreatedAt)
	}
	if b.Savepoint == nil && b.Group == nil {
		v.bad("savepoint", "neither a savepoint nor a group")
	}
	if b.Group != nil {
		v.need("group.id", b.Group.ID)
	}
	if s := b.Savepoint; s != nil {
		v.need("savepoint.location", s.Location)
		v.need("savepoint.operatorId", s.OperatorID)
		v.text("savepoint.uid", s.UID)
		if s.MetadataVersion < 0 || s.CheckpointID < 0 {
			v.bad("savepoint", "metadata version %d or checkpoint id %d is negative", s.MetadataVersion, s.CheckpointID)
		}
		if len(s.Files) == 0 {
			v.bad("savepoint.files", "no file")
		}
		for i, f := range s.Files {
			v.need(fmt.Sprintf("savepoint.files[%d].name", i), f.Name)
			if !sha256Form.MatchString(f.SHA256) {
				v.bad(fmt.Sprintf("savepoint.files[%d].sha256", i), "%q is not a SHA-256 in hex", f.SHA256)
			}
		}
	}
}

// attestations asks for those that are always required, and for the checks that
// stand in for a sink that guarantees nothing.
func (v *validator) attestations(b *Body) {
	found := b.Attestations.Check()
	if b.Savepoint == nil {
		found = append(found, b.Attestations.CheckGroupPlan()...)
	}
	for _, f := range found {
		answered := f.Check == CheckSinkNone && slices.ContainsFunc(b.Findings, func(o Finding) bool { return o.Check == CheckSinkNone })
		if !answered {
			v.bad("attestations", "%s: %s", f.Check, f.Detail)
		}
	}
	if !slices.Contains(isolations, b.Isolation) {
		v.bad("isolation", "%q is not one of %q", b.Isolation, isolations)
	}
	if a := b.Attestations.Isolation; a != nil && a.Value != b.Isolation {
		v.bad("isolation", "%q, attested is %q", b.Isolation, a.Value)
	}
}

// findings asks that nothing blocks, and that what was let through was let
// through by an acceptance of this plan.
func (v *validator) findings(b *Body) {
	for i, a := range b.Acceptances {
		place := fmt.Sprintf("acceptances[%d]", i)
		for _, p := range a.problems() {
			v.bad(place, "%s", p)
		}
		v.text(place, a.Check, a.Scope, a.By, a.Reason)
	}
	index := indexAcceptances(b.Acceptances)
	for i, f := range b.Findings {
		place := fmt.Sprintf("findings[%d]", i)
		if i > 0 && b.Findings[i-1].Compare(f) > 0 {
			v.bad(place, "not sorted")
		}
		v.need(place+".check", f.Check)
		v.text(place, f.Scope, f.Detail)
		if !slices.Contains([]Acceptable{Never, Exact, ByScope}, f.Acceptable) {
			v.bad(place+".acceptable", "%q", f.Acceptable)
		}
		switch {
		case f.Severity == Block:
			v.bad(place, "%s blocks, and was not accepted", f.Check)
		case f.Severity != Warn && f.Severity != Info:
			v.bad(place+".severity", "%q", f.Severity)
		case f.Accepted == nil && f.Unmade:
			v.bad(place, "%s could not be made, and that was not accepted", f.Check)
		case f.Accepted != nil && (f.Severity != Warn || !slices.ContainsFunc(index.covering(f), func(i int) bool { return b.Acceptances[i] == *f.Accepted })):
			v.bad(place+".accepted", "no acceptance of the plan lets %s for %q through", f.Check, f.Scope)
		}
	}
}

func (v *validator) earlier(plans []EarlierPlan) {
	for i, e := range plans {
		place := fmt.Sprintf("earlier[%d]", i)
		if !digestForm.MatchString(e.Digest) {
			v.bad(place+".digest", "%q is not a digest", e.Digest)
		}
		for j, p := range e.Partitions {
			place := fmt.Sprintf("%s.partitions[%d]", place, j)
			if err := p.Validate(); err != nil {
				v.bad(place, "%v", err)
			}
			if j > 0 {
				v.order(place, e.Partitions[j-1].TopicPartition, p.TopicPartition)
			}
		}
	}
}

func (v *validator) order(place string, last, tp TopicPartition) {
	switch c := last.Compare(tp); {
	case c == 0:
		v.bad(place, "partition %s stands twice", tp)
	case c > 0:
		v.bad(place, "not sorted by topic and partition: %s after %s", tp, last)
	}
}

func (v *validator) rows(b *Body) {
	accepted := make(map[[2]string]bool)
	for _, f := range b.Findings {
		if f.Accepted != nil {
			accepted[[2]string{f.Check, f.Scope}] = true
		}
	}
	want := FromGroup
	if b.Savepoint != nil {
		want = FromSavepoint
	}
	if len(b.Rows) == 0 {
		v.bad("rows", "no partition")
	}
	var topics topicChecker
	for i, r := range b.Rows {
		bad := func(format string, args ...any) {
			v.bad(fmt.Sprintf("rows[%d] (%s)", i, r), format, args...)
		}
		if i > 0 {
			v.order(fmt.Sprintf("rows[%d]", i), b.Rows[i-1].TopicPartition, r.TopicPartition)
		}
		for _, p := range r.problems() {
			bad("%s", p)
		}
		if text := topics.next(r.Topic, r.TopicID, r.TargetTopic); text != "" {
			bad("%s", text)
		}
		if r.Origin != want && r.Origin != FromNothing {
			bad("origin %q, the plan is made from the %s", r.Origin, want)
		}
		if r.Next.Compare(r.LastStable) > 0 && b.Isolation != ReadUncommitted {
			bad("C = %s is above the last stable offset %s, which a %s job cannot have passed", r.Next, r.LastStable, b.Isolation)
		}
		if f, needed := r.needs(); needed && !accepted[[2]string{f.Check, f.Scope}] {
			bad("the rule %s needs an acceptance of %s for %q, which is not among the findings", r.Rule, f.Check, f.Scope)
		}
	}
}
