package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
)

// followSchemas holds each file of dir/state that has a kind to that kind's
// schema. Every command of every story ends with it.
func followSchemas(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "state", "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "plan") {
			continue // a story may spoil it; that plans follow their schema is a test of offsetmap
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var head struct{ Kind string }
		if err := json.Unmarshal(raw, &head); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		schema, known := map[string]func() []byte{
			flinkmm2.PositionsKind: flinkmm2.PositionsSchema,
			flinkmm2.BoundaryKind:  flinkmm2.BoundarySchema,
			flinkmm2.ProofKind:     flinkmm2.ProofSchema,
		}[head.Kind]
		if !known {
			return fmt.Errorf("%s: kind %q has no schema", file, head.Kind)
		}
		if err := schematest.Check(schema(), raw); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func TestPositionsThatThisProgramWritesHaveTheMembersOfTheirSchema(t *testing.T) {
	s := schematest.New(t, flinkmm2.PositionsSchema())
	s.SameMembers(t, "group", reflect.TypeFor[groupPositions](), s.Def("ofGroup"))
	s.SameMembers(t, "compared", reflect.TypeFor[comparedPositions](), s.Def("compared"))
}
