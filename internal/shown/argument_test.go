package shown_test

import (
	"os/exec"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// What is printed for a person to paste must reach the program as it was.
func TestAShellLeavesAPrintedArgumentAsItIs(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"copy-orders", "./a/b_c.yaml", "sha256:0f", "Kopie-Müller"} {
		if got := shown.Argument(plain); got != plain {
			t.Errorf("%q is quoted: %s", plain, got)
		}
	}
	for _, arg := range []string{"", " ", "g{a,b}", "r{1..3}", "a b", "it's", "$HOME", "~", "a=b", "^x", "!x", "*", "`id`", "a;b", "#x", "a\\b", "a\nb", "\"", "=ls", "\x1b[2J'%s\\", "a\u202eb c", "\tü", "\xff", "a\nb'c"} {
		for _, shell := range []string{"sh", "bash"} {
			if _, err := exec.LookPath(shell); err != nil {
				t.Logf("no %s here", shell)
				continue
			}
			got, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+shown.Argument(arg)).Output()
			if err != nil || string(got) != arg {
				t.Errorf("%s makes %q of %s, want %q: %v", shell, got, shown.Argument(arg), arg, err)
			}
		}
	}
}
