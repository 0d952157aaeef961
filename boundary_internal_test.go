package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// kept is a journal in memory.
type kept []Entry

func (k *kept) Append(_ context.Context, e Entry) error { *k = append(*k, e); return nil }
func (k *kept) Read(context.Context) ([]Entry, error)   { return *k, nil }
func lines(acts ...string) *kept {
	out := &kept{}
	for i, a := range acts {
		part := []string{3: "", 4: "mm2"} // plan, act, phase, savepoint, connector
		copy(part, strings.Split(a, " "))
		*out = append(*out, Entry{
			At: time.Unix(int64(i), 0), Plan: part[0], Act: part[1], Phase: Phase(part[2]), Savepoint: part[3], Connector: part[4], Group: "g",
		})
	}
	return out
}

// What the journal says of a rollback that is finished, and of one that another
// run has overtaken.
func TestTheJournalKnowsWhetherARollbackStands(t *testing.T) {
	for _, c := range []struct {
		name   string
		acts   []string
		done   bool
		handed string
	}{
		{name: "begun", acts: []string{"a plan done", "a resume begin", "a resume done", "a rollback begin"}},
		{name: "failed", acts: []string{"a rollback begin", "a rollback failed"}},
		{name: "done", acts: []string{"a resume begin", "a resume done", "a rollback begin", "a rollback done"}, done: true},
		{name: "begun again", acts: []string{"a rollback done", "a rollback begin"}},
		{name: "another was planned", acts: []string{"a rollback done", "b plan done"}, done: true},
		{name: "another was resumed", acts: []string{"a rollback done", "b resume begin"}},
		{name: "another was resumed and is back", acts: []string{"a rollback done", "b resume begin", "b resume done", "b rollback begin", "b rollback done"}},
		{name: "another was handed back before the plan", acts: []string{"b plan done s1", "b commit-boundary begin s1", "b commit-boundary done s1", "a plan done s2"}},
		{name: "the savepoint was handed back by another connector", acts: []string{"b plan done s1 other", "a plan done s1", "b commit-boundary begin s1 other"}, handed: "b"},
		{name: "another savepoint was handed back by another connector", acts: []string{"b plan done s1 other", "b commit-boundary begin s1 other", "a plan done s2"}},
		{name: "another was handed back while the plan was made", acts: []string{"b plan done s1", "b commit-boundary begin s1", "b commit-boundary done s1", "a plan done s1"}, handed: "b"},
		{name: "the plan is from a savepoint that was planned from before", acts: []string{"c plan done s0", "b plan done s1", "b commit-boundary begin s1", "a plan done s0"}, handed: "b"},
		{name: "handing back failed while the plan was made", acts: []string{"b plan done s1", "b commit-boundary begin s1", "b commit-boundary failed s1", "a plan done s1"}},
		{name: "an older hand-back stands when a later one failed", acts: []string{"b commit-boundary begin s1", "c commit-boundary begin s2", "c commit-boundary failed s2", "a plan done s1"}, handed: "b"},
		{name: "from which savepoint another was handed back is not told", acts: []string{"b commit-boundary begin", "b commit-boundary done", "a plan done s2"}, handed: "b"},
		{name: "from which savepoint the plan was made is not told", acts: []string{"b commit-boundary begin s1", "b commit-boundary done s1", "a plan done"}, handed: "b"},
		{name: "another was handed back", acts: []string{"a plan done", "b commit-boundary begin", "b commit-boundary done"}, handed: "b"},
		{name: "another may have been handed back", acts: []string{"a plan done", "b commit-boundary begin", "b commit-boundary unknown"}, handed: "b"},
		{name: "the tool was killed while it handed back", acts: []string{"a plan done", "b commit-boundary begin"}, handed: "b"},
		{name: "handing back failed", acts: []string{"a plan done", "b commit-boundary begin", "b commit-boundary failed"}},
		{name: "its own", acts: []string{"a plan done", "a commit-boundary begin", "a commit-boundary done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Migration{cfg: Config{Connector: "mm2", Journal: lines(c.acts...)}}
			fact, _ := m.history(t.Context(), "a", false)
			h, known := fact.Get()
			if want := (engine.History{RollbackDone: c.done, HandedBack: c.handed}); !known || h.RollbackDone != want.RollbackDone || h.HandedBack != want.HandedBack {
				t.Errorf("%+v, want done %v, handed back %q", h, c.done, c.handed)
			}
		})
	}
}

// The day counts from before the last commit that was read back, and from none
// that may not have arrived.
func TestSinceWhenTheGroupHoldsTheBoundary(t *testing.T) {
	for _, c := range []struct {
		acts []string
		want int64
	}{
		{[]string{"a rollback done"}, -1},
		{[]string{"a rollback done", "a commit-boundary begin"}, -1},
		{[]string{"a rollback done", "a commit-boundary begin", "a commit-boundary unknown"}, -1},
		{[]string{"a rollback done", "a commit-boundary begin", "a commit-boundary done"}, 1},
		{[]string{"b commit-boundary begin", "b commit-boundary done"}, -1},
		{[]string{"a commit-boundary begin", "a commit-boundary done", "a rollback done", "a commit-boundary begin", "a commit-boundary done"}, 3},
	} {
		m := &Migration{cfg: Config{Connector: "mm2", Journal: lines(c.acts...)}}
		for group, want := range map[string]int64{"g": c.want, "another": -1} {
			h, err := m.handedTo(t.Context(), "a", handedForm{form: FormGroup, group: group})
			at := h.since
			if err != nil || (want < 0) != at.IsZero() || want >= 0 && at.Unix() != want {
				t.Errorf("%v: group %s since %v, %v, want %d", c.acts, group, at, err, want)
			}
		}
	}
}

// A cluster whose brokers differ keeps offsets for as long as the strictest.
func TestTheDayIsThatOfTheStrictestBroker(t *testing.T) {
	type brokers = map[int32]preflight.Settings
	const key = "offsets.retention.minutes"
	at := time.Date(2026, 11, 30, 3, 10, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		brokers brokers
		day     string
		unknown string
	}{
		{"equal", brokers{1: {key: "10080"}, 2: {key: "10080"}}, "2026-12-07T03:10:00Z", ""},
		{"one is stricter", brokers{1: {key: "10080"}, 2: {"other": "1", key: "1440"}}, "2026-12-01T03:10:00Z", ""},
		{"the first is stricter", brokers{1: {key: "1440"}, 2: {key: "10080"}}, "2026-12-01T03:10:00Z", ""},
		{"longer than a Duration holds", brokers{1: {key: "2147483647"}, 2: {key: "2147483647"}}, "6109-12-23T05:17:00Z", ""},
		{"none was asked", brokers{}, "", "no broker was asked"},
		{"one hides it", brokers{1: {key: "10080"}, 2: {}}, "", "broker 2: offsets.retention.minutes: the setting is not told"},
		{"no number", brokers{1: {key: "a week"}, 2: {key: "1"}}, "", `broker 1: offsets.retention.minutes is "a week"`},
		{"negative", brokers{1: {key: "1"}, 2: {key: "-1"}}, "", "broker 2 has offsets.retention.minutes = -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := settingsOfOffsets(c.brokers).expiry(at)
			day := ""
			if e.Earliest != nil {
				day = e.Earliest.String()
			}
			if day != c.day || (e.RetentionMinutes == nil) != (c.day == "") || !strings.Contains(e.Unknown, c.unknown) || (e.Unknown == "") != (c.unknown == "") {
				t.Errorf("%q (%q), want %q (%q)", day, e.Unknown, c.day, c.unknown)
			}
		})
	}
}

func TestTheNoteFitsWhatBrokersTake(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for most, want := range map[offsetmap.Fact[int64]]string{
		offsetmap.Known[int64](4096): "flinkmm2 sha256:abababababab",
		offsetmap.Known[int64](28):   "flinkmm2 sha256:abababababab",
		offsetmap.Known[int64](27):   "",
		{}:                           "",
	} {
		if got := (offsetSettings{maxMetadata: most}).note(digest); got != want {
			t.Errorf("%v: %q, want %q", most, got, want)
		}
	}
}

// A savepoint is the same wherever it lies, and whatever of it was opened.
func TestASavepointIsKnownByItsMetadata(t *testing.T) {
	of := func(location string, files ...offsetmap.File) string {
		return savepointID(&offsetmap.Savepoint{Location: location, Files: files})
	}
	meta, other, part := offsetmap.File{Name: "_metadata", SHA256: "aa"}, offsetmap.File{Name: "_metadata", SHA256: "ab"}, offsetmap.File{Name: "part-1", SHA256: "bb"}
	if one := of("x", meta); one != "sha256:aa" || one != of("y", part, meta) || one == of("x", other) {
		t.Errorf("%s: elsewhere %s, another %s", one, of("y", part, meta), of("x", other))
	}
	more := offsetmap.File{Name: "part-2", SHA256: "cc"}
	if one := of("x", part, more); one != of("x", more, part) || one == of("x", part) || one == savepointID(nil) {
		t.Errorf("without a _metadata: %s, the other way round %s, less %s", one, of("x", more, part), of("x", part))
	}
}

const boundaryText = `{
  "apiVersion": "flinkmm2/v1",
  "kind": "Boundary",
  "createdAt": "2026-11-30T03:10:00Z",
  "plan": "sha256:ab",
  "sourceClusterId": "s",
  "connector": "mm2",
  "partitions": [
    {"topic": "orders", "partition": 0, "topicId": "AQIDAAAAAAAAAAAAAAAAAA", "next": 50, "stored": 49, "added": false, "copied": 30, "lost": 0},
    {"topic": "orders", "partition": 1, "topicId": "AQIDAAAAAAAAAAAAAAAAAA", "next": 0, "stored": null, "added": false, "copied": 0, "lost": 0}
  ]
}
`

// Two savepoints of one _metadata, whose positions lie in files, are two ways back.
func TestTheOtherSavepointIsSeenBehindTheSameMetadata(t *testing.T) {
	j := &kept{{Act: actRewrite, Phase: PhaseBegin, Plan: "a", Connector: "mm2", Rewritten: "sha256:m", Content: "sha256:1"}}
	m := &Migration{cfg: Config{Journal: j, Connector: "mm2"}}
	for content, other := range map[string]int{"sha256:1": 0, "sha256:2": 1} {
		to := handedForm{form: FormSavepoint, savepoint: "sha256:m", content: content}
		h, err := m.handedTo(t.Context(), "a", to)
		if err != nil || h.sent != (other == 0) || len(h.findings(to)) != other {
			t.Errorf("%s: %+v, %v", content, h, err)
		}
	}
}

// deliveredText ends the partitions of boundaryText with what the target has.
func deliveredText(first, second, next, beyond int) string {
	one := `{"topic": "orders", "partition": %d, "next": %d, "beyond": %d, "doubt": "", "targetEnd": 60}`
	return fmt.Sprintf(`], "delivered": [`+one+", "+one+"]", first, next, beyond, second, 0, 0)
}

func TestABoundaryIsReadStrictly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "boundary.json")
	read := func(text string) (*Boundary, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadBoundary(path)
	}
	b, err := read(boundaryText)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := read(string(again)); err != nil || !cmp.Equal(b, second, cmp.AllowUnexported(offsetmap.NextOffset{}, offsetmap.SourceOffset{})) {
		t.Errorf("read again: %v\n%s", err, again)
	}
	for _, c := range []struct{ old, text, want string }{
		{`"flinkmm2/v1"`, `"flinkmm2/v2"`, `apiVersion "flinkmm2/v2"`},
		{`"Boundary"`, `"Plan"`, `kind "Plan"`},
		{`"lost": 0},`, `"lost": 0, "gained": 1},`, "partitions[0].gained: unknown"},
		{"\n  ]\n", `], "delivered": []`, "delivered: unknown"},
		{"\n  ]\n", deliveredText(1, 0, 50, 0), "delivered[0]: orders-1 stands in the place of orders-0"},
		{"\n  ]\n", deliveredText(0, 1, 49, 0), "delivered[0]: orders-0: next 49 is below that of the partition, 50"},
		{"\n  ]\n", deliveredText(0, 1, 50, -1), "-1 beyond"},
		{`"lost": 0},`, `"LOST": 0},`, "partitions[0].LOST: unknown"},
		{`"next": 50`, `"next": 49, "NEXT": 50`, "partitions[0].NEXT: unknown"},
		{`"next": 50`, `"next": 49, "next": 50`, "next"},
		{`"kind": "B`, `"KIND": "Plan", "kind": "B`, "KIND: unknown"},
		{`"connector": "mm2"`, `"connector": "mm3", "connector": "mm2"`, "connector"},
		{`"connector": "mm2",`, ``, "connector: missing"},
		{`, "copied": 30`, ``, "partitions[0].copied: missing"},
		{`10:00Z`, `10:00.5Z`, "createdAt"},
		{`"next": 50`, `"next": null`, "partitions[0]: orders-0 has no next"},
		{boundaryText[strings.Index(boundaryText, "\"partitions"):], "\"partitions\": null}", "partitions: there is none"},
		{boundaryText[strings.Index(boundaryText, "\"partitions"):], "\"partitions\": []}", "partitions: there is none"},
		{`"next": 50`, `"next": -1`, "-1 is not an integer"},
		{`"next": 50, `, ``, "partitions[0].next: missing"},
		{`"partition": 1`, `"partition": 0`, "partitions[1]: orders-0 stands behind orders-0"},
		{"  ]\n}\n", "  ]\n}\n{}", "after top-level value"},
		{"  ]\n}\n", "", "unexpected end of JSON input"},
		{boundaryText, "", "unexpected end of JSON input"},
	} {
		if _, err := read(strings.Replace(boundaryText, c.old, c.text, 1)); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: got %v, want %s", c.text, c.old, err, c.want)
		}
	}
	if _, err := ReadBoundary(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Whatever is read as a boundary is written as one that reads the same.
func FuzzDecodeBoundary(f *testing.F) {
	f.Add([]byte(boundaryText))
	f.Add([]byte(`{"apiVersion":"flinkmm2/v1","kind":"Boundary","partitions":[{"topic":"a","partition":-1,"next":0}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := decodeBoundary(raw)
		if err != nil {
			return
		}
		out, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeBoundary(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if d := cmp.Diff(b, again, cmp.AllowUnexported(offsetmap.NextOffset{}, offsetmap.SourceOffset{})); d != "" {
			t.Fatal(d)
		}
	})
}
