package connectrest

import "encoding/json"

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
