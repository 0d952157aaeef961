package offsetmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// validate holds the body to the rules that a plan made by Resolve obeys, so
// that a plan that anything else made obeys them too. The error is an ErrPlan
// over every problem.
func (b *Body) validate() error {
	var errs []error
	bad := func(place, format string, args ...any) {
		errs = append(errs, &PlaceError{"body." + place, fmt.Sprintf(format, args...)})
	}
	need := func(place, v string) {
		if v == "" {
			bad(place, "empty")
		}
	}
	need("tool.name", b.Tool.Name)
	need("tool.version", b.Tool.Version)
	need("source.id", b.Source.ID)
	need("target.id", b.Target.ID)
	need("connector.name", b.Connector.Name)
	need("connector.sourceAlias", b.Connector.SourceAlias)
	need("connector.configDigest", b.Connector.Config)
	need("worker.version", b.Worker.Version)
	if b.Source.ID != "" && b.Source.ID == b.Target.ID {
		bad("target.id", "the same cluster as the source")
	}
	if b.Worker.ProducerClusterID != b.Target.ID {
		bad("worker.producerClusterId", "the data producer reaches cluster %q, the target is %q", b.Worker.ProducerClusterID, b.Target.ID)
	}
	if !b.ExpiresAt.After(b.CreatedAt.Time) {
		bad("expiresAt", "not after createdAt")
	}
	if b.Savepoint == nil && b.Group == nil {
		bad("savepoint", "neither a savepoint nor a group")
	}
	for i, f := range b.Findings {
		if f.Severity == Block {
			bad(fmt.Sprintf("findings[%d]", i), "%s blocks, and was not accepted", f.Check)
		}
	}
	if len(b.Rows) == 0 {
		bad("rows", "no partition")
	}
	for i, r := range b.Rows {
		place := fmt.Sprintf("rows[%d] (%s)", i, r.TopicPartition)
		if i > 0 {
			switch c := b.Rows[i-1].Compare(r.TopicPartition); {
			case c == 0:
				bad(place, "the partition stands twice")
			case c > 0:
				bad(place, "not sorted by topic and partition")
			}
		}
		for _, p := range r.problems() {
			bad(place, "%s", p)
		}
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrPlan, errors.Join(errs...))
}

// problems lists what is wrong with a row by itself.
func (r Row) problems() []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if err := r.Validate(); err != nil {
		bad("%v", err)
	}
	if err := ValidateTopic(r.TargetTopic); err != nil {
		bad("targetTopic: %v", err)
	}
	if !slices.Contains(rules, r.Rule) {
		bad("rule %q is not one of %q", r.Rule, rules)
	}
	if w, err := r.Next.Write(); err != nil {
		bad("next: %v", err)
	} else if w != r.Write {
		bad("write is %s, but C = %s asks for %s", r.Write, r.Next, w)
	}
	if r.LogStart.IsNone() || r.LogEnd.IsNone() || r.LastStable.IsNone() || r.TargetEnd.IsNone() {
		bad("a bound is missing: log start %s, log end %s, last stable %s, target end %s", r.LogStart, r.LogEnd, r.LastStable, r.TargetEnd)
		return out
	}
	if r.Next.Compare(r.LogStart) < 0 || r.Next.Compare(r.LogEnd) > 0 {
		bad("C = %s lies outside the log, %s to %s", r.Next, r.LogStart, r.LogEnd)
	}
	return append(out, r.ruleProblems()...)
}

// ruleProblems holds C to the rule that the row names.
func (r Row) ruleProblems() []string {
	var f Found
	if r.Found != nil {
		f = *r.Found
	}
	stored := r.Found != nil && f.State == "" && !f.Next.IsNone()
	marked := r.Found != nil && f.State == "" && f.Next.IsNone() && f.Unread != ""
	unnamed := r.Found == nil || f.State != ""
	var gap int64
	if stored {
		gap, _ = r.Next.Sub(f.Next)
	}
	ok := false
	switch r.Rule {
	case RuleStored:
		ok = stored && gap == 0
	case RuleExpiredAccepted:
		ok = stored && gap > 0 && r.Next == r.LogStart
	case RuleMarkedEmpty:
		ok = marked && r.LogStart == r.LogEnd && r.Next == r.LogEnd
	case RuleEarliestAccepted:
		ok = marked && f.Unread == Earliest && r.Next == r.LogStart
	case RuleUnnamedEmpty:
		v, _ := r.LogEnd.Value()
		ok = unnamed && r.LogStart == r.LogEnd && v == 0 && r.Next == r.LogEnd
	case RuleUnnamedAccepted:
		ok = unnamed && r.Next == r.LogStart
	}
	var out []string
	if !ok {
		out = append(out, fmt.Sprintf("C = %s does not follow by the rule %s from what was found", r.Next, r.Rule))
	}
	if want := max(gap, 0); r.Lost != want {
		out = append(out, fmt.Sprintf("lost is %d, what was found makes it %d", r.Lost, want))
	}
	return out
}

// difference names the first place at which the file and what was understood
// of it part.
func difference(file, understood []byte) error {
	a, b := decodeAny(file), decodeAny(understood)
	if e := compareAny(nil, a, b); e != nil {
		return e
	}
	return errors.New("the file says more than was understood")
}

func compareAny(place []string, file, understood any) *PlaceError {
	at := func(seg, problem string) *PlaceError {
		return &PlaceError{joinPlace(append(slices.Clone(place), seg)), problem}
	}
	switch f := file.(type) {
	case map[string]any:
		u, _ := understood.(map[string]any)
		for _, k := range sortedKeys(f) {
			if _, known := u[k]; !known {
				return at(k, "unknown")
			}
			if e := compareAny(append(place, k), f[k], u[k]); e != nil {
				return e
			}
		}
		for _, k := range sortedKeys(u) {
			if _, there := f[k]; !there {
				return at(k, "missing")
			}
		}
		return nil
	case []any:
		u, _ := understood.([]any)
		for i := range min(len(f), len(u)) {
			if e := compareAny(append(place, fmt.Sprintf("[%d]", i)), f[i], u[i]); e != nil {
				return e
			}
		}
		if len(f) == len(u) {
			return nil
		}
	default:
		if file == understood {
			return nil
		}
	}
	return &PlaceError{joinPlace(place), fmt.Sprintf("%s is not in the form that is written: %s", short(file), short(understood))}
}

func short(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}
