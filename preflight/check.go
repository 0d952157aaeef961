package preflight

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Check is one thing that is looked at before a migration, with what a person
// needs to know of it. The texts are for people; ID is for programs, plans and
// acceptances, and never changes its meaning.
type Check struct {
	ID    string // "area/name"
	Title string // what it demands, as a statement
	// Severity is the gravest that the check reports.
	Severity offsetmap.Severity
	// Acceptable says how a person can let a finding through. A check that could
	// not be made is accepted by id and whole scope alone, unless it says that it
	// cannot be.
	Acceptable offsetmap.Acceptable
	Looks      string // what it looks at
	Why        string // what would happen
	Remedy     string // the command, or the key to set
	// Judge looks at a case and reports. It makes no calls. It is nil for what
	// the rules of package offsetmap report, and the steps after planning.
	Judge func(*Case, *Reporter)
}

// Case is what a check judges.
type Case struct {
	Facts    Facts
	Question Question
	// Rows are the decisions of the rules. They are nil while a rule blocks one.
	Rows []offsetmap.Row

	madeOn  madeOn  // zero while there is no plan
	driver  *driver // of LintDriver alone
	offline bool    // the config alone is judged: neither cluster nor positions are known

	// What several checks need, worked out once.
	policy    offsetmap.Fact[policy]
	defined   offsetmap.Fact[definedKeys]
	selection offsetmap.Fact[*selector]
	stored    offsetmap.Fact[connectrest.MirrorOffsets]
	measured  map[offsetmap.TopicPartition]offsetmap.Measured // each source partition
	beside    offsetmap.Diff                                  // stored offsets beside the migration's
	byTopic   map[string][]place                              // see places
}

// Reporter takes what one check finds.
type Reporter struct {
	check    Check
	findings []offsetmap.Finding
	saw      []string        // the first that were noted
	noted    map[string]bool // all
	notAsked bool
}

// mostSeen bounds what a result lists.
const mostSeen = 20

// Saw notes what the check looked at, with values, also when it finds nothing: of
// the whole migration, or of a scope as findings have it. What is noted twice stands
// once, and of much more than a reader would look at the rest is counted.
func (r *Reporter) Saw(scope, format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...))
	if scope != "" {
		text = scope + ": " + text
	}
	if r.noted[text] {
		return
	}
	if r.noted == nil {
		r.noted = map[string]bool{}
	}
	r.noted[text] = true
	if len(r.saw) < mostSeen {
		r.saw = append(r.saw, text)
	}
}

// NotAsked says that the check had nothing to look at, as one of the config has
// without a connector.
func (r *Reporter) NotAsked() { r.notAsked = true }

func (r *Reporter) report(f offsetmap.Finding, format string, args []any) {
	f.Check, f.Detail = r.check.ID, oneLine(fmt.Sprintf(format, args...))
	r.findings = append(r.findings, f)
}

// oneLine keeps a detail on its line, since joined errors have one each, and in
// UTF-8, since a plan takes no other text and a state may hold any.
func oneLine(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\n", "; "), "\uFFFD")
}

// Block reports what nothing goes on with. The scope says what it is about: a
// partition such as "orders-0", a topic, a key of the config, or "" for the
// whole migration. Each scope is reported once.
func (r *Reporter) Block(scope, format string, args ...any) {
	r.report(offsetmap.Finding{Severity: offsetmap.Block, Scope: scope, Acceptable: r.check.Acceptable}, format, args)
}

// Warn reports what goes on, and stands in the plan.
func (r *Reporter) Warn(scope, format string, args ...any) {
	r.report(offsetmap.Finding{Severity: offsetmap.Warn, Scope: scope, Acceptable: offsetmap.Never}, format, args)
}

// Info reports what a reader of the plan should know.
func (r *Reporter) Info(scope, format string, args ...any) {
	r.report(offsetmap.Finding{Severity: offsetmap.Info, Scope: scope, Acceptable: offsetmap.Never}, format, args)
}

// Unmade reports that the check could not be made. It blocks, and is accepted
// by the check's id and this scope alone.
func (r *Reporter) Unmade(scope string, why error) {
	r.report(offsetmap.Finding{Severity: offsetmap.Block, Scope: scope, Acceptable: offsetmap.Exact, Unmade: true}, "could not be checked: %v", []any{why})
}

// Unknown reports that something is not known which the plan itself records, so
// that no acceptance can stand in for it.
func (r *Reporter) Unknown(scope string, why error) {
	r.report(offsetmap.Finding{Severity: offsetmap.Block, Scope: scope, Acceptable: offsetmap.Never, Unmade: true}, "could not be found out: %v", []any{why})
}

// withConfig makes a check that needs the connector's config. Without one it
// has nothing to say: connector/absent or connector/unknown blocks then.
func withConfig(judge func(*Case, settings, *Reporter)) func(*Case, *Reporter) {
	return func(c *Case, r *Reporter) {
		info, ok := c.Facts.Connector.Get()
		if !ok {
			r.NotAsked()
			return
		}
		judge(c, settings{info.Config}, r)
	}
}

// needs returns the value of a fact that a check cannot do without, or reports
// that the check could not be made.
func needs[T any](r *Reporter, scope string, f offsetmap.Fact[T]) (T, bool) {
	v, ok := f.Get()
	if !ok && !f.IsAbsent() {
		r.Unmade(scope, f.Err())
	}
	return v, ok
}
