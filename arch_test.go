package flinkmm2_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/flinkmm2/flinkmm2"

// imports says which packages of ours each package may import, and which
// modules. Tests of a package may import more, but no package outside this
// list may use the test stages.
var imports = map[string]struct {
	ours    []string
	modules []string
}{
	"offsetmap":               {},
	"flinkstate":              {ours: []string{"offsetmap", "internal/fresh", "internal/localfs", "internal/shown"}, modules: []string{"github.com/klauspost/compress", "github.com/twmb/franz-go"}},
	"flinkstate/flinkrest":    {ours: []string{"offsetmap", "internal/restapi"}, modules: []string{"github.com/hashicorp/go-retryablehttp"}},
	"connectrest":             {ours: []string{"offsetmap", "internal/restapi"}, modules: []string{"github.com/hashicorp/go-retryablehttp"}},
	"connectrest/connecttest": {ours: []string{"connectrest", "offsetmap", "internal/mirrordef"}, modules: []string{"github.com/twmb/franz-go"}},
	"internal/restapi":        {ours: []string{"offsetmap"}},
	"internal/localfs":        {},
	"internal/mirrordef":      {},
	"internal/shown":          {},
	"internal/fresh":          {ours: []string{"offsetmap"}, modules: []string{"github.com/twmb/franz-go"}},
	"internal/engine":         {ours: []string{"offsetmap"}},
	"internal/delivery":       {ours: []string{"offsetmap", "preflight", "internal/fresh"}, modules: []string{"github.com/twmb/franz-go"}},
	"internal/proof":          {ours: []string{"offsetmap", "internal/fresh"}, modules: []string{"github.com/twmb/franz-go"}},
	"preflight":               {ours: []string{"offsetmap", "flinkstate", "flinkstate/flinkrest", "connectrest", "internal/fresh", "internal/mirrordef", "internal/shown"}, modules: []string{"github.com/twmb/franz-go"}},
	"report":                  {ours: []string{"", "offsetmap", "preflight", "internal/shown"}},
	"": {
		ours:    []string{"offsetmap", "flinkstate", "flinkstate/flinkrest", "connectrest", "preflight", "internal/fresh", "internal/localfs", "internal/delivery", "internal/engine", "internal/proof"},
		modules: []string{"github.com/twmb/franz-go"},
	},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range goList(t, "./...") {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "scripts/") || testOnly(name) {
			continue // programs may import everything; the stages are for tests
		}
		rule, known := imports[name]
		if !known {
			t.Errorf("package %q has no line in the table of this test", name)
			continue
		}
		seen[name] = true
		for _, i := range p.Imports {
			ours, isOurs := strings.CutPrefix(i+"/", module+"/")
			ours = strings.TrimSuffix(ours, "/") // empty for the root
			switch {
			case isOurs && !slices.Contains(rule.ours, ours):
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, i)
			case !isOurs && strings.Contains(strings.SplitN(i, "/", 2)[0], "."):
				if !slices.ContainsFunc(rule.modules, func(m string) bool { return i == m || strings.HasPrefix(i, m+"/") }) {
					t.Errorf("%s imports %s, which is not in its list", p.ImportPath, i)
				}
			}
		}
	}
	for name := range imports {
		if !seen[name] {
			t.Errorf("the table names %q, which does not exist", name)
		}
	}
}

// testOnly packages serve tests. Nothing else may import them, which the table
// above holds.
func testOnly(name string) bool {
	return slices.Contains([]string{"internal/lab", "internal/flinklab", "internal/flinklab/golden", "internal/cutover", "internal/schematest", "internal/measured"}, name)
}

// inherited is what the go.mod of a module that imports every public package
// requires, beside this one.
var inherited = []string{
	"github.com/hashicorp/go-cleanhttp",
	"github.com/hashicorp/go-retryablehttp",
	"github.com/klauspost/compress",
	"github.com/pierrec/lz4/v4",
	"github.com/twmb/franz-go",
	"github.com/twmb/franz-go/pkg/kadm",
	"github.com/twmb/franz-go/pkg/kmsg",
}

func TestWhatAnImporterInherits(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/importer\n\ngo 1.26.0\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root+"\n")
	var code strings.Builder
	code.WriteString("package importer\n\nimport (\n")
	for name := range imports {
		if !strings.HasPrefix(name, "internal/") {
			code.WriteString("\t_ \"" + strings.TrimSuffix(module+"/"+name, "/") + "\"\n")
		}
	}
	code.WriteString(")\n")
	write("importer.go", code.String())

	cmd := exec.CommandContext(t.Context(), "go", "mod", "tidy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "true" && regexp.MustCompile(`dial tcp|no such host|proxyconnect`).Match(out) {
			t.Skipf("go mod tidy needs the module proxy, which cannot be reached: %s", out)
		}
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+) v\S+( // indirect)?$`).FindAllStringSubmatch(string(mod), -1) {
		if m[1] != module {
			got = append(got, m[1])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(inherited, got); diff != "" {
		t.Errorf("an importer's go.mod (-want +got):\n%s\n%s", diff, mod)
	}
}
