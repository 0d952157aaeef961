package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change of a source file. Its id is its place in the list of the
// package, and what the test binary is told to switch on.
type mutant struct {
	// name tells it apart from all others of the repository, and stays as it is
	// when lines move: FILE FUNC: BEFORE => AFTER.
	name string
	line int
}

// source is a file with all its mutants in it, each switched off.
type source struct {
	path, text string
}

// edit is text that comes into a file. Of several at one offset, those that close
// an expression come first, the inner before the outer, then those that open one,
// the outer before the inner.
type edit struct {
	offset, drop int
	text         string
	closes       bool
}

// other is what an operator is changed into. The first of two is its opposite,
// the second moves the boundary by one.
var other = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.GEQ, token.LEQ}, token.LEQ: {token.GTR, token.LSS},
	token.GTR: {token.LEQ, token.GEQ}, token.GEQ: {token.LSS, token.GTR},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// helper is the function of helpers.go.txt that stands in for an operator.
var helper = map[token.Token]string{
	token.LSS: "mutantLess", token.LEQ: "mutantLessOrEqual", token.GTR: "mutantGreater", token.GEQ: "mutantGreaterOrEqual",
	token.LAND: "mutantAnd", token.LOR: "mutantOr",
	token.ADD: "mutantAdd", token.SUB: "mutantSub", token.MUL: "mutantMul", token.QUO: "mutantQuo", token.REM: "mutantRem",
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
}

// mutate finds every mutant of a package, and returns its files with all of them.
func mutate(listing io.Reader, dir string) ([]mutant, []source, error) {
	exports := map[string]string{}
	var pkg listed
	for d := json.NewDecoder(listing); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		exports[l.ImportPath] = l.Export
		pkg = l // the package that was asked for comes last
	}
	m := mutator{fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}, seen: map[string]int{}}
	files := make([]*ast.File, 0, len(pkg.GoFiles))
	texts := make([][]byte, 0, len(pkg.GoFiles))
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(filepath.Join(pkg.Dir, name))
		if err != nil {
			return nil, nil, err
		}
		f, err := parser.ParseFile(m.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files, texts = append(files, f), append(texts, text)
	}
	conf := types.Config{Importer: importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("go list gave no export data of %s", path)
		}
		return os.Open(exports[path])
	})}
	if _, err := conf.Check(pkg.ImportPath, m.fset, files, m.info); err != nil {
		return nil, nil, err
	}
	sources := make([]source, 0, len(files)+1)
	for i, f := range files {
		m.text, m.path, m.edits, m.function = texts[i], dir+"/"+pkg.GoFiles[i], nil, "var"
		m.headers = map[ast.Stmt]bool{}
		for _, d := range f.Decls {
			m.function = nameOf(d)
			m.walk(d)
		}
		sources = append(sources, source{filepath.Join(pkg.Dir, pkg.GoFiles[i]), m.edited()})
	}
	sources = append(sources, source{filepath.Join(pkg.Dir, "mutants_of_this_run.go"), "package " + pkg.Name + "\n" + helpers})
	return m.all, sources, nil
}

func nameOf(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	switch {
	case !ok:
		return "var"
	case f.Recv == nil:
		return f.Name.Name
	}
	on := f.Recv.List[0].Type
	if star, ok := on.(*ast.StarExpr); ok {
		on = star.X
	}
	if generic, ok := on.(*ast.IndexExpr); ok {
		on = generic.X
	}
	return types.ExprString(on) + "." + f.Name.Name
}

// mutator walks the files of a package.
type mutator struct {
	fset    *token.FileSet
	info    *types.Info
	seen    map[string]int // names, to number those that recur
	all     []mutant
	headers map[ast.Stmt]bool // statements in the header of another

	text     []byte // of the file
	path     string
	function string
	edits    []edit
}

func (m *mutator) walk(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.binary(n)
		return
	case *ast.ForStmt:
		m.headers[n.Init], m.headers[n.Post] = true, true
	case *ast.IfStmt:
		m.headers[n.Init] = true
	case *ast.SwitchStmt:
		m.headers[n.Init] = true
	case *ast.AssignStmt:
		if m.isNumber(n.Lhs[0]) && len(other[n.Tok]) > 0 {
			m.open(n.Rhs[0].Pos(), "mutantMinus(%d, ", m.add(n, n.TokPos, n.Tok, other[n.Tok][0]))
			m.children(n)
			m.close(n.Rhs[0].End(), ")")
			return
		}
	case *ast.IncDecStmt:
		// No statement fits into a header; and most loops that count down end at once, by an index out of range.
		if !m.headers[n] && !m.hasOperators(n.X) {
			x := string(m.text[m.offset(n.X.Pos()):m.offset(n.X.End())])
			to := other[n.Tok][0]
			m.open(n.Pos(), "if mutantIs(%d) { "+strings.ReplaceAll(x, "%", "%%")+to.String()+" } else { ", m.add(n, n.TokPos, n.Tok, to))
			m.close(n.End(), " }")
		}
	}
	m.children(n)
}

func (m *mutator) children(n ast.Node) {
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil || c == n {
			return c == n
		}
		m.walk(c)
		return false
	})
}

func (m *mutator) hasOperators(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.BinaryExpr, *ast.FuncLit:
			found = true
		}
		return !found
	})
	return found
}

func (m *mutator) binary(n *ast.BinaryExpr) {
	into := other[n.Op]
	if len(into) == 0 || m.info.Types[n].Value != nil || isArithmetic(n.Op) && !m.isNumber(n) {
		m.children(n)
		return
	}
	ids := make([]int, len(into))
	for i, op := range into {
		ids[i] = m.add(n, n.OpPos, n.Op, op)
	}
	switch {
	case helper[n.Op] == "": // == and !=, whose operands may be of two types
		m.open(n.Pos(), "mutantNot(%d, ", ids[0])
		m.children(n)
		m.close(n.End(), ")")
	case n.Op == token.LAND || n.Op == token.LOR:
		m.open(n.Pos(), helper[n.Op]+"(%d, ", ids[0])
		m.walk(n.X)
		m.edits = append(m.edits, edit{offset: m.offset(n.OpPos), drop: 2, text: ", func() bool { return ("})
		m.walk(n.Y)
		m.close(n.End(), ")})")
	default:
		boundary := ""
		if len(ids) > 1 {
			boundary = fmt.Sprintf("%d, ", ids[1])
		}
		m.open(n.Pos(), helper[n.Op]+"(%d, "+boundary, ids[0])
		m.walk(n.X)
		m.edits = append(m.edits, edit{offset: m.offset(n.OpPos), drop: len(n.Op.String()), text: ","})
		m.walk(n.Y)
		m.close(n.End(), ")")
	}
}

func isArithmetic(op token.Token) bool { return op >= token.ADD && op <= token.REM }

func (m *mutator) isNumber(x ast.Expr) bool {
	t := m.info.Types[x].Type
	if t == nil {
		return true // an identifier on the left of an assignment may have none
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// add notes a mutant and returns its id.
func (m *mutator) add(n ast.Node, at token.Pos, from, to token.Token) int {
	start, op, end := m.offset(n.Pos()), m.offset(at), m.offset(n.End())
	inOneLine := func(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }
	before := inOneLine(m.text[start:op]) + " " + from.String() + " " + inOneLine(m.text[op+len(from.String()):end])
	name := fmt.Sprintf("%s %s: %s => %s", m.path, m.function, strings.TrimSpace(before), to)
	m.seen[name]++
	if n := m.seen[name]; n > 1 {
		name += fmt.Sprintf(" (%d)", n)
	}
	m.all = append(m.all, mutant{name, m.fset.Position(at).Line})
	return len(m.all) // 0 is none
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) open(at token.Pos, format string, id int) {
	m.edits = append(m.edits, edit{offset: m.offset(at), text: fmt.Sprintf(format, id)})
}

func (m *mutator) close(at token.Pos, text string) {
	m.edits = append(m.edits, edit{offset: m.offset(at), text: text, closes: true})
}

func (m *mutator) edited() string {
	slices.SortStableFunc(m.edits, func(a, b edit) int {
		if d := cmp.Compare(a.offset, b.offset); d != 0 || a.closes == b.closes {
			return d
		}
		if a.closes {
			return -1
		}
		return 1
	})
	var out bytes.Buffer
	last := 0
	for _, e := range m.edits {
		out.Write(m.text[last:e.offset])
		out.WriteString(e.text)
		last = e.offset + e.drop
	}
	out.Write(m.text[last:])
	return out.String()
}
