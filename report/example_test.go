package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/report"
)

// A plan alone has a report already: what is to be approved.
func ExampleNew() {
	plan, err := flinkmm2.ReadPlan("../offsetmap/testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := report.New(report.Sources{Plan: plan, At: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Summary)
	fmt.Println(d.Totals.Topics, "topics,", d.Totals.Partitions, "partitions,", d.Totals.Accepted, "findings accepted")
	// Output:
	// Planned. Nothing was written to Connect yet. 200 offsets before C had expired and are lost, by acceptance.
	// 2 topics, 9 partitions, 4 findings accepted
}

// The journal and the proof are added as there are some, and the page is written
// beside them.
func ExampleDocument_WriteHTML() {
	plan, err := flinkmm2.ReadPlan("../offsetmap/testdata/plan.golden.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := report.New(report.Sources{Plan: plan, At: time.Now()})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := os.CreateTemp("", "report-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	if err := d.WriteHTML(f); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Close())
	// Output: <nil>
}
