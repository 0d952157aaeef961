package offsetmap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func read(raw []byte) (*offsetmap.Plan, error) { return offsetmap.ReadPlan(bytes.NewReader(raw)) }

func decode(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// walk calls f for every value of v with its place and a function that puts
// another in its stead.
func walk(place string, v any, set func(any), f func(place string, v any, set func(any))) {
	f(place, v, set)
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walk(strings.TrimPrefix(place+"."+k, "."), v[k], func(x any) { v[k] = x }, f)
		}
	case []any:
		for i := range v {
			walk(fmt.Sprintf("%s[%d]", place, i), v[i], func(x any) { v[i] = x }, f)
		}
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// refused asks for a refusal that names the place, when one is given.
func refused(t *testing.T, raw []byte, what, place string) {
	t.Helper()
	p, err := read(raw)
	if p != nil || !errors.Is(err, offsetmap.ErrPlan) && !errors.Is(err, offsetmap.ErrEdited) {
		t.Errorf("%s: got %v", what, err)
		return
	}
	if !strings.Contains(err.Error(), place) {
		t.Errorf("%s: %v, want the place %s", what, err, place)
	}
}

// TestEveryEditIsRefused changes each value of the golden plan, one at a time.
func TestEveryEditIsRefused(t *testing.T) {
	root := decode(t, golden(t))
	edits := 0
	walk("", root, nil, func(place string, v any, set func(any)) {
		if set == nil {
			return
		}
		var others []any
		switch v := v.(type) {
		case json.Number:
			others = []any{v + "1", json.Number("0"), json.Number("-1"), nil, string(v)}
		case string:
			others = []any{v + "x", "", nil, json.Number("7")}
		case bool:
			others = []any{!v, nil, "true", json.Number("1")}
		case nil:
			others = []any{json.Number("0"), json.Number("12"), "", map[string]any{}}
		case map[string]any:
			others = []any{nil, []any{}, map[string]any{}}
		case []any:
			others = []any{nil, map[string]any{}, "x", append(slices.Clone(v), nil)}
			if len(v) > 0 {
				others = append(others, v[1:], append(slices.Clone(v), v[0]), []any{})
			}
			if len(v) > 1 {
				swapped := slices.Clone(v)
				swapped[0], swapped[1] = swapped[1], swapped[0]
				others = append(others, swapped)
			}
		}
		for _, other := range others {
			if fmt.Sprintf("%#v", other) == fmt.Sprintf("%#v", v) || other == any(json.Number("01")) {
				continue
			}
			set(other)
			refused(t, marshal(t, root), fmt.Sprintf("%s = %v", place, other), "")
			set(v)
			edits++
		}
	})
	if _, err := read(marshal(t, root)); err != nil || edits < 900 {
		t.Errorf("after %d edits and their undoing: %v", edits, err)
	}
}

// small is a plan file with every kind of member and few of each.
func small(t testing.TB) []byte {
	t.Helper()
	b := planOf(t, source(3)).Body
	b.Rows, b.Savepoint.Files = b.Rows[:2], append(b.Savepoint.Files, b.Savepoint.Files[0])
	b.Acceptances = []offsetmap.Acceptance{accept("c", "*"), accept("d", "*")}
	b.Findings = offsetmap.Accept([]offsetmap.Finding{blocking("c", "", offsetmap.ByScope)}, b.Acceptances)
	b.Earlier = []offsetmap.EarlierPlan{wave("a-0")}
	b.Attestations.Checkpointing, b.Attestations.RollbackWindow, b.Attestations.MaxDuplicates = attested("off"), attested("1h"), attested(int64(3))
	return encode(t, seal(t, b))
}

func TestMembersUnknownMissingAndMisspelledAreNamed(t *testing.T) {
	root := decode(t, small(t))
	walk("", root, nil, func(place string, v any, _ func(any)) {
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		at := func(k string) string { return strings.TrimPrefix(place+"."+k, ".") + ": " }
		object["zzz"] = nil
		want := at("zzz") + "unknown"
		if strings.HasSuffix(place, ".write") {
			want = place + ": not an offset"
		}
		refused(t, marshal(t, root), "unknown member", want)
		delete(object, "zzz")
		for k, old := range maps.Clone(object) {
			delete(object, k)
			want := at(k) + "missing"
			switch {
			case place == "" && (k == "apiVersion" || k == "kind"):
				want = k + ": "
			case strings.HasSuffix(place, ".write"): // without its offset it is no write
				want = place + ": not an offset"
			}
			refused(t, marshal(t, root), "missing member", want)
			for _, other := range []string{strings.ToUpper(k), strings.ToUpper(k[:1]) + k[1:], k + " "} {
				object[other] = old
				want := at(other) + "unknown"
				switch {
				case place == "" && (k == "apiVersion" || k == "kind") && !strings.EqualFold(k, other):
					want = k + ": "
				case strings.HasSuffix(place, ".write"):
					want = place + ": not an offset"
				case k == "write":
					want = place + ".write: missing"
				}
				refused(t, marshal(t, root), "misspelled member", want)
				object[k] = old // and both at once
				if !strings.EqualFold(k, other) || k != "offset" {
					refused(t, marshal(t, root), "misspelled member beside the right one", "")
				}
				delete(object, k)
				delete(object, other)
			}
			object[k] = old
		}
	})
}

func TestTextsThatAreNoPlan(t *testing.T) {
	file := string(golden(t))
	replaced := func(old, other string) string {
		t.Helper()
		if !strings.Contains(file, old) {
			t.Fatalf("the golden plan has no %s", old)
		}
		return strings.Replace(file, old, other, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":                     {"", "line 1: not valid JSON"},
		"white space":               {"\n\n", "not valid JSON"},
		"cut":                       {file[:len(file)/2], "not valid JSON"},
		"an array":                  {"[" + file + "]", "is not an object"},
		"null":                      {"null", "null is not an object"},
		"a string":                  {`"x"`, "is not an object"},
		"two plans":                 {file + file, "not valid JSON"},
		"text after it":             {file + "x", "not valid JSON"},
		"a byte order mark":         {"\ufeff" + file, "not valid JSON"},
		"not UTF-8":                 {replaced("orders-mirror", "orders-\xff"), "not valid UTF-8"},
		"a comment":                 {replaced("{", "{ /* */"), "not valid JSON"},
		"another version":           {replaced("flinkmm2/v1", "flinkmm2/v2"), `apiVersion: version "flinkmm2/v2", this program reads "flinkmm2/v1"`},
		"no version":                {replaced(`"apiVersion": "flinkmm2/v1",`, ""), "apiVersion: version null"},
		"a version that is a list":  {replaced(`"flinkmm2/v1"`, `["flinkmm2/v1"]`), "apiVersion: version ["},
		"another version and shape": {`{"apiVersion":"flinkmm2/v2","kind":"Plan","spec":{}}`, "this program reads"},
		"another kind":              {replaced(`"Plan"`, `"Proof"`), `kind: kind "Proof", want "Plan"`},
		"no body":                   {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":""}`, "missing"},
		"a partition twice":         {replaced(`"partition":1`, `"partition":0`), "partition orders-0 stands twice"},
		"a member twice":            {replaced(`"name": "runbook"`, `"name": "runbook", "name": "runbook"`), "body.tool.name: the member stands twice"},
		"a member of a row twice":   {replaced(`"lost":0`, `"lost":0,"lost":0`), "body.rows[0].lost: the member stands twice"},
		"a member twice, escaped":   {replaced(`"lost":0`, `"lost":0,"los\u0074":0`), "body.rows[0].lost: the member stands twice"},
		"an exponent":               {replaced(`"next":1000`, `"next":1e3`), "body.rows[1].found.next: number 1e3 is not an integer"},
		"a fraction":                {replaced(`"lost":0`, `"lost":0.0`), "body.rows[0].lost: number 0.0"},
		"minus 0":                   {replaced(`"lost":0`, `"lost":-0`), "body.rows[0].lost: number -0"},
		"a rounded offset":          {replaced("9007199254740993", "9007199254740992"), "its content has the digest"},
		"a number too large":        {replaced("9007199254740993", "90071992547409930000"), "body.rows[0].found.next: number 90071992547409930000"},
		"a negative offset":         {replaced(`"write":{"offset":999}`, `"write":{"offset":-1}`), "body.rows[1].write: not an offset"},
		"a write without content":   {replaced(`"write":{"offset":999}`, `"write":{}`), "body.rows[1].write: not an offset: {} is neither"},
		"a write of null":           {replaced(`"write":{"offset":999}`, `"write":{"offset":null}`), "body.rows[1].write: not an offset"},
		"a write in capitals":       {replaced(`"write":{"offset":999}`, `"write":{"OFFSET":999}`), "body.rows[1].write: not an offset"},
		"a write more":              {replaced(`"write":{"offset":999}`, `"write":{"offset":999,"x":0}`), "body.rows[1].write: not an offset"},
		"no write":                  {replaced(`"write":{"offset":999},`, ``), "body.rows[1].write: missing"},
		"a clear":                   {replaced(`"write":{"offset":999}`, `"write":null`), "the plan was edited"},
		"a partition of text":       {replaced(`"partition":1,`, `"partition":"1",`), `body.rows[2].partition: "1" is not a value of type int32`},
		"a partition too large":     {replaced(`"partition":1,`, `"partition":2147483648,`), `body.rows[2].partition: 2147483648 is not a value of type int32`},
		"a marker that is none":     {replaced(`"unread":"latest"`, `"unread":"oldest"`), `body.rows[3].found.unread: marker "oldest" is not one of ["earliest" "latest" "committed" "unset" "unknown"]`},
		"the number of a marker":    {replaced(`"unread":"latest"`, `"unread":2`), `body.rows[3].found.unread: 2 is not a value of type string`},
		"a marker of null":          {replaced(`"unread":"latest"`, `"unread":null`), `body.rows[3].found.unread: null is not in the form that is written: ""`},
		"a state that is none":      {replaced(`"finished-or-unassigned"`, `"assigned"`), `.found.state: state "assigned" is not one of ["unassigned" "finished-or-unassigned"]`},
		"rows that are none":        {replaced(`"rows": [`, `"rows": [7,`), `body.rows[0]: 7 is not an object`},
		"rows null":                 {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"rows":null}}`, "body.rows: null is not in the form that is written: []"},
		"rows an object":            {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"rows":{}}}`, "body.rows: {} is not an array"},
		"rows a text":               {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"rows":"[]"}}`, `body.rows: "[]" is not an array`},
		"rows missing":              {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{}}`, "body.acceptances: missing"},
		"a body that is none":       {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":[]}`, "body: [] is not an object"},
		"acceptances null":          {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"acceptances":null}}`, "body.acceptances: null is not in the form that is written: []"},
		"a list as an object":       {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"acceptances":{}}}`, "body.acceptances: {} is not an array"},
		"an accepted number":        {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"acceptances":[{"by":"ana"},{"by":7}]}}`, "body.acceptances[1].by: 7 is not a value of type string"},
		"an earlier wave of texts":  {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"earlier":[{"partitions":[{"topic":"a","partition":0},"a-0"]}]}}`, `body.earlier[0].partitions[1]: "a-0" is not an object`},
		"a number, others missing":  {`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"worker":{"version":7}}}`, "body.worker.version: 7 is not a value of type string"},
		"attested by a number":      {replaced(`"by": "ana"`, `"by": 7`), `body.attestations.copyOnly.by: 7 is not a value of type string`},
		"a time of another form":    {replaced("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"), "body.createdAt: "},
		"an id of another form":     {replaced("AQID-gAAAAAAAAAAAAAAAA", "AQID+gAAAAAAAAAAAAAAAA"), "body.rows[1].topicId: topic id"},
		"a surrogate alone":         {replaced("😀", `\ud83d`), "body.acceptances[2].reason: the string"},
		"the digest of another":     {replaced(goldenDigest, "sha256:"+strings.Repeat("0", 64)), "the plan was edited: its content has the digest " + goldenDigest},
		"the digest in capitals":    {replaced(goldenDigest, strings.ToUpper(goldenDigest)), "the plan was edited"},
		"no digest":                 {replaced(goldenDigest, ""), "the plan was edited"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, []byte(c.text), name, c.want) })
	}
}

// TestAPlanThatBreaksARuleIsRefusedWithARightDigest: a digest shows that nobody
// edited the plan, not that its maker obeyed the rules.
func TestAPlanThatBreaksARuleIsRefusedWithARightDigest(t *testing.T) {
	resealed := func(change func(body map[string]any)) []byte {
		root := decode(t, golden(t)).(map[string]any)
		change(root["body"].(map[string]any))
		digest, err := offsetmap.Digest(marshal(t, root["body"]))
		if err != nil {
			t.Fatal(err)
		}
		root["digest"] = digest
		return marshal(t, root)
	}
	row := func(body map[string]any, i int) map[string]any { return body["rows"].([]any)[i].(map[string]any) }
	if _, err := read(resealed(func(map[string]any) {})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(body map[string]any)
		want   string
	}{
		"seek M":            {func(b map[string]any) { row(b, 1)["write"] = map[string]any{"offset": 1000} }, "body.rows[1] (orders-0): write is set 1000, but C = 1000 asks for set 999"},
		"negative lost":     {func(b map[string]any) { row(b, 1)["lost"] = -1 }, "lost is -1"},
		"negative":          {func(b map[string]any) { b["savepoint"].(map[string]any)["checkpointId"] = -1 }, "checkpoint id -1"},
		"list of null":      {func(b map[string]any) { b["earlier"] = nil }, "body.earlier: null is not in the form"},
		"another rule":      {func(b map[string]any) { row(b, 1)["rule"] = "latest" }, `rule "latest"`},
		"no acceptances":    {func(b map[string]any) { b["acceptances"] = []any{} }, "no acceptance of the plan lets"},
		"unsorted findings": {func(b map[string]any) { f := b["findings"].([]any); f[0], f[1] = f[1], f[0] }, "body.findings[1]: not sorted"},
		"the source":        {func(b map[string]any) { b["target"] = b["source"] }, "the same cluster as the source"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, resealed(c.change), name, c.want)
			if _, err := read(resealed(c.change)); errors.Is(err, offsetmap.ErrEdited) {
				t.Errorf("nobody edited it, but: %v", err)
			}
		})
	}
}

func TestAnEditThatBreaksARuleIsBoth(t *testing.T) {
	_, err := read(bytes.Replace(golden(t), []byte(`"write":{"offset":999}`), []byte(`"write":null`), 1))
	if !errors.Is(err, offsetmap.ErrEdited) || !errors.Is(err, offsetmap.ErrPlan) || !strings.Contains(err.Error(), "write is clear, but C = 1000 asks for set 999") {
		t.Errorf("got %v", err)
	}
	_, err = read(bytes.Replace(golden(t), []byte(`"targetEnd":90`), []byte(`"targetEnd":91`), 1))
	if !errors.Is(err, offsetmap.ErrEdited) || errors.Is(err, offsetmap.ErrPlan) {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	p := seal(t, bodyOf(everyRule()))
	p.Body.Rows[3].Write = offsetmap.Write{}
	if raw, err := p.Encode(); !errors.Is(err, offsetmap.ErrOffset) || !strings.Contains(err.Error(), "row orders-2: ") {
		t.Errorf("a row that writes nothing is written as %.80s, %v", raw, err)
	}
}

func TestReadingThatFailsIsNoPlan(t *testing.T) {
	lost := errors.New("disk gone")
	_, err := offsetmap.ReadPlan(io.MultiReader(bytes.NewReader(golden(t)), iotest.ErrReader(lost)))
	if !errors.Is(err, lost) || errors.Is(err, offsetmap.ErrPlan) {
		t.Errorf("got %v", err)
	}
}

// TestOneByteNeverChangesTheMeaning: a plan file with one byte changed, lost or
// added is refused, or says the same.
func TestOneByteNeverChangesTheMeaning(t *testing.T) {
	file := golden(t)
	plan, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	want := marshal(t, plan)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		b := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte(` "0123456789-+.eE{}[],:nultr\`))).Draw(t, "byte")
		edited := slices.Clone(file)
		switch rapid.IntRange(0, 2).Draw(t, "edit") {
		case 0:
			edited[i] = b
		case 1:
			edited = slices.Delete(edited, i, i+1)
		default:
			edited = slices.Insert(edited, i, b)
		}
		got, err := read(edited)
		if err != nil {
			return
		}
		if again, err := json.Marshal(got); err != nil || !bytes.Equal(again, want) {
			t.Fatalf("byte %d as %q reads as another plan", i, b)
		}
	})
}

func FuzzReadPlan(f *testing.F) {
	f.Add(golden(f))
	small := planOf(f)
	raw, err := small.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(marshal(f, small))
	f.Add([]byte(`{"apiVersion":"flinkmm2/v1","kind":"Plan","digest":"","body":{"rows":[{"write":{}}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := read(raw)
		if err != nil {
			if p != nil {
				t.Fatal("a plan beside an error")
			}
			return
		}
		if bytes.Contains(marshal(t, p), []byte(":-")) {
			t.Fatalf("a negative number in %s", marshal(t, p))
		}
		again, err := offsetmap.Seal(p.Body)
		if err != nil || again.Digest != p.Digest {
			t.Fatalf("sealed again: %v, %v", again, err)
		}
		back, err := read(encode(t, p))
		if err != nil || back.Digest != p.Digest {
			t.Fatalf("written and read again: %v, %v", back, err)
		}
	})
}

func TestWhatIsDecodedStrictlyIsAllThatStandsThere(t *testing.T) {
	type pair struct {
		A int   `json:"a"`
		B []int `json:"b"`
	}
	var v pair
	if err := offsetmap.DecodeStrictly([]byte(` {"b": [2, 3], "a": 1} `), &v); err != nil || v.A != 1 || len(v.B) != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	for text, want := range map[string]string{
		`{"a": 1, "b": [], "c": 1}`: "c: unknown",
		`{"a": 1}`:                  "b: missing",
		`{"A": 1, "b": []}`:         "A: unknown",
		`{"a": 1, "a": 2, "b": []}`: "a",
		`{"a": "1", "b": []}`:       "a",
		`{"a": 1, "b": []} {}`:      "{",
		`[]`:                        "",
		``:                          "",
	} {
		var v pair
		if err := offsetmap.DecodeStrictly([]byte(text), &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// nothingness reads anything and writes null.
type nothingness struct{}

func (*nothingness) UnmarshalJSON([]byte) error  { return nil }
func (nothingness) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// A list that the type does not hold whole was not understood.
func TestAListThatIsNotHeldWholeIsRefused(t *testing.T) {
	for text, v := range map[string]interface{ decode([]byte) error }{
		`{"a":[1]}`:       &of[[2]int]{},
		`{"a":[1,2,3]}`:   &of[[2]int]{},
		`{"a":[]}`:        &of[nothingness]{},
		`{"a":[1]}` + " ": &of[nothingness]{},
	} {
		if err := v.decode([]byte(text)); err == nil || !strings.Contains(err.Error(), "a") {
			t.Errorf("%s into %T: %v", text, v, err)
		}
	}
	whole := of[[2]int]{}
	if err := whole.decode([]byte(`{"a":[1,2]}`)); err != nil || whole.A != [2]int{1, 2} {
		t.Errorf("%+v, %v", whole, err)
	}
}

type of[T any] struct {
	A T `json:"a"`
}

func (o *of[T]) decode(text []byte) error { return offsetmap.DecodeStrictly(text, o) }

// A file of another kind is called that, whatever else it holds.
func TestAFileOfAnotherKindOrVersionIsNamed(t *testing.T) {
	type file struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	text := func(version, kind, more string) []byte {
		return fmt.Appendf(nil, `{"apiVersion": %q, "kind": %q%s}`, version, kind, more)
	}
	var v file
	if err := offsetmap.DecodeKind(text(offsetmap.APIVersion, "Proof", ""), "Proof", &v); err != nil || v.Kind != "Proof" {
		t.Fatalf("%+v, %v", v, err)
	}
	for want, raw := range map[string][]byte{
		`kind "Plan": want`:      text(offsetmap.APIVersion, "Plan", `, "body": {}`),
		`apiVersion "v9"`:        text("v9", "Proof", `, "body": {}`),
		"body: unknown":          text(offsetmap.APIVersion, "Proof", `, "body": {}`),
		"unexpected end of JSON": []byte(`{`),
	} {
		if err := offsetmap.DecodeKind(raw, "Proof", &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
}
