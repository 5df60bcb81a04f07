// Package buildxml finds the programs that the files of Ant and Maven run.
package buildxml

import (
	"encoding/xml"
	"slices"
	"strings"
)

// Command is a program and the words behind it, as a shell would read them.
type Command struct{ Program, Words string }

// Commands returns the programs in Ant's exec elements, by their attributes, and in Maven's configuration. quote makes
// of words what a shell reads as these words. A text that is no XML has none.
func Commands(text string, quote func(words ...string) string) []Command {
	f := finder{quote: quote}
	var root element
	if xml.Unmarshal([]byte(text), &root) == nil {
		f.look(&root)
	}
	return f.found
}

type finder struct {
	quote func(words ...string) string
	found []Command
}

// element is an XML element with its content.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	In      []element  `xml:",any"`
}

// attr returns the value of the first of the attributes that exists.
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

func (f *finder) look(e *element) {
	var program string
	var rest strings.Builder
	if slices.Contains([]string{"exec", "apply"}, e.XMLName.Local) {
		program = e.attr("executable", "command")
		rest.WriteString(f.arguments(e))
	}
	for i := range e.In {
		switch in := &e.In[i]; in.XMLName.Local {
		case "executable":
			program = strings.TrimSpace(in.Text)
		case "commandlineArgs":
			rest.WriteString(in.Text + " ")
		case "arguments":
			for j := range in.In {
				rest.WriteString(f.quote(strings.TrimSpace(in.In[j].Text)))
			}
		}
		f.look(&e.In[i])
	}
	if program != "" {
		f.found = append(f.found, Command{program, rest.String()})
	}
}

// arguments returns the words that Ant's exec passes.
func (f *finder) arguments(e *element) string {
	var b strings.Builder
	for i := range e.In {
		arg := &e.In[i]
		if arg.XMLName.Local != "arg" {
			continue
		}
		b.WriteString(arg.attr("line") + " ")
		if word := arg.attr("value", "file", "path"); word != "" {
			b.WriteString(f.quote(word))
		}
	}
	return b.String()
}
