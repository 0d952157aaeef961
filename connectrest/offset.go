package connectrest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	return len(o.Offset) == 0 || string(trimJSON(o.Offset)) == "null"
}

// Clear returns the entry that deletes what is stored for o's partition,
// whatever the partition looks like: a worker takes a null for any.
func (o Offset) Clear() Offset {
	return Offset{Partition: o.Partition, Offset: json.RawMessage("null")}
}

// trimJSON trims what JSON calls white space; Go's own set is larger.
func trimJSON(raw json.RawMessage) json.RawMessage { return bytes.Trim(raw, " \t\r\n") }

// objectMembers returns the members of a JSON object. A repeated key is an
// error: which value counts would depend on the reader.
func objectMembers(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = trimJSON(raw)
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
