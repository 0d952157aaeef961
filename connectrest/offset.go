package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// Offset is one entry of a connector's offsets, for any connector: partition
// and offset are JSON objects of the connector's own making, kept as raw JSON
// so that every number stays exact.
type Offset struct {
	Partition json.RawMessage `json:"partition"`
	// Offset is an object, or null. It has no omitempty: for a worker an entry
	// without the member is a deletion (Kafka 3.6 to 4.3), so what is deleted
	// is written as null.
	Offset json.RawMessage `json:"offset"`
}

// OffsetsBody is the body of GET and PATCH /connectors/NAME/offsets.
type OffsetsBody struct {
	Offsets []Offset `json:"offsets"`
}

// IsNull reports whether the entry holds no offset. A worker shows one for an
// instant after a deletion.
func (o Offset) IsNull() bool {
	return len(o.Offset) == 0 || string(bytes.TrimSpace(o.Offset)) == "null"
}

// Clear returns the entry that deletes what is stored for o's partition,
// whatever the partition looks like: a worker takes a null for any.
func (o Offset) Clear() Offset {
	return Offset{Partition: o.Partition, Offset: json.RawMessage("null")}
}

// check reports whether o can be written: the partition an object, the offset
// an object or an explicit null.
func (o Offset) check() error {
	if _, err := objectMembers(o.Partition); err != nil {
		return fmt.Errorf("partition %s: %w", restapi.Bound(string(o.Partition), 256), err)
	}
	if len(o.Offset) == 0 {
		return fmt.Errorf("partition %s: the offset is not set; write null to delete what is stored", restapi.Bound(string(o.Partition), 256))
	}
	if o.IsNull() {
		return nil
	}
	if _, err := objectMembers(o.Offset); err != nil {
		return fmt.Errorf("partition %s: offset %s: %w", restapi.Bound(string(o.Partition), 256), restapi.Bound(string(o.Offset), 256), err)
	}
	return nil
}

// DiffOffsets compares two sets of offsets: each partition once, in any order
// and with its keys in any order, an entry with a null offset as none. It
// returns nil when they are equal, else an error that counts the partitions that
// are missing in got, not wanted there, or stored with another offset, and
// names the first of them.
func DiffOffsets(want, got []Offset) error {
	w, err := indexOffsets(want)
	if err != nil {
		return fmt.Errorf("wanted offsets: %w", err)
	}
	g, err := indexOffsets(got)
	if err != nil {
		return fmt.Errorf("stored offsets: %w", err)
	}
	var lines []string
	for p, o := range w {
		switch stored, ok := g[p]; {
		case o == "null" && ok && stored != "null":
			lines = append(lines, fmt.Sprintf("%s is %s, want none", p, stored))
		case o != "null" && (!ok || stored == "null"):
			lines = append(lines, fmt.Sprintf("%s is missing, want %s", p, o))
		case o != "null" && stored != o:
			lines = append(lines, fmt.Sprintf("%s is %s, want %s", p, stored, o))
		}
	}
	for p, o := range g {
		if _, ok := w[p]; !ok && o != "null" {
			lines = append(lines, fmt.Sprintf("%s is %s, want none", p, o))
		}
	}
	return differences(lines)
}

// differences names the first few of many, in a fixed order.
func differences(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	const shown = 5
	slices.Sort(lines)
	s := strings.Join(lines[:min(shown, len(lines))], ", ")
	if len(lines) > shown {
		s += fmt.Sprintf(", and %d more", len(lines)-shown)
	}
	return fmt.Errorf("partitions that differ: %d: %s", len(lines), s)
}

// ErrDuplicatePartition says that one partition stands twice in a list of
// offsets. A worker would take the last without a word.
var ErrDuplicatePartition = errors.New("partition stands twice")

// indexOffsets returns canonical offset by canonical partition.
func indexOffsets(offsets []Offset) (map[string]string, error) {
	index := make(map[string]string, len(offsets))
	for i, o := range offsets {
		p, err := canonicalJSON(o.Partition)
		if err != nil {
			return nil, fmt.Errorf("entry %d: partition: %w", i, err)
		}
		v := "null"
		if !o.IsNull() {
			if v, err = canonicalJSON(o.Offset); err != nil {
				return nil, fmt.Errorf("entry %d: partition %s: offset: %w", i, p, err)
			}
		}
		if _, ok := index[p]; ok {
			return nil, fmt.Errorf("entry %d: %w: %s", i, ErrDuplicatePartition, p)
		}
		index[p] = v
	}
	return index, nil
}

// canonicalJSON writes raw with its keys sorted and without white space. The
// digits of numbers stay as they are.
func canonicalJSON(raw json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("%s: %w", restapi.Bound(string(raw), 256), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%s: it is followed by more", restapi.Bound(string(raw), 256))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("%s: %w", restapi.Bound(string(raw), 256), err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// objectMembers returns the members of a JSON object. A repeated key is an
// error: which value counts would depend on the reader.
func objectMembers(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.Trim(raw, " \t\r\n") // what JSON calls white space; Go's own set is larger
	if len(raw) == 0 {
		return nil, errors.New("is empty")
	}
	if raw[0] != '{' {
		return nil, errors.New("is not a JSON object")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	if countKeys(raw) != len(members) {
		return nil, errors.New("holds a key twice")
	}
	return members, nil
}

// countKeys counts the keys of a valid JSON object, repeated ones too.
func countKeys(object []byte) int {
	keys, depth, quoted := 0, 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++ // the next byte is escaped, whatever it is
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			keys++
		}
	}
	return keys
}
