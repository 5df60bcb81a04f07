package powershell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bind assigns every word to its parameter, and reports whether a named parameter does not exist, or is one of several.
func (w *work) bind(args []argument) (strange bool) {
	var words, rest []value
	for len(args) > 0 {
		a := &args[0]
		args = args[1:]
		p, several := w.param(a.name)
		strange = strange || several
		v := a.val
		switch {
		case a.name == "":
			words = append(words, a.val)
			continue
		case p == nil:
			strange = strange || len(w.sp.params) > 0
			rest = append(rest, w.spare(nil, a.val))
			continue
		case !p.isFlag:
			v, args = a.given(args)
		case !a.valued:
			v = text("True")
		}
		w.named(p, v)
	}
	w.places(words, rest)
	return strange
}

// param returns the parameter that a name begins, and whether it may be one of several, so that it is rather an option of the Unix program of that name.
func (w *work) param(name string) (p *param, several bool) {
	p, common := w.sp.find(name, 1), w.r.t.spec("common:", "parameters")
	if p == nil && name != "" {
		return common.find(name, len("what")), false
	}
	return p, p != nil && w.sp.as != "" && p.name != name && w.sp.begin(name)+common.begin(name) > 1
}

// named sets the value of a parameter.
func (w *work) named(p *param, v value) {
	name, known := w.spare(p, v).text()
	switch {
	case p.isFlag:
		w.on[p.name] = name != "False"
		w.dry = w.dry || p.role == "dry" && name == "True"
	case p.role == "variable" && known: // it stores the output
		w.r.setVar(strings.ToLower(strings.TrimPrefix(name, "+")), unknown())
	case p.role != "common":
		if old, ok := w.vals[p.name]; ok {
			v = w.r.list(old, v)
		}
		w.vals[p.name] = v
	}
}

// spare notes a block that is given to a parameter which runs none, and returns it: the command may run it all the same.
func (w *work) spare(p *param, v value) value {
	if v.isBlock && (p == nil || !p.runs()) {
		w.spares = append(w.spares, v)
	}
	return v
}

// runs reports whether a parameter's block is run.
func (p *param) runs() bool { return p.role == "block" || p.role == "each" || p.role == "code" }

// oneMore gives a block to the parameter that has one already, unless another takes it: ForEach-Object {…} {…} runs each.
func (w *work) oneMore(free []*param, v value) bool {
	of := slices.IndexFunc(w.sp.params, func(p param) bool { return p.pos >= 0 && p.runs() })
	if of < 0 || slices.ContainsFunc(free, (*param).runs) {
		return false
	}
	name := w.sp.params[of].name
	w.vals[name] = w.vals[name].with(v)
	return true
}

// places assigns the words without a name to the parameters by position.
func (w *work) places(words, rest []value) {
	free := make([]*param, 0, len(w.sp.params))
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if p.pos >= 0 && w.vals[p.name].isNothing() && (p.name != "path" || w.vals["literalpath"].isNothing()) {
			free = append(free, p)
		}
	}
	slices.SortStableFunc(free, func(x, y *param) int { return x.pos - y.pos })
	for _, v := range words {
		at := 0
		if v.isBlock && w.sp.rest == "" {
			if w.oneMore(free, v) {
				continue
			}
			at = max(0, slices.IndexFunc(free, (*param).runs))
		}
		if len(free) == 0 {
			rest = append(rest, w.spare(nil, v))
			continue
		}
		w.vals[free[at].name] = w.spare(free[at], v)
		free = slices.Delete(free, at, at+1)
	}
	w.words = w.r.list(append(rest, value{}, value{})...)
}

// slashed names the words of a program that are its options: they begin with a slash and may be combined, as in /s/q. It drops options that are not in the row.
func slashed(s *spec, args []argument) []argument {
	out := make([]argument, 0, len(args))
	for _, a := range args {
		w := strings.ToLower(a.word.Prefix())
		if slashes.MatchString(w) {
			for letter := range strings.SplitSeq(w[1:], "/") {
				if s.find("/"+letter, 2) != nil {
					out = append(out, argument{name: "/" + letter})
				}
			}
			continue
		}
		name, _, colon := strings.Cut(w, ":")
		a.name, a.valued = "", false
		if strings.HasPrefix(name, "/") && s.find(name, len(name)) != nil {
			a.name, a.valued = name, colon && len(name)+1 < len(w)
			a.val = text(a.word.Prefix()[min(len(name)+1, len(w)):])
		} else if isSlashOption(w) || len(w) == 2 && strings.IndexByte("+-", w[0]) >= 0 {
			continue
		}
		out = append(out, a)
	}
	return out
}

// slashes matches several one-letter options in one word: /s/q.
var slashes = regexp.MustCompile(`^(?:/[A-Za-z]){2,}$`)

// isSlashOption reports whether a word is an option of a Windows program rather than a path.
func isSlashOption(w string) bool {
	is := len(w) >= 2 && w[0] == '/' && !strings.Contains(w[1:], "/")
	return is && (len(w) < 4 || strings.Contains(w, ":") || strings.Trim(w[1:], "abcdefghijklmnopqrstuvwxyz") == "")
}

// given is what a function, a block or a script is called with.
type given struct {
	body   string
	args   []argument
	before map[string]value // the variables of its parameters' names
}

// with reads the body of what is called with arguments. Its parameters are its own.
func (r *reader) with(body string, args []argument, read func() value) value {
	outer := r.given
	g := &given{body, args, map[string]value{}}
	r.given = g
	v := read()
	r.given = outer
	for name, old := range g.before {
		if r.vars[name] = old; old.isNothing() {
			delete(r.vars, name)
		}
	}
	return v
}

// parameters sets the variables of parameters: to what the call gives them, or else to their defaults, whose code is
// read. They are unknown where it is not known what the call gives.
func (r *reader) parameters(head string, g *given) {
	emitted := len(r.out.Commands)
	sp, plain := r.declared(head, g, nil)
	w := r.work(sp, value{}, false)
	if g != nil && plain && !w.bind(g.args) {
		r.out.Commands = r.out.Commands[:emitted]
		r.declared(head, g, w.vals)
		return
	}
	for i := range sp.params {
		delete(r.vars, sp.params[i].name)
	}
}

// declared reads the declaration of parameters, and sets each to its value, or else to its default. It returns their
// row, and whether nothing else decides what they are given.
func (r *reader) declared(head string, g *given, vals map[string]value) (sp *spec, plain bool) {
	const later = 1000 // behind those that have a position
	p, sp, plain, about, first := r.parse(head), &spec{}, true, []string(nil), later
	for p.space("\n,"); !p.done(); p.space("\n,") {
		p.progress(func() {
			switch {
			case p.at("["):
				about = append(about, r.attribute(p.enclosed()))
			case p.skip("$"):
				q := param{name: p.variable(), pos: later + len(sp.params), isFlag: slices.Contains(about, "switch")}
				told := strings.Join(about, "\n")
				if m := positioned.FindStringSubmatch(told); m != nil {
					q.pos, _ = strconv.Atoi(m[1])
				}
				first, plain = min(first, q.pos), plain && !decides.MatchString(told)
				v := value{}
				if p.space("\n"); p.skip("=") {
					v = p.expression(false)
				}
				if to, ok := vals[q.name]; ok {
					v = to
				}
				g.sets(r, q.name, r.converted(about, v))
				sp.params, about = append(sp.params, q), nil
			}
		})
	}
	for i := range sp.params {
		if q := &sp.params[i]; q.isFlag || first < later && q.pos >= later {
			q.pos = -1
		}
	}
	return sp, plain
}

// attribute returns what stands in the brackets before a parameter, in lower case. The code that checks a value runs.
func (r *reader) attribute(text string) string {
	lower := strings.ToLower(text)
	if at := strings.IndexByte(text, '{'); at > 0 && strings.HasPrefix(lower, "validatescript") {
		r.source(text[at+1 : max(strings.LastIndexByte(text, '}'), at+1)])
	}
	return lower
}

// sets sets the variable of a parameter, which is unknown if nothing is known of its value.
func (g *given) sets(r *reader, name string, v value) {
	if g != nil {
		if _, twice := g.before[name]; !twice {
			g.before[name] = r.vars[name]
		}
	}
	if r.vars[name] = v; v.isNothing() {
		delete(r.vars, name)
	}
}

// positioned matches the position of a parameter, decides what else decides about what it is given.
var (
	positioned = regexp.MustCompile(`\bposition\s*=\s*(\d+)`)
	decides    = regexp.MustCompile(`alias|remaining|pipeline|parametersetname`)
)

// converted returns what a parameter's types make of a value: nothing that is known, if not all leave it as it is.
func (r *reader) converted(types []string, v value) value {
	for _, typ := range types {
		if !strings.Contains(typ, "(") && !r.t.is("plain", strings.TrimPrefix(typ, "system.")) {
			return value{}
		}
	}
	return v
}

// handed returns the words that another shell gives a script, of which some name its parameters. What begins with an unknown may name any, or be several.
func handed(args []argument) []argument {
	out := slices.Clone(args)
	for i := range out {
		a := &out[i]
		begins := a.word.Prefix()
		switch {
		case a.name != "" || a.word.Is(""):
		case begins == "":
			a.name, a.valued = "@", true
		case begins[0] == '-' && names.MatchString(begins[1:]):
			name, _, colon := strings.Cut(begins[1:], ":")
			a.name, a.valued, a.val = strings.ToLower(name), colon, one(a.word.Cut(len(name)+2))
		}
	}
	return out
}
