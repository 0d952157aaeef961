package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"

	yaml "sigs.k8s.io/yaml/goyaml.v2" // what sigs.k8s.io/yaml decodes with: what that one leaves unread is what matters
)

// oneDocument refuses a text that goes on after its first YAML document: the
// decoder reads that one and says nothing of the rest, so that what stands there
// would be settings that silently are not set. The rest begins after --- or ...,
// and also after a first document that ends by itself, such as {}.
func oneDocument(text []byte) error {
	if !goesOn(text) {
		return nil
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	begins := sort.Search(len(lines), func(i int) bool { return goesOn(bytes.Join(lines[:i+1], nil)) })
	return fmt.Errorf("line %d: the text goes on after its first document; a file holds one document", begins+1)
}

// goesOn reports whether anything but comments follows the first document. A
// first one that cannot be read is the strict decoder's matter.
func goesOn(text []byte) bool {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document any
	if err := d.Decode(&document); err != nil {
		return false
	}
	return !errors.Is(d.Decode(&document), io.EOF)
}
