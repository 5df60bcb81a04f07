package project

import (
	"encoding/xml"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// readNotebook takes the cells of a notebook: those that %% gives to a shell as its
// scripts, the others as one program, as they run in one process.
func readNotebook(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		var book struct {
			Cells []struct {
				Type   string `yaml:"cell_type"`
				Source any    `yaml:"source"`
			} `yaml:"cells"`
		}
		file, text, ok := v.content(name)
		if !ok || !v.once(file) || yaml.Unmarshal([]byte(text), &book) != nil { // JSON is YAML
			continue
		}
		var program strings.Builder
		for _, c := range book.Cells {
			source, _ := c.Source.(string)
			if list, ok := c.Source.([]any); ok {
				source = strings.Join(texts(list), "")
			}
			if c.Type == "code" {
				v.cell(file, source, &program)
			}
		}
		v.add(file, 1, r.language, program.String())
	}
}

// cell keeps one cell that holds code.
func (v *visit) cell(file, source string, program *strings.Builder) {
	first, rest, _ := strings.Cut(strings.TrimLeft(source, " \t\r\n"), "\n")
	magic, isMagic := strings.CutPrefix(first, "%%")
	if words := strings.Fields(magic); isMagic && len(words) > 0 {
		switch words[0] {
		case "bash", "sh", "script", "system", "sx", "!":
			v.add(file, 1, "sh", rest)
			return
		case "time", "timeit", "capture", "prun", "python", "python3":
			source = rest
		default:
			return // another language
		}
	}
	for line := range strings.Lines(source) {
		if s := strings.TrimSpace(line); s != "" && (s[0] == '!' || s[0] == '%') {
			program.WriteString("\n") // what stands behind a ! is read as a line
			continue
		}
		program.WriteString(line)
	}
	program.WriteString("\n")
}

// element is an element of XML, with all in it.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	In      []element  `xml:",any"`
}

// attr is the value of the first of the attributes that is there.
func (e *element) attr(names ...string) string {
	for _, name := range names {
		for _, a := range e.Attrs {
			if a.Name.Local == name {
				return a.Value
			}
		}
	}
	return ""
}

// readXML takes the programs that the tools of Java's projects run: Ant's exec, by
// its attributes, and Maven's, by what stands in its configuration.
func readXML(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		var root element
		file, text, ok := v.content(name)
		if !ok || !v.once(file) || xml.Unmarshal([]byte(text), &root) != nil {
			continue
		}
		v.element(file, text, &root)
	}
}

func (v *visit) element(file, text string, e *element) {
	if len(v.tasks) >= maxTasks {
		return
	}
	if program := e.attr("executable", "command"); program != "" && slices.Contains([]string{"exec", "apply"}, e.XMLName.Local) {
		v.add(file, lineOf(text, max(strings.Index(text, program), 0)), "sh", quoted(program)+e.arguments())
	}
	program, rest := "", ""
	for i := range e.In {
		switch in := &e.In[i]; in.XMLName.Local {
		case "executable":
			program = strings.TrimSpace(in.Text)
		case "commandlineArgs":
			rest += in.Text + " "
		case "arguments":
			for j := range in.In {
				rest += quoted(strings.TrimSpace(in.In[j].Text))
			}
		}
		v.element(file, text, &e.In[i])
	}
	if program != "" {
		v.add(file, lineOf(text, max(strings.Index(text, program), 0)), "sh", quoted(program)+rest)
	}
}

// arguments are the words that Ant's exec is given.
func (e *element) arguments() string {
	var b strings.Builder
	for i := range e.In {
		arg := &e.In[i]
		if arg.XMLName.Local != "arg" {
			continue
		}
		b.WriteString(arg.attr("line") + " ")
		if word := arg.attr("value", "file", "path"); word != "" {
			b.WriteString(quoted(word))
		}
	}
	return b.String()
}

// argument is a text of a program in Python's manner, or another value.
// TeX's stand in braces, m4's between a backquote and a quote.
var argument = regexp.MustCompile("^[\\s,\\[(]*(?:f?\"((?:[^\"\\\\\\n]|\\\\.)*)\"|f?'((?:[^'\\\\\\n]|\\\\.)*)'|([\\w.]+)(\\s*[=:])?|[{`]([^{}`'\\n]*)[}'])")

// readCalls takes the command lines that stand behind one of the row's marks: a
// single text as a line, several as its words, or as a line each if the mark sets
// a name to their list.
func readCalls(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		file, text, ok := v.content(name)
		if !ok || !v.once("calls "+file) {
			continue
		}
		for mark := range strings.FieldsSeq(r.language) {
			mark = strings.ReplaceAll(mark, "_", " ")
			for at := 0; ; {
				next := strings.Index(text[at:], mark)
				if next < 0 {
					break
				}
				if at += next + len(mark); len(v.tasks) >= maxTasks {
					return
				}
				v.called(file, text, at, !strings.HasSuffix(mark, "("))
			}
		}
	}
}

// called keeps the command whose words begin at an offset, or each of them as a
// line.
func (v *visit) called(file, text string, at int, lines bool) {
	const most = 200
	var words []string
	for rest := text[at:]; len(words) < most; {
		m := argument.FindStringSubmatch(rest)
		if m == nil || m[4] != "" { // the end, or a named argument
			break
		}
		word := m[1] + m[2] + m[5]
		if m[3] != "" {
			word = "@value@"
		}
		words = append(words, strings.NewReplacer(`\"`, `"`, `\'`, "'", `\\`, `\`).Replace(word))
		if rest = rest[len(m[0]):]; !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), ",") {
			break
		}
	}
	if len(words) == 0 {
		return
	}
	if lines {
		for _, line := range words {
			v.add(file, lineOf(text, at), "sh", line)
		}
		return
	}
	line := strings.Join(words, "")
	if len(words) > 1 {
		line = quoted(words...)
	}
	v.add(file, lineOf(text, at), "sh", strings.ReplaceAll(line, "'@value@'", unknownValue("value")))
}
