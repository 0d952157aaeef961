package offsetmap_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var update = flag.Bool("update", false, "write testdata/plan.golden.json anew")

const goldenFile = "testdata/plan.golden.json"

// goldenDigest stands here as well as in the file, so that a change of the
// canonical form cannot pass as a new golden file.
const goldenDigest = "sha256:da032d5e06d9e98df3741960b4b325f30625aefac98dea4f454036476f685176"

func golden(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestGoldenPlan(t *testing.T) {
	p := seal(t, bodyOf(everyRule()))
	raw := encode(t, p)
	if *update {
		if err := os.WriteFile(goldenFile, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	diff(t, string(golden(t)), string(raw))
	if p.Digest != goldenDigest {
		t.Errorf("the digest is %s, it was %s", p.Digest, goldenDigest)
	}
}

func TestGoldenPlanReadsBackWhole(t *testing.T) {
	p, err := offsetmap.ReadPlan(bytes.NewReader(golden(t)))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, seal(t, bodyOf(everyRule())), p)
	if !bytes.Equal(encode(t, p), golden(t)) {
		t.Error("written again, the plan is another file")
	}
}

// TestGoldenDigestInPython is the documented recipe, in another language.
func TestGoldenDigestInPython(t *testing.T) {
	got := python(t, `
import hashlib, json, sys
body = json.loads(sys.stdin.buffer.read())["body"]
form = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
print("sha256:" + hashlib.sha256(form.encode("ascii")).hexdigest())
`, golden(t))
	if got != goldenDigest {
		t.Errorf("python has %s, want %s", got, goldenDigest)
	}
}
