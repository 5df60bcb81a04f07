package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// argument is one word of a command.
type argument struct {
	name   string // of a parameter, in lower case and without its dash
	val    value  // the word, or what follows the colon of -Name:value
	valued bool   // a colon gave the parameter its value
	word   shell.Word
	bare   bool // without quotes
}

// element reads one command or expression of a pipeline.
func (r *reader) element(toks []token, in value, piped bool) value {
	toks, redirs := r.redirects(toks)
	if len(redirs) > 0 {
		r.emit(shell.Command{Redirects: redirs})
	}
	if len(toks) == 0 {
		return value{}
	}
	t := &toks[0]
	switch {
	case t.kind == tokAmp, t.kind == tokWord && t.text == "." && len(toks) > 1 && !toks[1].glued:
		return r.operator(t.text, toks[1:], in, piped)
	case t.kind == tokWord && !startsExpression(t.text):
		n := runLength(toks)
		name := r.argument(toks[:n]).word
		return r.invoke(name, r.args(toks[n:]), in, piped)
	}
	return r.eval(toks)
}

// startsExpression says that a statement that begins so is no command.
func startsExpression(s string) bool {
	switch {
	case s == "":
		return false
	case s[0] == '[' && len(s) > 1, s[0] == '!' && len(s) == 1, s == "-not", s == "-join", s == "-split", s == "-bnot", s == "+", s == "++", s == "--":
		return true
	case isDigit(s[0]) || s[0] == '-' && len(s) > 1 && isDigit(s[1]):
		return strings.Trim(s, "0123456789.kmgtbKMGTB+-*/%ex") == ""
	}
	return false
}

// redirects takes the redirections out of a command.
func (r *reader) redirects(toks []token) ([]token, []shell.Redirect) {
	if !slices.ContainsFunc(toks, func(t token) bool { return t.kind == tokRedirect }) {
		return toks, nil
	}
	var rest []token
	var list []shell.Redirect
	for i := 0; i < len(toks); i++ {
		t := &toks[i]
		if t.kind != tokRedirect {
			rest = append(rest, *t)
			continue
		}
		if t.text == "&" || i+1 >= len(toks) {
			continue
		}
		n := runLength(toks[i+1:])
		v := r.argument(toks[i+1 : i+1+n]).val
		i += n
		kind := shell.RedirectWrite
		if t.text == ">>" {
			kind = shell.RedirectAppend
		}
		for _, w := range v.items {
			list = append(list, shell.Redirect{Kind: kind, Target: r.path(w, true)})
		}
	}
	return rest, list
}

// runLength is how many tokens stand without a blank between them.
func runLength(toks []token) int {
	n := 1
	for n < len(toks) && toks[n].glued && toks[n].kind != tokComma && toks[n].kind != tokRedirect && toks[n].kind != tokAmp {
		if toks[n].kind == tokGroup && toks[n].open == openBlock && toks[n-1].kind == tokWord && !strings.HasSuffix(toks[n-1].text, ":") {
			break // name{…}
		}
		n++
	}
	return n
}

// args reads the words of a command.
func (r *reader) args(toks []token) []argument {
	var out []argument
	for i := 0; i < len(toks); {
		if toks[i].kind == tokComma || toks[i].kind == tokAmp {
			i++
			continue
		}
		n := runLength(toks[i:])
		a := r.argument(toks[i : i+n])
		i += n
		parts := []value{a.val}
		for i+1 < len(toks) && toks[i].kind == tokComma { // a list
			n = runLength(toks[i+1:])
			parts = append(parts, r.argument(toks[i+1:i+1+n]).val)
			i += 1 + n
		}
		if len(parts) > 1 {
			a.val = list(parts)
			a.valued = a.valued || a.name != ""
		}
		out = append(out, a)
		if a.word.Is("--%") {
			break
		}
	}
	return out
}

// argument reads one word of a command.
func (r *reader) argument(toks []token) argument {
	t := &toks[0]
	if t.kind == tokWord && len(t.text) > 1 && t.text[0] == '-' && (isLetter(t.text[1]) || t.text[1] == '?') {
		return r.parameter(toks)
	}
	a := argument{bare: t.kind == tokWord}
	switch {
	case t.splat:
		a.val = r.variable(t.text)
		a.name = "@"
		a.valued = true
	case len(toks) == 1 && t.kind == tokGroup:
		a.val = r.group(t)
	case t.kind == tokVar && len(toks) > 1 && isMember(&toks[1]) || t.kind == tokGroup && len(toks) > 1 && t.open != openBlock && isMember(&toks[1]):
		a.val = r.eval(toks)
	default:
		a.val = r.side(toks)
	}
	a.word = wordOf(a.val)
	return a
}

func isMember(t *token) bool {
	return t.kind == tokWord && len(t.text) > 1 && (t.text[0] == '.' && isLetter(t.text[1]) || t.text[0] == '[' || strings.HasPrefix(t.text, "::"))
}

// side reads tokens that stand side by side as one text.
func (r *reader) side(toks []token) value {
	parts := make([]value, len(toks))
	files := false
	for i := range toks {
		t := &toks[i]
		switch t.kind {
		case tokText:
			parts[i] = r.text(t)
		case tokVar:
			parts[i] = r.variable(t.text)
		case tokGroup:
			if t.open == openBlock && len(toks) > 1 {
				parts[i] = text("{" + t.text + "}")
				continue
			}
			parts[i] = r.group(t)
		default:
			parts[i] = text(t.text)
		}
		files = files || parts[i].files
	}
	if len(parts) == 1 {
		return parts[0]
	}
	v := r.glue(parts)
	v.files = files
	return v
}

// parameter reads -Name or -Name:value.
func (r *reader) parameter(toks []token) argument {
	name, value, colon := strings.Cut(toks[0].text[1:], ":")
	a := argument{name: strings.ToLower(name), word: wordOf(r.side(toks)), bare: true}
	if !colon {
		if len(toks) > 1 && (toks[1].kind != tokGroup || toks[1].open != openBlock) {
			a.val = r.side(toks[1:])
			a.valued = toks[1].kind != tokWord
		}
		return a
	}
	a.valued = true
	rest := toks[1:]
	if value != "" {
		first := toks[0]
		first.text = value
		rest = append([]token{first}, rest...)
	}
	if len(rest) > 0 {
		a.val = r.argument(rest).val
	} else {
		a.valued = false
	}
	return a
}

// wordOf is a value as one word.
func wordOf(v value) shell.Word {
	switch {
	case v.block != nil && len(v.items) == 0:
		return shell.Text("{}")
	case len(v.items) == 1:
		return v.items[0]
	case len(v.items) == 0:
		return shell.Text("")
	case v.either:
		return unknownWord("")
	}
	return joined(v.items, shell.Text(" "))
}

// operator reads what & and . run.
func (r *reader) operator(op string, toks []token, in value, piped bool) value {
	if len(toks) == 0 {
		return value{}
	}
	n := runLength(toks)
	if toks[0].kind == tokWord && op == "&" {
		return r.invoke(r.argument(toks[:n]).word, r.args(toks[n:]), in, piped)
	}
	v := r.argument(toks[:n]).val
	args := r.args(toks[n:])
	if v.block != nil {
		return r.callFunction("", function{params: blockParams(v.block), body: v.block}, args, in)
	}
	out := value{}
	for _, w := range v.choices() {
		if _, known := w.Text(); !known && programName(w) == "" {
			out = r.dynamicName(w, args)
			continue
		}
		if op == "." {
			out = merged(out, r.script(w, args))
			continue
		}
		out = merged(out, r.invoke(w, args, in, piped))
	}
	return out
}

func blockParams(body []token) []string {
	for i := range body {
		if body[i].kind == tokWord && strings.EqualFold(body[i].text, "param") && i+1 < len(body) {
			return paramNames(body[i+1].kids)
		}
	}
	return nil
}

// dynamicName notes a command of which the name is not known.
func (r *reader) dynamicName(w shell.Word, args []argument) value {
	kind, detail := shell.ProblemDynamicName, wording.Say("the name of a command is only known when it runs")
	if w.Remote() {
		kind, detail = shell.ProblemDownload, wording.Say("a downloaded text is run")
	}
	r.problem(shell.Problem{Kind: kind, Detail: detail, Word: w, Interpreter: "powershell"})
	r.blocks(args, value{})
	return unknownValue("")
}

// blocks reads the blocks among the words of a command, which it may run.
func (r *reader) blocks(args []argument, in value) {
	for i := range args {
		if args[i].val.block != nil {
			r.each(args[i].val, in)
		}
	}
}

// each runs a block for all that comes through a pipe.
func (r *reader) each(v, in value) value {
	if v.block == nil {
		return value{}
	}
	return r.conditional(true, func() value {
		old, had := r.vars["_"]
		r.vars["_"] = in.element()
		out := r.block(v.block)
		if r.vars["_"] = old; !had {
			delete(r.vars, "_")
		}
		return out
	})
}
