package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWordClassesAreThere compares the word classes that the code looks up with the files that list
// their words: a missing class would have no words, and a class that nobody looks up is dead.
func TestWordClassesAreThere(t *testing.T) {
	lists := classesOf(t, "vaglio/wordclass/words.txt", ":")
	nouns := classesOf(t, "vaglio/commands/tables/nouns.txt", " =")
	for _, f := range files(t, parser.SkipObjectResolution) {
		if f.test || !engineRoom(f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			from, class, known := "", "", lists
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) == 0 {
					return true
				}
				x, _ := sel.X.(*ast.Ident)
				switch {
				case x != nil && x.Name == "wordclass" && slices.Contains([]string{"Is", "Of", "Any", "Within", "Kind", "Kinds"}, sel.Sel.Name):
					from = "words.txt"
				case sel.Sel.Name == "ofClass":
					from, known = "nouns.txt", nouns
				}
				class = literal(n.Args[0])
			case *ast.IndexExpr:
				if name := last(n.X); name == "nouns" || name == "Nouns" {
					from, class, known = "nouns.txt", literal(n.Index), nouns
				}
			}
			if from == "" || class == "" {
				return true
			}
			if _, ok := known[class]; !ok {
				t.Errorf("%s:%d: %s has no class %q", f.path, f.pos.Position(n.Pos()).Line, from, class)
			}
			known[class] = true
			return true
		})
	}
	for class, used := range lists {
		if !used {
			t.Errorf("nobody looks up the class %q of words.txt", class)
		}
	}
}

// classesOf returns the classes in a file, none of them looked up yet.
func classesOf(t *testing.T, name, sign string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		class, list, ok := strings.Cut(line, sign)
		if !ok || strings.Contains(class, " ") || strings.TrimSpace(list) == "" {
			t.Errorf("%s: want a class and its words, got %q", name, line)
		}
		class, _, _ = strings.Cut(class, "/") // it may have several kinds
		all[class] = false
	}
	return all
}

// literal returns the value of a string literal, "" for any other expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// last returns the last name of a selector.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
