package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// print writes a document to stdout: JSON as given, the same as YAML, or the
// table that people read.
func (a *app) print(document []byte, table func(w io.Writer)) error {
	switch a.output {
	case "json":
		_, err := a.out.Write(document)
		return err
	case "yaml":
		text, err := yaml.JSONToYAML(document)
		if err != nil {
			return err
		}
		_, err = a.out.Write(text)
		return err
	default:
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		table(w)
		return w.Flush()
	}
}

// printValue is print for what has no encoding of its own.
func (a *app) printValue(v any, table func(w io.Writer)) error {
	document, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.print(append(document, '\n'), table)
}

// line writes cells of one table row.
func line(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, c)
	}
	fmt.Fprintln(w)
}

// dash stands where a cell has nothing.
func dash[T comparable](v T) any {
	var zero T
	if v == zero {
		return "-"
	}
	return v
}
