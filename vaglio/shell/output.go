package shell

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/filter"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// writes reads a call and adds its output to that of the substitution around it. A function, or a
// text that the shell itself runs, may have several outputs; "return" ends the way it is on.
func (r *reader) writes(k *call, read func() Word) Word {
	if r.st.get(keyOut) == nil {
		return read()
	}
	var out Word
	ways, returned := r.gathered(func() { out = read() })
	switch {
	case k.argv[0].Is("return") || k.argv[0].Is("exit"):
		ways, returned = nil, []Word{{}}
	case out.Size() == 0 || len(ways) == 1 && ways[0].Size() == 0:
		ways = []Word{out}
	}
	r.flow(ways, returned)
	return out
}

// output returns what a plain command writes to its standard output, as far as that follows from its words and its input.
func (r *reader) output(f *frame, k *call) Word {
	if !f.capture {
		return Word{}
	}
	name := baseName(k.argv[0])
	out, ok := r.pure(f, k, name)
	if !ok {
		out = r.impure(f, k, name)
	}
	if f.Remote != nil && (f.Remote.Kind == RemoteHost || f.Remote.Kind == RemotePod) {
		out = out.Fetched()
	}
	if ok && (out.Size() > word.MaxSize || !r.step(f, out.Size()/16)) {
		return word.OutputOf(name)
	}
	return out
}

// impure returns an unknown output. What comes from a network stays marked as such through a pipe.
func (r *reader) impure(f *frame, k *call, name string) Word {
	p := Part{Kind: PartUnknown, From: name + processesOf(k.argv, name), MayBeEmpty: true, Among: namesIn(f, k.argv, name)}
	switch {
	case wordclass.Is("recodes", name):
		p.From = r.recoded(f, k, name)
	case name == "mktemp" && (slices.ContainsFunc(k.argv[1:], isPlace) || r.temporaryElsewhere(f, k)):
		p.From = "mktemp in"
	case name == "basename" && len(k.argv) > 1 && strings.HasPrefix(k.argv[1].Prefix(), "-") && !k.argv[1].Is("-s"):
		p.From = "basenames" // with -z, no line ends between them
	}
	_, searched := r.searches(f, k)
	p.Level = !searched && printsName(k.argv, name)
	p.Remote = f.stdin.Text.Remote() || wordclass.Is("fetches", name) || urlArgument(k.argv)
	return NewWord(p)
}

// printsName reports whether a program prints a name or a number, such as that of a moment, a machine or a revision, and nothing that its words make up.
func printsName(argv []Word, name string) bool {
	for len(argv) > 2 && argv[1].Is("-C") { // in another folder
		argv = argv[2:]
	}
	if len(argv) > 1 && wordclass.Is("prints-a-name", name+"-"+argv[1].Prefix()) {
		argv = argv[1:]
	} else if !wordclass.Is("prints-a-name", name) {
		return false
	}
	return !slices.ContainsFunc(argv[1:], func(w Word) bool {
		s, ok := w.Text()
		return !ok || !plainArgument.MatchString(s)
	})
}

// plainArgument matches the words that make such a program print nothing else: no slash, blank or two dots, and of git's options none that prints a path.
var plainArgument = regexp.MustCompile(`^(\+[\w%:-]+|-\w+|--(short|verify|abbrev-ref|tags|always|dirty|long|abbrev|match|exact-match|utc)(=\w+)?|\w+)$`)

// cutsLines matches the options with which a program that selects lines prints something else, or to a file.
var cutsLines = regexp.MustCompile(`(^| )(-[a-zA-Z]*[co]|--(bytes|count|output))`)

// recoded names the file whose content a program encodes, decodes or packs, behind the program.
func (r *reader) recoded(f *frame, k *call, name string) string {
	parts := f.stdin.Text.Parts()
	if last := k.argv[len(k.argv)-1]; len(k.argv) > 1 && !strings.HasPrefix(last.Prefix(), "-") {
		parts = slices.Concat(parts, r.content(f, last).Parts())
	}
	for _, p := range parts {
		program, file, _ := strings.Cut(p.From, " ")
		if wordclass.Is("recodes", program) || p.File != "" {
			return strings.TrimRight(name+" "+cmp.Or(p.File, file), " ")
		}
	}
	return name
}

func urlArgument(argv []Word) bool {
	return slices.ContainsFunc(argv[1:], func(w Word) bool {
		s := w.Prefix()
		return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "ftp://")
	})
}

// pure returns an output that follows from the words and the shell's state alone, or from the input of a filter.
func (r *reader) pure(f *frame, k *call, name string) (Word, bool) {
	args := k.argv[1:]
	if names, ok := selected(f.stdin.Text, args, name); ok {
		return names, true
	}
	if wordclass.Is("prints-nothing", name) {
		return Word{}, true
	}
	if tells := r.carriers.tellers[name]; tells != nil {
		if out, ok := tells(r, args); ok {
			return out, true
		}
	}
	return r.filtered(f, args, name)
}

// teller returns what a program prints, as far as that follows from its words and the shell's state.
type teller func(r *reader, args []Word) (Word, bool)

// tellers returns the programs whose output follows from their words and the shell's state.
func tellers() map[string]teller {
	all := map[string]teller{
		"echo":     func(_ *reader, args []Word) (Word, bool) { return word.Echo(args), true },
		"printf":   func(_ *reader, args []Word) (Word, bool) { return word.Printf(behindDashes(args)), true },
		"pwd":      func(r *reader, _ []Word) (Word, bool) { return Glue(r.cwd(), Text("\n")), true },
		"yes":      func(_ *reader, args []Word) (Word, bool) { return Glue(Spaced(args), Text("\n")), len(args) > 0 },
		"whoami":   func(r *reader, _ []Word) (Word, bool) { return Text(r.opts.User + "\n"), r.opts.User != "" },
		"dirname":  folderOf,
		"basename": baseOf,
		"realpath": (*reader).realPath,
		"getent":   (*reader).userEntry,
		"readlink": func(r *reader, args []Word) (Word, bool) {
			out, ok := r.realPath(args)
			return out, ok && slices.ContainsFunc(args, resolvesAll)
		},
		"seq": func(_ *reader, args []Word) (Word, bool) { return word.Sequence(args) },
		"git": func(_ *reader, args []Word) (Word, bool) {
			return word.OutputOf(Toplevel), len(args) == 2 && args[0].Is("rev-parse") && args[1].Is("--show-toplevel")
		},
		"printenv": func(r *reader, args []Word) (Word, bool) {
			if len(args) != 1 {
				return Word{}, false
			}
			return r.variable(args[0].Prefix())
		},
	}
	for _, name := range []string{"which", "type", "command", "where", "whence"} {
		all[name] = located
	}
	return all
}

// filtered returns the output of a program that turns one text into another.
func (r *reader) filtered(f *frame, args []Word, name string) (Word, bool) {
	texts, size := make([]string, len(args)), 0
	for i, w := range args {
		texts[i] = r.splice(w)
		size += len(texts[i])
	}
	call := filter.New(name, texts)
	if call == nil {
		return Word{}, false
	}
	in := f.stdin.Text
	if len(call.Files) > 0 {
		var b word.Builder
		for _, file := range call.Files {
			b.AddWord(r.content(f, r.fillHoles(file)))
		}
		in = b.Word()
	} else if f.stdin.Kind == InputInherited {
		return Word{}, false
	}
	if call.Passes {
		return in, true
	}
	known := func(s string) bool { return !strings.Contains(s, holeOpen) }
	holed := func(texts []string) int { return len(slices.DeleteFunc(slices.Clone(texts), known)) }
	if holed(texts) > holed(call.Files) || !r.step(f, in.Size()/8*(1+size/32)) {
		return mayPass(in, name)
	}
	if made, ok := madeBy(name, call, in); ok {
		return made, true
	}
	if out, ok := apply(call, in); ok {
		return out, true
	}
	if isEntry(call, in) {
		out, _ := call.Apply(r.splice(in))
		return r.fillHoles(out), true
	}
	return mayPass(in, name)
}

// isEntry reports whether a filter takes fields of what getent prints of a user.
func isEntry(f *filter.Filter, w Word) bool {
	return f.Fields && w.Prefix() != "" && slices.ContainsFunc(w.Parts(), func(p Part) bool { return p.From == "getent" })
}

// madeBy returns what a filter makes of a file's content, which is read if it runs; false for any other text, and behind more filters than people write.
func madeBy(name string, call *filter.Filter, in Word) (Word, bool) {
	const most = 64
	part, _ := in.Only()
	of := word.Made{File: part.File}
	if part.Made != nil {
		of = *part.Made
	}
	if of.File == "" || len(of.Through) >= most {
		return Word{}, false
	}
	p := Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Made: &word.Made{File: of.File, Through: append(slices.Clone(of.Through), call)}}
	if wordclass.Is("recodes", name) {
		p.From += " " + of.File
	}
	return NewWord(p), true
}

// apply returns the result of a filter for a text that may be known only in part.
func apply(f *filter.Filter, in Word) (Word, bool) {
	s, known := in.Text()
	switch {
	case known:
		out, ok := f.Apply(s)
		return Text(out), ok
	case f.Anywhere && !in.IsUnknown():
		return in.MapText(func(s string) string { out, _ := f.Apply(s); return out }), true
	}
	return Word{}, false
}

// mayPass returns the output of a program that passes on all or part of its known input in ways that are not followed: the input, followed by an unknown part.
func mayPass(in Word, name string) (Word, bool) {
	if wordclass.Is("may-pass", name) && !in.IsUnknown() && !in.Is("") && slices.ContainsFunc(in.Parts(), tells) {
		return Glue(in, NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true})), true
	}
	return Word{}, false
}

// passed reports whether a text is what a filter may have passed on.
func passed(text Word) bool {
	return slices.ContainsFunc(text.Parts(), func(p Part) bool { return wordclass.Is("may-pass", p.From) })
}

// tells reports whether more is known of a part of a text than that a program prints it, or that lines end there.
func tells(p Part) bool {
	if p.Kind != PartUnknown {
		return strings.TrimSpace(p.Text) != ""
	}
	return p.From == "" || p.Name != "" || p.Among != "" || p.File != "" || p.Made != nil || strings.HasPrefix(p.From, "mktemp")
}

func folderOf(r *reader, args []Word) (Word, bool) {
	if args = behindDashes(args); len(args) != 1 {
		return Word{}, false
	}
	if p := args[0].Parts(); len(p) > 0 && p[0].From == "which" {
		return Text("/usr/bin\n"), true // where a system keeps its programs
	}
	if s, ok := args[0].Text(); ok {
		s = cmp.Or(strings.TrimRight(s, "/"), s)
		return Text(path.Dir(s) + "\n"), s != ""
	}
	folder, ok := r.folderIn(args[0])
	return Glue(folder, Text("\n")), ok
}

// folderIn returns the folder of a path that is not known in full. What a program prints for a name may have a slash,
// as branches have: then the folder is also one below.
func (r *reader) folderIn(w Word) (Word, bool) {
	var below []Part
	folder, ok := word.Folder(w, func(p Part) bool {
		if p.Level {
			below = []Part{{Text: "/"}, p}
		}
		return p.Level || p.From == "basename"
	})
	if ok && below != nil && r.pick("dirname "+w.String(), 2) == 1 {
		folder = Glue(folder, NewWord(below...))
	}
	return folder, ok && !strings.HasPrefix(w.Prefix(), "-")
}

// baseOf returns the output of basename. Options may have it print several names.
func baseOf(_ *reader, args []Word) (Word, bool) {
	if len(args) == 3 && args[0].Is("-s") {
		args = []Word{args[2], args[1]}
	}
	if args = behindDashes(args); len(args) == 0 || len(args) > 2 || strings.HasPrefix(args[0].Prefix(), "-") {
		return Word{}, false
	}
	suffix, cuts := "", true
	if len(args) == 2 {
		suffix, cuts = args[1].Text()
	}
	s, ok := args[0].Text()
	if !ok {
		last, ok := word.LastName(args[0], suffix)
		return Glue(last, Text("\n")), ok && cuts
	}
	b := path.Base(s)
	if b != suffix {
		b = strings.TrimSuffix(b, suffix)
	}
	return Text(b + "\n"), cuts
}

// located returns a program's path: its folder is unknown, its name is known.
func located(_ *reader, args []Word) (Word, bool) {
	if len(args) == 0 {
		return Word{}, false
	}
	last := args[len(args)-1]
	if s, ok := last.Text(); ok && !strings.HasPrefix(s, "-") && !strings.Contains(s, "/") {
		return NewWord(Part{Kind: PartUnknown, From: "which"}, Part{Text: "/" + s + "\n"}), true
	}
	return Word{}, false
}

func (r *reader) realPath(args []Word) (Word, bool) {
	relative := slices.ContainsFunc(args, func(w Word) bool { return strings.HasPrefix(w.Prefix(), "--rel") })
	args = slices.DeleteFunc(slices.Clone(args), func(w Word) bool { return strings.HasPrefix(w.Prefix(), "-") })
	if len(args) != 1 || relative {
		return Word{}, false
	}
	return Glue(r.resolvePath(args[0]), Text("\n")), !args[0].HasUnknown()
}

// resolvesAll reports whether an option of readlink makes it resolve a whole path, as
// realpath does. Without one it prints what a link points to, which only the disk knows.
func resolvesAll(option Word) bool {
	s := option.Prefix()
	return strings.HasPrefix(s, "--canonicalize") || strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.ContainsAny(s, "fem")
}

// baseName returns the last element of a program's path, "" if it is unknown.
func baseName(w Word) string {
	s := w.Suffix()
	i := strings.LastIndexByte(s, '/')
	if i < 0 && !w.Known() {
		return ""
	}
	return s[i+1:]
}

// takeHole returns the word whose mark s begins with, and the rest of s.
func (r *reader) takeHole(s string) (w Word, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, holeOpen)
	if !ok {
		return Word{}, s, false
	}
	digits, rest, ok := strings.Cut(s, holeClose)
	if !ok {
		return Word{}, s, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= len(r.holes) {
		return Word{}, s, false
	}
	return r.holes[n], rest, true
}

// fillHoles turns text with marks back into a word.
func (r *reader) fillHoles(s string) Word {
	var b word.Builder
	for {
		i := strings.Index(s, holeOpen)
		if i < 0 {
			b.AddText(s)
			return b.Word()
		}
		b.AddText(s[:i])
		w, rest, ok := r.takeHole(s[i:])
		if !ok {
			b.AddText(holeOpen)
			s = s[i+len(holeOpen):]
			continue
		}
		b.AddWord(w)
		s = rest
	}
}
