package connectrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// MarshalJSON writes the redacted configuration.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string(c.Redacted())) }

// UnmarshalJSON reads a configuration as a file for the REST API holds it. A
// number or a boolean is the text that stands there, as a worker takes it: 4 is
// "4", and 16777216 stays as it is. An object, an array and null, which a worker
// refuses, are errors that name all such keys and none of their values. A JSON
// null in place of the whole configuration is a nil Config.
func (c *Config) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("configuration of a connector: %w", err)
	}
	if raw == nil {
		*c = nil
		return nil
	}
	read := make(Config, len(raw))
	var errs []error
	for _, k := range slices.Sorted(maps.Keys(raw)) {
		v := raw[k]
		kind := ""
		switch v[0] {
		case '"':
			var s string
			if err := json.Unmarshal(v, &s); err != nil {
				return fmt.Errorf("configuration of a connector: key %q: %w", k, err)
			}
			read[k] = s
		case '{':
			kind = "an object"
		case '[':
			kind = "an array"
		case 'n':
			kind = "null"
		default:
			read[k] = string(v)
		}
		if kind != "" {
			errs = append(errs, fmt.Errorf("configuration of a connector: the value of %q is %s, want a string, a number or a boolean", k, kind))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	*c = read
	return nil
}

// storedConfig is a configuration in a worker's answer. A connector may give its
// tasks a null, which reads as empty.
type storedConfig map[string]string

// UnmarshalJSON reads a worker's answer, in which every value is a string. A null
// reads as an empty one.
func (c *ConnectorInfo) UnmarshalJSON(b []byte) error {
	type plain ConnectorInfo
	read := struct {
		plain
		Config storedConfig `json:"config"`
	}{}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*c = ConnectorInfo(read.plain)
	c.Config = Config(read.Config)
	return nil
}

// UnmarshalJSON reads a worker's answer, as that of [ConnectorInfo] does.
func (t *TaskInfo) UnmarshalJSON(b []byte) error {
	type plain TaskInfo
	read := struct {
		plain
		Config storedConfig `json:"config"`
	}{}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*t = TaskInfo(read.plain)
	t.Config = Config(read.Config)
	return nil
}
