package archtest

import (
	"go/ast"
	"go/parser"
	"path"
	"strings"
	"testing"
)

// mostFiles is how many files of a package, without tests, a reader can keep in mind.
const mostFiles = 25

// TestPackagesStaySmall limits the number of files in a package, without its tests.
func TestPackagesStaySmall(t *testing.T) {
	per := map[string]int{}
	for _, f := range files(t, parser.PackageClauseOnly) {
		if !f.test {
			per[f.pkg]++
		}
	}
	for pkg, n := range per {
		if n > mostFiles {
			t.Errorf("%s has %d files, at most %d", pkg, n, mostFiles)
		}
	}
}

// TestTheDispatcherHoldsFewThings limits the fields of the largest types: fields that belong
// together should become a type.
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

// TestFileNamesSayWhatIsInside rejects names that say when a file was added or that it is one of
// several: a number at the end, or one of the words below.
func TestFileNamesSayWhatIsInside(t *testing.T) {
	for _, f := range files(t, parser.PackageClauseOnly) {
		if word := emptyName(path.Base(f.path)); word != "" {
			t.Errorf("%s: %q does not say what is inside", f.path, word)
		}
	}
	for name, want := range map[string]string{
		"late.go": "late", "together_test.go": "together", "filerules2.go": "2", "domains2_test.go": "2", "more_rules.go": "more", "carrier_late.go": "late",
		"samples.go": "samples", "utils_linux.go": "utils", "lock_other.go": "", "template.go": "", "base64.go": "", "relate.go": "", "x509.go": "",
	} {
		if got := emptyName(name); got != want {
			t.Errorf("%s is refused for %q, want %q", name, got, want)
		}
	}
}

// emptyName returns the part of a file's name that says nothing, "" if there is none.
func emptyName(name string) string {
	words := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test"), "_")
	for i, word := range words {
		// The last word may be the name of a system, unless it is listed below.
		if word == "other" && i > 0 {
			continue
		}
		switch word {
		case "late", "later", "more", "together", "sample", "samples", "misc", "util", "utils", "helper", "helpers", "common", "other", "others", "stuff", "new", "old":
			return word
		}
	}
	last := words[len(words)-1]
	if number := last[len(strings.TrimRight(last, "0123456789")):]; len(number) == 1 {
		return number
	}
	return ""
}
