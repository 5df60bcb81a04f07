package archtest

import (
	"go/ast"
	"go/parser"
	"strings"
	"testing"
)

// TestShorterTestsSaySoThemselves restricts testing.Short to the bodies of tests, because
// `make test-long` runs the tests that call it, by name. Browser tests always run in full.
func TestShorterTestsSaySoThemselves(t *testing.T) {
	some := 0
	for _, f := range files(t, parser.SkipObjectResolution) {
		if strings.HasPrefix(f.path, "internal/browser/") {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			itself := ok && f.test && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test")
			ast.Inspect(d, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || last(sel.X) != "testing" || sel.Sel.Name != "Short" {
					return true
				}
				some++
				if !itself {
					t.Errorf("%s:%d: only a test's own body may say testing.Short", f.path, f.pos.Position(n.Pos()).Line)
				}
				return true
			})
		}
	}
	if some == 0 {
		t.Error("no test is shortened")
	}
}
