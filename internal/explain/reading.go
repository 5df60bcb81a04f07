package explain

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Reading is how a call was read.
type Reading struct {
	// Texts are the command lines, programs and patches in the call.
	Texts []Text `json:"texts"`
	// Arguments are its paths, addresses, statements and recipients.
	Arguments []Argument `json:"arguments"`
	// Gaps are what could not be read.
	Gaps []Gap `json:"gaps"`
}

// Text is a text that would be run.
type Text struct {
	At         string      `json:"at"`
	Language   string      `json:"language"`
	Operations []Operation `json:"operations"`
	Gaps       []Gap       `json:"gaps"`
}

// Operation is a command, or an operation of a program or a patch on files.
type Operation struct {
	Does string   `json:"does"`
	Via  []string `json:"via,omitempty"`
	Cwd  string   `json:"cwd,omitempty"`
	// Places are the kinds of places that its words name.
	Places []string `json:"places,omitempty"`
}

// Argument is one argument with a role.
type Argument struct {
	At   string `json:"at"`
	Role string `json:"role"`
	Text string `json:"text"`
}

// Gap is something that could not be read.
type Gap struct {
	At  string `json:"at,omitempty"`
	Why string `json:"why"`
	// said is Why for every language, but for the word behind it.
	said wording.Clause
	word string
}

// viewer converts a reading to the form that is printed.
type viewer struct {
	places *place.Table
	home   string
}

// viewOf reads a proposal as the engine does.
func viewOf(engine *vaglio.Engine, p vaglio.Proposal, home string) (Reading, error) {
	table, err := place.Load(home, false)
	if err != nil {
		return Reading{}, err
	}
	v := viewer{table, home}
	rd := engine.Read(p)
	out := Reading{Texts: []Text{}, Arguments: []Argument{}, Gaps: []Gap{}}
	for i := range rd.Commands {
		out.Texts = append(out.Texts, v.text(&rd.Commands[i]))
	}
	for _, l := range []struct {
		role string
		list []reading.Text
	}{{"path", rd.Paths}, {"address", rd.URLs}, {"statement", rd.Statements}, {"recipient", rd.Recipients}} {
		for _, t := range l.list {
			out.Arguments = append(out.Arguments, Argument{t.At, l.role, t.Text})
		}
	}
	for _, g := range rd.Gaps {
		out.Gaps = append(out.Gaps, Gap{At: g.At, Why: g.Why.String(), said: g.Why})
	}
	return out, nil
}

func (v viewer) text(c *reading.Command) Text {
	out := Text{At: c.At, Language: c.Language, Operations: []Operation{}, Gaps: []Gap{}}
	for i := range c.Script.Commands {
		out.Operations = append(out.Operations, v.operation(&c.Script.Commands[i]))
	}
	for i := range c.Script.Problems {
		p := &c.Script.Problems[i]
		gap := Gap{Why: p.Detail.String(), said: p.Detail}
		if w := p.Word.String(); w != "" && !strings.Contains(gap.Why, w) {
			gap.word = ": " + w
		}
		gap.Why += gap.word
		out.Gaps = append(out.Gaps, gap)
	}
	return out
}

// operation returns what a command does and which places its words name.
func (v viewer) operation(c *shell.Command) Operation {
	words := make([]string, 0, len(c.Argv)+len(c.Redirects))
	named := c.Argv
	if c.Call != nil {
		named = c.Call.Targets
		words = append(words, string(c.Call.Verb))
	}
	for _, w := range named {
		words = append(words, w.String())
	}
	for _, r := range c.Redirects {
		words = append(words, redirectWord(r.Kind), r.Target.String())
		named = append(slices.Clip(named), r.Target)
	}
	out := Operation{Does: strings.Join(words, " "), Via: c.Via, Cwd: c.Cwd.String()}
	for i, w := range named {
		if i == 0 && c.Call == nil && !strings.Contains(w.String(), "/") {
			continue // a program, which PATH finds
		}
		if kind := v.kind(w.String(), out.Cwd); kind != "" {
			out.Places = append(out.Places, w.String()+": "+kind)
		}
	}
	return out
}

func redirectWord(k shell.RedirectKind) string {
	switch k {
	case shell.RedirectRead:
		return "<"
	case shell.RedirectAppend:
		return ">>"
	case shell.RedirectReadWrite:
		return "<>"
	default:
		return ">"
	}
}

// kind returns the kinds of a place that a word names according to the table, "" for none.
func (v viewer) kind(word, cwd string) string {
	if word == "" || word[0] == '-' {
		return ""
	}
	clean := place.Clean(place.Join(cwd, place.Local(word, v.home)))
	if !strings.HasPrefix(clean, "/") {
		return ""
	}
	return v.places.Classes(clean).String()
}

// reading writes a reading.
func (w *writer) reading(r *Reading) {
	label := "reading"
	say := func(text string) {
		w.entry(label, text)
		label = ""
	}
	for _, t := range r.Texts {
		say(w.texts.Plain("explain.reading.as", templates.Values{"at": templates.Theirs(t.At), "language": templates.Theirs(t.Language)}))
		for _, o := range t.Operations {
			does := o.Does
			if len(o.Via) > 0 {
				does += " (" + w.texts.Plain("explain.reading.via", templates.Values{"programs": templates.Theirs(strings.Join(o.Via, ", "))}) + ")"
			}
			say("- " + does)
			for _, p := range o.Places {
				say("- " + w.texts.Plain("explain.reading.names", templates.Values{"place": templates.Theirs(p)}))
			}
		}
		for _, g := range t.Gaps {
			say("- " + w.gap(g))
		}
	}
	for _, a := range r.Arguments {
		say(w.texts.Plain(templates.Key("explain.reading."+a.Role), templates.Values{"at": templates.Theirs(a.At), "text": templates.Theirs(a.Text)}))
	}
	for _, g := range r.Gaps {
		say(w.gap(g))
	}
}

// gap returns what could not be read.
func (w *writer) gap(g Gap) string {
	var b strings.Builder
	parts, _ := w.texts.Sentence(wording.Sentence{g.said})
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return w.texts.Plain("explain.reading.gap", templates.Values{"why": templates.Theirs(strings.TrimSpace(g.At + " " + b.String() + g.word))})
}
