package lab

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestChromiumIsFoundByEachOfItsNames(t *testing.T) {
	for _, name := range chromiums {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			program(t, bin, name, "exit 0")
			t.Setenv("PATH", bin)
			var got string
			if v := judge(t, func(tb testing.TB) { got = Chromium(tb) }); v.outcome != "" || got != filepath.Join(bin, name) {
				t.Errorf("%q, %s %s", got, v.outcome, v.message)
			}
		})
	}
}

func TestAMachineWithoutABrowserSkipsUnlessItIsRequired(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for required, outcome := range map[string]string{"": "skipped", "jvm": "skipped", "jvm,browser": "failed"} {
		t.Setenv(RequireEnv, required)
		v := judge(t, func(tb testing.TB) { Chromium(tb) })
		if v.outcome != outcome || !strings.Contains(v.message, "stage browser cannot run here") || !strings.Contains(v.message, "chromium, ") {
			t.Errorf("%s=%q: %s %s", RequireEnv, required, v.outcome, v.message)
		}
	}
}
