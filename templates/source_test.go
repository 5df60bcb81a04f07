package templates_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/templates"
)

// sayers are the functions to which the channels hand a key and its values.
var sayers = []string{"Say", "Plain", "say", "line", "reply"}

// TestChannelsSayWhatThereIs reads the channels' sources: each text that they
// name is there, and is given exactly its fields; and each text is used.
func TestChannelsSayWhatThereIs(t *testing.T) {
	t.Parallel()
	fields := templates.Fields()
	used := map[string]bool{}
	err := filepath.WalkDir("../channels", func(path string, _ fs.DirEntry, err error) error {
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
				}
			case *ast.CallExpr:
				key, given, ok := said(n)
				want, known := fields[key]
				switch {
				case !ok:
				case !known:
					t.Errorf("%s: there is no text %q", pos.Position(n.Pos()), key)
				case given != nil && !slices.Equal(given, want):
					t.Errorf("%s: %s is given the fields %v, and has %v", pos.Position(n.Pos()), key, given, want)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../channels/web/pages/*.html")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range pages {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		group, _, _ := strings.Cut(string(key), ".")
		if !used[string(key)] && !used[group+"."] && !strings.Contains(all.String(), `"`+string(key)+`"`) {
			t.Errorf("nobody says %s", key)
		}
	}
}

// said reads a call that hands over a key. given is nil when the values are not
// spelled out there.
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
		given = []string{}
		for _, e := range values.Elts {
			if pair, isPair := e.(*ast.KeyValueExpr); isPair {
				if name, isLit := pair.Key.(*ast.BasicLit); isLit {
					field, _ := strconv.Unquote(name.Value)
					given = append(given, field)
				}
			}
		}
		slices.Sort(given)
	case *ast.Ident:
		if values.Name == "nil" {
			given = []string{}
		}
	}
	return templates.Key(s), given, true
}
