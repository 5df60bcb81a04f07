package templates

import (
	"text/template"
	"text/template/parse"
)

// uses records what a text does with its fields.
type uses struct {
	kinds    map[string]kind
	mistakes []mistake
	file     file
}

// mistake is something that no text may do.
type mistake struct{ where, what string }

// uses analyzes a text. A text can only show fields, counts and times, which is so little
// that samples show everything it can ever say.
func (f file) uses(t *template.Template) uses {
	u := uses{kinds: map[string]kind{}, file: f}
	for _, n := range t.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			u.action(n.Pipe)
		default:
			u.bad(n, "a text can hold fields, at, by, until, since, clock, date and plural, and nothing else")
		}
	}
	return u
}

func (u *uses) bad(n parse.Node, what string) {
	u.mistakes = append(u.mistakes, mistake{u.file.line(int(n.Position())), what})
}

// action reads what stands between braces: a field, or a function called with a field.
func (u *uses) action(p *parse.PipeNode) {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		u.bad(p, "a text can hold no variables and no |")
		return
	}
	args := p.Cmds[0].Args
	if field, ok := args[0].(*parse.FieldNode); ok && len(args) == 1 {
		u.field(field, aText)
		return
	}
	name, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		u.bad(p, "a field is written {{.name}}")
		return
	}
	u.call(p, name.Ident, args[1:])
}

// call reads a function call, whose first argument is a field.
func (u *uses) call(p *parse.PipeNode, name string, args []parse.Node) {
	as := map[string]kind{"at": aTime, "by": aTime, "until": aTime, "since": aTime, "clock": aTime, "date": aTime, "plural": aCount}[name]
	switch {
	case as == "":
		u.bad(p, name+" cannot be used; known: at, by, until, since, clock, date and plural")
		return
	case as == aTime && len(args) != 1:
		u.bad(p, "write {{"+name+" .when}}")
		return
	case as == aCount && len(args) != 3:
		u.bad(p, `write {{plural .n "one" "many"}}`)
		return
	}
	if field, ok := args[0].(*parse.FieldNode); ok {
		u.field(field, as)
	} else {
		u.bad(p, name+" wants a field first, such as .n")
	}
	for _, a := range args[1:] {
		if _, ok := a.(*parse.StringNode); !ok {
			u.bad(a, `plural wants words: {{plural .n "one" "many"}}`)
		}
	}
}

// field records how a field is used. Showing it as it stands says nothing about its kind.
func (u *uses) field(n *parse.FieldNode, as kind) {
	if len(n.Ident) != 1 {
		u.bad(n, "a field has no fields of its own")
		return
	}
	name := n.Ident[0]
	if before := u.kinds[name]; before == "" || before == aText {
		u.kinds[name] = as
	} else if as != aText && as != before {
		u.bad(n, "the field ."+name+" is used as a "+string(before)+" and as a "+string(as))
	}
}
