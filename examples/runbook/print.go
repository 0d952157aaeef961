package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// print writes a document to stdout: JSON as given, the same as YAML, or the
// table that people read, whose cells end with tabs.
func (a *app) print(document []byte, table func(w io.Writer)) error {
	return a.printAligned(document, func(out io.Writer) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		table(w)
		_ = w.Flush() // an error of out stays with out
	})
}

// printAligned is print for a table that has its columns already. The document is
// not looked at when it is the table that is wanted.
func (a *app) printAligned(document []byte, table func(w io.Writer)) error {
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
		// The table has a write for each cell, of which there may be a million.
		out := bufio.NewWriterSize(&legible{to: a.out}, 1<<16)
		table(out)
		return out.Flush()
	}
}

// legible writes lines in which nothing acts on a terminal: whatever a cluster, a
// state or a file has chosen stands in them.
type legible struct {
	to   io.Writer
	rest []byte // the beginning of a character
}

func (l *legible) Write(p []byte) (int, error) {
	if len(l.rest) == 0 && plain(p) {
		return l.to.Write(p)
	}
	text := append(l.rest, p...)
	whole := len(text)
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				whole = i
			}
			break
		}
	}
	_, err := io.WriteString(l.to, shown.Text(string(text[:whole])))
	l.rest = append([]byte(nil), text[whole:]...)
	return len(p), err
}

// plain reports whether a text has nothing but printable ASCII and line ends, as
// most have. It looks at eight bytes at a time, which makes it quick enough to be
// asked of megabytes.
func plain(p []byte) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; len(p) >= 8; p = p[8:] {
		v := binary.NativeEndian.Uint64(p)
		// The high bit of a byte is set where it is 0x80 or more, where it is less
		// than a space, or where it is more than a tilde.
		if (v|(v-each*' ')|(v+each))&high != 0 && !plainBytes(p[:8]) {
			return false
		}
	}
	return plainBytes(p)
}

func plainBytes(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c > '~') && c != '\n' {
			return false
		}
	}
	return true
}

// printValue is print for what has no encoding of its own.
func (a *app) printValue(v any, table func(w io.Writer)) error {
	document, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.print(append(document, '\n'), table)
}

// line writes cells of one table row. No cell ends it, or becomes two.
func line(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, shown.Line(fmt.Sprint(c)))
	}
	fmt.Fprintln(w)
}

// named is a cell for a name that somebody has chosen; a dash where it is empty.
func named(name string) any {
	if name == "" {
		return "-"
	}
	return shown.Name(name)
}

// dash stands where a cell has nothing.
func dash[T comparable](v T) any {
	var zero T
	if v == zero {
		return "-"
	}
	return v
}
