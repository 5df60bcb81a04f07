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
	"time"

	"github.com/metnos/vaglio/internal/filetest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

const wordingPath = "github.com/metnos/vaglio/vaglio/wording"

// phrases returns everything that the engine can say: the constant phrases of its packages, and
// what its tables say.
func phrases(t *testing.T) []wording.Phrase {
	t.Helper()
	found := map[wording.Phrase]bool{}
	j, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range append(j.tables.Messages(), j.clients.Messages()...) {
		for form := range strings.SplitSeq(message, wording.OrSeveral) {
			p, _ := wording.Template(form)
			found[p] = true
		}
	}
	for _, p := range spoken.Phrases() {
		found[p] = true
	}
	inGo(t, found)
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// inGo finds the constant phrases in the engine's packages.
func inGo(t *testing.T, found map[wording.Phrase]bool) {
	t.Helper()
	if err := filetest.Uses("../..", "../../../approval/headline"); err != nil {
		t.Fatal(err)
	}
	const format = "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \",\"}}"
	// Files of an overlay, as of mutation testing, would not be found when they are parsed.
	out, err := exec.CommandContext(t.Context(), "go", "list", "-overlay=", "-export", "-deps", "-f", format, ".", "../../../approval/headline").Output()
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
		if !strings.HasPrefix(f[0], filepath.Dir(wordingPath)) && filepath.Base(f[0]) != "headline" {
			continue
		}
		var files []*ast.File
		for name := range strings.SplitSeq(f[3], ",") {
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

// TestEveryPhraseIsSaidInItalian checks the catalogue against the engine: it has every phrase, and
// none that is never said.
func TestEveryPhraseIsSaidInItalian(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	known := map[wording.Phrase]bool{}
	for _, p := range set.Phrases(templates.Italian) {
		known[p] = true
	}
	for _, p := range phrases(t) {
		if !known[p] && p.HasWords() {
			t.Errorf("%q is not said in Italian: add it to templates/it.phrases", p)
		}
		delete(known, p)
	}
	for p := range known {
		t.Errorf("nobody says %q: take it out of templates/it.phrases", p)
	}
}

// TestSentencesAreSaidInItalian checks that everything said about the rows of the corpora is said
// in Italian, too, and that its English is the message.
func TestSentencesAreSaidInItalian(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := set.In(templates.Italian, time.UTC)
	j, err := New(Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("testdata/asked.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row := range strings.Lines(string(rows)) {
		_, command, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !ok {
			command = strings.TrimSpace(row)
		}
		p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": command}, Context: vaglio.Context{Cwd: "/home/u/project"}}
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Signals {
			n++
			if english, _ := s.Said.In(wording.English); english != s.Message {
				t.Errorf("%s: the message %q is not the sentence %q", command, s.Message, english)
			}
			if _, ok := texts.Said(s.Message, s.Said); !ok {
				t.Errorf("%s: %q is not said in Italian", command, s.Message)
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d signals were looked at; want the whole corpus", n)
	}
}

// TestTheTablesNameWhatThereIs checks that every rule and fact that the tables name exists:
// nothing checks this at start.
func TestTheTablesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	j, err := New(Options{Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	known := func(rule string) bool {
		return rule == "" || j.rules[rule] != nil || j.tables.Judged[strings.TrimPrefix(rule, "<")] != nil
	}
	for name, sections := range j.tables.Judged {
		for _, s := range sections {
			for _, l := range append(slices.Clone(s.Lines), commands.Line{Then: s.Else}) {
				if !known(l.Then.Rule) {
					t.Errorf("section %s: there is no rule @%s", name, l.Then.Rule)
				}
			}
		}
	}
	for _, name := range commands.Facts() {
		if j.facts[name] == nil {
			t.Errorf("nobody can tell the fact %q", name)
		}
	}
}
