package offsetmap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	// ErrPlan says that a file is not a plan that this version can use: not
	// JSON, a wrong version or kind, a member unknown or missing, a row that
	// breaks a rule.
	ErrPlan = errors.New("not a usable plan")
	// ErrEdited says that a plan's content does not have the plan's digest.
	ErrEdited = errors.New("the plan was edited")
	// ErrExpired says that a plan may not be applied or started at this time.
	ErrExpired = errors.New("the plan has expired")
)

// Seal checks a body and returns the plan over it, with its findings sorted and
// its times cut to seconds. The body's own lists stay as they are. An error is
// an ErrPlan that lists every problem.
func Seal(body Body) (*Plan, error) {
	normalize(&body)
	slices.SortStableFunc(body.Findings, Finding.Compare)
	if err := body.validate(); err != nil {
		return nil, err
	}
	digest, err := body.digest()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return &Plan{APIVersion: APIVersion, Kind: PlanKind, Digest: digest, Body: body}, nil
}

// normalize gives lists that are empty and times one form, in lists of its own.
func normalize(b *Body) {
	b.Acceptances = copied(b.Acceptances)
	b.Findings = copied(b.Findings)
	b.Earlier = copied(b.Earlier)
	for i := range b.Earlier {
		b.Earlier[i].Partitions = copied(b.Earlier[i].Partitions)
	}
	b.Rows = copied(b.Rows)
	b.Connector.ActiveTopics = slices.Clone(b.Connector.ActiveTopics) // null is another answer than none
	if b.Savepoint != nil {
		s := *b.Savepoint
		s.Files = copied(s.Files)
		b.Savepoint = &s
	}
	b.CreatedAt, b.ExpiresAt = At(b.CreatedAt.Time), At(b.ExpiresAt.Time)
}

// copied returns a copy that is never nil, since nil would become null.
func copied[T any](list []T) []T { return append(make([]T, 0, len(list)), list...) }

// digest returns the Digest of the body as JSON, of which it never holds more
// than a row.
func (b *Body) digest() (string, error) {
	var e encoder
	rows, bare := b.Rows, *b
	bare.Rows = []Row{}
	head, err := e.canonical(&bare)
	if err != nil {
		return "", err
	}
	from, to, _ := find(head, "rows")
	sum, tail := sha256.New(), bytes.Clone(head[to-1:]) // from the closing bracket on
	sum.Write(head[:from+1])
	for i := range rows {
		raw, err := e.canonical(&rows[i])
		if err != nil {
			return "", fmt.Errorf("row %s: %w", rows[i], err)
		}
		if i > 0 {
			sum.Write([]byte{','})
		}
		sum.Write(raw)
	}
	sum.Write(tail)
	return digestText(sum.Sum(nil)), nil
}

// encoder writes one value after the other in canonical form.
type encoder struct {
	json bytes.Buffer
	walk canonicalizer
	out  []byte
}

// canonical returns a text that is good until the next call.
func (e *encoder) canonical(v any) ([]byte, error) {
	e.json.Reset()
	if err := json.NewEncoder(&e.json).Encode(v); err != nil {
		return nil, err
	}
	var err error
	e.out, err = e.walk.append(e.out[:0], e.json.Bytes())
	return e.out, err
}

func digestText(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

// Check returns an error unless p is as Seal or ReadPlan made it: its content has
// its digest and obeys the rules. Whoever acts on a plan calls it, so that a
// plan changed in memory has no more effect than one edited as a file. The error
// is an ErrPlan or ErrEdited.
func (p *Plan) Check() error {
	if p == nil {
		return fmt.Errorf("%w: there is none", ErrPlan)
	}
	if p.APIVersion != APIVersion || p.Kind != PlanKind {
		return fmt.Errorf("%w: version %q and kind %q, want %q and %q", ErrPlan, p.APIVersion, p.Kind, APIVersion, PlanKind)
	}
	digest, err := p.Body.digest()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return p.checked(digest)
}

// checked holds the plan to the digest that its body has, and to the rules.
func (p *Plan) checked(digest string) error {
	bad := p.Body.validate()
	switch {
	case digest != p.Digest && bad != nil:
		return fmt.Errorf("%w: its content has the digest %s, it says %s: %w", ErrEdited, digest, p.Digest, bad)
	case digest != p.Digest:
		return fmt.Errorf("%w: its content has the digest %s, it says %s", ErrEdited, digest, p.Digest)
	}
	return bad
}

// clockSkew is how far the clock of who acts on a plan may be behind that of who
// made it.
const clockSkew = 5 * time.Minute

// CheckExpiry returns an ErrExpired when now is not within the plan's life. A
// clock that shows a time before the plan was made, by more than a few minutes,
// cannot tell whether the plan still lives.
func (p *Plan) CheckExpiry(now time.Time) error {
	b := p.Body
	if now.Before(b.CreatedAt.Add(-clockSkew)) {
		return fmt.Errorf("%w: plan %s was made at %s, and the clock here shows %s: one of the two clocks is wrong", ErrExpired, p.Digest, b.CreatedAt, At(now))
	}
	if now.Before(b.ExpiresAt.Time) {
		return nil
	}
	why := ""
	for _, f := range b.Findings {
		if f.Check == CheckPlanLifetime {
			why = fmt.Sprintf(" (%s: %s)", f.Scope, f.Detail)
		}
	}
	return fmt.Errorf("%w: plan %s ended at %s%s; make a new one", ErrExpired, p.Digest, p.Body.ExpiresAt, why)
}

// CheckPlanLifetime is the id of the finding of a plan that says what has shortened its
// life: its scope is the partition or topic whose records go first.
const CheckPlanLifetime = "plan/lifetime"

// Encode returns the plan as a file: indented, one row a line, so that a person
// can read and compare it. The digest does not depend on white space.
func (p *Plan) Encode() ([]byte, error) {
	head := *p
	head.Body.Rows = []Row{}
	out, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, err
	}
	const empty = `"rows": []`
	i := bytes.LastIndex(out, []byte(empty)) // in a text the quotes would be escaped
	file := bytes.NewBuffer(nil)
	file.Write(out[:i])
	file.WriteString(`"rows": [`)
	rows := json.NewEncoder(file)
	for j := range p.Body.Rows {
		if j > 0 {
			file.WriteByte(',')
		}
		file.WriteString("\n      ")
		before := file.Len()
		if err := rows.Encode(&p.Body.Rows[j]); err != nil {
			return nil, fmt.Errorf("row %s: %w", p.Body.Rows[j], err)
		}
		file.Truncate(file.Len() - 1) // the line end of the encoder
		if j == 0 {
			file.Grow(len(p.Body.Rows) * (file.Len() - before + 32)) // rows are alike
		}
	}
	file.WriteString("\n    ]")
	file.Write(out[i+len(empty):])
	file.WriteByte('\n')
	return file.Bytes(), nil
}
