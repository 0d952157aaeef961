package offsetmap_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestTopicIDHasTheFormOfKafkaTools(t *testing.T) {
	id := offsetmap.TopicID{0xfb, 0xef, 0xbe, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}
	const text = "----AAECAwQFBgcICQoL_w"
	raw, err := json.Marshal(id)
	if err != nil || string(raw) != `"`+text+`"` || id.String() != text {
		t.Fatalf("got %s, %v, want %q", raw, err, text)
	}
	var back offsetmap.TopicID
	if err := json.Unmarshal(raw, &back); err != nil || back != id {
		t.Errorf("read back %s, %v", back, err)
	}
	for _, bad := range []string{"", "AAAA", text + "==", text + "A", text[:21] + "x", strings.ReplaceAll(text, "-", "+"), text + "\n", text[:21] + "\n", text[:10] + "\r\n" + text[10:], text[:20] + "\r\n"} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, back)
		}
	}
	if back != id {
		t.Errorf("a refused text left %s", back)
	}
}

func TestRangeIsEmptyOnlyWhenBothEndsAreKnown(t *testing.T) {
	for _, c := range []struct {
		r    offsetmap.Range
		want bool
	}{
		{log(0, 0), true},
		{log(5, 5), true},
		{log(4, 5), false},
		{log(5, 4), false},
		{offsetmap.Range{}, false},
		{offsetmap.Range{Start: next(0)}, false},
		{offsetmap.Range{End: next(0)}, false},
	} {
		if got := c.r.Empty(); got != c.want {
			t.Errorf("%s to %s: empty is %t", c.r.Start, c.r.End, got)
		}
	}
}

func TestTimeHasOneForm(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	at := offsetmap.At(time.Date(2026, 3, 1, 14, 0, 0, 999, east))
	raw, err := json.Marshal(at)
	if err != nil || string(raw) != `"2026-03-01T12:00:00Z"` || at.String() != "2026-03-01T12:00:00Z" {
		t.Fatalf("got %s, %s, %v", raw, at, err)
	}
	if text, err := at.MarshalText(); err != nil || string(text) != at.String() {
		t.Errorf("as text %s, %v", text, err)
	}
	var back offsetmap.Time
	if err := json.Unmarshal(raw, &back); err != nil || !back.Equal(at.Time) {
		t.Errorf("read back %s, %v", back, err)
	}
	for _, bad := range []string{
		`"2026-03-01T12:00:00+00:00"`, `"2026-03-01T14:00:00+02:00"`, `"2026-03-01T12:00:00.5Z"`, `"2026-03-01T12:00:00,5Z"`,
		`"2026-03-01 12:00:00Z"`, `"2026-03-01"`, `"2026-02-30T12:00:00Z"`, `""`, `null`, `0`, `1772366400`,
	} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read as %s", bad, back)
		}
	}
}

func TestPositionSaysOneThing(t *testing.T) {
	p := tp("orders-0")
	for name, c := range map[string]struct {
		position offsetmap.Position
		ok       bool
	}{
		"next":              {offsetmap.Position{TopicPartition: p, Next: next(0)}, true},
		"next with stop":    {offsetmap.Position{TopicPartition: p, Next: next(4), Stop: next(9)}, true},
		"marker":            {offsetmap.Position{TopicPartition: p, Unread: offsetmap.Latest}, true},
		"enumerator only":   {offsetmap.Position{TopicPartition: p, State: offsetmap.Unassigned}, true},
		"with its start":    {offsetmap.Position{TopicPartition: p, State: offsetmap.FinishedOrUnassigned, Start: next(3)}, true},
		"with its marker":   {offsetmap.Position{TopicPartition: p, State: offsetmap.Unassigned, Unread: offsetmap.Earliest}, true},
		"nothing":           {offsetmap.Position{TopicPartition: p}, false},
		"next and marker":   {offsetmap.Position{TopicPartition: p, Next: next(4), Unread: offsetmap.Earliest}, false},
		"next and state":    {offsetmap.Position{TopicPartition: p, Next: next(4), State: offsetmap.Unassigned}, false},
		"start in a reader": {offsetmap.Position{TopicPartition: p, Next: next(4), Start: next(3)}, false},
		"other marker":      {offsetmap.Position{TopicPartition: p, Unread: offsetmap.Unknown + 1}, false},
		"other state":       {offsetmap.Position{TopicPartition: p, State: offsetmap.FinishedOrUnassigned + 1}, false},
		"bad partition":     {offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: -1}, Next: next(4)}, false},
		"bad topic":         {offsetmap.Position{Next: next(4)}, false},
	} {
		if err := c.position.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFactIsKnownAbsentOrUnknown(t *testing.T) {
	lost := errors.New("connection lost")
	for name, c := range map[string]struct {
		fact          offsetmap.Fact[int]
		known, absent bool
		err           string
	}{
		"known":          {offsetmap.Known(0), true, false, ""},
		"absent":         {offsetmap.Absent[int](), false, true, ""},
		"unknown":        {offsetmap.NotKnown[int](lost), false, false, "connection lost"},
		"zero":           {offsetmap.Fact[int]{}, false, false, "not looked for"},
		"without reason": {offsetmap.NotKnown[int](nil), false, false, "not looked for"},
	} {
		_, known := c.fact.Get()
		text := ""
		if err := c.fact.Err(); err != nil {
			text = err.Error()
		}
		if known != c.known || c.fact.IsAbsent() != c.absent || text != c.err {
			t.Errorf("%s: known %t, absent %t, error %q", name, known, c.fact.IsAbsent(), text)
		}
	}
}
