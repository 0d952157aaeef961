package offsetmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	// ErrPlan says that a file is not a plan that this version can use: not
	// JSON, a wrong version or kind, a member unknown or missing, a row that
	// breaks a rule.
	ErrPlan = errors.New("not a usable plan")
	// ErrEdited says that a plan's content does not have the plan's digest.
	ErrEdited = errors.New("the plan was edited")
	// ErrExpired says that a plan may not be applied or started any more.
	ErrExpired = errors.New("the plan has expired")
)

// Seal checks a body and returns the plan over it. An error is an ErrPlan that
// lists every problem.
func Seal(body Body) (*Plan, error) {
	normalize(&body)
	if err := body.validate(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	digest, err := Digest(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return &Plan{APIVersion: APIVersion, Kind: PlanKind, Digest: digest, Body: body}, nil
}

// normalize gives every empty list one form.
func normalize(b *Body) {
	if b.Acceptances == nil {
		b.Acceptances = []Acceptance{}
	}
	if b.Findings == nil {
		b.Findings = []Finding{}
	}
	if b.Earlier == nil {
		b.Earlier = []EarlierPlan{}
	}
	for i := range b.Earlier {
		if b.Earlier[i].Partitions == nil {
			b.Earlier[i].Partitions = []TopicPartition{}
		}
	}
	if b.Rows == nil {
		b.Rows = []Row{}
	}
	if b.Savepoint != nil && b.Savepoint.Files == nil {
		b.Savepoint.Files = []File{}
	}
	b.CreatedAt, b.ExpiresAt = At(b.CreatedAt.Time), At(b.ExpiresAt.Time)
}

// CheckExpiry returns an ErrExpired when now is not before the plan's expiry.
func (p *Plan) CheckExpiry(now time.Time) error {
	if now.Before(p.Body.ExpiresAt.Time) {
		return nil
	}
	text, _ := p.Body.ExpiresAt.MarshalText()
	return fmt.Errorf("%w: plan %s ended at %s; make a new one", ErrExpired, p.Digest, text)
}

// ReadPlan reads a plan strictly: the version and kind of this package, every
// member there and none unknown, every row by the rules, and content that has
// the digest. The error is an ErrPlan or ErrEdited and names the place.
//
// ReadPlan does not look at the clock: an expired plan can still be watched
// and rolled back. Apply and start call CheckExpiry.
func ReadPlan(r io.Reader) (*Plan, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	if err := checkHead(canonical); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	var p Plan
	if err := decodePlan(canonical, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	// What the types hold, written again, must be what the file holds: that
	// finds every member that is unknown, missing, or spelled in another way.
	again, err := json.Marshal(&p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	again, err = Canonical(again)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	if !bytes.Equal(again, canonical) {
		return nil, fmt.Errorf("%w: %w", ErrPlan, difference(canonical, again))
	}
	body, err := json.Marshal(p.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	digest, err := Digest(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	bad := p.Body.validate()
	switch {
	case digest != p.Digest && bad != nil:
		return nil, fmt.Errorf("%w: its content has the digest %s, the file says %s: %w", ErrEdited, digest, p.Digest, bad)
	case digest != p.Digest:
		return nil, fmt.Errorf("%w: its content has the digest %s, the file says %s", ErrEdited, digest, p.Digest)
	case bad != nil:
		return nil, bad
	}
	return &p, nil
}

// checkHead looks at version and kind alone, so that a plan of another version
// is called that, and not a plan with unknown members.
func checkHead(canonical []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(canonical, &head); err != nil {
		return err
	}
	if head.APIVersion != APIVersion {
		return &PlaceError{"apiVersion", fmt.Sprintf("version %q, this program reads %q", head.APIVersion, APIVersion)}
	}
	if head.Kind != PlanKind {
		return &PlaceError{"kind", fmt.Sprintf("kind %q, want %q", head.Kind, PlanKind)}
	}
	return nil
}

// decodePlan decodes into p. When that fails it decodes the rows one by one, to
// name the one that is wrong.
func decodePlan(canonical []byte, p *Plan) error {
	err := json.Unmarshal(canonical, p)
	if err == nil {
		for i, row := range p.Body.Rows {
			if row.Write.IsZero() { // Connect would take it for a deletion
				return &PlaceError{fmt.Sprintf("body.rows[%d].write (%s)", i, row.TopicPartition), "missing"}
			}
		}
		return nil
	}
	var shape struct {
		Body struct {
			Rows []json.RawMessage `json:"rows"`
		} `json:"body"`
	}
	if json.Unmarshal(canonical, &shape) == nil {
		for i, raw := range shape.Body.Rows {
			var row Row
			if err := json.Unmarshal(raw, &row); err != nil {
				return &PlaceError{fmt.Sprintf("body.rows[%d] (%s)", i, row.TopicPartition), err.Error()}
			}
		}
	}
	return err
}

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
	i := bytes.LastIndex(out, []byte(empty))
	if len(p.Body.Rows) == 0 || i < 0 {
		return append(out, '\n'), nil
	}
	tail := bytes.Clone(out[i+len(empty):])
	out = append(out[:i], `"rows": [`...)
	for j, row := range p.Body.Rows {
		raw, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		if j > 0 {
			out = append(out, ',')
		}
		out = append(append(out, "\n      "...), raw...)
	}
	return append(append(append(out, "\n    ]"...), tail...), '\n'), nil
}
