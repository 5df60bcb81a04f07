package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/shell/search"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// runFind reads find and the commands that it runs on what it finds.
func (r *reader) runFind(f *frame, k *call, p *program, _ string) Word {
	r.wrapper(f, k)
	rest := k.argv[1+upTo(k.argv[1:], func(w Word) bool { return !isOneOf(w, p.may) }):]
	n := upTo(rest, func(w Word) bool { return strings.HasPrefix(w.Prefix(), "-") || w.Is("(") || w.Is("!") })
	tests := rest[n:]
	acting := func(w Word) bool { return isOneOf(w, p.after) || w.Is("-ls") }
	acts := upTo(tests, func(w Word) bool { return acting(w) || strings.HasPrefix(w.Prefix(), "-print") })
	found := search.Found(rest[:n:n], tests, acts)
	r.runOn(f, k, p, "find", found, rest[:n:n])
	if !f.capture {
		return Word{}
	}
	if slices.ContainsFunc(tests, func(w Word) bool { return acting(w) || w.Is("-printf") }) {
		return word.OutputOf("find") // what it prints need not be names
	}
	sep := "\n"
	if slices.ContainsFunc(tests, func(w Word) bool { return w.Is("-print0") }) {
		sep = "\x00"
	}
	return word.Join(append(found, Word{}), sep)
}

// upTo returns how many words stand before the first for which is holds.
func upTo(words []Word, is func(w Word) bool) int {
	if n := slices.IndexFunc(words, is); n >= 0 {
		return n
	}
	return len(words)
}

// runOn reads each command that stands behind a word of the program's list, up to a semicolon or a
// plus sign, for each of the names that the program finds, or in the folders where it begins.
func (r *reader) runOn(f *frame, k *call, p *program, name string, found, starts []Word) {
	for i := 0; i < len(k.argv); i++ {
		w := k.argv[i]
		if !isOneOf(w, p.after) {
			continue
		}
		argv := upToEnd(k.argv[i+1:])
		i += len(argv)
		targets := found
		if !p.appends && !slices.ContainsFunc(argv, func(w Word) bool { return strings.Contains(w.String(), "{}") }) {
			targets = found[:min(1, len(found))] // the command is the same for every name
		}
		if len(argv) == 0 || !r.step(f, wordCost*len(argv)*len(targets)) {
			return
		}
		g := f.rounds(k, name+" "+w.Prefix())
		if !strings.HasSuffix(w.Prefix(), "dir") || len(starts) == 0 || starts[0].Is(".") {
			r.forEach(g, k, argv, targets, p.appends, "{}")
			continue
		}
		targets = slices.Clone(targets)
		for i := range targets {
			targets[i] = r.resolvePath(targets[i])
		}
		r.inEach(starts, func() Word { return r.forEach(g, k, argv, targets, p.appends, "{}") })
	}
}

// rounds returns the frame of a command that the call runs for each of some items.
func (f *frame) rounds(k *call, via string) *frame {
	g := f.at(k, via)
	g.InLoop, g.stdin = true, Input{}
	return g
}

// upToEnd returns the words of a command that ends with a semicolon, a plus sign or the last word.
func upToEnd(words []Word) []Word {
	if n := slices.IndexFunc(words, func(w Word) bool { return w.Is(";") || w.Is("+") }); n >= 0 {
		return words[:n]
	}
	return words
}

// inEach reads something in each of some folders.
func (r *reader) inEach(folders []Word, read func() Word) {
	for _, folder := range folders {
		r.scoped(func() Word {
			r.goTo(r.resolvePath(folder))
			return read()
		})
	}
}

// forEach reads a command for each of some items, with the item in the place of its marks. Without marks, the item comes at its end if the program appends it.
func (r *reader) forEach(f *frame, k *call, argv, items []Word, appends bool, marks ...string) Word {
	var out word.Builder
	for _, item := range items {
		if !r.step(f, len(argv)) {
			break
		}
		filled := r.withItem(argv, item, appends, marks...)
		out.AddWord(r.run(f, &call{argv: filled, span: k.span, external: true}))
	}
	return out.Word()
}

// runFd reads fd, and the command that it runs on what it finds in the folders after its first operand, or in the current folder.
func (r *reader) runFd(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	before := k.argv[1:]
	if at := slices.IndexFunc(before, func(w Word) bool { return isOneOf(w, p.after) }); at >= 0 {
		before = before[:at]
	}
	opts, rest := p.parse(before)
	dirs := append(tail(rest, 1), opts.all(p.chdir...)...)
	if len(dirs) == 0 {
		dirs = []Word{Text(".")}
	}
	below := NewWord(Part{Kind: PartUnknown, From: "fd", Level: true, MayBeEmpty: true, Among: namesIn(f, before, "fd")})
	if name, known := fdName(opts, rest); known {
		below = Glue(NewWord(Part{Kind: PartUnknown, From: "fd", Level: true}), Text("/"), name)
	}
	var found []Word
	for _, dir := range dirs {
		if name, known := fdName(opts, rest); known {
			found = append(found, word.InFolder(dir, name))
		}
		found = append(found, word.InFolder(dir, below))
	}
	telling := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) } // it excludes most names
	if !opts.any("e", "extension") && !slices.ContainsFunc(rest[:min(len(rest), 1)], func(w Word) bool { return strings.ContainsFunc(w.Prefix(), telling) }) {
		found = append(found, dirs...) // it finds everything there
	}
	r.runOn(f, k, p, name, found, nil)
	return out
}

// fdName returns the pattern of the names that fd looks for, if it is known.
func fdName(opts options, operands []Word) (name Word, known bool) {
	ending, known := opts.Get("e", "extension")
	if known || len(operands) == 0 {
		return Glue(NewWord(Globs("*.")...), ending), known
	}
	s, _ := operands[0].Text()
	if m := wholeName.FindStringSubmatch(s); m != nil {
		return Text(m[1]), true
	}
	if plainName.MatchString(s) && !opts.any("g", "glob") {
		return NewWord(Globs("*" + s + "*")...), true
	}
	return NewWord(Globs(s)...), opts.any("g", "glob")
}

// wholeName matches a regular expression for one whole name, plainName one for part of it.
var (
	wholeName = regexp.MustCompile(`^\^\\?([\w.-]+)\$$`)
	plainName = regexp.MustCompile(`^[\w-]+$`)
)

// withItem returns a command with an item in the place of its marks; if it has none, at its end if the item is appended.
func (r *reader) withItem(argv []Word, item Word, appends bool, marks ...string) []Word {
	out, size := slices.Clone(argv), 0
	for i := range out {
		for _, mark := range marks {
			out[i] = word.Replace(out[i], mark, item)
		}
		size += out[i].Size()
	}
	r.step(nil, size/bytesPerStep)
	if appends && slices.EqualFunc(out, argv, Word.Equal) {
		return append(out, item)
	}
	return out
}

// runXargs reads xargs, which runs its command with the items of the input.
func (r *reader) runXargs(f *frame, k *call, p *program, _ string) Word {
	opts, argv := p.parse(k.argv[1:])
	text := f.stdin.Text
	if f.stdin.Kind == InputInherited {
		text = word.OutputOf("")
	}
	if file, ok := opts.Get(p.file...); ok {
		text = r.content(f, file)
	}
	r.wrapper(f, k)
	if len(argv) == 0 {
		argv = []Word{Text("echo")}
	}
	h := f.rounds(k, "xargs")
	items := xargsItems(text, opts, opts.any(p.marks...))
	if !r.step(f, len(items)*2) {
		return word.OutputOf("xargs")
	}
	if mark, replaces := opts.Get(p.marks...); replaces && mark.Known() {
		return r.forEach(h, k, argv, items, false, cmp.Or(mark.Prefix(), "{}"))
	}
	return r.run(h, &call{argv: slices.Concat(argv, items), span: k.span, external: true})
}

// xargsItems splits the input of xargs, by lines or by blanks.
func xargsItems(text Word, opts options, byLine bool) []Word {
	if text.IsUnknown() {
		var items []Word
		for _, p := range text.Parts() { // each may be several names
			p.Splits = true
			items = append(items, NewWord(p))
		}
		return items
	}
	sep, ok := delimiter(opts)
	if !ok {
		return []Word{word.Unknown("")}
	}
	var items []Word
	for _, l := range text.Lines() {
		s, ok := l.Text()
		switch {
		case sep != "":
			items = append(items, slices.DeleteFunc(l.SplitAll(sep), func(w Word) bool { return w.Is("") })...)
		case ok && !byLine:
			items = append(items, Texts(unixtext.Items(s))...)
		default:
			if w := l.TrimLeft(" \t"); !w.Is("") {
				items = append(items, w)
			}
		}
	}
	if len(items) > maxFields {
		items = append(items[:maxFields:maxFields], word.Unknown(""))
	}
	return items
}

// delimiter returns the character that xargs is told to split its input at, "" if it is told none. ok is false if that character is unknown.
func delimiter(opts options) (sep string, ok bool) {
	if opts.any("0", "null") {
		return "\x00", true
	}
	given, ok := opts.Get("d", "delimiter")
	if !ok {
		return "", true
	}
	s, ok := given.Text()
	if s == `\0` {
		return "\x00", ok
	}
	r, _, rest, err := strconv.UnquoteChar(s, 0)
	return string(r), ok && err == nil && rest == ""
}

// runParallel reads GNU parallel, which runs its command for each argument in turn.
func (r *reader) runParallel(f *frame, k *call, p *program, _ string) Word {
	opts, rest := p.parse(k.argv[1:])
	r.wrapper(f, k)
	argv, items := parallelItems(rest)
	if len(items) == 0 && f.stdin.Kind != InputInherited {
		items = f.stdin.Text.Lines()
		if sep, known := delimiter(opts); !known {
			items = nil
		} else if sep != "" {
			items = slices.DeleteFunc(f.stdin.Text.SplitAll(sep), func(w Word) bool { return w.Is("") || w.Is("\n") })
		}
	}
	if len(items) == 0 {
		items = []Word{word.Unknown("")}
	}
	h := f.rounds(k, "parallel")
	mark := "{}"
	if m, ok := opts.Get(p.marks...); ok {
		mark, _ = m.Text()
	}
	var out word.Builder
	for i, item := range items {
		if i > maxRounds || r.stopped {
			r.problem(h, Problem{Kind: ProblemTooBig, Detail: wording.Say("parallel runs over too many words to be read for each")})
			break
		}
		out.AddWord(r.parallelOne(h, k, argv, mark, item))
	}
	return out.Word()
}

// parallelOne reads the command for one argument. Parallel passes it to a shell as text, with the argument quoted: plain words stay what they are.
func (r *reader) parallelOne(f *frame, k *call, argv []Word, mark string, item Word) Word {
	if len(argv) == 0 {
		return r.carried(f, item, "parallel")
	}
	marks := []string{mark, "{1}", "{.}", "{/}", "{//}", "{/.}"}
	if line, ok := Spaced(argv).Text(); ok && len(strings.Fields(line)) == len(argv) && !strings.ContainsAny(line, operators) {
		return r.run(f, &call{argv: r.withItem(argv, item, true, marks...), span: k.span, external: true})
	}
	if s, ok := item.Text(); ok && strings.ContainsAny(s, operators+" ") {
		item = Text(r.quote(item))
	}
	out := r.carried(f, Spaced(r.withItem(argv, item, true, marks...)), "parallel")
	if strings.Contains(argv[0].Prefix(), " ") {
		return out
	}
	return r.run(f, &call{argv: r.withItem(argv, item, true, marks...), span: k.span, external: true}) // with -q
}

// operators are what means more in a command line than itself.
const operators = "|&;<>()$`\\\"'*?[#~=!\n"

// parallelItems splits the operands at :::, :::+ or ::::.
func parallelItems(rest []Word) (argv, items []Word) {
	for i, w := range rest {
		s, _ := w.Text()
		if s == ":::" || s == ":::+" || s == "::::" {
			for _, item := range rest[i+1:] {
				if t, _ := item.Text(); !strings.HasPrefix(t, ":::") {
					if s == "::::" {
						item = word.OutputOf("cat " + item.String())
					}
					items = append(items, item)
				}
			}
			return rest[:i], items
		}
	}
	return rest, nil
}

// tasksOf reads the calls of one program that words list, as in "mix do a, b" and "mix do a + b".
func (r *reader) tasksOf(f *frame, k *call, w *way, words []Word) (out Word) {
	var all, one []Word
	for _, v := range words {
		for i, part := range v.SplitAll(",") {
			if i > 0 {
				all = append(all, Text("+"))
			}
			all = append(all, part)
		}
	}
	for len(all) > 0 {
		one, all = cutAt(all, "+")
		if one = slices.DeleteFunc(slices.Clone(one), func(v Word) bool { return v.Is("") }); len(one) > 0 {
			out = r.run(f, &call{argv: w.withProgram(one), span: k.span, external: true})
		}
	}
	return out
}

// sentKeys reads keys typed into a terminal as command lines. A line without its end waits for the keys that are typed
// next; an end without a line runs what stood there before.
func (r *reader) sentKeys(f *frame, ops []Word, by string) {
	if ops = slices.DeleteFunc(slices.Clone(ops), func(w Word) bool { return wordclass.Is("key-stops", w.String()) }); len(ops) == 0 {
		return
	}
	var b word.Builder
	before, _ := r.value(keyTyped)
	b.AddWord(before)
	for _, w := range ops {
		switch {
		case wordclass.Is("key-enters", w.String()):
			b.AddText("\n")
		case w.Is("Space"):
			b.AddText(" ")
		default:
			b.AddWord(w)
		}
	}
	typed := b.Word()
	switch r.st.set(keyTyped, Word{}); {
	case strings.Trim(typed.String(), "\n") == "":
		r.codeProblem(f, word.OutputOf("what was typed before"), by)
	default:
		if r.carried(f, typed, by+" send-keys"); !strings.HasSuffix(typed.Suffix(), "\n") {
			r.st.set(keyTyped, typed)
		}
	}
}

// shut records a file that would run but could not be read, if its reason counts.
func (r *reader) shut(f *frame, where string, counts func(c *ClosedError) bool) {
	if c := r.opts.Files.Closed(where); c != nil && counts(c) {
		r.notRead(f, where, c)
	}
}
