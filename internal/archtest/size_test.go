package archtest

import (
	"go/ast"
	"go/parser"
	"testing"
)

// mostFiles is how many files of one package can be held in the head, without
// tests.
const mostFiles = 25

// moreFiles are the packages that still have more than [mostFiles], and how many
// they may have: the number of today, to be lowered only.
func moreFiles() map[string]int {
	return map[string]int{"cmd/vaglio": 42, "vaglio/judge/effects": 35, "vaglio/shell": 45}
}

// TestPackagesStaySmall holds how many files a package has, without its tests.
func TestPackagesStaySmall(t *testing.T) {
	per := map[string]int{}
	for _, f := range files(t, parser.PackageClauseOnly) {
		if !f.test {
			per[f.pkg]++
		}
	}
	for pkg, n := range per {
		most, listed := moreFiles()[pkg]
		switch {
		case n > max(mostFiles, most):
			t.Errorf("%s has %d files, at most %d", pkg, n, max(mostFiles, most))
		case listed && n < most:
			t.Errorf("%s has %d files: lower the %d that it may have", pkg, n, most)
		}
	}
}

// TestTheDispatcherHoldsFewThings counts the fields of the type that holds the
// most: what belongs together is a type of its own.
func TestTheDispatcherHoldsFewThings(t *testing.T) {
	most := map[string]int{"Dispatcher": 20, "Config": 10}
	for _, f := range files(t, parser.SkipObjectResolution) {
		if f.pkg != "dispatcher" || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || most[spec.Name.Name] == 0 {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				if n := s.Fields.NumFields(); n > most[spec.Name.Name] {
					t.Errorf("dispatcher.%s has %d fields, at most %d", spec.Name.Name, n, most[spec.Name.Name])
				}
				delete(most, spec.Name.Name)
			}
			return true
		})
	}
	for name := range most {
		t.Errorf("dispatcher.%s is not there", name)
	}
}
