package connectrest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported name has words of its own, or stands in a group that has.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		check := func(id *ast.Ident, docs ...*ast.CommentGroup) {
			if !id.IsExported() {
				return
			}
			names++
			for _, d := range docs {
				if d.Text() != "" {
					return
				}
			}
			t.Errorf("%s: %s has no documentation", set.Position(id.Pos()), id.Name)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || exportedReceiver(d) {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						check(s.Name, s.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							check(id, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	if names < 150 {
		t.Errorf("only %d exported names were found", names)
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
