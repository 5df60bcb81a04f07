package shell

import (
	"html"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// textCall evaluates functions that make texts out of texts.
//
//nolint:cyclop,funlen // One case per function.
func (p *program) textCall(name, last string, args []value) (value, bool) {
	a := args[0]
	switch last {
	case "sprintf", "vsprintf":
		list := args
		if last == "vsprintf" && len(args) > 1 && args[1].multi {
			list = append([]value{a}, args[1].list...)
		}
		return textValue(formatted(codedArgs(wordsOf(list)))), true
	case "format":
		if p.lang.name == "lua" || p.lang.name == "ruby" {
			return textValue(formatted(codedArgs(wordsOf(args)))), true
		}
	case "substr", "mb_substr":
		if p.lang.sigil != "" || p.lang.name == "awk" {
			return p.substr(args), true
		}
	case "str_replace", "strtr":
		if len(args) < 3 {
			return value{}, false
		}
		subject, from, to := args[2], args[0], args[1]
		if last == "strtr" {
			subject, from, to = args[0], args[1], args[2]
		}
		return p.replacedText(subject, []value{from, to}), true
	case "urldecode", "rawurldecode", "decodeURIComponent", "decodeURI", "unescape", "unquote", "unquote_plus", "uri_unescape", "decode_www_form_component":
		if name == "html.unescape" || name == "CGI.unescapeHTML" {
			return sameEach(a, html.UnescapeString), true
		}
		return sameEach(a, unescapedURL), true
	case "html_entity_decode", "htmlspecialchars_decode", "unescapeHTML":
		return sameEach(a, html.UnescapeString), true
	case "concat":
		if a.multi && p.lang.name == "lua" {
			sep := Word{}
			if len(args) > 1 {
				sep = args[1].word()
			}
			return joined(sep, a.list), true
		}
	case "dirname":
		return sameEach(a, path.Dir), true
	case "basename":
		return sameEach(a, path.Base), true
	case "array_slice":
		from := 0
		if len(args) > 1 {
			from, _ = args[1].integer()
		}
		return sliced(a, from, 0, false), true
	case "array_shift":
		return nth(a, 0), true
	case "array_pop":
		return nth(a, -1), true
	case "vars", "tuple", "list", "iter", "sorted", "set", "Array", "array_values", "array_filter", "array_unique", "Object", "freeze":
		if len(args) == 1 {
			return a, true
		}
	case "enumerate":
		out := value{multi: true}
		for i, e := range a.listed() {
			out.list = append(out.list, value{multi: true, list: []value{numberValue(i), e}})
		}
		return out, true
	case "ord":
		return ordinal(a), true
	case "maketrans":
		return value{fields: args, path: "maketrans()"}, true
	case "Template":
		return a, true
	case "loads", "literal_eval", "parse":
		if last != "parse" || name == "JSON.parse" {
			if s, ok := a.word().Text(); ok {
				return p.literal(s), true
			}
		}
	}
	return value{}, false
}

// literal evaluates a text that is an expression.
func (p *program) literal(src string) value {
	if !p.r.step(p.f, len(src)/8+1) || !p.r.enter(p.f) {
		return noValue()
	}
	defer p.r.leave()
	sub := *p
	lex := lexer{p: &sub, src: src}
	sub.toks, sub.at = lex.run(), 0
	if len(sub.toks) == 0 {
		return noValue()
	}
	return sub.expression()
}

// decoded is a text without the encoding that a call names.
func (p *program) decoded(v, encoding value) value {
	name, _ := encoding.word().Text()
	switch strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "") {
	case "hex", "hexcodec":
		return p.onEach(v, func(w Word) Word { return decodedOr(w, unhex) })
	case "base64", "base64codec":
		return p.onEach(v, func(w Word) Word { return decodedOr(w, decode64) })
	case "rot13":
		return p.onEach(v, func(w Word) Word { return w.mapText(rot13) })
	case "unicodeescape":
		return sameEach(v, unescapeProgram)
	}
	return v
}

func ordinal(v value) value {
	s, ok := v.word().Text()
	if r := []rune(s); ok && len(r) == 1 {
		return numberValue(int(r[0]))
	}
	return noValue()
}

func unescapedURL(s string) string {
	if out, err := url.QueryUnescape(strings.ReplaceAll(s, "+", "%2B")); err == nil {
		return out
	}
	return s
}

// nth is an element of a list; below zero it counts from the end.
func nth(v value, n int) value {
	if !v.multi {
		return noValue()
	}
	if n < 0 {
		n += len(v.list)
	}
	if n < 0 || n >= len(v.list) {
		return noValue()
	}
	return v.list[n]
}

// substr is substr of perl, php and awk, which counts from one.
func (p *program) substr(args []value) value {
	if len(args) < 2 {
		return noValue()
	}
	from, ok := args[1].integer()
	if p.lang.name == "awk" {
		from--
	}
	if !ok {
		return noValue()
	}
	if len(args) == 2 {
		return sliced(args[0], from, 0, false)
	}
	n, ok := args[2].integer()
	if !ok {
		return noValue()
	}
	if n >= 0 && from >= 0 {
		n += from
	}
	return sliced(args[0], from, n, true)
}

// textMethod evaluates methods that cut texts and lists, or fill them.
//
//nolint:cyclop,funlen // One case per method.
func (p *program) textMethod(name string, recv value, args []value) (value, bool) {
	plain, named := splitNamed(args)
	switch name {
	case "slice", "substring", "substr":
		if len(plain) == 0 {
			return recv, true
		}
		from, ok := plain[0].integer()
		to, hasTo := 0, false
		if len(plain) > 1 {
			to, hasTo = plain[1].integer()
			if name == "substr" || name == "slice" && p.lang.name == "ruby" {
				to += from
			}
		}
		if !ok {
			return noValue(), true
		}
		return sliced(recv, from, to, hasTo), true
	case "format":
		return textValue(braced(recv.word(), plain, named)), true
	case "substitute", "safe_substitute":
		w := recv.word()
		for n, v := range named {
			w = replaceAll(replaceAll(w, "${"+n+"}", v.word()), "$"+n, v.word())
		}
		return textValue(w), true
	case "translate":
		return p.mapped(recv, args), true
	case "parent", "dirname":
		return sameEach(recv, path.Dir), true
	case "basename", "name":
		return sameEach(recv, path.Base), true
	case "anchor", "root":
		return textValue(Text("/")), true
	case "pop", "last":
		return nth(recv, -1), recv.multi
	case "shift", "first":
		return nth(recv, 0), recv.multi
	case "at":
		if n, ok := firstInt(args); ok {
			return nth(recv, n), recv.multi
		}
	case "values", "entries", "to_a", "dup", "clone", "flat", "flatten", "keys", "tuple", "compact", "sort", "uniq", "valueOf", "toArray", "to_sym":
		return recv, true
	case "pack":
		if f := plain; len(f) > 0 && recv.multi {
			return p.pureCall("pack", "pack", append([]value{f[0]}, recv.list...))
		}
	case "chr":
		return characters([]value{recv}), true
	case "rm_rf", "rmtree":
		return value{}, false
	}
	return value{}, false
}

func firstInt(args []value) (int, bool) {
	if len(args) == 0 {
		return 0, false
	}
	return args[0].integer()
}

// braced fills {}, {0} and {name} of a format of python.
//
//nolint:cyclop // One case per form that the grammar knows.
func braced(w Word, plain []value, named map[string]value) Word {
	s, ok := w.Text()
	if !ok {
		return w
	}
	var b builder
	next := 0
	for s != "" {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			break
		}
		b.addText(s[:open])
		s = s[open:]
		if strings.HasPrefix(s, "{{") {
			b.addText("{")
			s = s[2:]
			continue
		}
		end := strings.IndexByte(s, '}')
		if end < 0 {
			break
		}
		key, spec, _ := strings.Cut(s[1:end], ":")
		key, _, _ = strings.Cut(key, "!")
		s = s[end+1:]
		v, ok := named[key]
		n, err := strconv.Atoi(key)
		switch {
		case ok:
		case key == "" && next < len(plain):
			v = plain[next]
			next++
		case err == nil && n >= 0 && n < len(plain):
			v = plain[n]
		default:
			v = noValue()
		}
		if spec == "c" {
			v = characters([]value{v})
		}
		b.addWord(v.word())
	}
	b.addText(strings.ReplaceAll(s, "}}", "}"))
	return b.word()
}

// mapped replaces the characters of a text by a table: translate of python.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) mapped(v value, args []value) value {
	if len(args) == 0 {
		return noValue()
	}
	table := args[0].fields
	if args[0].path == "maketrans()" && len(table) > 0 && len(table[0].fields) > 0 {
		table = table[0].fields
	}
	if len(table) == 2 && args[0].path == "maketrans()" {
		from, ok := table[0].word().Text()
		to, known := table[1].word().Text()
		a, b := []rune(from), []rune(to)
		if !ok || !known || len(a) != len(b) {
			return noValue()
		}
		table = nil
		for i := range a {
			table = append(table, textValue(Text(string(a[i]))), textValue(Text(string(b[i]))))
		}
	}
	return sameEach(v, func(s string) string {
		for i := 0; i+1 < len(table); i += 2 {
			from, to := letter(table[i]), letter(table[i+1])
			if from != "" {
				s = strings.ReplaceAll(s, from, to)
			}
		}
		return s
	})
}

// letter is a character, or the one that a number stands for.
func letter(v value) string {
	if n, ok := v.integer(); ok && v.num && 0 < n && n <= unicode.MaxRune {
		return string(rune(n))
	}
	s, _ := v.word().Text()
	return s
}
