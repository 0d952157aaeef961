package offsetmap_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// named is what a kind that is numbered in memory and named in files has.
type named interface {
	IsNone() bool
	String() string
	MarshalText() ([]byte, error)
}

func TestKindsKeepTheirTexts(t *testing.T) {
	for text, c := range map[string]struct {
		kind named
		back interface{ UnmarshalText(text []byte) error }
	}{
		"earliest":               {offsetmap.Earliest, new(offsetmap.Marker)},
		"latest":                 {offsetmap.Latest, new(offsetmap.Marker)},
		"committed":              {offsetmap.Committed, new(offsetmap.Marker)},
		"unset":                  {offsetmap.Unset, new(offsetmap.Marker)},
		"unknown":                {offsetmap.Unknown, new(offsetmap.Marker)},
		"unassigned":             {offsetmap.Unassigned, new(offsetmap.AssignmentState)},
		"finished-or-unassigned": {offsetmap.FinishedOrUnassigned, new(offsetmap.AssignmentState)},
	} {
		raw, err := json.Marshal(c.kind)
		if err != nil || string(raw) != `"`+text+`"` || c.kind.String() != text || c.kind.IsNone() {
			t.Errorf("%s: got %s, %s, %v", text, raw, c.kind, err)
		}
		if err := json.Unmarshal(raw, c.back); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if again, err := json.Marshal(c.back); err != nil || string(again) != string(raw) {
			t.Errorf("%s is read as %s, %v", text, again, err)
		}
		if err := c.back.UnmarshalText([]byte(strings.ToUpper(text))); err == nil {
			t.Errorf("%s is read in capitals", text)
		}
	}
}

func TestKindsThatAreNoneHaveNoText(t *testing.T) {
	for _, kind := range []named{offsetmap.Marker(0), offsetmap.AssignmentState(0)} {
		if raw, err := json.Marshal(kind); err != nil || string(raw) != `""` || kind.String() != "" || !kind.IsNone() {
			t.Errorf("%T: got %s, %q, %v", kind, raw, kind, err)
		}
	}
	if raw, err := json.Marshal(offsetmap.Position{TopicPartition: tp("orders-0"), Next: next(4)}); err != nil || string(raw) != `{"topic":"orders","partition":0,"next":4}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

// A number without a text would be a file that nobody can read.
func TestKindsWithoutATextAreNotWritten(t *testing.T) {
	for says, kind := range map[string]named{
		"6 is no marker": offsetmap.Unknown + 1, "3 is no assignment state": offsetmap.FinishedOrUnassigned + 1,
	} {
		if raw, err := json.Marshal(kind); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s was written as %s, %v", kind, raw, err)
		}
	}
}
