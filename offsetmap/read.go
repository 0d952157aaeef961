package offsetmap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
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
func ReadPlan(r io.Reader) (*Plan, error) { return readPlan(r, maxPlan) }

func readPlan(r io.Reader, most int64) (*Plan, error) {
	var raw bytes.Buffer
	switch n, err := raw.ReadFrom(io.LimitReader(r, most+1)); {
	case err != nil:
		return nil, fmt.Errorf("read plan: %w", err)
	case n > most:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrPlan, most)
	}
	canonical, err := Canonical(raw.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	p, digest, err := decodePlan(canonical)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	if err := p.checked(digest); err != nil {
		return nil, err
	}
	return p, nil
}

// decodePlan returns the plan and the digest that its body has. It decodes row
// by row: all rows at once would be there as text, as values and as text again.
func decodePlan(canonical []byte) (*Plan, string, error) {
	if canonical[0] != '{' {
		return nil, "", fmt.Errorf("%s is not an object", shorten(canonical))
	}
	head, body, rows := takeRows(canonical)
	if err := checkHead(head); err != nil {
		return nil, "", err
	}
	var p Plan
	var e encoder
	if err := decodeStrictly(&e, head, &p, func() { normalize(&p.Body) }); err != nil {
		return nil, "", err
	}
	count := 0
	for range elements(rows) {
		count++
	}
	p.Body.Rows = make([]Row, 0, count)
	for i, raw := range elements(rows) {
		row, err := decodeRow(&e, raw)
		if err != nil {
			err.Place = strings.TrimSuffix(fmt.Sprintf("body.rows[%d].%s", i, err.Place), ".")
			return nil, "", err
		}
		p.Body.Rows = append(p.Body.Rows, row)
	}
	sum := sha256.Sum256(body)
	return &p, digestText(sum[:]), nil
}

func decodeRow(e *encoder, raw []byte) (Row, *PlaceError) {
	if raw[0] != '{' {
		return Row{}, &PlaceError{Problem: shorten(raw) + " is not an object"}
	}
	if _, _, ok := find(raw, "write"); !ok { // Connect would take it for a deletion
		return Row{}, &PlaceError{"write", "missing"}
	}
	var row Row
	err := decodeStrictly(e, raw, &row, func() {})
	return row, err
}

// takeRows takes the rows out of a plan. When there are no rows to take, head
// is the whole text.
func takeRows(canonical []byte) (head, body, rows []byte) {
	start, end, ok := find(canonical, "body")
	if !ok || canonical[start] != '{' {
		return canonical, nil, []byte("[]")
	}
	body = canonical[start:end]
	from, to, ok := find(body, "rows")
	if !ok || body[from] != '[' {
		return canonical, body, []byte("[]")
	}
	head = append(append(bytes.Clone(canonical[:start+from]), "[]"...), canonical[start+to:]...)
	return head, body, body[from:to]
}

// checkHead looks at version and kind alone, so that a plan of another version
// is called that, and not a plan with unknown members.
func checkHead(head []byte) error {
	var is struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
	}
	if err := json.Unmarshal(head, &is); err != nil {
		return err
	}
	if is.APIVersion != APIVersion {
		return &PlaceError{"apiVersion", fmt.Sprintf("version %s, this program reads %q", short(is.APIVersion), APIVersion)}
	}
	if is.Kind != PlanKind {
		return &PlaceError{"kind", fmt.Sprintf("kind %s, want %q", short(is.Kind), PlanKind)}
	}
	return nil
}

// DecodeKind is DecodeStrictly for a file of a kind: one of another kind or version is
// called that, and not one with unknown members.
func DecodeKind[T any](text []byte, kind string, v *T) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.APIVersion != APIVersion || head.Kind != kind {
		return fmt.Errorf("apiVersion %q, kind %q: want %q and %q", head.APIVersion, head.Kind, APIVersion, kind)
	}
	return DecodeStrictly(text, v)
}

// DecodeStrictly decodes a JSON text into v, which must write all of it again: a
// member that is unknown, missing, there twice or spelled in another case is an
// error that names its place, and so is a value in another form.
func DecodeStrictly[T any](text []byte, v *T) error {
	canonical, err := Canonical(text)
	if err != nil {
		return err
	}
	var e encoder
	if err := decodeStrictly(&e, canonical, v, func() {}); err != nil {
		return err
	}
	return nil
}

// decodeStrictly decodes a canonical text. What v holds then and, made tidy,
// writes again must be that text: this finds every member that is unknown,
// missing, or spelled in another way.
func decodeStrictly[T any](e *encoder, text []byte, v *T, tidy func()) *PlaceError {
	if err := json.Unmarshal(text, v); err != nil {
		if e := locate(nil, reflect.TypeFor[T](), text); e != nil {
			return e
		}
		return &PlaceError{Problem: err.Error()}
	}
	tidy()
	again, err := e.canonical(v)
	switch {
	case err != nil:
		return &PlaceError{Problem: err.Error()}
	case !bytes.Equal(again, text):
		return difference(text, again)
	}
	return nil
}
