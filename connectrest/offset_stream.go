package connectrest

import (
	"encoding/json"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// offsetStream reads an OffsetsBody entry by entry: the list may be of 100,000
// partitions, and its text would stand in memory beside it.
type offsetStream struct {
	sink offsetSink
	// found says that there was a list.
	found bool
}

// offsetSink takes entries. Their texts are overwritten by those of the next one.
type offsetSink interface {
	// reset forgets what was taken: each attempt to read begins anew.
	reset()
	take(o Offset) error
}

// DecodeFrom reads the body. Each attempt begins anew.
func (s *offsetStream) DecodeFrom(d *json.Decoder) error {
	s.found = false
	s.sink.reset()
	if err := opening(d, '{', "an object"); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key != "offsets" {
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		if s.found {
			return fmt.Errorf("%w: offsets stands twice", restapi.ErrShape)
		}
		if err := s.entries(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (s *offsetStream) entries(d *json.Decoder) error {
	if err := opening(d, '[', "a list of offsets"); err != nil {
		return err
	}
	var o Offset // whose memory each entry uses again
	for d.More() {
		o.Partition, o.Offset = o.Partition[:0], o.Offset[:0]
		if err := d.Decode(&o); err != nil {
			return err
		}
		// A worker writes both members always, null for an offset that is deleted. What
		// lacks one must not read as "nothing is stored".
		if len(o.Partition) == 0 || len(o.Offset) == 0 {
			return fmt.Errorf("%w: an entry of the list of offsets lacks its partition or its offset", restapi.ErrShape)
		}
		if err := s.sink.take(o); err != nil {
			return err
		}
	}
	s.found = true
	_, err := d.Token()
	return err
}

func opening(d *json.Decoder, want json.Delim, what string) error {
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t != want:
		return fmt.Errorf("%w: want %s, got %v", restapi.ErrShape, what, t)
	default:
		return nil
	}
}
