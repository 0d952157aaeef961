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
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

// stateFiles returns what the files of dir/state hold. That plans follow their
// schema is a test of offsetmap.
func stateFiles(dir string) map[string]string {
	files := map[string]string{}
	names, _ := filepath.Glob(filepath.Join(dir, "state", "*.json")) // the pattern is sound
	for _, name := range names {
		if raw, err := os.ReadFile(name); err == nil && !strings.HasPrefix(filepath.Base(name), "plan") {
			files[name] = string(raw)
		}
	}
	return files
}

// followSchemas holds each file of dir/state that has a kind to that kind's
// schema, unless it was there before: a story may spoil one. Every command of
// every story ends with it.
func followSchemas(dir string, before map[string]string) error {
	for file, text := range stateFiles(dir) {
		if was, there := before[file]; there && was == text {
			continue
		}
		raw := []byte(text)
		var head struct{ Kind string }
		if err := json.Unmarshal(raw, &head); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		schema, known := map[string]func() []byte{
			flinkmm2.PositionsKind:      flinkmm2.PositionsSchema,
			flinkmm2.BoundaryKind:       flinkmm2.BoundarySchema,
			flinkmm2.OffsetsBackupKind:  flinkmm2.OffsetsBackupSchema,
			flinkmm2.ProofKind:          flinkmm2.ProofSchema,
			flinkmm2.RestartMarkKind:    flinkmm2.RestartMarkSchema,
			flinkmm2.CheckpointKind:     flinkmm2.CheckpointSchema,
			flinkmm2.AcceptanceListKind: flinkmm2.AcceptanceListSchema,
			preflightKind:               flinkmm2.PreflightSchema,
			report.Kind:                 report.Schema,
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

func TestAPreflightHasTheMembersOfItsSchema(t *testing.T) {
	s := schematest.New(t, flinkmm2.PreflightSchema())
	s.SameMembers(t, "preflight", reflect.TypeFor[findingsDocument](), s.Root)
	s.SameMembers(t, "latest", reflect.TypeFor[preflight.Latest](), s.Def("latest"))
	s.SameMembers(t, "remedy", reflect.TypeFor[preflight.Remedy](), s.Def("remedy"))
}

func TestTheSchemaOfAPreflightKnowsItsRemedies(t *testing.T) {
	const none = `{"at":null,"scope":"","why":"","estimated":false,"unknown":""}`
	s := schematest.New(t, flinkmm2.PreflightSchema())
	for remedy, follows := range map[string]bool{
		`{"check":"source/unknown","scopes":[""],"text":"Start it.","commands":[]}`: true,
		`{"check":"source/unknown","scopes":[],"text":"Start it.","commands":[]}`:   false,
		`{"check":"source/unknown","scopes":[""],"text":"","commands":[]}`:          false,
		`{"check":"source/unknown","scopes":[""],"text":"Start it."}`:               false,
		`"Start it."`: false, `null`: false,
	} {
		text := `{"apiVersion":"flinkmm2/v1","kind":"Preflight","createdAt":"2026-03-01T12:00:00Z","blocked":true,"findings":[],"rows":[],"results":[],"forecast":null,"remedies":[` + remedy + `],"latestStart":` + none + `,"latestRollback":` + none + `}`
		if p := s.Problem("preflight", schematest.Decode(t, []byte(text))); (p == "") != follows {
			t.Errorf("%s: %q", remedy, p)
		}
	}
}
