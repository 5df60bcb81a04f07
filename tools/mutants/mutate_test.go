package main

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// However changes nest, a switched file behaves as before as long as no switch is turned on.
func TestSwitched(t *testing.T) {
	for src, want := range map[string]string{
		"a == b":         "((a == b) != mutantOn(1))",
		"a < 2":          "mutantLess(1, a, mutantInt(2, 2))",
		"!a":             "((a) == mutantOn(1))",
		"a && !b":        "((((a) != mutantOn(1)) && (((b) == mutantOn(2)) != mutantOn(1))) != mutantOn(1))",
		"a || true":      "((((a) != mutantOn(1)) || ((true != mutantOn(2)) != mutantOn(1))) != mutantOn(1))",
		"make(x, 0, 12)": "make(x, 0, 12)",
		"1 << iota":      "1 << iota",
		"f(a >= b)":      "f(mutantAtLeast(1, a, b))",
	} {
		text := "package p\n\nvar x = " + src + "\n"
		file := filepath.Join(t.TempDir(), "p.go")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := mutantsOf(filepath.Dir(file), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range all {
			m.id = i + 1
			if _, err := format.Source(m.text); err != nil {
				t.Errorf("%s, %s: %v", src, m.what, err)
			}
		}
		got, err := format.Source(switched([]byte(text), all))
		if said := strings.TrimSpace(strings.TrimPrefix(string(got), "package p\n\nvar x = ")); err != nil || said != want {
			t.Errorf("%s gives\n%s, want\n%s (%v)", src, said, want, err)
		}
	}
}

// Rows of a table are left out, but not their headings.
func TestRowsLeftOut(t *testing.T) {
	all := rowsLeftOut([]byte("# a\nsecret | x\n\t**/a\n\n\t**/b\n"))
	if len(all) != 2 || string(all[0].text) != "# a\nsecret | x\n\n\t**/b\n" || all[1].line != 5 {
		t.Errorf("rows left out: %d", len(all))
	}
}

// What is returned beside an error is not changed, but what is returned without one is, and so is
// what a condition with more to it lets through.
func TestBesideErrors(t *testing.T) {
	for stmts, want := range map[string]int{
		"if err != nil { return false, err }":                            2, // the comparison and the branch
		"if err != nil { return 7, false, fmt.Errorf(`a: %w`, err) }":    2,
		"if err != nil { return false, g(&wrong{Err: err}) }":            2,
		"if err != nil { return false, nil }":                            3,
		"if err != nil || x { return false, err }":                       4,
		"if x { return false, err }":                                     2,
		"if x == 1 { l.WarnContext(ctx, `a`) }":                          0, // a log decides nothing
		"if !f(func() { g(a == b) }) { l.WarnContext(ctx, `a`) }":        1,
		"if x { http.Error(w, `a`) }":                                    1,
		"if x { l.WarnContext(ctx, `a`); y = z }":                        1,
		"if err != nil { f(true); return false, err }; return true, err": 4,
	} {
		file := filepath.Join(t.TempDir(), "p.go")
		if err := os.WriteFile(file, []byte("package p\n\nfunc f() (bool, error) {\n"+stmts+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := mutantsOf(filepath.Dir(file), file, nil)
		if err != nil || len(all) != want {
			t.Errorf("%s: %d changes, %v; want %d", stmts, len(all), err, want)
		}
	}
}

// Equal lines of one file are told apart by the line before them, so that a row of the list of
// equivalent changes means only one.
func TestKeysTellLinesApart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	text := "package p\n\nfunc f() error {\n\terr := g()\n\tif err != nil {\n\t\treturn err\n\t}\n\terr = h()\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := mutantsOf(filepath.Dir(file), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, m := range all {
		keys[m.key] = true
	}
	for _, want := range []string{"p.go | err := g() if err != nil { | != becomes ==", "p.go | err = h() if err != nil { | != becomes =="} {
		if !keys[want] {
			t.Errorf("there is no %q among %v", want, keys)
		}
	}
}
