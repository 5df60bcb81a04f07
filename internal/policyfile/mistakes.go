package policyfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/nearest"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// mistakes are the errors in a policy file, each with its position.
type mistakes struct {
	// name is the file's name, text its content.
	name string
	text []byte
	all  []mistake
	// unread are the paths of values of a wrong type. Errors about what they lack are suppressed.
	unread []string
}

// mistake is one error. Without a line, it concerns the whole file.
type mistake struct {
	line, column int
	text         string
}

// err returns all mistakes in the order of the file, one per line, or nil.
func (m *mistakes) err() error {
	slices.SortStableFunc(m.all, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	all := make([]error, len(m.all))
	for i, one := range m.all {
		at := m.name + ":"
		if one.line > 0 {
			at = fmt.Sprintf("%s:%d:%d:", m.name, one.line, one.column)
		}
		all[i] = fmt.Errorf("METNOS_POLICY: %s %s", at, one.text)
	}
	return errors.Join(all...)
}

// at adds a mistake at a path, or at the deepest part of it that is in the file.
func (m *mistakes) at(text string, steps ...string) {
	path := pathOf(steps)
	if slices.ContainsFunc(m.unread, func(unread string) bool { return strings.HasPrefix(unread, path) || strings.HasPrefix(path, unread) }) {
		return
	}
	for n := len(steps); n > 0; n-- {
		if at := position(m.text, pathOf(steps[:n])); at != nil {
			m.all = append(m.all, mistake{at.Line, at.Column, text})
			return
		}
	}
	m.all = append(m.all, mistake{text: text})
}

// pathOf returns a YAML path. Steps that are numbers are list indexes.
func pathOf(steps []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range steps {
		switch {
		case s != "" && strings.Trim(s, "0123456789") == "":
			b.WriteString("[" + s + "]")
		case strings.ContainsAny(s, "./~$[] "):
			b.WriteString(".'" + s + "'")
		default:
			b.WriteString("." + s)
		}
	}
	return b.String()
}

// position returns where a YAML path is in a text, nil if it is not there.
func position(text []byte, path string) *token.Position {
	at, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil
	}
	node, err := at.FilterFile(file)
	if err != nil || node == nil {
		return nil
	}
	return node.GetToken().Position
}

// read decodes the file strictly. It skips unknown keys and values of a wrong type, to find further
// mistakes. Its error contains all mistakes so far, and means that no more can be read.
func (m *mistakes) read() (policyFile, error) {
	file, err := parser.ParseBytes(m.text, 0)
	if err != nil {
		m.library(err)
		return policyFile{}, m.err()
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch {
	case len(docs) == 0:
		return policyFile{}, fmt.Errorf("METNOS_POLICY: %s is empty", m.name)
	case len(docs) > 1:
		return policyFile{}, fmt.Errorf("METNOS_POLICY: %s holds more than one document", m.name)
	}
	for {
		var f policyFile
		err := yaml.NewDecoder(bytes.NewReader(nil), yaml.Strict()).DecodeFromNode(docs[0].Body, &f)
		if err == nil {
			return f, nil
		}
		m.library(err)
		if !m.cut(docs[0].Body, err) {
			return f, m.err()
		}
	}
}

// cut removes what the library's error is about from the document.
func (m *mistakes) cut(doc ast.Node, err error) bool {
	e, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return false
	}
	c := cutting{at: e.GetToken()}
	ast.Walk(&c, doc)
	if c.path != "" && !c.key {
		m.unread = append(m.unread, c.path)
	}
	return c.path != ""
}

// library adds the library's error, without the excerpt of the file that the library appends.
func (m *mistakes) library(err error) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at := e.GetToken().Position
		m.all = append(m.all, mistake{at.Line, at.Column, plainYAML(e.GetMessage())})
		return
	}
	m.all = append(m.all, mistake{text: err.Error()})
}

// cutting removes the key or the value that begins at a token from a document.
type cutting struct {
	at *token.Token
	// path is what was removed, empty if nothing; key says that it was a key.
	path string
	key  bool
}

// Visit checks a node's own keys and values.
func (c *cutting) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.MappingNode:
		for i, v := range n.Values {
			if c.found(v.Key) {
				n.Values, c.path, c.key = slices.Delete(n.Values, i, i+1), v.Value.GetPath(), true
				return nil
			}
			if c.found(v.Value) {
				c.path, v.Value = v.Value.GetPath(), ast.Null(v.Value.GetToken())
				return nil
			}
		}
	case *ast.SequenceNode:
		for i, v := range n.Values {
			if c.found(v) {
				c.path, n.Values[i] = v.GetPath(), ast.Null(v.GetToken())
				return nil
			}
		}
	}
	if c.path != "" {
		return nil
	}
	return c
}

func (c *cutting) found(n ast.Node) bool {
	return n.GetToken() != nil && n.GetToken().Position.Offset == c.at.Position.Offset
}

// validations adds the mistakes in the judges, whose list is at a path.
func (m *mistakes) validations(all []Validation, at []string) {
	for i := range all {
		field, problem := all[i].mistake()
		if problem == "" {
			continue
		}
		steps := append(slices.Clone(at), fmt.Sprint(i))
		if field != "" {
			steps = append(steps, field)
		}
		m.at(inWords(steps)+" "+problem, steps...)
	}
}

// executors adds the mistakes in the executors.
func (m *mistakes) executors(err error) {
	for _, one := range joined(err) {
		steps := []string{"executors"}
		if e, ok := errors.AsType[*catalog.MistakeError](one); ok {
			steps = append(steps, fmt.Sprint(e.Index))
			steps = append(steps, pointerSteps(e.Field)...)
		}
		m.at(strings.TrimPrefix(one.Error(), "catalog: "), steps...)
	}
}

// routing adds the mistakes in who may decide.
func (m *mistakes) routing(err error) {
	for _, one := range joined(err) {
		steps := []string{"approval"}
		if e, ok := errors.AsType[*approval.RoutingError](one); ok {
			steps = append(steps, pointerSteps(e.Place)...)
		}
		m.at("approval: "+one.Error(), steps...)
	}
}

// programs adds the mistakes in the policy's programs.
func (m *mistakes) programs(err error) {
	for _, one := range joined(err) {
		steps := []string{"programs"}
		if e, ok := errors.AsType[*effects.ProgramError](one); ok {
			steps = append(steps, e.Name)
		}
		m.at("programs: "+one.Error(), steps...)
	}
}

// pointerSteps returns the steps of a JSON pointer.
func pointerSteps(pointer string) []string {
	steps := strings.FieldsFunc(pointer, func(r rune) bool { return r == '/' })
	for i, s := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return steps
}

// joined returns the errors that errors.Join joined, at any depth; none for nil.
func joined(err error) []error {
	if err == nil {
		return nil
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range many.Unwrap() {
		all = append(all, joined(one)...)
	}
	return all
}

// plainYAML rephrases a message of the library without the names of Go types.
func plainYAML(message string) string {
	if field, ok := strings.CutPrefix(message, "unknown field "); ok {
		return message + whereItBelongs(strings.Trim(field, `"`))
	}
	if got, want, ok := strings.Cut(message, " was used where "); ok {
		return fmt.Sprintf("this is %s; %s is wanted", kindWords(got), kindWords(strings.TrimSuffix(want, " is expected")))
	}
	rest, ok := strings.CutPrefix(message, "cannot unmarshal ")
	if !ok {
		return message
	}
	got, rest, _ := strings.Cut(rest, " into ")
	want := rest[strings.LastIndexByte(rest, ' ')+1:]
	return fmt.Sprintf("this is %s; %s is wanted", kindWords(got), kindWords(want))
}

// kindWords returns a Go or YAML type in words for a person.
func kindWords(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"), kind == "number":
		return "a number"
	case strings.HasPrefix(kind, "[]"), kind == "sequence", kind == "array", kind == "Array":
		return "a list"
	case strings.HasPrefix(kind, "map"), kind == "object", kind == "mapping", strings.Contains(kind, "."):
		return "a mapping"
	}
	return kind
}

// whereItBelongs is what a key that stands where none is known may have been meant as:
// a key that belongs elsewhere, or another that is written much like it.
func whereItBelongs(key string) string {
	known := map[string][]string{}
	keysOf(known, "", reflect.TypeFor[policyFile]())
	if holders := known[key]; slices.Contains(holders, "") {
		return "; it belongs at the beginning of a line, under nothing"
	} else if len(holders) > 0 {
		return "; it belongs under " + strings.Join(slices.Compact(slices.Sorted(slices.Values(holders))), " or ")
	}
	if best := nearest.Slip(key, slices.Sorted(maps.Keys(known))); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// keysOf notes the keys of a mapping and of all that is in it: for each those that hold it.
func keysOf(known map[string][]string, holder string, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		keysOf(known, holder, t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			known[name] = append(known[name], holder)
		} else {
			name = holder // its own keys stand beside the others
		}
		keysOf(known, name, f.Type)
	}
}
