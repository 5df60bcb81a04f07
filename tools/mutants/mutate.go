package main

import (
	"bytes"
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
	file     string
	line     int
	what     string
	text     []byte
	packages []string
}

// mutantsOf makes every change of a file: of its expressions if it is Go, else
// of its lines, for tables are data.
func mutantsOf(root, file string, packages []string) ([]mutant, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(file) != ".go" {
		return rowsLeftOut(file, src, packages), nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, 0)
	if err != nil {
		return nil, err
	}
	m := maker{set: set, src: src, file: file, packages: packages}
	ast.Inspect(tree, m.visit)
	return m.all, nil
}

// rowsLeftOut drops one row of a table at a time.
func rowsLeftOut(file string, src []byte, packages []string) []mutant {
	var all []mutant
	lines := bytes.SplitAfter(src, []byte("\n"))
	for i, l := range lines {
		text := strings.TrimSpace(string(l))
		if text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "[") {
			continue
		}
		left := bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil)
		all = append(all, mutant{file, i + 1, "row left out: " + text, left, packages})
	}
	return all
}

// maker collects the changes of one Go file.
type maker struct {
	set      *token.FileSet
	src      []byte
	file     string
	packages []string
	all      []mutant
}

// visit makes the changes of one node.
func (m *maker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := turned(n.Op); ok {
			m.replace(n.OpPos, len(n.Op.String()), to.String(), n.Op.String()+" becomes "+to.String())
		}
	case *ast.IfStmt:
		m.never(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			m.replace(n.OpPos, 1, "", "! left out")
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			m.replace(n.NamePos, len("true"), "false", "true becomes false")
		case "false":
			m.replace(n.NamePos, len("false"), "true", "false becomes true")
		}
	case *ast.BasicLit:
		if n.Kind == token.INT && len(n.Value) < 6 && n.Value != "0" {
			m.replace(n.ValuePos, len(n.Value), "("+n.Value+" + 1)", n.Value+" becomes one more")
		}
	case *ast.ImportSpec:
		return false
	}
	return true
}

// never makes a branch that is not taken, where that alone compiles.
func (m *maker) never(n *ast.IfStmt) {
	from, to := m.set.Position(n.Cond.Pos()).Offset, m.set.Position(n.Cond.End()).Offset
	cond := string(m.src[from:to])
	m.replace(n.Cond.Pos(), to-from, "("+cond+") && false", "branch never taken: if "+cond)
}

// turned is the operator that a careless hand would write.
func turned(op token.Token) (token.Token, bool) {
	to, ok := map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS,
		token.GTR: token.GEQ, token.GEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND,
	}[op]
	return to, ok
}

func (m *maker) replace(at token.Pos, length int, with, what string) {
	p := m.set.Position(at)
	text := slices.Concat(m.src[:p.Offset], []byte(with), m.src[p.Offset+length:])
	m.all = append(m.all, mutant{m.file, p.Line, fmt.Sprintf("%d: %s", p.Column, what), text, m.packages})
}
