package flinkmm2_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestWhatNoGroupIsCalledByIntentIsRefused(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	for _, name := range []string{"g", "copy-orders", "a b", "Kopie-Müller", "g{a,b}", "$x", strings.Repeat("g", 1024)} {
		if err := flinkmm2.CheckGroup(name); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"":                        "no consumer group was named",
		" ":                       `" " is blank`,
		"\t\n":                    `"\t\n" is blank`,
		" copy-orders":            "begins or ends with white space",
		"copy-orders\n":           "begins or ends with white space",
		"copy\norders":            `"copy\norders" holds characters that do not print`,
		"copy\x1b[2Jorders":       "holds characters that do not print",
		"copy\x00orders":          "holds characters that do not print",
		"copy\u200borders":        "holds characters that do not print",
		"copy\u00a0orders":        "holds characters that do not print",
		"copy\xff":                "is not valid UTF-8",
		strings.Repeat("g", 1025): "is longer than 1024 bytes",
	} {
		request := flinkmm2.GroupReturn{Group: name, FlinkStopped: offsetmap.Attest(offsetmap.Canceled, "ana", "looked")}
		_, committed := w.steps.CommitBoundary(t.Context(), nil, &flinkmm2.Boundary{}, request)
		for who, err := range map[string]error{"CheckGroup": flinkmm2.CheckGroup(name), "GroupReturn.Check": request.Check(), "CommitBoundary": committed} {
			if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
				t.Errorf("%s of %.20q: %v, want %s", who, name, err, want)
			}
		}
		if name == "" { // a plan looks at no group then
			continue
		}
		w.group = name
		if _, err := w.planFrom(w.steps, "20", "32"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a plan with group %.20q: %v, want %s", name, err, want)
		}
	}
}
