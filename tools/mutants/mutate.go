package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a file with one change.
type mutant struct {
	file         string
	line, column int
	place        string // file:line: as seen from the root
	what         string
	key          string // in the list of equivalent changes
	text         []byte // of the changed file
	packages     []string

	id    int // number of its switch, from 1; 0 if it has none and is built alone
	order int // position in the file
	edits []edit
}

// edit inserts a text into a file, or replaces an operator.
type edit struct {
	at     int // offset in the file
	length int // of what is replaced
	text   string
	order  int // among the edits at the same offset
}

// mutantsOf returns every change to a file: to its expressions if it is Go, otherwise to its lines,
// because tables are data.
func mutantsOf(root, file string, packages []string) ([]*mutant, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	var all []*mutant
	if filepath.Ext(file) == ".go" {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, src, 0)
		if err != nil {
			return nil, err
		}
		m := maker{set: set, src: src, unread: map[ast.Expr]bool{}}
		ast.Inspect(tree, m.visit)
		all = m.all
	} else {
		all = rowsLeftOut(src)
	}
	lines, often := strings.Split(string(src), "\n"), map[string]int{}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
		often[lines[i]]++
	}
	for i, m := range all {
		m.file, m.packages, m.order = file, packages, i
		m.place = fmt.Sprintf("%s:%d:", filepath.ToSlash(name), m.line)
		line := lines[m.line-1]
		if often[line] > 1 && m.line > 1 { // The line before tells which of them it is.
			line = lines[m.line-2] + " " + line
		}
		m.key = strings.Join([]string{name, line, m.what}, " | ")
	}
	return all, nil
}

// rowsLeftOut drops one row of a table at a time, that is, an indented line.
func rowsLeftOut(src []byte) []*mutant {
	var all []*mutant
	lines := bytes.SplitAfter(src, []byte("\n"))
	for i, l := range lines {
		text := strings.TrimSpace(string(l))
		if text == "" || strings.HasPrefix(text, "#") || !strings.HasPrefix(string(l), "\t") {
			continue
		}
		left := bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil)
		all = append(all, &mutant{line: i + 1, what: "row left out: " + text, text: left})
	}
	return all
}

// maker collects the changes to one Go file.
type maker struct {
	set    *token.FileSet
	src    []byte
	all    []*mutant
	unread map[ast.Expr]bool // results that nobody looks at
}

// visit adds the changes to one node. A %d in code behind a switch stands for the mutant's number.
func (m *maker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.binary(n)
		return !m.counts(n)
	case *ast.IfStmt:
		if onlyLogs(n) {
			m.within(n)
			return false
		}
		m.besideErrors(n)
		cond := m.of(n.Cond)
		at := m.add(n.Cond.Pos(), "branch never taken: if "+cond, n.Cond.Pos(), n.Cond.End(), "("+cond+") && false")
		at.around(m, n.Cond, "((", ") && !mutantOn(%d))")
	case *ast.UnaryExpr:
		if _, number := n.X.(*ast.BasicLit); number && n.Op == token.SUB {
			return false // -1 stands for none or all: any negative number would do
		}
		if n.Op == token.NOT {
			at := m.add(n.OpPos, "! left out", n.OpPos, n.OpPos+1, "")
			at.around(m, n, "", ") == mutantOn(%d))")
			at.instead(m, n.OpPos, 1, "((")
		}
	case *ast.Ident:
		if to, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok && !m.unread[n] {
			at := m.add(n.Pos(), n.Name+" becomes "+to, n.Pos(), n.End(), to)
			at.around(m, n, "(", " != mutantOn(%d))")
		}
	case *ast.BasicLit:
		if n.Kind == token.INT && !m.unread[n] && len(n.Value) < 6 && n.Value != "0" {
			at := m.add(n.Pos(), n.Value+" becomes one more", n.Pos(), n.End(), "("+n.Value+" + 1)")
			at.around(m, n, "mutantInt(%d, ", ")")
		}
	case *ast.CallExpr:
		return !m.room(n)
	case *ast.ImportSpec:
		return false
	}
	return true
}

// within collects the changes to what a statement assigns first, and to the functions in its
// condition.
func (m *maker) within(n *ast.IfStmt) {
	if n.Init != nil {
		ast.Inspect(n.Init, m.visit)
	}
	ast.Inspect(n.Cond, func(part ast.Node) bool {
		f, ok := part.(*ast.FuncLit)
		if ok {
			ast.Inspect(f.Body, m.visit)
		}
		return !ok
	})
}

// onlyLogs reports whether a branch does nothing but write into a log, which decides nothing.
func onlyLogs(n *ast.IfStmt) bool {
	if n.Else != nil || len(n.Body.List) != 1 {
		return false
	}
	stmt, ok := n.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"DebugContext", "InfoContext", "WarnContext", "ErrorContext"}, method.Sel.Name)
}

// besideErrors notes what is returned beside an error that was found not to be nil: by convention a
// caller looks at the error first, and a linter sees to it that none is dropped.
func (m *maker) besideErrors(n *ast.IfStmt) {
	cond := n.Cond
	for and, ok := cond.(*ast.BinaryExpr); ok && and.Op == token.LAND; and, ok = cond.(*ast.BinaryExpr) {
		cond = and.X
	}
	if m.of(cond) != "err != nil" {
		return
	}
	for _, s := range n.Body.List {
		r, ok := s.(*ast.ReturnStmt)
		if !ok || len(r.Results) == 0 {
			continue
		}
		results, last := r.Results[:len(r.Results)-1], r.Results[len(r.Results)-1]
		told := false // by itself, or wrapped
		ast.Inspect(last, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			told = told || ok && name.Name == "err"
			return true
		})
		if !told {
			continue
		}
		for _, result := range results {
			m.unread[result] = true
		}
	}
}

// counts reports whether an expression numbers the names of a list, for which any distinct numbers
// would do.
func (m *maker) counts(n *ast.BinaryExpr) bool { return m.of(n.X) == "iota" || m.of(n.Y) == "iota" }

// room reports whether a call only reserves capacity, whose amount no test can observe.
func (m *maker) room(n *ast.CallExpr) bool {
	name := m.of(n.Fun)
	return name == "make" && len(n.Args) == 3 || name == "slices.Grow" || strings.HasSuffix(name, ".Grow")
}

// binary replaces a comparison or a connective with what one might write by mistake.
func (m *maker) binary(n *ast.BinaryExpr) {
	to, ok := map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS,
		token.GTR: token.GEQ, token.GEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND,
	}[n.Op]
	if !ok {
		return
	}
	op := n.Op.String()
	at := m.add(n.OpPos, op+" becomes "+to.String(), n.OpPos, n.OpPos+token.Pos(len(op)), to.String())
	switch n.Op {
	case token.EQL, token.NEQ:
		at.around(m, n, "((", ") != mutantOn(%d))")
	case token.LAND, token.LOR: // by De Morgan, so that the second operand is evaluated when it would be
		at.around(m, n, "(", " != mutantOn(%d))")
		at.around(m, n, "(", ")")
		at.around(m, n.X, "((", ") != mutantOn(%d))")
		at.around(m, n.Y, "((", ") != mutantOn(%d))")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		at.around(m, n, "mutant"+map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast"}[n.Op]+"(%d, ", ")")
		at.instead(m, n.OpPos, len(op), ",")
	}
}

// add adds a mutant that replaces a part of the file.
func (m *maker) add(at token.Pos, what string, from, to token.Pos, with string) *mutant {
	p := m.set.Position(at)
	text := slices.Concat(m.src[:m.offset(from)], []byte(with), m.src[m.offset(to):])
	made := &mutant{line: p.Line, column: p.Column, what: strings.Join(strings.Fields(what), " "), text: text}
	m.all = append(m.all, made)
	return made
}

func (m *maker) offset(p token.Pos) int { return m.set.Position(p).Offset }

func (m *maker) of(n ast.Node) string { return string(m.src[m.offset(n.Pos()):m.offset(n.End())]) }

// around puts two texts around a node. What is put around a node earlier is outside of what is put
// around it, or a part of it, later.
func (t *mutant) around(m *maker, n ast.Node, before, behind string) {
	t.edits = append(t.edits,
		edit{at: m.offset(n.Pos()), text: before, order: 1},
		edit{at: m.offset(n.End()), text: behind, order: -1})
}

// instead replaces an operator.
func (t *mutant) instead(m *maker, at token.Pos, length int, with string) {
	t.edits = append(t.edits, edit{at: m.offset(at), length: length, text: with, order: 2})
}

// switched returns a file with the changes of all its mutants that have a switch. The mutants must
// be in the order in which they were found.
func switched(src []byte, mutants []*mutant) []byte {
	var all []edit
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, "%d", fmt.Sprint(m.id))
			all = append(all, e)
		}
	}
	// At one offset, closing texts precede opening ones, and of the closing texts the one that was
	// opened last comes first.
	for i := range all {
		if all[i].order < 0 {
			all[i].order = -1 - i
		}
	}
	slices.SortStableFunc(all, func(a, b edit) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var b bytes.Buffer
	last := 0
	for _, e := range all {
		b.Write(src[last:e.at])
		b.WriteString(e.text)
		last = e.at + e.length
	}
	b.Write(src[last:])
	return b.Bytes()
}
