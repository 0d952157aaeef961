package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// forecastText shows how many records will come twice, and of which partitions.
func forecastText(w io.Writer, f *preflight.Forecast) {
	fmt.Fprintf(w, "\nduplicates: %s\n", f)
	if f == nil || len(f.Partitions) == 0 {
		return
	}
	line(w, "TWICE", "RECORDS", "BYTES", "AT MOST", "WHY")
	for _, p := range f.Partitions[:min(len(f.Partitions), mostOfACheck)] {
		records := strconv.FormatInt(p.Records, 10)
		if p.AtLeast {
			records += " or more"
		}
		line(w, p.TopicPartition, records, p.Bytes, p.AtMost, p.Why)
	}
	if more := len(f.Partitions) - mostOfACheck; more > 0 {
		fmt.Fprintf(w, "and %d partitions more: preflight -o json lists all\n", more)
	}
}

// plannedOutlook shows what was kept beside a plan of what comes of it: until when one can
// go on and back, and how many records come twice.
func plannedOutlook(w io.Writer, dir string, plan *offsetmap.Plan) error {
	kept, err := readKind[findingsDocument](filepath.Join(dir, preflightFile), preflightKind)
	if err != nil {
		return err
	}
	why := ""
	if kept == nil {
		why = preflightFile + " is gone"
	} else {
		same, err := sameRows(kept.Rows, plan.Body.Rows)
		if err != nil {
			return err
		}
		if !same {
			why = preflightFile + " is of another plan"
		}
	}
	fmt.Fprintln(w)
	if why != "" {
		deadlinesTable(w, preflight.Latest{Unknown: why}, preflight.Latest{Unknown: why})
		fmt.Fprintf(w, "\nduplicates: not known: %s\n", why)
		return nil
	}
	deadlinesTable(w, kept.LatestStart, kept.LatestRollback)
	forecastText(w, kept.Forecast)
	return nil
}

func sameRows(a, b []offsetmap.Row) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	other, err := json.Marshal(b)
	return bytes.Equal(one, other), err
}
