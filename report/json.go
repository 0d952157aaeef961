package report

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
)

//go:embed schema.json
var schema string

// Schema returns the JSON schema (draft 2020-12) of report files.
func Schema() []byte { return []byte(schema) }

// WriteJSON writes the document indented, one partition a line, so that it stays
// readable and small with many.
func (d *Document) WriteJSON(w io.Writer) error {
	head := *d
	head.Partitions = []Partition{}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	const end = "[]\n}" // the partitions come last
	before, found := bytes.CutSuffix(text, []byte(end))
	if !found {
		return fmt.Errorf("report: the partitions do not end the document")
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.Write(before) // its error stays until Flush
	_ = out.WriteByte('[')
	for i, p := range d.Partitions {
		row, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("report: %s: %w", p.TopicPartition, err)
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.WriteString("\n    ")
		_, _ = out.Write(row)
	}
	_, _ = out.WriteString("\n  ]\n}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
