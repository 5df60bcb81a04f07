package powershell

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
)

// batch reads one text in cmd's language.
type batch struct {
	cursor
	r *reader
}

// batch reads a text in cmd's language. Brackets only group commands, and what may not run is assumed to end with the line, or with its brackets.
func (r *reader) batch(src string) value {
	r.opens(src)
	src = strings.NewReplacer("^\r\n", "", "^\n", "", "\r\n", "\n").Replace(src) // a line that ends with ^ continues
	b := &batch{r: r, cursor: cursor{src: src}}
	outer, depth, piped, in := r.at, 0, false, value{}
	for b.space(); !b.done(); b.space() {
		r.step(1)
		was := piped
		piped = b.at("|") && !b.has("||")
		switch {
		case b.has("&&"), b.has("||"):
			b.take(2)
			r.at.Conditional = true
		case b.skip("&|"):
		case b.skip("("):
			depth++
			piped = was
		case b.skip(")"):
			depth--
		case !b.skip("\n"):
			in = b.statement(in, was)
		case depth <= 0:
			r.at = outer
		}
	}
	r.at = outer
	return in
}

func (b *batch) space() {
	for b.skip(" \t\r,;") {
	}
}

// What precedes a command in a statement: words that mean nothing here, a comment, the test of an if, and a loop's options, variable and set.
var (
	leads = regexp.MustCompile(`(?i)^(?:@|rem\b.*|::.*|(?:else|do|call|start(?:\s+"[^"]*")?(?:\s+/d\s+\S+|\s+/\w+)*)(?:[\s(]|$))`)
	tests = regexp.MustCompile(strings.ReplaceAll(`(?i)^if\s+(?:/i\s+|not\s+)*(?:(?:exist|defined|errorlevel)\s+W|W\s*==\s*W|W\s+\w{3}\s+W)`,
		"W", `(?:"[^"\n]*"|[^\s"()=<>&|])+`))
	loops = regexp.MustCompile(`(?i)^for\s+(?:/([dlrf])\s+)?([^%\s"]\S*\s+|"[^"]*"\s+)?%%?(\w)\s+in\s*\(([^()]*)\)`)
	heads = regexp.MustCompile(`(?i)^(?:if|for)\s`)
)

// statement reads what precedes a command, or a command up to its end.
func (b *batch) statement(in value, piped bool) value {
	rest := b.rest()
	if lead := leads.FindString(rest); lead != "" {
		b.take(len(strings.TrimRight(lead, "( \t\n")))
		return in
	}
	if test := tests.FindString(rest); test != "" {
		b.take(len(test))
		b.r.at.Conditional = true
		return in
	}
	if loop := loops.FindStringSubmatch(rest); loop != nil {
		b.take(len(loop[0]))
		b.loop(strings.ToLower(loop[1]), loop[2], strings.ToLower(loop[3]), loop[4])
		return in
	}
	if heads.MatchString(rest) {
		b.r.unread("a loop of a form that is not read")
	}
	args := b.words(wordEnds)
	if len(args) == 0 {
		return in
	}
	return b.r.batchCommand(args, in, piped)
}

// loop reads %x in (set): a set of files, of numbers, or of a command's output.
func (b *batch) loop(mode, options, name, set string) {
	r := b.r
	r.at.Conditional, r.at.InLoop = true, true
	items := value{}
	set = strings.TrimSpace(set)
	if mode == "f" {
		if command := strings.Trim(set, "'`"); command != set {
			r.deeper(func() value { return r.carried(text(command), "cmd") })
		}
		items = one(word.Unknown(""))
	} else {
		if mode == "r" && options != "" {
			r.unread("a loop of a form that is not read")
		}
		for _, a := range (&batch{r: r, cursor: cursor{src: set}}).words(listEnds) {
			for _, w := range a.val.items {
				if w = r.path(w, false); mode == "r" {
					w = below(found(), w)
				}
				items.items = append(items.items, w)
			}
		}
	}
	r.vars["%"+name] = items.element()
}

// words reads the words of a command or of a set, and opens the files of its redirections.
func (b *batch) words(ends string) (args []argument) {
	if name := named.FindStringSubmatch(b.rest()); name != nil && b.r.t.spec("cmd:", name[1]) != nil {
		args = append(args, plainArg(shell.Text(b.take(len(name[1]))))) // del/q, cd..
		ends = listEnds
	}
	for b.space(); !b.done() && !b.at("\n&|)"); b.space() {
		b.r.step(1)
		if b.redirect() || b.skip("(") {
			continue
		}
		quoted := b.at(`"`)
		word := b.word(ends)
		v := b.r.percent(word)
		switch {
		case !quoted && strings.HasPrefix(word, "%") && len(v.items) == 1: // it may hold several
			args = append(args, b.r.splitWords(v.items[0])...)
		default:
			args = append(args, argument{val: v, word: b.r.word(v), bare: !quoted})
		}
	}
	return args
}

func (b *batch) redirect() bool {
	kind, to, ok := b.redirection()
	if b.skip("<") {
		kind, to, ok = shell.RedirectRead, true, true
	}
	if b.space(); to {
		if word := b.word(wordEnds); !strings.EqualFold(word, "nul") {
			b.r.redirect(kind, b.r.percent(word))
		}
	}
	return ok
}

// named matches a command of cmd's own, after whose name there need not be a blank.
var named = regexp.MustCompile(`^([A-Za-z]+)(?:[/\\,;\s&|()<>]|\.\.|\.(?:[\s\\/]|$)|$)`)

// What ends a word outside quotes, of a program and of cmd's own commands and sets.
const (
	wordEnds = " \t\r&|()<>"
	listEnds = wordEnds + ",;"
)

// word reads up to the next of the ends outside quotes.
func (b *batch) word(ends string) string {
	var word strings.Builder
	for inside := false; !b.done() && !b.at("\n") && (inside || !b.at(ends)); {
		switch s := b.take(1); {
		case s == `"`:
			inside = !inside
		case !inside && s == "^":
			if !b.done() {
				word.WriteString(b.take(1))
			}
		default:
			word.WriteString(s)
		}
	}
	return word.String()
}

func (r *reader) batchCommand(args []argument, in value, piped bool) value {
	name, rest := args[0].word, args[1:]
	s, _ := name.Text()
	sp := r.t.spec("cmd:", s)
	switch {
	case strings.EqualFold(s, "set"):
		all := r.line(rest)
		if len(rest) == 0 {
			r.environment("")
		}
		name, _, ok := strings.Cut(all.Prefix(), "=")
		if v := one(all.Cut(len(name) + 1)); ok && name != "" && name[0] != '/' {
			r.setenv(name, v)
			r.setVar("env:"+strings.ToLower(name), v)
		}
		return value{}
	case sp == nil:
		return r.program(name, rest, in, piped)
	}
	return r.table(sp, rest, in, piped)
}

// percent replaces %NAME%, !NAME! and the variables of loops in a word.
func (r *reader) percent(s string) value {
	r.step(1 + len(s)/bytesPerStep)
	var parts []value
	for at := 0; ; {
		n := strings.IndexAny(s[at:], "%!")
		if n < 0 {
			return r.glue(append(parts, text(s))...)
		}
		v, size := r.percentAt(s[at+n:])
		if at += n + size; size == 0 {
			at++ // it stands for itself
			continue
		}
		parts = append(parts, text(s[:at-size]), v)
		s, at = s[at:], 0
	}
}

// percentAt reads the variable at the beginning of a text and returns its length there, 0 if there is none. What %~dpx and %x:~1,2% extract is unknown.
func (r *reader) percentAt(s string) (value, int) {
	if lead := len(percentSigns.FindString(s)); lead > 0 && lead < len(s) && !enclosed.MatchString(s) {
		if v, ok := r.vars["%"+strings.ToLower(s[lead:lead+1])]; ok {
			return v, lead + 1
		}
		if strings.IndexByte("0123456789*~", s[1]) >= 0 {
			return unknown(), 2
		}
	}
	name, _, ok := strings.Cut(s[1:], s[:1])
	if !ok || name == "" {
		return value{}, 0
	}
	base, _, changes := strings.Cut(strings.ToLower(name), ":")
	if changes {
		return unknown(), len(name) + 2
	}
	return r.variable("env:" + base), len(name) + 2
}

// batchLine reads the command line given to cmd: what follows /c or /k.
func (r *reader) batchLine(args []argument, in value, piped bool) value {
	for i := range args {
		if s := args[i].word.Prefix(); runs.MatchString(s) {
			if args = args[i:]; len(s) > 2 {
				args[0] = plainArg(shell.Text(s[2:]))
			} else {
				args = args[1:]
			}
			w := r.line(args)
			if wrapped.MatchString(w.String()) {
				w = w.Cut(1)
			}
			return r.carried(one(w), "cmd")
		}
	}
	if piped {
		return r.carried(in, "cmd")
	}
	r.call("cmd", shell.VerbRead)
	return output("cmd", false)
}

// runs matches the option that precedes a command, wrapped a command in quotes that are not part of
// it, percentSigns those before a loop's variable (in a file, two), and enclosed what is none.
var (
	runs         = regexp.MustCompile(`(?i)^/[ckr]`)
	wrapped      = regexp.MustCompile(`(?s)^".*"$`)
	percentSigns = regexp.MustCompile(`^%%?`)
	enclosed     = regexp.MustCompile(`^%\w+%`)
)
