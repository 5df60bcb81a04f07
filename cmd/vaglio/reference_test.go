package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kelseyhightower/envconfig"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/race"
)

// referenceHead is the start of the reference.
const referenceHead = `# Reference

Generated from the program by ` + "`make reference`" + `; a test keeps it up to date. The [glossary](glossary.md)
explains the words.

- [Settings](#settings)
- [Policy file](#policy-file)
- [Commands](#commands)
- [Exit codes](#exit-codes)
- [Metrics](#metrics)
`

// TestReference checks docs/reference.md against the settings, policy keys, commands, exit codes and
// metrics in the code.
func TestReference(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	var b strings.Builder
	b.WriteString(referenceHead)
	b.WriteString("\n## Settings\n\nEnvironment variables. Any mistake prevents the start, and all mistakes are reported at once.\n\n")
	writeSettings(t, &b)
	b.WriteString("\n## Policy file\n\nA YAML file, named by METNOS_POLICY. A key that is not listed here is a mistake; `vaglio policy check FILE` names the line and " +
		"column of each mistake. `[]` stands for each element of a list, `*` for a name that you choose.\n\n")
	writePolicyKeys(t, &b)
	b.WriteString("\n## Commands\n\n")
	writeCommands(&b)
	b.WriteString("\n## Exit codes\n\nWhat a code means unless the command's own section says otherwise.\n\n| code | |\n|---|---|\n")
	shared := []string{"exitOK", "exitFailed", "exitUsage", "exitBroken"}
	for _, c := range constants(t, ".", func(name, _ string) bool { return slices.Contains(shared, name) }) {
		fmt.Fprintf(&b, "| %s | %s |\n", c.value, strings.TrimPrefix(c.doc, "is for "))
	}
	b.WriteString("\n## Metrics\n\n`GET /metrics` serves them in the Prometheus text format. No label contains anything that a caller sent.\n\n| metric | labels | |\n|---|---|---|\n")
	writeMetrics(t, &b)
	golden.Check(t, filepath.Join("..", "..", "docs", "reference.md"), b.String())
}

// writeSettings writes a row for each variable, from the environment's type.
func writeSettings(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("| variable | default | |\n|---|---|---|\n")
	var rows strings.Builder
	if err := envconfig.Usagef(prefix, &environment{}, &rows, "{{range .}}{{usage_key .}}\t{{usage_default .}}\t{{usage_description .}}\n{{end}}"); err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(rows.String()) {
		cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(cells) != 3 || cells[2] == "" {
			t.Fatalf("the setting %q has no description", row)
		}
		if cells[1] != "" {
			cells[1] = "`" + cells[1] + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cells[0], cells[1], prose(cells[2]))
	}
}

// prose converts a text of the program to Markdown: mentions of documents become links, and markup
// is escaped.
func prose(text string) string {
	text = strings.NewReplacer("<", `\<`, "|", `\|`, "*", `\*`, "[", `\[`).Replace(text)
	text = strings.ReplaceAll(text, `\[0,1]`, "[0,1]")
	return regexp.MustCompile(`\bdocs/([a-z]+\.md)`).ReplaceAllString(text, "[$1]($1)")
}

// sources returns the files of a package without its tests, parsed in the given mode.
func sources(t *testing.T, dir string, mode parser.Mode) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, mode|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = f
	}
	return all
}

// policyKeys extracts the policy file's keys from the types that it is decoded into.
type policyKeys struct {
	t *testing.T
	// types contains the packages' types, by their names as policyfile writes them.
	types map[string]ast.Expr
	// at is the first path of each type; later ones refer to it.
	at   map[string]string
	rows []string
}

func writePolicyKeys(t *testing.T, b *strings.Builder) {
	t.Helper()
	k := policyKeys{t: t, types: map[string]ast.Expr{}, at: map[string]string{}}
	for before, dir := range map[string]string{"": "../../internal/policyfile", "catalog.": "../../vaglio/catalog", "operation.": "../../vaglio/operation"} {
		for _, f := range sources(t, dir, parser.ParseComments) {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					k.types[before+spec.Name.Name] = spec.Type
				}
				return true
			})
		}
	}
	k.fields(k.structOf("policyFile"), "", "")
	b.WriteString("| key | value | |\n|---|---|---|\n")
	b.WriteString(strings.Join(k.rows, ""))
}

func (k *policyKeys) structOf(name string) *ast.StructType {
	s, ok := k.types[name].(*ast.StructType)
	if !ok {
		k.t.Fatalf("the type %s, which the policy file is read into, is not a struct", name)
	}
	return s
}

// fields writes a row for each field of a struct, below the path; in is the prefix of its types'
// names.
func (k *policyKeys) fields(s *ast.StructType, path, in string) {
	for _, f := range s.Fields.List {
		m := regexp.MustCompile(`yaml:"([^",]*)(,inline)?`).FindStringSubmatch(tagOf(f))
		switch {
		case m == nil || m[1] == "-":
			continue
		case m[2] != "":
			k.fields(k.structOf(nameOf(f.Type, in)), path, packageOf(f.Type, in))
			continue
		}
		key := path + m[1]
		says := strings.Join(strings.Fields(f.Doc.Text()), " ")
		if says == "" || len(f.Names) != 1 {
			k.t.Errorf("%s: the field of this key of the policy file has no comment of its own; what it says stands in docs/reference.md", key)
			continue
		}
		// "Name is what …" becomes "What …", because the name is in the row.
		says = regexp.MustCompile(`^`+f.Names[0].Name+` (is |are )?`).ReplaceAllString(says, "")
		kind, below := k.kind(f.Type, in)
		at := len(k.rows)
		k.rows = append(k.rows, "")
		if below != nil {
			kind = k.below(below, key, kind, in)
		}
		k.rows[at] = fmt.Sprintf("| `%s` | %s | %s |\n", key, kind, prose(strings.ToUpper(says[:1])+says[1:]))
	}
}

// below writes the keys below a key whose values are structs, or returns a reference to where they
// already are.
func (k *policyKeys) below(e ast.Expr, key, kind, in string) string {
	path := key + map[string]string{"list": "[]", "names": ".*"}[kind]
	if s, ok := e.(*ast.StructType); ok {
		k.fields(s, path+".", in)
		return kind
	}
	name := nameOf(e, in)
	if first, ok := k.at[name]; ok {
		return fmt.Sprintf("as `%s`", first)
	}
	k.at[name] = strings.TrimSuffix(path, "[]")
	k.fields(k.structOf(name), path+".", packageOf(e, in))
	return kind
}

// kind returns what a field takes, and the struct type of its values, nil if there is none.
func (k *policyKeys) kind(e ast.Expr, in string) (says string, below ast.Expr) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return k.kind(e.X, in)
	case *ast.ArrayType:
		of, below := k.kind(e.Elt, in)
		if below != nil {
			return "list", below
		}
		return "list of " + of + "s", nil
	case *ast.MapType:
		of, below := k.kind(e.Value, in)
		if below != nil {
			return "names", below
		}
		return "names, each with a " + of, nil
	case *ast.StructType:
		return "keys", e
	}
	if plain, ok := map[string]string{"string": "string", "bool": "boolean", "int": "integer", "float64": "number", "any": "JSON Schema"}[nameOf(e, "")]; ok {
		return plain, nil
	}
	of, known := k.types[nameOf(e, in)]
	if !known {
		k.t.Fatalf("a key of the policy file is of the type %s, which this test does not know", nameOf(e, in))
	}
	if _, ok := of.(*ast.StructType); ok {
		return "keys", e
	}
	return k.kind(of, in)
}

// nameOf returns a type's name, with its package unless that is policyfile.
func nameOf(e ast.Expr, in string) string {
	switch e := e.(type) {
	case *ast.Ident:
		return in + e.Name
	case *ast.SelectorExpr:
		return packageOf(e, in) + e.Sel.Name
	}
	return fmt.Sprintf("%T", e)
}

// packageOf returns the prefix of the names of types within a type.
func packageOf(e ast.Expr, in string) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if of, ok := s.X.(*ast.Ident); ok {
			return of.Name + "."
		}
	}
	return in
}

func tagOf(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	return f.Tag.Value
}

// writeCommands writes a table of the commands, and the help of each.
func writeCommands(b *strings.Builder) {
	root := newRoot(stdio{})
	root.InitDefaultCompletionCmd()
	var table, each strings.Builder
	var add func(parent *cobra.Command)
	add = func(parent *cobra.Command) {
		for _, c := range parent.Commands() {
			if !c.IsAvailableCommand() || generated(parent, c) {
				continue
			}
			name := c.CommandPath()
			fmt.Fprintf(&table, "| [`%s`](#%s) | %s |\n", name, strings.ReplaceAll(name, " ", "-"), prose(c.Short))
			fmt.Fprintf(&each, "\n### %s\n\n`%s`\n\n%s\n", name, c.UseLine(), prose(strings.TrimSpace(c.Long)))
			writeFlags(&each, c)
			add(c)
		}
	}
	add(root)
	b.WriteString("`--help` after any command also shows an example.\n\n| command | |\n|---|---|\n" + table.String() + each.String())
}

// writeFlags writes a row for each flag of a command.
func writeFlags(b *strings.Builder, c *cobra.Command) {
	head := "\n| flag | default | |\n|---|---|---|\n"
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		usual := ""
		if !slices.Contains([]string{"", "false", "[]", "0"}, f.DefValue) {
			usual = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(b, "%s| `--%s` | %s | %s |\n", head, strings.TrimSpace(f.Name+" "+kind), usual, prose(usage))
		head = ""
	})
}

// named is a constant with its comment.
type named struct{ value, doc string }

// constants returns the matching constants of a package, in source order. One without a comment
// fails the test.
func constants(t *testing.T, dir string, fits func(name, value string) bool) []named {
	t.Helper()
	var all []named
	files := sources(t, dir, parser.ParseComments)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		ast.Inspect(files[file], func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				return true
			}
			value, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || !fits(spec.Names[0].Name, value.Value) {
				return true
			}
			doc := strings.Join(strings.Fields(spec.Doc.Text()), " ")
			doc = strings.TrimPrefix(doc, spec.Names[0].Name+" ")
			if doc == "" {
				t.Errorf("%s: %s has no comment; what it says stands in docs/reference.md", file, spec.Names[0].Name)
			}
			all = append(all, named{value.Value, doc})
			return true
		})
	}
	return all
}

// writeMetrics writes a row for each metric. A metric's name that is not a constant with a comment
// fails the test.
func writeMetrics(t *testing.T, b *strings.Builder) {
	t.Helper()
	name := regexp.MustCompile("^[`\"](vaglio_[a-z_]+[a-z])(?:\\{(.*)\\})?[`\"]$")
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if base := d.Name(); dir != root && strings.HasPrefix(base, ".") && base != ".." || slices.Contains([]string{"node_modules", "testdata", "bin", "tools"}, base) {
			return filepath.SkipDir
		}
		if paths, err := filepath.Glob(filepath.Join(dir, "*.go")); err != nil || len(paths) == 0 {
			return err
		}
		if !counts(t, dir) {
			return nil
		}
		said := constants(t, dir, func(_, value string) bool { return name.MatchString(value) })
		for _, c := range said {
			m := name.FindStringSubmatch(c.value)
			labels := ""
			for _, label := range regexp.MustCompile(`([a-z]+)=`).FindAllStringSubmatch(m[2], -1) {
				labels += ", `" + label[1] + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", m[1], strings.TrimPrefix(labels, ", "), prose(c.doc))
		}
		undocumented(t, dir, name, said)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counts reports whether a package has metrics.
func counts(t *testing.T, dir string) bool {
	t.Helper()
	for _, f := range sources(t, dir, parser.ImportsOnly) {
		for _, one := range f.Imports {
			if one.Path.Value == `"github.com/VictoriaMetrics/metrics"` {
				return true
			}
		}
	}
	return false
}

// undocumented fails the test for metrics whose names are not constants.
func undocumented(t *testing.T, dir string, name *regexp.Regexp, said []named) {
	t.Helper()
	for file, f := range sources(t, dir, 0) {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && lit.Kind == token.STRING && name.MatchString(lit.Value) && !slices.ContainsFunc(said, func(c named) bool { return c.value == lit.Value }) {
				t.Errorf("%s: the metric %s is not a constant with a comment", file, constant.MakeFromLiteral(lit.Value, token.STRING, 0))
			}
			return true
		})
	}
}
