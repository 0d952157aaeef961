package report

import (
	"encoding/json"
	"strconv"
)

// mostExact is the largest integer that JavaScript holds exactly, with all below it.
const mostExact = 1<<53 - 1

// MarshalJSON writes the cells in the order in which the script reads them. A number
// that a script would round is a string: it is shown, and nothing is calculated from
// it.
func (r partitionRow) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 128)
	number := func(v int64) {
		switch {
		case v > mostExact || v < -mostExact:
			out = append(out, '"')
			out = strconv.AppendInt(out, v, 10)
			out = append(out, '"', ',')
		default:
			out = strconv.AppendInt(out, v, 10)
			out = append(out, ',')
		}
	}
	offset := func(v int64, known bool) {
		if !known {
			out = append(out, "null,"...)
			return
		}
		number(v)
	}
	out = append(out, '[')
	number(int64(r.Partition))
	offset(r.LogStart.Value())
	offset(r.C.Value())
	offset(r.Stable.Value())
	offset(r.LogEnd.Value())
	number(int64(r.CAt))
	number(int64(r.StableAt))
	offset(r.Before.Value())
	offset(r.After.Value())
	offset(r.Group.Value())
	number(int64(r.Rule))
	number(r.Lost)
	number(int64(r.Outcome))
	offset(r.Returned.Value())
	number(int64(r.Flags))
	note, err := json.Marshal(r.Note)
	if err != nil {
		return nil, err
	}
	out = append(out, note...)
	return append(out, ']'), nil
}
