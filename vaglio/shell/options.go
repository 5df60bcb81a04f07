package shell

import (
	"slices"
	"strings"
)

// grammar describes a program's options, as far as needed to tell them from operands.
type grammar struct {
	// values are the short options that take a value, one letter each. A
	// letter followed by "?" takes one only when it is glued on.
	values string
	// long are the long options that take a value, separated by blanks.
	long string
	// single says that long options have one dash (find, java, openssl).
	single bool
	// permute says that options may follow operands.
	permute bool
	// last lists the options after which all words are operands.
	last []string
}

// option is one option as it was given, without dashes.
type option struct {
	name  string
	value Word
	has   bool // a value was given
}

type options []option

// Given holds the options that a command was given.
type Given = options

// ParseOptions separates options, which may stand anywhere, from operands. short lists the
// letters, and long the names, of options that take a value.
func ParseOptions(words []Word, short, long string) (Given, []Word) {
	return grammar{values: short, long: long, permute: true}.parse(words)
}

// Get returns the value of the last option with one of the names.
func (o options) Get(names ...string) (Word, bool) {
	for _, opt := range slices.Backward(o) {
		if slices.Contains(names, opt.name) {
			return opt.value, true
		}
	}
	return Word{}, false
}

// all returns the values of every option with one of the names.
func (o options) all(names ...string) []Word {
	var out []Word
	for _, opt := range o {
		for _, n := range names {
			if opt.name == n && opt.has {
				out = append(out, opt.value)
			}
		}
	}
	return out
}

func (o options) any(names ...string) bool {
	_, ok := o.Get(names...)
	return ok
}

// parse splits the words after a program's name into options and operands.
func (g grammar) parse(words []Word) (opts options, operands []Word) {
	for len(words) > 0 {
		w := words[0]
		s := w.Prefix()
		switch {
		case w.Is("--"):
			return opts, append(operands, words[1:]...)
		case len(opts) > 0 && slices.Contains(g.last, opts[len(opts)-1].name):
			return opts, append(operands, words...)
		case g.isLong(s):
			opts, words = g.longOption(opts, words)
		case len(s) > 1 && s[0] == '-':
			opts, words = g.shortOptions(opts, words)
		case g.permute:
			operands = append(operands, w)
			words = words[1:]
		default:
			return opts, words
		}
	}
	return opts, operands
}

// isLong reports whether a word is a long option.
func (g grammar) isLong(s string) bool {
	return strings.HasPrefix(s, "--") || g.single && len(s) > 2 && s[0] == '-'
}

// longOption reads --name, --name=value or --name value.
func (g grammar) longOption(opts options, words []Word) (options, []Word) {
	w := words[0]
	words = words[1:]
	name, value, glued := w.Split("=")
	n := strings.TrimLeft(name.Prefix(), "-")
	if glued {
		return append(opts, option{name: g.complete(n), value: value, has: true}), words
	}
	n = g.complete(n)
	if g.takesValue(n) && len(words) > 0 {
		return append(opts, option{name: n, value: words[0], has: true}), words[1:]
	}
	return append(opts, option{name: n}), words
}

// complete returns the value-taking option that name abbreviates, or name itself.
func (g grammar) complete(name string) string {
	if len(name) < 3 || g.takesValue(name) {
		return name
	}
	for l := range strings.FieldsSeq(g.long) {
		if strings.HasPrefix(l, name) {
			return l
		}
	}
	return name
}

func (g grammar) takesValue(name string) bool { return slices.Contains(strings.Fields(g.long), name) }

// shortOptions reads a cluster of short options. The value of the last may be glued on or be the
// next word.
func (g grammar) shortOptions(opts options, words []Word) (options, []Word) {
	w := words[0]
	words = words[1:]
	s := w.Prefix()
	for i := 1; i < len(s); i++ {
		name := s[i : i+1]
		at := strings.Index(g.values, name)
		if at < 0 || name == "?" {
			opts = append(opts, option{name: name})
			continue
		}
		optional := at+1 < len(g.values) && g.values[at+1] == '?'
		rest := w.Cut(i + 1)
		switch {
		case !rest.Is(""):
			return append(opts, option{name: name, value: rest, has: true}), words
		case optional || len(words) == 0:
			return append(opts, option{name: name}), words
		}
		return append(opts, option{name: name, value: words[0], has: true}), words[1:]
	}
	return opts, words
}

// behindDashes returns the words without a leading "--".
func behindDashes(words []Word) []Word {
	if len(words) > 0 && words[0].Is("--") {
		return words[1:]
	}
	return words
}

// leadingAssigns splits off the leading NAME=value words.
func leadingAssigns(words []Word) (assigns []Assign, rest []Word) {
	for len(words) > 0 {
		name, value, ok := words[0].Split("=")
		n, static := name.Text()
		if !ok || !static || n == "" || strings.ContainsAny(n, "/ \t") {
			break
		}
		assigns = append(assigns, Assign{Name: n, Value: value})
		words = words[1:]
	}
	return assigns, words
}

// isOneOf reports whether a word equals one of the texts or matches one of the patterns, see
// [like].
func isOneOf(w Word, list []string) bool {
	s, ok := w.Text()
	return ok && slices.ContainsFunc(list, func(pattern string) bool { return like(s, pattern) })
}

// like matches a text against a pattern, which may have a star at either end or in the middle.
func like(s, pattern string) bool {
	if inner, ok := strings.CutPrefix(pattern, "*"); ok {
		if middle, ok := strings.CutSuffix(inner, "*"); ok {
			return strings.Contains(s, middle)
		}
		return strings.HasSuffix(s, inner)
	}
	before, after, star := strings.Cut(pattern, "*")
	return s == pattern || star && len(s) >= len(before)+len(after) && strings.HasPrefix(s, before) && strings.HasSuffix(s, after)
}
