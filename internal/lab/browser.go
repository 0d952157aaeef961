package lab

import (
	"os/exec"
	"strings"
	"testing"
)

// chromiums are the names that distributions give the program.
var chromiums = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

// Chromium returns the path of this machine's Chromium. Like [Require] for [Browser] it ends t where there is none.
func Chromium(t testing.TB) string {
	t.Helper()
	Require(t, Browser)
	path, _ := chromium()
	return path
}

// chromium returns the first that is there, or what is missing.
func chromium() (path string, missing []string) {
	for _, name := range chromiums {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", []string{strings.Join(chromiums, ", ") + ": none found in PATH (Debian's package is chromium)"}
}
