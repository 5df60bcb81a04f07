package effects

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

const wordingPath = "github.com/metnos/vaglio/vaglio/wording"

// phrases are all that the engine can say: the constants of its rooms that are
// phrases, and what its tables say.
func phrases(t *testing.T) []wording.Phrase {
	t.Helper()
	found := map[wording.Phrase]bool{}
	j, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range append(j.tables.base.Messages(), j.clients.Messages()...) {
		p, _ := phraseFrom(message)
		found[p] = true
	}
	inGo(t, found)
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// inGo finds the constant phrases of the engine's packages.
func inGo(t *testing.T, found map[wording.Phrase]bool) {
	t.Helper()
	const format = "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \",\"}}"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", format, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, row := range rows {
		f := strings.Split(row, "\t")
		exports[f[0]] = f[1]
	}
	fset := token.NewFileSet()
	c := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, row := range rows {
		f := strings.Split(row, "\t")
		if !strings.HasPrefix(f[0], filepath.Dir(wordingPath)) {
			continue
		}
		var files []*ast.File
		for _, name := range strings.Split(f[3], ",") {
			file, err := parser.ParseFile(fset, filepath.Join(f[2], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if _, err := c.Check(f[0], fset, files, &info); err != nil {
			t.Fatal(err)
		}
		for _, tv := range info.Types {
			if tv.Value != nil && tv.Type.String() == wordingPath+".Phrase" {
				found[wording.Phrase(constant.StringVal(tv.Value))] = true
			}
		}
	}
}

func TestDump(t *testing.T) {
	for _, p := range phrases(t) {
		if p.HasWords() {
			println(string(p))
		}
	}
}
