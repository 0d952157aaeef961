package flinkmm2

import "encoding/json"

// encodeFile returns v as the files of a migration have it: indented, with a newline at
// the end.
func encodeFile(v any) ([]byte, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}
