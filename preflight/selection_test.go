package preflight

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// selectionGolden is what the real MirrorSourceConnector answered, of three
// versions: see testdata/Selection.java.
type selectionGolden struct {
	Versions []string
	Topics   []string
	Cases    []struct {
		Config  connectrest.Config
		Copied  map[string]string // by version, a + or - for each topic
		Error   map[string]string // by version, when the connector does not start
		Targets []string          // the name of each topic on the target
	}
}

func readSelectionGolden(t testing.TB) selectionGolden {
	t.Helper()
	raw, err := os.ReadFile("testdata/selection.json")
	if err != nil {
		t.Fatal(err)
	}
	var g selectionGolden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// beyond are the lists of the golden file that Java takes and this package
// does not evaluate: it must say so, and never guess.
var beyond = map[string]bool{
	`(?!orders).*`: true, // lookahead
	`(\w)\1b`:      true, // back reference
	`[a-z&&[^o]]+`: true, // intersection, which Go reads as something else
	`\p{Lower}+`:   true, // a class of Java's own
}

func TestTopicsAreSelectedAsTheRealConnectorDoes(t *testing.T) {
	g := readSelectionGolden(t)
	judged := 0
	for _, c := range g.Cases {
		for _, version := range g.Versions {
			p, err := policyOf(settings{c.Config})
			if err != nil {
				t.Fatalf("%v: %v", c.Config, err)
			}
			v, err := connectrest.ParseVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			s, err := newSelector(settings{c.Config}, p, v)
			if refused := c.Error[version] != "" || beyond[c.Config["topics"]]; refused != (err != nil) {
				t.Errorf("%s %v: error %v, want one: %t (the connector says %q)", version, c.Config, err, refused, c.Error[version])
			}
			if err != nil {
				continue
			}
			var got strings.Builder
			for _, topic := range g.Topics {
				judged++
				if s.judge(topic).copied {
					got.WriteByte('+')
				} else {
					got.WriteByte('-')
				}
			}
			if got.String() != c.Copied[version] {
				t.Errorf("%s %v:\ntopics %v\ngot  %s\nwant %s", version, c.Config, g.Topics, got.String(), c.Copied[version])
			}
		}
	}
	if judged < 10_000 {
		t.Errorf("only %d topics were judged", judged)
	}
}

func TestTargetNamesAreThoseOfTheRealPolicies(t *testing.T) {
	g := readSelectionGolden(t)
	named := 0
	for _, c := range g.Cases {
		p, err := policyOf(settings{c.Config})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Targets {
			named++
			if got := p.target(g.Topics[i]); got != want {
				t.Errorf("%v: %s becomes %s, want %s", c.Config, g.Topics[i], got, want)
			}
		}
	}
	if named < 200 {
		t.Errorf("only %d names were compared", named)
	}
}

func TestEveryVerdictHasAReason(t *testing.T) {
	g := readSelectionGolden(t)
	for _, c := range g.Cases {
		p, err := policyOf(settings{c.Config})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSelector(settings{c.Config}, p, connectrest.KafkaVersion(3, 9))
		if err != nil {
			continue
		}
		for _, topic := range g.Topics {
			if s.judge(topic).reason == "" {
				t.Errorf("%v: no reason for %s", c.Config, topic)
			}
		}
	}
}

func TestSettingsThatThePolicyCannotDoWithout(t *testing.T) {
	for name, config := range map[string]connectrest.Config{
		"no alias":             {},
		"an empty alias":       {keySourceAlias: " "},
		"an empty separator":   {keySourceAlias: "source", "replication.policy.separator": ""},
		"a referred separator": {keySourceAlias: "source", "replication.policy.separator": "${env:SEPARATOR}"},
		"a referred target":    {keySourceAlias: "source", keyTargetAlias: "${env:ALIAS}"},
	} {
		if p, err := policyOf(settings{config}); !errors.Is(err, ErrPolicy) || p != (policy{}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestReferencesOfAValue(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "", "plain": "", "${HOME}": "", "$file:x": "", "${:x}": "", "<secret>": "",
		"${file:/etc/mm2:alias}":       "${file:/etc/mm2:alias}",
		"a-${env:X}-b ${vault:k}":      "${env:X}${vault:k}",
		"${file:/p:a}${env:B}":         "${file:/p:a}${env:B}",
		"https://u:p@host/${env:TAIL}": "${env:TAIL}",
	} {
		if got := reference(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
