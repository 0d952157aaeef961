package restapi

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// What is squeezed means the same, however it comes in.
func FuzzSqueezedJSONIsTheSameValue(f *testing.F) {
	for _, s := range []string{
		`{"a" : [ 1 ,  2 ] }`, `"  two  "`, `"\"  \\"  `, "{\n\t\"a\\\\\":\r\n\"  \"}", `1  2`, ` "x  `, `"\u0020  "`, "\x00  \x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		whole, err := io.ReadAll(&squeeze{r: strings.NewReader(s)})
		if err != nil {
			t.Fatal(err)
		}
		slow, err := io.ReadAll(&squeeze{r: iotest.OneByteReader(strings.NewReader(s))})
		if err != nil || !bytes.Equal(whole, slow) {
			t.Fatalf("%q: at once %q, byte by byte %q, %v", s, whole, slow, err)
		}
		if json.Valid([]byte(s)) != json.Valid(whole) {
			t.Fatalf("%q is valid: %v, squeezed to %q it is not so", s, json.Valid([]byte(s)), whole)
		}
		var before, after bytes.Buffer
		if json.Compact(&before, []byte(s)) == nil && (json.Compact(&after, whole) != nil || before.String() != after.String()) {
			t.Errorf("%q became %q", s, whole)
		}
	})
}

// A body of white space is read in a time that grows with its length alone.
func TestRunOfWhiteSpaceBecomesOne(t *testing.T) {
	got, err := io.ReadAll(&squeeze{r: strings.NewReader("[" + strings.Repeat(" \t\r\n", 1<<20) + "]")})
	if err != nil || string(got) != "[ ]" {
		t.Errorf("got %.40q, %v", got, err)
	}
}
