package archtest

import (
	"go/parser"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// forTests returns the modules that are in none of our programs, and why we require them anyway.
func forTests() map[string]string {
	return map[string]string{
		gocmp:     "the contract of every store says with it what differs, and so do the tests of half the rooms",
		porcupine: "tests of the dispatcher and of the killed daemon hold what agents saw against a model; they need harnesses of their own, and it brings no other module",
	}
}

// TestRequirementsAreThePrograms checks that we require exactly the modules that our programs are
// made of and those in forTests. The modules for driving a browser, linting and the MCP SDKs are
// required by modules of their own.
func TestRequirementsAreThePrograms(t *testing.T) {
	direct := requirements(t, "../../go.mod")
	used := map[string]bool{}
	for _, target := range madeOf(t, "cmd/vaglio", "cmd/vaglio-hook") {
		m := moduleOf(direct, target)
		if m == "" {
			t.Errorf("%s is of no module that go.mod requires directly", target)
		}
		used[m] = true
	}
	reasons := forTests()
	for _, m := range direct {
		switch {
		case used[m] && reasons[m] != "":
			t.Errorf("%s is what the programs are made of: it needs no reason", m)
		case !used[m] && reasons[m] == "":
			t.Errorf("%s is only for tests: they move to a module of their own, or forTests says why not", m)
		}
		delete(reasons, m)
	}
	for m := range reasons {
		t.Errorf("%s has a reason, and go.mod does not require it", m)
	}
}

// requirements returns the direct requirements of a go.mod.
func requirements(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range f.Require {
		if !r.Indirect {
			direct = append(direct, r.Mod.Path)
		}
	}
	return direct
}

// madeOf returns the external imports of the packages, and of our packages that they import, without
// tests.
func madeOf(t *testing.T, packages ...string) []string {
	t.Helper()
	imports := map[string]map[string]bool{}
	for _, f := range files(t, parser.ImportsOnly) {
		if f.test {
			continue
		}
		if imports[f.pkg] == nil {
			imports[f.pkg] = map[string]bool{}
		}
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", f.path, err)
			}
			imports[f.pkg][target] = true
		}
	}
	seen, from := map[string]bool{}, map[string]bool{}
	for len(packages) > 0 {
		pkg := packages[0]
		packages = packages[1:]
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		if imports[pkg] == nil {
			t.Errorf("there is no package %s", pkg)
		}
		for target := range imports[pkg] {
			if own, ours := strings.CutPrefix(target, module+"/"); ours {
				packages = append(packages, own)
			} else if outside(target) {
				from[target] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(from))
}

// moduleOf returns the module that contains the package, "" if none does.
func moduleOf(modules []string, target string) string {
	longest := ""
	for _, m := range modules {
		if (target == m || strings.HasPrefix(target, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	return longest
}

// TestTheBrowserSeesTheSameInbox checks that the browser tests' module links to the desk of
// channels/web, so that both test the same inbox.
func TestTheBrowserSeesTheSameInbox(t *testing.T) {
	links := filepath.Join("..", "browser", "inbox")
	desks, err := filepath.Glob("../../channels/web/desk*_test.go")
	if err != nil || len(desks) == 0 {
		t.Fatalf("the desk of channels/web is not found: %v", err)
	}
	for _, desk := range desks {
		name := filepath.Base(desk)
		got, err := os.Readlink(filepath.Join(links, name))
		if want := "../../../channels/web/" + name; err != nil || got != want {
			t.Errorf("internal/browser/inbox/%s leads to %q, want a link to %s (%v)", name, got, want, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(links, "desk*_test.go"))
	if err != nil || len(there) != len(desks) {
		t.Errorf("internal/browser/inbox has %d files of the desk, channels/web %d: %v", len(there), len(desks), err)
	}
}
