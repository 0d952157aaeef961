package report_test

import (
	"io"
	"testing"

	"github.com/flinkmm2/flinkmm2/report"
)

// BenchmarkHundredThousandPartitions is what a report of 100,000 partitions takes.
func BenchmarkHundredThousandPartitions(b *testing.B) {
	s := small(b)
	s.Plan = many(b, 1000, 100)
	s.Proof, s.Journal = proofOf(s.Plan), journalOf(s)
	b.Run("New", func(b *testing.B) {
		for b.Loop() {
			if _, err := report.New(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	d := newDocument(b, s)
	for name, write := range map[string]func(io.Writer) error{"HTML": d.WriteHTML, "Markdown": d.WriteMarkdown, "JSON": d.WriteJSON} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
