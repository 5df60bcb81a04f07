package shell

import (
	"slices"
	"strings"
)

// runFind reads find: the commands of -exec and its kin, and find itself.
func (r *reader) runFind(f *frame, k *call, _ *program, _ string) Word {
	r.wrapper(f, k)
	args := k.argv[1:]
	for len(args) > 0 && isOneOf(args[0], []string{"-H", "-L", "-P"}) {
		args = args[1:]
	}
	n := slices.IndexFunc(args, func(w Word) bool { return strings.HasPrefix(w.Prefix(), "-") || w.Is("(") || w.Is("!") })
	if n < 0 {
		n = len(args)
	}
	found := foundBelow(args[:n:n], args[n:])
	args = args[n:]
	r.findCommands(f, k, args, found)
	if !f.capture {
		return Word{}
	}
	sep := "\n"
	if hasWord(args, "-print0") {
		sep = "\x00"
	}
	var b builder
	for _, w := range found {
		b.addWord(w)
		b.addText(sep)
	}
	return b.word()
}

// findCommands reads the commands of -exec and its kin for what find passes on.
func (r *reader) findCommands(f *frame, k *call, args, found []Word) {
	for i := 0; i < len(args); i++ {
		if !isOneOf(args[i], []string{"-exec", "-execdir", "-ok", "-okdir"}) {
			continue
		}
		g := f.at(k, "find "+args[i].text)
		g.inLoop = true
		g.stdin = Input{}
		argv := args[i+1:]
		if n := slices.IndexFunc(argv, func(w Word) bool { return w.Is(";") || w.Is("+") }); n >= 0 {
			argv = argv[:n]
		}
		if !r.step(f, wordCost*len(argv)*len(found)) {
			break
		}
		targets := found
		if !slices.ContainsFunc(argv, func(w Word) bool { return strings.Contains(w.String(), "{}") }) {
			targets = found[:min(1, len(found))] // the command is the same for every name
		}
		for _, target := range targets {
			r.run(g, &call{argv: fillBraces(argv, "{}", target), span: k.span, external: true})
		}
		i += 1 + len(argv)
	}
}

// foundBelow are the names that find passes on: each start itself and what is
// below it, narrowed by -name if that is the only condition on names.
func foundBelow(starts, args []Word) []Word {
	if len(starts) == 0 {
		starts = []Word{Text(".")}
	}
	if len(starts) > 16 {
		starts = append(starts[:16:16], unknown(""))
	}
	var out []Word
	for _, s := range starts {
		below := Part{Kind: PartUnknown, From: "find", MayBeEmpty: true}
		if name, ok := nameCondition(args); ok {
			below.MayBeEmpty = false
			out = append(out, inFolder(s, name), inFolder(s, Glue(NewWord(below), Text("/"), name)))
			continue
		}
		if !hasWord(args, "-mindepth") {
			out = append(out, s)
		}
		if !atStarts(args) {
			out = append(out, inFolder(s, NewWord(below)))
		}
	}
	return out
}

// inFolder is a name in a folder.
func inFolder(folder, name Word) Word {
	if strings.HasSuffix(folder.Suffix(), "/") {
		return Glue(folder, name)
	}
	return Glue(folder, Text("/"), name)
}

// atStarts reports whether find looks at its starts alone: -maxdepth 0.
func atStarts(args []Word) bool {
	i := slices.IndexFunc(args, func(w Word) bool { return w.Is("-maxdepth") })
	return i >= 0 && i+1 < len(args) && args[i+1].Is("0")
}

// nameCondition is the pattern of -name, when every name that find passes on
// must match it.
func nameCondition(args []Word) (name Word, found bool) {
	negated := false
	for i, w := range args {
		before := negated
		switch s, _ := w.Text(); s {
		case "-o", "-or", ",", "-prune":
			return Word{}, false
		case "!", "-not":
			if negated = true; before {
				return Word{}, false
			}
			continue
		case "(":
			if before {
				return Word{}, false
			}
		case "-name", "-iname":
			// What a negated condition leaves out narrows nothing.
			if i+1 < len(args) && !before {
				name, found = args[i+1], true
			}
		}
		negated = false
	}
	if s, ok := name.Text(); ok {
		name = NewWord(Globs(s)...)
	}
	return name, found
}

// fillBraces puts a word in place of a mark such as {} in each word.
func fillBraces(argv []Word, mark string, value Word) []Word {
	out := make([]Word, len(argv))
	for i, w := range argv {
		out[i] = replaceAll(w, mark, value)
	}
	return out
}

func replaceAll(w Word, mark string, value Word) Word {
	if mark == "" {
		return w
	}
	var b builder
	for range maxFields {
		l, rest, ok := w.Split(mark)
		b.addWord(l)
		if !ok {
			break
		}
		b.addWord(value)
		w = rest
	}
	return b.word()
}
