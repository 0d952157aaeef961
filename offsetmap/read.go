package offsetmap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// maxPlan bounds what ReadPlan takes into memory: a plan has about 500 bytes a
// partition.
const maxPlan = 1 << 29

// ReadPlan reads a plan strictly: the version and kind of this package, every
// member there and none unknown, every row by the rules, and content that has
// the digest. The error is an ErrPlan or ErrEdited and names the place.
//
// ReadPlan does not look at the clock: an expired plan can still be watched
// and rolled back. Apply and start call CheckExpiry.
func ReadPlan(r io.Reader) (*Plan, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxPlan+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read plan: %w", err)
	case len(raw) > maxPlan:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrPlan, maxPlan)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	p, digest, err := decodePlan(canonical)
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
	return p, nil
}

// decodePlan returns the plan and the digest that its body has.
func decodePlan(canonical []byte) (*Plan, string, error) {
	if canonical[0] != '{' {
		return nil, "", fmt.Errorf("%s is not an object", shorten(canonical))
	}
	var shape struct {
		APIVersion any             `json:"apiVersion"`
		Kind       any             `json:"kind"`
		Body       json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(canonical, &shape); err != nil {
		return nil, "", err
	}
	// First, so that a plan of another version is called that, and not a plan
	// with unknown members.
	if shape.APIVersion != APIVersion {
		return nil, "", &PlaceError{"apiVersion", fmt.Sprintf("version %s, this program reads %q", short(shape.APIVersion), APIVersion)}
	}
	if shape.Kind != PlanKind {
		return nil, "", &PlaceError{"kind", fmt.Sprintf("kind %s, want %q", short(shape.Kind), PlanKind)}
	}
	var p Plan
	if err := json.Unmarshal(canonical, &p); err != nil {
		if e := locate(nil, reflect.TypeFor[Plan](), canonical); e != nil {
			return nil, "", e
		}
		return nil, "", err
	}
	for i, row := range p.Body.Rows {
		if row.Write.IsZero() { // Connect would take it for a deletion
			return nil, "", &PlaceError{fmt.Sprintf("body.rows[%d].write", i), fmt.Sprintf("missing for partition %s", row)}
		}
	}
	normalize(&p.Body)
	// What the types hold, written again, must be what the file holds: that
	// finds every member that is unknown, missing, or spelled in another way.
	again, err := json.Marshal(&p)
	if err != nil {
		return nil, "", err
	}
	if again, err = Canonical(again); err != nil {
		return nil, "", err
	}
	if !bytes.Equal(again, canonical) {
		return nil, "", difference(canonical, again)
	}
	return &p, digestOf(shape.Body), nil
}
