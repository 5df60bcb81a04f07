package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// moduleCall evaluates calls that yield a module or a function.
func (p *program) moduleCall(name string, args []value) (value, bool) {
	if len(args) == 0 {
		return value{}, false
	}
	arg, _ := args[0].word().Text()
	switch name {
	case "require", "__import__", "importlib.import_module", "import":
		if p.lang.name == "node" || p.lang.name == "python" || p.lang.name == "lua" {
			return value{path: strings.ReplaceAll(strings.TrimPrefix(arg, "node:"), "/", ".")}, true
		}
	case "method":
		if p.lang.name == "ruby" {
			return value{path: arg}, true
		}
	case "getattr":
		if len(args) > 1 {
			attr, ok := args[1].word().Text()
			if ok && args[0].path != "" {
				return value{path: args[0].path + "." + attr}, true
			}
		}
	}
	return value{}, false
}

// pureCall evaluates functions without effects.
//
//nolint:cyclop,funlen // One case per function.
func (p *program) pureCall(name, last string, args []value) (value, bool) {
	if name == "Pathname.new" && len(args) == 1 {
		return args[0], true
	}
	if strings.HasSuffix(name, "os.homedir") || name == "Dir.home" || name == "Path.home" || name == "pathlib.Path.home" {
		return textValue(p.home()), true
	}
	if len(args) == 0 {
		return value{}, false
	}
	a := args[0]
	switch last {
	case "expanduser", "expand_path", "expandvars", "expand":
		return p.onEach(a, p.expandUser), true
	case "bytes", "bytearray":
		if a.multi {
			return characters(a.list), true
		}
		return a, true
	case "decode":
		if len(args) > 1 {
			return p.decoded(a, args[1]), true
		}
		return a, true
	case "Path", "PurePath", "PosixPath", "str", "String", "repr", "encode", "fsencode", "fsdecode", "abspath", "realpath", "normpath", "resolve", "Pathname", "quote", "shlex_quote":
		if len(args) == 1 || last == "encode" || last == "str" {
			return a, true
		}
		return joinPaths(args), true
	case "join":
		if strings.HasSuffix(name, "path.join") || name == "File.join" || name == "path.posix.join" {
			return joinPaths(args), true
		}
		if p.lang.name == "perl" || p.lang.name == "php" {
			return joined(a.word(), tailValues(args)), true
		}
	case "implode":
		return joined(a.word(), tailValues(args)), true
	case "b64decode", "decode64", "base64_decode", "decode_base64", "strict_decode64", "urlsafe_b64decode", "atob", "standard_b64decode":
		return p.onEach(a, func(w Word) Word { return decodedOr(w, decode64) }), true
	case "b32decode":
		return p.onEach(a, func(w Word) Word { return decodedOr(w, decode32) }), true
	case "pack":
		if f := a.word().Prefix(); len(args) > 1 && (f == "H*" || f == "h*") {
			return p.onEach(args[1], func(w Word) Word { return decodedOr(w, unhex) }), true
		}
		if f := a.word().Prefix(); len(args) > 1 && (strings.HasPrefix(f, "C") || strings.HasPrefix(f, "U") || strings.HasPrefix(f, "c")) {
			return characters(args[1:]), true
		}
	case "glob":
		return p.onEach(a, globbed), true
	case "unhexlify", "fromhex", "hex2bin":
		return p.onEach(a, func(w Word) Word { return decodedOr(w, unhex) }), true
	case "chr", "fromCharCode", "fromCodePoint", "char":
		return characters(args), true
	case "strrev", "reverse":
		return p.onEach(a, reversedWord), true
	case "str_rot13":
		return p.onEach(a, func(w Word) Word { return w.mapText(rot13) }), true
	case "getenv", "fetch", "env":
		if n, ok := a.word().Text(); ok {
			return textValue(p.env(n)), true
		}
	case "split", "shlex_split", "shellsplit":
		if name == "shlex.split" || last == "shellsplit" {
			return splitWords(a.word()), true
		}
	case "from":
		if name == "Buffer.from" {
			return p.buffer(args), true
		}
	}
	return p.textCall(name, last, args)
}

func tailValues(args []value) []value {
	if len(args) == 2 && args[1].multi {
		return args[1].list
	}
	return args[1:]
}

func joined(sep Word, items []value) value {
	var b builder
	for i, v := range items {
		if i > 0 {
			b.addWord(sep)
		}
		b.addWord(v.word())
	}
	return textValue(b.word())
}

func joinPaths(args []value) value {
	var out Word
	for i, v := range args {
		w := v.word()
		if i == 0 || strings.HasPrefix(w.Prefix(), "/") {
			out = w
			continue
		}
		out = Glue(out, Text("/"), w)
	}
	if s, ok := out.Text(); ok && s != "" {
		out = Text(path.Clean(s))
	}
	return textValue(out)
}

func (p *program) onEach(v value, fn func(Word) Word) value {
	if v.multi {
		return v
	}
	out := value{}
	for _, w := range v.alts {
		out.alts = append(out.alts, fn(w))
	}
	if len(out.alts) == 0 {
		return noValue()
	}
	return out
}

func (p *program) expandUser(w Word) Word {
	s := w.Prefix()
	if strings.HasPrefix(s, "~") {
		user, _, _ := strings.Cut(s[1:], "/")
		if h, ok := p.r.home(user); ok {
			return Glue(h, w.cut(1+len(user)))
		}
	}
	if rest, ok := strings.CutPrefix(s, "$HOME"); ok {
		_ = rest
		return Glue(p.home(), w.cut(len("$HOME")))
	}
	return w
}

func decodedOr(w Word, fn func(string) (string, bool)) Word {
	out, ok := onText(w, fn)
	if !ok {
		if w.Remote() {
			return NewWord(Part{Kind: PartUnknown, Remote: true, MayBeEmpty: true})
		}
		return unknown("")
	}
	return out
}

func reversedWord(w Word) Word { return decodedOr(w, reverseLines) }

func rot13(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return 'a' + (c-'a'+13)%26
		case 'A' <= c && c <= 'Z':
			return 'A' + (c-'A'+13)%26
		}
		return c
	}, s)
}

func characters(args []value) value {
	var b strings.Builder
	for _, a := range args {
		for _, w := range a.words() {
			s, _ := w.Text()
			n, err := strconv.ParseInt(s, 0, 32)
			if err != nil {
				return noValue()
			}
			b.WriteRune(rune(n))
		}
	}
	return textValue(Text(b.String()))
}

func splitWords(w Word) value {
	s, ok := w.Text()
	if !ok {
		return noValue()
	}
	out := value{multi: true}
	for _, f := range shellFields(s) {
		out.list = append(out.list, textValue(Text(f)))
	}
	return out
}

// buffer evaluates Buffer.from(text, encoding) of node.
func (p *program) buffer(args []value) value {
	enc := ""
	if len(args) > 1 {
		enc, _ = args[1].word().Text()
	}
	switch enc {
	case "base64", "base64url":
		return p.onEach(args[0], func(w Word) Word { return decodedOr(w, decode64) })
	case "hex":
		return p.onEach(args[0], func(w Word) Word { return decodedOr(w, unhex) })
	}
	if args[0].multi {
		return characters(args[:1])
	}
	return args[0]
}

// method evaluates methods of texts and lists.
//
//nolint:cyclop // One case per method.
func (p *program) method(name string, recv value, args []value) (value, bool) {
	switch name {
	case "decode", "encode", "toString", "to_s", "strip", "trim", "rstrip", "chomp", "resolve", "absolute", "as_posix", "to_str", "b", "freeze", "to_path":
		if name == "decode" && len(args) > 0 {
			return p.decoded(recv, args[0]), true
		}
		return recv, true
	case "join", "joinpath":
		if recv.multi {
			sep := Word{}
			if len(args) > 0 {
				sep = args[0].word()
			} else if p.lang.name == "node" {
				sep = Text(",")
			}
			return joined(sep, recv.list), true
		}
		if name == "join" && len(args) == 1 && args[0].multi {
			return joined(recv.word(), args[0].list), true
		}
		return joinPaths(append([]value{recv}, args...)), true
	case "lower", "toLowerCase", "downcase":
		return p.onEach(recv, func(w Word) Word { return w.mapText(strings.ToLower) }), true
	case "upper", "toUpperCase", "upcase":
		return p.onEach(recv, func(w Word) Word { return w.mapText(strings.ToUpper) }), true
	case "reverse":
		return p.reversed(recv), true
	case "replace", "gsub", "sub", "replaceAll", "tr":
		return p.replacedText(recv, args), true
	case "split":
		return p.splitText(recv, args), true
	case "expanduser":
		return p.onEach(recv, p.expandUser), true
	case "reversed":
		return p.reversed(recv), true
	case "unpack1", "unpack":
		return p.onEach(recv, func(w Word) Word { return decodedOr(w, decode64) }), true
	case "concat":
		for _, a := range args {
			recv = p.concat(recv, a)
		}
		return recv, true
	case "each", "forEach", "map":
		return recv, true
	}
	return p.textMethod(name, recv, args)
}

func (p *program) reversed(v value) value {
	if v.multi {
		list := slices.Clone(v.list)
		slices.Reverse(list)
		return value{multi: true, list: list}
	}
	return p.onEach(v, reversedWord)
}

func (p *program) replacedText(v value, args []value) value {
	if len(args) < 2 {
		return noValue()
	}
	old, ok := args[0].word().Text()
	if !ok || old == "" {
		return noValue()
	}
	return p.onEach(v, func(w Word) Word { return replaceAll(w, old, args[1].word()) })
}

func (p *program) splitText(v value, args []value) value {
	s, ok := v.word().Text()
	if !ok {
		return noValue()
	}
	out := value{multi: true}
	var pieces []string
	if len(args) == 0 {
		pieces = strings.Fields(s)
	} else {
		sep, static := args[0].word().Text()
		if !static {
			return noValue()
		}
		pieces = strings.Split(s, sep)
	}
	if len(pieces) > maxFields {
		return noValue()
	}
	for _, piece := range pieces {
		out.list = append(out.list, textValue(Text(piece)))
	}
	return out
}
