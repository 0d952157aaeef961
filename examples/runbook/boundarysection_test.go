package main

import (
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestTheBoundsOfTheBoundarySection(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		bounds preflight.DeliveryBounds
		want   string // what is wrong
	}{
		"":              {},
		"{}":            {},
		"{within: 10m}": {bounds: preflight.DeliveryBounds{Within: 10 * time.Minute}},
		"{samples: 20, records: 1000000, bytes: 4294967296, within: 1h}": {bounds: preflight.DeliveryBounds{Samples: 20, Records: 1_000_000, Bytes: 4 << 30, Within: time.Hour}},
		"{samples: 0}":   {want: "boundary.samples: 0 is not a number above 0"},
		"{samples: 65}":  {want: "boundary.samples: 65 is more than 64 records before each C"},
		"{records: -1}":  {want: "boundary.records: -1 is not a number above 0"},
		"{bytes: 0}":     {want: "boundary.bytes: 0 is not a number above 0"},
		"{within: 10}":   {want: "boundary.within"},
		"{within: -10m}": {want: `boundary.within: "-10m" is not a duration`},
		"{keys: 3}":      {want: "boundary.keys: unknown field"},
	} {
		if text != "" {
			text = "boundary: " + text + "\n"
		}
		m, err := readMigration(edited(t, "topics: [orders, payments.eu]", text+"topics: [orders]"))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case c.want == "" && m.bounds != c.bounds:
			t.Errorf("%s: bounds %+v, want %+v", text, m.bounds, c.bounds)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", text, err, c.want)
		}
	}
}
