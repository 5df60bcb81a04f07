package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// variable is what a variable holds.
func (r *reader) variable(name string) value {
	if v, ok := r.vars[name]; ok {
		return v
	}
	env, isEnv := strings.CutPrefix(name, "env:")
	if isEnv {
		for n, s := range r.o.Env {
			if strings.EqualFold(n, env) {
				return text(s)
			}
		}
	}
	if s, ok := r.t.variables[env]; ok && (isEnv || isOwnVariable(name)) {
		return r.special(s)
	}
	if isEnv {
		return one(unknownWord(strings.ToUpper(env)))
	}
	return one(unknownWord(name))
}

// isOwnVariable says that a name of the table is one of PowerShell's own
// variables rather than of the environment.
func isOwnVariable(name string) bool {
	switch name {
	case "home", "profile", "pwd", "pshome", "psscriptroot", "true", "false", "null":
		return true
	default:
		return false
	}
}

// special reads a value of the table of variables.
func (r *reader) special(s string) value {
	switch {
	case s == "":
		return value{}
	case s == "$PWD":
		return value{items: []shell.Word{r.cwd}, files: true}
	case s[0] == '$':
		return one(unknownWord(s[1:]))
	case s[0] == '~':
		return one(shell.Glue(r.home(), shell.Text(s[1:])))
	}
	return text(s)
}

// staticValue reads a constant of a type.
func (r *reader) staticValue(typ, member string) value {
	switch typ + "::" + strings.ToLower(member) {
	case "text.encoding::unicode", "text.encoding::utf8", "text.encoding::ascii", "text.encoding::default", "encoding::unicode", "encoding::utf8",
		"encoding::ascii":
		return text(strings.ToLower(member))
	case "io.path::directoryseparatorchar":
		return text("/")
	case "environment::newline":
		return text("\n")
	case "environment::currentdirectory":
		return value{items: []shell.Word{r.cwd}, files: true}
	}
	return unknownValue("")
}

// static reads the call of a type's function.
func (r *reader) static(typ, member string, args []value) value {
	fn := typ + "::" + strings.ToLower(member)
	roles, ok := r.t.static[fn]
	if !ok {
		if strings.EqualFold(member, "new") {
			if strings.HasSuffix(typ, "fileinfo") || strings.HasSuffix(typ, "directoryinfo") {
				v := r.arg(args, 0)
				v.files = true
				return v
			}
			return value{items: unknownValue("").items, client: strings.HasSuffix(typ, "client")}
		}
		if !r.t.pure[typ] {
			r.unread("a function that is not known is called: %s", "["+typ+"]::"+member)
			return unknownValue("")
		}
		return r.pureCall(fn, args)
	}
	return r.member("["+typ+"]::"+member, roles, value{}, args)
}

func (r *reader) arg(args []value, i int) value {
	if i < 0 || i >= len(args) {
		return value{}
	}
	return args[i]
}

// pureCall reads the functions that only make texts, as far as hidden words
// need it.
func (r *reader) pureCall(fn string, args []value) value {
	switch fn {
	case "io.path::combine":
		w := &work{r: r, sp: &spec{params: []param{{name: "path"}}}, b: &bound{vals: map[string]value{"path": r.arg(args, 0)}}}
		for _, a := range args[min(1, len(args)):] {
			w.b.vals["childpath"] = a
			w.b.vals["path"] = w.joinPath()
		}
		return w.b.vals["path"]
	case "io.path::getfullpath":
		return r.arg(args, 0)
	case "io.path::gettempfilename", "io.path::getrandomfilename":
		return unknownValue("mktemp")
	case "io.path::gettemppath":
		return one(unknownWord("TEMP"))
	case "string::join":
		if sep, ok := r.arg(args, 0).text(); ok && len(args) == 2 && !args[1].either {
			return r.bounded(one(joined(args[1].items, shell.Text(sep))))
		}
	case "string::concat":
		return r.glue(args)
	case "string::format":
		return r.format(r.arg(args, 0), list(args[min(1, len(args)):]))
	case "regex::replace":
		if len(args) == 3 {
			return r.replace(args[0], list(args[1:]))
		}
	case "convert::tochar":
		return r.cast("char", r.arg(args, 0))
	}
	for _, a := range args {
		for _, w := range a.items {
			if w.Remote() {
				return remoteValue("")
			}
		}
	}
	return unknownValue("")
}

// method reads the call of an object's function.
func (r *reader) method(v value, name string, args []value) value {
	key := strings.ToLower(name)
	if out, ok := r.textMethod(v, key, args); ok {
		return out
	}
	roles, ok := r.t.methods[key]
	switch {
	case ok && (key != "delete" && key != "moveto" && key != "copyto" || v.files || !v.isNothing()):
		return r.member(name, roles, v, args)
	case r.t.harmless[key]:
		for _, a := range args {
			r.blocks([]argument{{val: a}}, v)
		}
		return r.unknownLike(list(append([]value{v}, args...)))
	case v.client:
		r.unread("a function of a connection is called that is not known: %s", name)
		return remoteValue(name)
	}
	for _, a := range args {
		r.blocks([]argument{{val: a}}, v)
	}
	r.unread("a function of an object is called that is not known: %s", name)
	return unknownValue("")
}

// textMethod reads the functions of texts.
func (r *reader) textMethod(v value, key string, args []value) (value, bool) {
	switch key {
	case "getstring":
		in := r.arg(args, 0)
		if enc, _ := v.text(); enc == "unicode" {
			return in.mapped(decodeUTF16), true
		}
		return in, true
	case "replace":
		from, ok1 := r.arg(args, 0).text()
		to, ok2 := r.arg(args, 1).text()
		if ok1 && ok2 && from != "" {
			return r.bounded(v.mapped(func(s string) string { return strings.ReplaceAll(s, from, to) })), true
		}
	case "trim", "trimstart", "trimend":
		if len(args) == 0 {
			return v.mapped(strings.TrimSpace), true
		}
		return v, true
	case "tostring", "getenumerator", "toarray", "normalize":
		return v, true
	case "tolower", "tolowerinvariant":
		return v.mapped(strings.ToLower), true
	case "toupper", "toupperinvariant":
		return v.mapped(strings.ToUpper), true
	case "substring":
		s, ok := v.text()
		from, ok1 := r.arg(args, 0).number()
		n, ok2 := r.arg(args, 1).number()
		if ok && ok1 && from >= 0 && from <= len(s) && (len(args) == 1 || ok2 && n >= 0 && from+n <= len(s)) {
			if len(args) == 1 {
				n = len(s) - from
			}
			return text(s[from : from+n]), true
		}
	case "insert":
		s, ok := v.text()
		at, ok1 := r.arg(args, 0).number()
		if ok && ok1 && at >= 0 && at <= len(s) {
			return r.glue([]value{text(s[:at]), r.arg(args, 1), text(s[at:])}), true
		}
	case "split":
		return r.split(v, r.arg(args, 0)), true
	}
	return value{}, false
}

// member does what the table says of a function.
func (r *reader) member(name string, roles []role, self value, args []value) value {
	sp := &spec{name: name}
	w := &work{r: r, sp: sp, b: &bound{vals: map[string]value{"self": self}, on: map[string]bool{}}, rest: map[string]value{}}
	out := unknownValue("")
	for _, ro := range roles {
		v := self
		if ro.index >= 0 {
			v = r.arg(args, ro.index)
		}
		switch ro.what {
		case roleFetch, roleSend:
			verb := name
			if ro.what == roleSend {
				verb = "post " + name
			}
			r.call(verb, shell.VerbNetwork, v.items...)
			out = remoteValue(name)
		case roleMakeBlock:
			if s, ok := v.text(); ok {
				l := &lexer{src: plain(s), depth: r.depth}
				out = value{block: append([]token{}, l.group(0)...)}
			} else {
				r.carried(v, name)
			}
		case roleFolder:
			s, _ := v.text()
			out = r.special(r.t.folders[strings.ToLower(s)])
			if out.isNothing() {
				out = unknownValue("")
			}
		case roleGetenv:
			if s, ok := v.text(); ok {
				out = r.variable("env:" + strings.ToLower(s))
			}
		case roleSetenv:
			r.plain("setx", []argument{{val: v, word: wordOf(v)}})
		case roleBase64:
			if s, ok := v.text(); ok {
				if data, ok := decodeBase64(s); ok {
					out = text(data)
				}
			} else {
				out = r.unknownLike(v)
			}
		case roleBlock:
			out = r.invoked(v, args)
		default:
			w.do(ro.what, v, true)
		}
	}
	w.finish()
	if ok := !w.out.isNothing(); ok {
		return w.out
	}
	return out
}

// invoked runs a block by its own function.
func (r *reader) invoked(v value, args []value) value {
	if v.block == nil {
		r.problem(shell.Problem{
			Kind: shell.ProblemDynamicCode, Detail: wording.Say("a block is run that is not known"), Word: wordOf(v), Interpreter: "powershell",
		})
		return unknownValue("")
	}
	list := make([]argument, len(args))
	for i, a := range args {
		list[i] = argument{val: a, word: wordOf(a)}
	}
	return r.callFunction("", function{params: blockParams(v.block), body: v.block}, list, value{})
}
