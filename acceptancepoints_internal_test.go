package flinkmm2

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// What a point says next is a command that can be pasted, but for what nobody can know.
func TestWhatAPointSaysNextIsFilled(t *testing.T) {
	names := preflight.Names{
		Source: preflight.Brokers{Servers: "source:9092"}, Target: preflight.Brokers{Servers: "target:9092"},
		Worker: "http://connect:8083", Connector: "mm2", Migration: "migration.yaml",
	}
	for _, p := range acceptancePoints() {
		got := names.Fill(p.next)
		for _, left := range regexp.MustCompile(`<[^>]*>`).FindAllString(got, -1) {
			if !slices.Contains([]string{"<NAME>", "<OTHER>", "<CONSUMER-GROUP>"}, left) {
				t.Errorf("%s: %s is left: %s", p.id, left, got)
			}
		}
		for i, part := range strings.Split(got, "`") {
			if strings.Contains(part, "runbook -f") != (i%2 == 1 && strings.HasPrefix(part, "runbook")) || strings.Contains(part, "runbook watch") {
				t.Errorf("%s: %q is no whole command: %s", p.id, part, got)
			}
		}
	}
}
