package offsetmap_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestCanonicalForm(t *testing.T) {
	for in, want := range map[string]string{
		"null": "null", " true ": "true", "\tfalse\r\n": "false", "[]": "[]", "[ ]": "[]", "{ }": "{}",
		"0": "0", "-1": "-1", "9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"[1,\n2 , 3]":    "[1,2,3]",
		`{"b":1,"a":2}`:  `{"a":2,"b":1}`,
		`{"a":2, "b":1}`: `{"a":2,"b":1}`,
		`{"b":{"d":[{"y":1,"x":2}],"c":null},"a":[]}`:  `{"a":[],"b":{"c":null,"d":[{"x":2,"y":1}]}}`,
		`{"a":1,"A":2,"a0":3,"":4}`:                    `{"":4,"A":2,"a":1,"a0":3}`,
		`{"a!":1,"a\"":2,"a":3,"a ":4}`:                `{"a":3,"a ":4,"a!":1,"a\"":2}`,
		`{"é":1,"z":2,"😀":3,"\uffff":4}`:               `{"z":2,"\u00e9":1,"\uffff":4,"\ud83d\ude00":3}`,
		`"\u0061\u002F\/\u003c"`:                       `"a//<"`,
		`"\b\f\n\r\t\"\\"`:                             `"\b\f\n\r\t\"\\"`,
		`"\u0008\u000C\u000a\u000d\u0009\u0022\u005C"`: `"\b\f\n\r\t\"\\"`,
		"\"\\u0000\\u001f\\u007F\x7f\"":                `"\u0000\u001f\u007f\u007f"`,
		`"~ é ü \u00E9 \u2028 期 \uD83D\uDE00 😀"`:       `"~ \u00e9 \u00fc \u00e9 \u2028 \u671f \ud83d\ude00 \ud83d\ude00"`,
		`"\ufffd�"`:                                    `"\ufffd\ufffd"`,
		`"&<>'"`:                                       `"&<>'"`,
	} {
		got, err := offsetmap.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestCanonicalRefusesWithThePlace(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for in, want := range map[string]string{
		"":                           "line 1: not valid JSON",
		"{":                          "line 1: not valid JSON",
		"{\n\"a\": 1,\n}":            "line 3: not valid JSON",
		"{} {}":                      "line 1: not valid JSON",
		"{}\n\nx":                    "line 3: not valid JSON",
		`{"a":1}null`:                "line 1: not valid JSON",
		"{'a':1}":                    "line 1: not valid JSON",
		"[01]":                       "line 1: not valid JSON",
		"[+1]":                       "line 1: not valid JSON",
		"[NaN]":                      "line 1: not valid JSON",
		"\ufeff{}":                   "line 1: not valid JSON",
		"\"a\tb\"":                   "line 1: not valid JSON",
		deep:                         "line 1: not valid JSON",
		"{\"a\":\"\xff\"}":           "not valid UTF-8",
		"{\"a\":\"\xed\xa0\x80\"}":   "not valid UTF-8", // a surrogate in UTF-8
		"[1,1e3]":                    "[1]: number 1e3 is not an integer of 64 bits",
		`{"a":{"b":[{"c":1.0}]}}`:    "a.b[0].c: number 1.0 is not an integer of 64 bits",
		"-0":                         "number -0 is not an integer of 64 bits",
		"1E+2":                       "number 1E+2 is not an integer of 64 bits",
		"9223372036854775808":        "number 9223372036854775808 is not an integer of 64 bits",
		"-9223372036854775809":       "number -9223372036854775809 is not an integer of 64 bits",
		`{"a":1,"a":1}`:              "a: the member stands twice",
		`{"a":1,"b":2,"a":1}`:        "a: the member stands twice",
		`{"b":1,"a":2,"b":1}`:        "b: the member stands twice",
		`{"x":[{"a":1,"\u0061":2}]}`: "x[0].a: the member stands twice",
		`{"é":1,"a":0,"\u00e9":2}`:   "é: the member stands twice",
		`"\ud800"`:                   `the string "\ud800" has a surrogate without its other half`,
		`"\udc00\ud800"`:             "surrogate",
		`{"a":["\ud83dx"]}`:          "a[0]: the string",
		`"\ud83d\u0041"`:             "surrogate",
		`"\ud83d\\de00"`:             "surrogate", // an escaped backslash, then text that reads like the other half
		`"\ud83dxude00"`:             "surrogate",
		`"\ud83d\n"`:                 "surrogate",
		`{"\ude00":1}`:               "surrogate",
	} {
		got, err := offsetmap.Canonical([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %s, %v, want %q", in, got, err, want)
		}
		if d, err := offsetmap.Digest([]byte(in)); err == nil {
			t.Errorf("%.60q: has the digest %s", in, d)
		}
	}
}

func TestDigestIsSHA256OfTheCanonicalForm(t *testing.T) {
	sum := sha256.Sum256([]byte(`{"a":[1,2]}`))
	got, err := offsetmap.Digest([]byte("{ \"a\" : [1, 2] }\n"))
	if want := "sha256:" + hex.EncodeToString(sum[:]); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// python runs a script with stdin and returns its output. Without python3 the
// test is skipped, but not in CI.
func python(t *testing.T, script string, stdin []byte) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not there, and in CI this test must run")
		}
		t.Skip("python3 is not there: the canonical form is not compared with another language")
	}
	cmd := exec.CommandContext(t.Context(), path, "-c", script)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// TestCanonicalIsWhatPythonWrites goes through every character below U+3000 and
// some above, as values and as names whose order matters.
func TestCanonicalIsWhatPythonWrites(t *testing.T) {
	var chars []rune
	for r := range rune(0x3000) {
		chars = append(chars, r)
	}
	chars = append(chars, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff)
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(len(chars))
	var b strings.Builder
	b.WriteString("{")
	for n, i := range shuffled {
		name, err := json.Marshal("n" + string(chars[i]) + "x")
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: [%d, %s]", name, i-len(chars)/2, name)
	}
	b.WriteString("}")
	got, err := offsetmap.Digest([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	want := python(t, `
import hashlib, json, sys
x = json.loads(sys.stdin.buffer.read().decode("utf-8"))
print("sha256:" + hashlib.sha256(json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()).hexdigest())
`, []byte(b.String()))
	if got != want {
		t.Errorf("got %s, python has %s", got, want)
	}
}

var text = rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab z/\\\"\b\n\x01\x7f\u00e9\u2028\uffff😀"))))

// jsonValue draws a JSON value as Canonical knows them.
func jsonValue(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int64().Draw(t, "int")
	case 3, 4:
		return text.Draw(t, "string")
	case 5:
		out := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range out {
			out[i] = jsonValue(t, depth-1)
		}
		return out
	default:
		out := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			out[text.Draw(t, "name")] = jsonValue(t, depth-1)
		}
		return out
	}
}

// scramble writes v in some other way: white space, order of members, escapes.
func scramble(t *rapid.T, v any) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n"}).Draw(t, "space") }
	var write func(v any) string
	write = func(v any) string {
		switch v := v.(type) {
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			var members []string
			for _, name := range rapid.Permutation(names).Draw(t, "order") {
				members = append(members, space()+write(name)+space()+":"+write(v[name]))
			}
			return space() + "{" + strings.Join(members, ",") + space() + "}" + space()
		case []any:
			var elements []string
			for _, e := range v {
				elements = append(elements, write(e))
			}
			return space() + "[" + strings.Join(elements, ",") + space() + "]" + space()
		case string:
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "escape") {
				raw = bytes.ReplaceAll(raw, []byte("z"), []byte(`\u007A`)) // in no escape
				raw = bytes.ReplaceAll(raw, []byte("/"), []byte(`\/`))
			}
			return string(raw)
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return space() + string(raw) + space()
		}
	}
	return write(v)
}

func TestCanonicalDependsOnTheValueAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(t, 3)
		one, err := offsetmap.Canonical([]byte(scramble(t, v)))
		if err != nil {
			t.Fatal(err)
		}
		two, err := offsetmap.Canonical([]byte(scramble(t, v)))
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("the same value became %s and %s, %v", one, two, err)
		}
		again, err := offsetmap.Canonical(one)
		if err != nil || !bytes.Equal(one, again) {
			t.Fatalf("%s became %s, %v", one, again, err)
		}
		d := json.NewDecoder(bytes.NewReader(one))
		d.UseNumber()
		var back any
		if err := d.Decode(&back); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		three, err := offsetmap.Canonical(raw)
		if err != nil || !bytes.Equal(one, three) {
			t.Fatalf("%s decodes to %s", one, raw)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":1,"a":[null,true,"x\u00e9😀"]}`, `"\ud83d\ude00"`, `"\ud83d"`, "-0", "1e3", `{"a":1,"\u0061":2}`,
		"[[[]]]", "{}x", "\xff", "\"\x7f\"", "{\"a\" : {\"z\":1,\"y\":{\"b\":2,\"a\":3}}, \"A\":0}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		got, err := offsetmap.Canonical(src)
		if !bytes.Equal(before, src) {
			t.Fatal("the source was changed")
		}
		if err != nil {
			return
		}
		if i := slices.IndexFunc(got, func(b byte) bool { return b < 0x20 || b > 0x7e }); i >= 0 {
			t.Fatalf("byte %#x in %s", got[i], got)
		}
		again, err := offsetmap.Canonical(got)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%s became %s, %v", got, again, err)
		}
		// The value is the same, as encoding/json understands it.
		var one, two any
		for text, v := range map[*[]byte]*any{&src: &one, &got: &two} {
			d := json.NewDecoder(bytes.NewReader(*text))
			d.UseNumber()
			if err := d.Decode(v); err != nil {
				t.Fatal(err)
			}
		}
		a, errA := json.Marshal(one)
		b, errB := json.Marshal(two)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s became %s", a, b)
		}
	})
}
