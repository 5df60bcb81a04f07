package shell

// modifier reads a statement that stands before its loop: system($_) for @x.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) modifier() {
	if p.lang.name != "perl" || p.peek(0).text == "for" || p.peek(0).text == "foreach" {
		return
	}
	for i := p.at; i < len(p.toks); i++ {
		switch t := p.toks[i]; {
		case t.kind == lexOp && (t.text == "(" || t.text == "[" || t.text == "{"):
			i = p.closing(i)
		case t.kind == lexOp && (t.text == ";" || t.text == "}"):
			return
		case t.kind == lexName && (t.text == "for" || t.text == "foreach") && i > p.at:
			saved := p.at
			p.at = i + 1
			v := p.expression()
			p.at = saved
			p.vars["$_"] = v.flat()
			return
		}
	}
}

// named is the function that a text names where a language calls it so.
func (p *program) named(v value) string {
	if p.lang.name != "php" && p.lang.name != "perl" || len(v.alts) != 1 {
		return ""
	}
	name, ok := v.alts[0].Text()
	if !ok || !p.callable(name) {
		return ""
	}
	return name
}

// perlName evaluates the names of perl and php that stand for lists: $a[0],
// $h{key}, shift, map {…} list.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) perlName(name string) (value, bool) {
	if p.lang.name == "perl" && name == "shift" {
		return p.shifted(), true
	}
	if p.lang.name == "perl" && name == "map" && p.isOp(0, "{") {
		return p.perlMap(), true
	}
	if p.lang.name == "perl" && (name == "find" || name == "finddepth") && p.isOp(0, "(") {
		p.walked()
		return value{}, false
	}
	if p.lang.name == "perl" && !p.isOp(0, "(") && p.bareText(name) {
		return p.call(name, value{}, p.bareArgs()), true
	}
	if len(name) < 2 || name[0] != '$' {
		return value{}, false
	}
	switch {
	case p.isOp(0, "["):
		v, ok := p.vars["@"+name[1:]]
		return v, ok
	case p.isOp(0, "{"):
		v, ok := p.vars[name[1:]]
		if !ok || !v.multi {
			return value{}, false
		}
		p.at++
		return p.index(v, p.listUntil("}")), true
	}
	return value{}, false
}

// shifted takes the first element off the arguments of a function, or of the
// program.
func (p *program) shifted() value {
	list, inside := p.vars["@_"]
	if p.isOp(0, "(") {
		p.at = p.closing(p.at) + 1
		inside = inside && p.peek(-2).text != "@ARGV"
	} else if p.peek(0).text == "@ARGV" || p.peek(0).text == "@_" {
		inside = inside && p.peek(0).text == "@_"
		p.at++
	}
	if !inside {
		list, _ = p.arguments("@ARGV")
		p.args = tail(p.args, 1)
	}
	first := nth(list, 0)
	if inside && len(list.list) > 0 {
		list.list = list.list[1:]
		p.vars["@_"] = list
	}
	return first
}

// perlMap evaluates map {…} list.
func (p *program) perlMap() value {
	start, end := p.at+1, p.closing(p.at)
	p.at = min(end+1, len(p.toks))
	list := p.bareArgs()
	if len(list) == 1 {
		list = list[0].listed()
	}
	after := p.at
	out := value{multi: true}
	if !p.turns(len(list), end-start) {
		list = nil
	}
	for _, e := range list {
		p.vars["$_"] = e
		v := p.body(start, end)
		if v.path == "chr" || end == start+1 && p.toks[start].text == "chr" {
			v = characters([]value{e})
		}
		out.list = append(out.list, v)
	}
	p.at = after
	return out
}

// bareText reports whether a function of perl that makes a text stands here
// with its arguments, but without brackets.
func (p *program) bareText(name string) bool {
	switch name {
	case "join", "sprintf", "substr", "pack":
		t := p.peek(0)
		return t.kind == lexString || t.kind == lexName || t.kind == lexNumber
	}
	return false
}

// walked reads the folder that File::Find walks before the function that it
// gives every name to.
func (p *program) walked() {
	end := p.closing(p.at)
	for i := end - 1; i > p.at && i < len(p.toks); i-- {
		if t := p.toks[i]; t.kind == lexString {
			if t.fill {
				t.word = p.interpolate(t.text)
			}
			p.emit("find", VerbList, t.word)
			below := p.listing("iterdir", []value{textValue(t.word)})
			p.vars["$_"], p.vars["$File"] = below, below
			return
		}
	}
}
