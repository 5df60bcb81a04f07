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

func plainArg(w shell.Word) argument { return argument{val: one(w), word: w} }

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
	switch s {
	case "":
		return false
	case "!", "-not", "-join", "-split", "-bnot", "+", "++", "--":
		return true
	}
	if isDigit(s[0]) || s[0] == '-' && len(s) > 1 && isDigit(s[1]) {
		return strings.Trim(s, "0123456789.kmgtbKMGTB+-*/%ex") == ""
	}
	return s[0] == '[' && len(s) > 1
}

// redirects takes the redirections out of a command.
func (r *reader) redirects(toks []token) ([]token, []shell.Redirect) {
	if !slices.ContainsFunc(toks, func(t token) bool { return t.kind == tokRedirect }) {
		return toks, nil
	}
	var rest []token
	var list []shell.Redirect
	for len(toks) > 0 {
		t := toks[0]
		toks = toks[1:]
		if t.kind != tokRedirect {
			rest = append(rest, t)
			continue
		}
		if t.text == "&" || len(toks) == 0 {
			continue
		}
		n := runLength(toks)
		kind := shell.RedirectWrite
		if t.text == ">>" {
			kind = shell.RedirectAppend
		}
		for _, w := range r.argument(toks[:n]).val.items {
			list = append(list, shell.Redirect{Kind: kind, Target: r.path(w, true)})
		}
		toks = toks[n:]
	}
	return rest, list
}

// runLength is how many tokens stand without a blank between them, one at
// least.
func runLength(toks []token) int {
	for n := 1; n < len(toks); n++ {
		t, before := &toks[n], &toks[n-1]
		switch {
		case !t.glued || t.kind == tokComma || t.kind == tokRedirect || t.kind == tokAmp:
			return n
		case t.is(openBlock) && before.kind == tokWord && !strings.HasSuffix(before.text, ":"):
			return n // name{…}
		}
	}
	return len(toks)
}

// args reads the words of a command.
func (r *reader) args(toks []token) []argument {
	var out []argument
	for len(toks) > 0 && r.step(1) {
		if toks[0].kind == tokComma || toks[0].kind == tokAmp {
			toks = toks[1:]
			continue
		}
		n := runLength(toks)
		a := r.argument(toks[:n])
		toks = toks[n:]
		parts := []value{a.val}
		for len(toks) > 1 && toks[0].kind == tokComma { // a list
			n = runLength(toks[1:])
			parts = append(parts, r.argument(toks[1:1+n]).val)
			toks = toks[1+n:]
		}
		if len(parts) > 1 {
			a.val = r.list(parts)
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
	if t.splat {
		a.name, a.valued, a.val = "@", true, r.variable(t.text)
	} else {
		a.val = r.operand(toks)
	}
	a.word = r.word(a.val)
	return a
}

// operand reads what stands side by side: an expression with members, or texts.
func (r *reader) operand(toks []token) value {
	t := &toks[0]
	if len(toks) > 1 && isMember(&toks[1]) && (t.kind == tokVar || t.kind == tokGroup && t.open != openBlock) {
		return r.eval(toks)
	}
	return r.side(toks)
}

func isMember(t *token) bool {
	return t.kind == tokWord && len(t.text) > 1 && (t.text[0] == '.' && isLetter(t.text[1]) || t.text[0] == '[' || strings.HasPrefix(t.text, "::"))
}

// side reads tokens that stand side by side as one text.
func (r *reader) side(toks []token) value {
	parts := make([]value, len(toks))
	files := false
	for i := range toks {
		switch t := &toks[i]; {
		case t.kind == tokText:
			parts[i] = r.text(t)
		case t.kind == tokVar:
			parts[i] = r.variable(t.text)
		case t.is(openBlock) && len(toks) > 1:
			parts[i] = text("{" + t.text + "}")
		case t.kind == tokGroup:
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
	name, inside, colon := strings.Cut(toks[0].text[1:], ":")
	a := argument{name: strings.ToLower(name), bare: true, valued: colon}
	rest := toks[1:]
	switch {
	case inside != "":
		first := toks[0]
		first.text = inside
		a.val = r.operand(append([]token{first}, rest...))
	case len(rest) == 0:
		a.valued = false
	case colon:
		a.val = r.operand(rest)
	case !rest[0].is(openBlock):
		a.val, a.valued = r.side(rest), rest[0].kind != tokWord
	}
	a.word = shell.Text(toks[0].text)
	if len(rest) > 0 {
		before := strings.TrimSuffix(toks[0].text, inside)
		a.word = r.word(r.glue([]value{text(before), a.val}))
	}
	return a
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
	for _, w := range r.choices(v) {
		_, known := w.Text()
		switch {
		case r.stopped:
		case !known && programName(w) == "":
			out = r.dynamicName(w, args)
		case op == ".":
			out = r.merged(out, r.script(w, args))
		default:
			out = r.merged(out, r.invoke(w, args, in, piped))
		}
	}
	return out
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
		out := r.statements(v.block)
		if r.vars["_"] = old; !had {
			delete(r.vars, "_")
		}
		return out
	})
}
