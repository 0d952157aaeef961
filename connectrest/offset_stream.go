package connectrest

import (
	"encoding/json"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// offsetStream reads an OffsetsBody entry by entry: the list may be of 100,000
// partitions, and its text would stand in memory beside it.
type offsetStream struct {
	list []Offset // nil when there was none
}

// DecodeFrom reads the body. Each attempt begins anew.
func (s *offsetStream) DecodeFrom(d *json.Decoder) error {
	s.list = nil
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
		if s.list != nil {
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
	s.list = []Offset{}
	for d.More() {
		s.list = append(s.list, Offset{})
		if err := d.Decode(&s.list[len(s.list)-1]); err != nil {
			return err
		}
	}
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
