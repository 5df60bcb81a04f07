package powershell

import (
	"slices"
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
	if s, ok := r.t.variables[env]; ok && (isEnv || r.t.own[name]) {
		return r.special(s)
	}
	if isEnv {
		return one(unknownWord(strings.ToUpper(env)))
	}
	return one(unknownWord(name))
}

// special reads a value of the tables.
func (r *reader) special(s string) value {
	switch {
	case s == "":
		return value{}
	case s == "$PWD":
		return r.folder()
	case s[0] == '$':
		return one(unknownWord(s[1:]))
	case s[0] == '~':
		return one(shell.Glue(r.home(), shell.Text(s[1:])))
	}
	return text(s)
}

// folder is the current folder.
func (r *reader) folder() value { return value{items: []shell.Word{r.cwd}, files: true} }

// static reads the call of a type's function.
func (r *reader) static(typ, member string, args []value) value {
	fn := typ + "::" + strings.ToLower(member)
	if roles, ok := r.t.static[fn]; ok {
		return r.member("["+typ+"]::"+member, roles, value{}, args)
	}
	if strings.EqualFold(member, "new") {
		return made(typ, args)
	}
	if !r.t.pure[typ] {
		r.unread("a function that is not known is called: %s", "["+typ+"]::"+member)
		return unknownValue("")
	}
	switch fn {
	case "io.path::combine":
		return r.combined(args)
	case "io.path::getfullpath":
		return arg(args, 0)
	case "string::concat":
		return r.glue(args)
	case "string::format":
		return r.format(arg(args, 0), r.list(args[min(1, len(args)):]))
	}
	return madeOf(r.list(args), "")
}

// made is a new object of a type.
func made(typ string, args []value) value {
	if isFileInfo(typ) {
		v := arg(args, 0)
		v.files = true
		return v
	}
	return value{items: unknownValue("").items, client: strings.HasSuffix(typ, "client")}
}

func arg(args []value, i int) value {
	if i < 0 || i >= len(args) {
		return value{}
	}
	return args[i]
}

// method reads the call of an object's function.
func (r *reader) method(v value, name string, args []value) value {
	key := strings.ToLower(name)
	if out, ok := r.textMethod(v, key, args); ok {
		return out
	}
	if roles, ok := r.t.methods[key]; ok && (!v.isNothing() || !touchesSelf(roles)) {
		return r.member(name, roles, v, args)
	}
	for _, a := range args {
		r.blocks([]argument{{val: a}}, v)
	}
	switch {
	case r.t.harmless[key]:
		return madeOf(r.list(append([]value{v}, args...)), "")
	case v.client:
		r.unread("a function of a connection is called that is not known: %s", name)
		return remoteValue(name)
	}
	r.unread("a function of an object is called that is not known: %s", name)
	return unknownValue("")
}

// touchesSelf says whether a function does something to its object.
func touchesSelf(roles []role) bool {
	return slices.ContainsFunc(roles, func(ro role) bool { return ro.index < 0 })
}

// textMethod reads the functions that only make texts, as far as hidden words
// need it.
func (r *reader) textMethod(v value, key string, args []value) (value, bool) {
	switch key {
	case "getstring":
		if enc, _ := v.text(); enc == "unicode" {
			return r.mapped(arg(args, 0), decodeUTF16), true
		}
		return arg(args, 0), true
	case "replace":
		from, ok1 := arg(args, 0).text()
		to, ok2 := arg(args, 1).text()
		if ok1 && ok2 && from != "" {
			return r.replaced(v, from, to, false), true
		}
	case "trim", "trimstart", "trimend":
		if len(args) == 0 {
			return r.mapped(v, strings.TrimSpace), true
		}
	case "tostring", "getenumerator", "toarray", "normalize":
		return v, true
	}
	return value{}, false
}

// member does what the table says of a function.
func (r *reader) member(name string, roles []role, self value, args []value) value {
	w := newWork(r, &spec{name: name})
	w.b.vals["self"] = self
	w.out = unknownValue("")
	for _, ro := range roles {
		v := self
		if ro.index >= 0 {
			v = arg(args, ro.index)
		}
		if ro.what == roleBlock {
			w.out = r.invoked(v, args)
		} else {
			w.do(ro.what, v, true)
		}
	}
	w.finish()
	return w.out
}

// function does what only functions do, not cmdlets.
func (w *work) function(role string, v value) {
	r := w.r
	s, static := v.text()
	switch role {
	case roleFetch:
		r.call(w.sp.name, shell.VerbNetwork, v.items...)
		w.out = remoteValue(w.sp.name)
	case roleSend:
		r.call("post "+w.sp.name, shell.VerbNetwork, v.items...)
		w.out = remoteValue(w.sp.name)
	case roleMakeBlock:
		w.makeBlock(v)
	case roleFolder:
		if folder := r.t.folders[strings.ToLower(s)]; folder != "" {
			w.out = r.special(folder)
		}
	case roleGetenv:
		if static {
			w.out = r.variable("env:" + strings.ToLower(s))
		}
	case roleSetenv:
		r.plain("setx", []argument{{val: v, word: r.word(v)}})
	case roleBase64:
		w.decode(v)
	default:
		w.rest[role] = v
	}
}

// makeBlock puts out the block that a text is.
func (w *work) makeBlock(v value) {
	s, static := v.text()
	if !static || !w.r.opens(s) {
		w.r.carried(v, w.sp.name)
		return
	}
	w.out = value{block: append([]token{}, w.r.tokens(s)...)}
	w.r.leave()
}

// decode puts out what a text in base64 says.
func (w *work) decode(v value) {
	s, static := v.text()
	w.out = madeOf(v, "")
	if data, ok := w.r.decodeBase64(s); ok && static {
		w.out = text(data)
	}
}

// invoked runs a block by its own function.
func (r *reader) invoked(v value, args []value) value {
	if v.block == nil {
		r.problem(shell.Problem{
			Kind: shell.ProblemDynamicCode, Detail: wording.Say("a block is run that is not known"), Word: r.word(v), Interpreter: "powershell",
		})
		return unknownValue("")
	}
	list := make([]argument, len(args))
	for i, a := range args {
		list[i] = argument{val: a, word: r.word(a)}
	}
	return r.callFunction("", function{params: blockParams(v.block), body: v.block}, list, value{})
}
