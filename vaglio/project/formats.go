package project

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/buildxml"
	"github.com/metnos/vaglio/internal/notebook"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// readNotebook adds the cells of a notebook: those marked with %% for a shell as scripts, all others as one program, because they run in one process.
func readNotebook(v *visit, r *row) {
	for file, text := range v.files(r) {
		var book struct {
			Cells []struct {
				Type   string `yaml:"cell_type"`
				Source any    `yaml:"source"`
			} `yaml:"cells"`
		}
		var program strings.Builder
		if !strings.HasPrefix(strings.TrimSpace(text), "{") { // text for a single cell
			v.cell(file, text, text, &program)
		} else if !v.decode(file, text, &book) { // JSON is YAML
			continue
		}
		for _, c := range book.Cells {
			source, _ := c.Source.(string)
			if list, ok := c.Source.([]any); ok {
				source = strings.Join(texts(list), "")
			}
			if c.Type == "code" {
				v.cell(file, text, source, &program)
			}
		}
		v.add(file, 1, r.language, program.String())
	}
}

// cellSetting is a line that only sets IPython itself.
var cellSetting = regexp.MustCompile(`(?m)^[ \t]*%.*`)

// cell adds a cell that contains code.
func (v *visit) cell(file, text, source string, program *strings.Builder) {
	magic, args, body := notebook.Split(source)
	switch kind := wordclass.Kind("cell", magic); {
	case kind == "file":
		v.add(file, 1, "sh", "tee "+args)
	case kind == "sh":
		v.add(file, 1, "sh", body)
	case magic == "", kind == "python", kind == "rest":
		lines, rest := notebook.Lines(body)
		for _, l := range lines {
			v.addFrom(file, text, strings.TrimSpace(l.Text), l.Command)
		}
		program.WriteString(cellSetting.ReplaceAllString(rest, "") + "\n")
	case magic == "script":
		v.add(file, 1, cmp.Or(wordclass.Kind("language", args), "sh"), body)
	case wordclass.Is("language", magic):
		v.add(file, 1, wordclass.Kind("language", magic), body)
	}
}

// readXML adds the programs that Java build tools run: those in Ant's exec elements, by their attributes, and those in Maven's configuration.
func readXML(v *visit, r *row) {
	for file, text := range v.files(r) {
		for _, c := range buildxml.Commands(text, quoted) {
			v.addFrom(file, text, c.Program, quoted(c.Program)+c.Words)
		}
	}
}

// batsRun matches what bats puts before a command to keep its output, batsTest the line that begins a test.
var (
	batsRun  = regexp.MustCompile(`(?m)(^|[;{(&|!])([ \t]*)run(?:[ \t]+(?:-\S+|!))*[ \t]+`)
	batsTest = regexp.MustCompile(`(?m)^[ \t]*@test[ \t]+(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^{\n]*)[ \t]*\{`)
)

// batsOwn is what bats itself defines, with functions that do nothing where a file has no others.
const batsOwn = `load() { for f in "$BATS_TEST_DIRNAME/$1" "$BATS_TEST_DIRNAME/$1.bash"; do [ -f "$f" ] && . "$f"; done; }; ` +
	`setup_suite() { :; }; setup_file() { :; }; setup() { :; }; teardown() { :; }; teardown_file() { :; }; teardown_suite() { :; }; ` +
	`BATS_TMPDIR=/tmp; BATS_RUN_TMPDIR=$(mktemp -d); BATS_SUITE_TMPDIR=$(mktemp -d); BATS_FILE_TMPDIR=$(mktemp -d); BATS_TEST_TMPDIR=$(mktemp -d); `

// readBats adds tests for bats.
func readBats(v *visit, r *row) {
	for file, text := range v.files(r) {
		if isBats(file) {
			v.found(func() { v.bats(file, text) })
		}
	}
}

func isBats(file string) bool { return path.Ext(file) == ".bats" }

// bats adds a file of tests for bats as a script that calls each test, with the functions around it.
func (v *visit) bats(file, text string) {
	var calls strings.Builder
	n := 0
	text = batsTest.ReplaceAllStringFunc(batsRun.ReplaceAllString(text, "$1$2"), func(string) string {
		name := "bats_test_" + strconv.Itoa(n)
		n++
		calls.WriteString("\n(setup_suite; setup_file; setup; " + name + "; teardown; teardown_file; teardown_suite)")
		return name + "() {"
	})
	v.add(file, 1, "sh", batsOwn+"BATS_TEST_FILENAME="+quoted(file)+"; BATS_TEST_DIRNAME="+quoted(path.Dir(file))+"; "+text+calls.String()+"\n")
}

// spends reports whether something of a size may still be looked at.
func (v *visit) spends(size int) bool {
	v.left -= size
	return v.left >= 0
}

// lines returns the lines of a text, the same ones each time. Each part that begins within a line has one of its own, until they are joined again.
func (p *partsReader) lines(text string) []string {
	const mostIndent = 80 // bytes: each part of a line repeats the blanks before it
	all := strings.Split(strings.ReplaceAll(text, "\f", " "), "\n")
	for i, line := range all {
		if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; len(indent) <= mostIndent && p.form != nil && p.form.inner != nil {
			apart := func(s string) string { return p.form.inner.ReplaceAllString(s, "${1}\f\n"+indent+" ${2}") }
			all[i] = apart(apart(line)) // the bracket of one may be what precedes another
		}
	}
	return strings.Split(strings.Join(all, "\n"), "\n")
}
