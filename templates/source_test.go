package templates_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/templates"
)

// sayers are the functions to which the channels pass a key and its values.
var sayers = []string{"Say", "Plain", "say", "line", "reply"}

// TestChannelsSayWhatThereIs reads the sources of the channels, of the owner's commands, and of what
// formulates refusals for them. Each text they name exists and gets exactly its fields, and each text
// is used.
func TestChannelsSayWhatThereIs(t *testing.T) {
	t.Parallel()
	fields := templates.Fields()
	used := map[string]bool{}
	read := func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasSuffix(d.Name(), "test") {
			return fs.SkipDir // what drives tests says nothing to people
		}
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pos := token.NewFileSet()
		tree, err := parser.ParseFile(pos, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					used[s] = true
					if strings.HasPrefix(s, "trouble.") {
						// A problem is always told together with its remedy.
						used[s+".remedy"] = true
						check(t, fields, pos.Position(n.Pos()).String(), templates.Key(s), nil)
						check(t, fields, pos.Position(n.Pos()).String(), templates.Key(s+".remedy"), nil)
					}
				}
			case *ast.CallExpr:
				if key, given, ok := said(n); ok {
					check(t, fields, pos.Position(n.Pos()).String(), key, given)
				}
			case *ast.CompositeLit:
				if key, given, ok := prepared(n); ok {
					check(t, fields, pos.Position(n.Pos()).String(), key, given)
				}
			}
			return true
		})
		return nil
	}
	if err := errors.Join(filepath.WalkDir("../channels", read), filepath.WalkDir("refusal.go", read), filepath.WalkDir("order.go", read), filepath.WalkDir("../internal/replay", read), filepath.WalkDir("../gateway/owner", read), filepath.WalkDir("../internal/explain", read)); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../channels/web/pages/*.html")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../internal/replay/page.html")
	call := regexp.MustCompile(`\{\{t "([^"]+)"([^}]*)\}\}`)
	field := regexp.MustCompile(` "([^"]+)" [.($]`)
	for _, p := range pages {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(b), -1) {
			given := []string{}
			for _, f := range field.FindAllStringSubmatch(m[2], -1) {
				given = append(given, f[1])
			}
			used[m[1]] = true
			check(t, fields, p, templates.Key(m[1]), given)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		found := used[string(key)]
		for i := range key {
			found = found || key[i] == '.' && used[string(key[:i+1])]
		}
		if !found {
			t.Errorf("nobody says %s", key)
		}
	}
}

// check compares what is said somewhere with the texts. given is nil if the values are not
// spelled out there.
func check(t *testing.T, fields map[templates.Key][]string, where string, key templates.Key, given []string) {
	t.Helper()
	slices.Sort(given)
	want, known := fields[key]
	switch {
	case !known:
		t.Errorf("%s: there is no text %q", where, key)
	case given != nil && !slices.Equal(given, want):
		t.Errorf("%s: %s is given the fields %v, and has %v", where, key, given, want)
	}
}

// prepared reads a text that is filled later, as the inbox has them.
func prepared(lit *ast.CompositeLit) (key templates.Key, given []string, ok bool) {
	if name, isName := lit.Type.(*ast.Ident); !isName || name.Name != "text" || len(lit.Elts) == 0 {
		return "", nil, false
	}
	what := lit.Elts[0]
	if pair, isPair := what.(*ast.KeyValueExpr); isPair {
		what = pair.Value
	}
	basic, isLit := what.(*ast.BasicLit)
	if !isLit {
		return "", nil, false
	}
	s, err := strconv.Unquote(basic.Value)
	if err != nil {
		return "", nil, false
	}
	if len(lit.Elts) == 1 {
		return templates.Key(s), []string{}, true
	}
	if values, isMap := lit.Elts[1].(*ast.CompositeLit); isMap {
		return templates.Key(s), names(values), true
	}
	return templates.Key(s), nil, true
}

// names returns the keys of a map that is spelled out.
func names(lit *ast.CompositeLit) []string {
	all := []string{}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.BasicLit); ok {
				if s, err := strconv.Unquote(name.Value); err == nil {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// said reads a call that passes a key. given is nil if the values are not spelled out
// there.
func said(call *ast.CallExpr) (key templates.Key, given []string, ok bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !slices.Contains(sayers, name) || len(call.Args) < 2 {
		return "", nil, false
	}
	lit, isLit := call.Args[len(call.Args)-2].(*ast.BasicLit)
	if !isLit || lit.Kind != token.STRING {
		return "", nil, false
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", nil, false
	}
	switch values := call.Args[len(call.Args)-1].(type) {
	case *ast.CompositeLit:
		given = names(values)
	case *ast.Ident:
		if values.Name == "nil" {
			given = []string{}
		}
	}
	return templates.Key(s), given, true
}
