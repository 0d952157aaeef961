package flinkmm2

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Whatever the engine can decide, refuse and say of a plan is told in a story.
func TestEveryDecisionOfTheEngineIsInAStory(t *testing.T) {
	t.Parallel()
	told := told(t)
	find := func(kind, name string, form string) {
		if !regexp.MustCompile(form).MatchString(told) {
			t.Errorf("%s %s is in no story", kind, name)
		}
	}
	acts, goals, stages, checks := 0, 0, 0, 0
	for _, file := range engineFiles(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, named := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if !named || !literal {
				return true
			}
			name, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch kind.Name {
			case "Act":
				acts++
				find("act", name, `(?m)^ +next `+name+`$`)
			case "Goal":
				goals++
				find("goal", name, `(?m)^`+name+` \w+`)
			case "Stage":
				stages++
				find("stage", name, `(?m)^  \w+ is `+name+`[ ,]|: `+name+`; again`)
			}
			return true
		})
		ast.Inspect(file, func(n ast.Node) bool {
			if _, imported := n.(*ast.ImportSpec); imported {
				return false
			}
			text, ok := n.(*ast.BasicLit)
			if ok && text.Kind == token.STRING && checkID.MatchString(text.Value) {
				checks++
				find("check", text.Value, `(?m)^ +`+strings.Trim(text.Value, `"`)+`( |$)`)
			}
			return true
		})
	}
	if acts < 10 || goals < 7 || stages < 14 || checks < 25 {
		t.Errorf("%d acts, %d goals, %d stages and %d checks were found: the engine is not read", acts, goals, stages, checks)
	}
}

var checkID = regexp.MustCompile(`^"[a-z]+/[a-z-]+"$`)

func engineFiles(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("internal/engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// told is the text of all stories. That it is what comes of them today TestStories holds.
func told(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("testdata/story/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	return all.String()
}
