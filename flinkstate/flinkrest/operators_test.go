package flinkrest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperatorsOfAVertex(t *testing.T) {
	for name, c := range map[string]struct{ all, beyond []string }{
		"Source: copy source -> Sink: Writer -> Sink: Committer": {[]string{"Source: copy source", "Sink: Writer", "Sink: Committer"}, nil},
		"Source: Custom Source -> Sink: Unnamed":                 {[]string{"Source: Custom Source", "Sink: Unnamed"}, nil},
		"Source: orders[1] -> orders_copy[2]: Writer -> orders_copy[2]: Committer": {
			[]string{"Source: orders[1]", "orders_copy[2]: Writer", "orders_copy[2]: Committer"}, nil,
		},
		"Source: orders[1] -> Calc[2] -> Sink: target[3]": {[]string{"Source: orders[1]", "Calc[2]", "Sink: target[3]"}, []string{"Calc[2]"}},
		"Source: a -> (Filter -> Sink: b, Map -> (Sink: c, Sink: d))": {
			[]string{"Source: a", "Filter", "Sink: b", "Map", "Sink: c", "Sink: d"}, []string{"Filter", "Map"},
		},
		"Source: TableSourceScan(table=[[default, src]], fields=[a, b]) -> Sink: Sink(table=[t], fields=[a -> x, b])": {
			[]string{"Source: TableSourceScan(table=[[default, src]], fields=[a, b])", "Sink: Sink(table=[t], fields=[a -> x, b])"}, nil,
		},
		"KeyedProcess, at noon": {[]string{"KeyedProcess, at noon"}, []string{"KeyedProcess, at noon"}},
		"Sinker":                {[]string{"Sinker"}, []string{"Sinker"}},
		"a) -> b":               {[]string{"a)", "b"}, []string{"a)", "b"}},
		"":                      {nil, nil},
	} {
		v := Vertex{Name: name}
		if d := cmp.Diff(c.all, v.Operators()); d != "" {
			t.Errorf("%q (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(c.beyond, v.BeyondCopying()); d != "" {
			t.Errorf("%q, beyond copying (-want +got):\n%s", name, d)
		}
	}
}

// No letter of an operator's name gets lost: an operator that was overlooked
// would pass for one of a source or sink.
func FuzzOperators(f *testing.F) {
	for _, name := range []string{"\xc4->\xa5", "Source: a -> (Filter -> Sink: b, Map)", "a(b, c) -> [d", "((()", ")->,", "Source: x->Sink: y"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune("()->,", r) || strings.TrimSpace(string(r)) == "" {
					return -1
				}
				return r
			}, s)
		}
		if got, want := letters(strings.Join(Vertex{Name: name}.Operators(), " ")), letters(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	})
}
