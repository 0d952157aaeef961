package cutover

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// Figures collects what the oracle counted on one stage. A nil *Figures takes
// them and keeps none.
type Figures struct {
	mu   sync.Mutex
	rows []figure
}

// figure is what came of one partition.
type figure struct {
	scenario, partition string
	what                string // lies at C
	c, first            string
	missing, repeated   int
}

func (f *Figures) add(row figure) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// A scenario may look again later: what it saw last counts.
	i := slices.IndexFunc(f.rows, func(r figure) bool { return r.scenario == row.scenario && r.partition == row.partition })
	if i < 0 {
		f.rows = append(f.rows, row)
		return
	}
	f.rows[i] = row
}

// String returns a table with a row for each partition, and their sums.
func (f *Figures) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortStableFunc(f.rows, func(a, b figure) int {
		return cmp.Or(strings.Compare(a.scenario, b.scenario), len(a.partition)-len(b.partition), strings.Compare(a.partition, b.partition))
	})
	var rows, out bytes.Buffer
	rows.WriteString("scenario\tpartition\tboundary\tC\tfirst copied\tmissing\trepeated\n")
	missing, repeated := 0, 0
	for _, r := range f.rows {
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", r.scenario, r.partition, r.what, r.c, r.first, r.missing, r.repeated)
		missing += r.missing
		repeated += r.repeated
	}
	fmt.Fprintf(&rows, "all\t%d partitions\t\t\t\t%d\t%d\n", len(f.rows), missing, repeated)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = w.Write(rows.Bytes())
	_ = w.Flush() // to memory
	return out.String()
}
