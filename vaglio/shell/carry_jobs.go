package shell

import (
	"regexp"
	"slices"
	"strings"
)

// What stands before the command in a line of a crontab: five fields of time or one of the
// @names, in a table of the system a user besides.
var (
	cronTime = regexp.MustCompile(`^[ \t]*(?:@[^ \t]+|[^ \t@#][^ \t]*(?:[ \t]+[^ \t]+){4})[ \t]+`)
	cronUser = regexp.MustCompile(cronTime.String() + `[^ \t]+[ \t]+`)
)

// crontab reads the commands of a table.
func (r *reader) crontab(f *frame, text Word, users bool) {
	before := cronTime
	if users {
		before = cronUser
	}
	for _, l := range text.lines() {
		if at := before.FindStringIndex(l.Prefix()); at != nil {
			r.carried(f, l.Cut(at[1]), "crontab")
		}
	}
}

// sentKeys reads keys typed into a terminal as command lines.
func (r *reader) sentKeys(f *frame, ops []Word, by string) {
	var b builder
	for _, w := range ops {
		switch {
		case isOneOf(w, []string{"Enter", "C-m", "KPEnter", "C-j"}):
			b.addText("\n")
		case w.Is("Space"):
			b.addText(" ")
		default:
			b.addWord(w)
		}
	}
	if !b.empty() {
		r.carried(f, b.word(), by+" send-keys")
	}
}

// makefile reads what make would run of a makefile that the source itself gives.
func (r *reader) makefile(f *frame, text Word) {
	r.codeProblem(f, text, "make")
	if r.opts.Tasks == nil || !r.step(f, text.Size()/bytesPerStep) {
		return
	}
	for _, t := range r.opts.Tasks.Written("/Makefile", r.splice(text)) {
		r.carried(f, r.fillHoles(t.Text), "make")
	}
}

// runMove reads cp, mv, ln and install, which give known content another name.
func (r *reader) runMove(f *frame, k *call, p *program, _ string) Word {
	r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	if len(rest) < 2 || opts.any(p.unless...) {
		return Word{}
	}
	last := len(rest) - 1
	to := rest[last]
	folder := last > 1 || strings.HasSuffix(to.Suffix(), "/") || to.Is(".")
	for _, from := range rest[:last] {
		if folder {
			to = Glue(rest[last], Text("/"+baseName(from)))
		}
		r.writeFile(f, to, r.content(f, from), false)
	}
	return Word{}
}

// runDd reads dd, which copies its input to a file.
func (r *reader) runDd(f *frame, k *call, _ *program, _ string) Word {
	g := *f
	g.capture = true
	out := r.plain(&g, k)
	for _, w := range k.argv[1:] {
		if strings.HasPrefix(w.Prefix(), "of=") {
			r.writeFile(f, w.Cut(len("of=")), out, false)
			return Word{}
		}
	}
	return out
}

// runTee reads tee, which writes its input to files.
func (r *reader) runTee(f *frame, k *call, p *program, _ string) Word {
	out := r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	for _, w := range rest {
		r.writeFile(f, w, f.stdin.Text, opts.any("a", "append"))
	}
	return out
}

// runFd reads fd, and the command that it runs on what it finds in the folders after its first
// operand, or in the current folder.
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
	below := NewWord(Part{Kind: PartUnknown, From: "fd", MayBeEmpty: true})
	if name, known := fdName(opts, rest); known {
		below = Glue(NewWord(Part{Kind: PartUnknown, From: "fd"}), Text("/"), name)
	}
	var found []Word
	for _, dir := range dirs {
		found = append(found, inFolder(dir, below))
	}
	if !opts.any("e", "extension") && !slices.ContainsFunc(rest[:min(len(rest), 1)], isTelling) {
		found = append(found, dirs...) // it finds everything there
	}
	r.runOn(f, k, p, name, found)
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
	return NewWord(Globs(s)...), opts.any("g", "glob")
}

// wholeName matches a regular expression for one whole name.
var wholeName = regexp.MustCompile(`^\^\\?([\w.-]+)\$$`)

// runDownload reads a program that writes what it fetches to a file: the file that an option
// names, or one named after the last element of the address.
func (r *reader) runDownload(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	fetched := NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Remote: true})
	opts, rest := p.parse(k.argv[1:])
	for _, file := range opts.all(p.to...) {
		r.writeFile(f, file, fetched, false)
	}
	if p.named != nil && !opts.any(p.named...) || p.named == nil && opts.any(p.to...) {
		return out
	}
	for _, url := range rest {
		s, ok := url.Text()
		s, _, _ = strings.Cut(s, "?")
		if i := strings.LastIndexByte(s, '/'); ok && i >= 0 && i+1 < len(s) {
			r.writeFile(f, Text(s[i+1:]), fetched, false)
		}
	}
	return out
}

// carriedFile reads a file that runs before anything else, if its content is known.
func (r *reader) carriedFile(f *frame, name Word, by string) {
	if content := r.content(f, name); r.written(name) || content.parts != nil {
		if whole, _, ok := r.loaded(f, content); ok || r.written(name) {
			r.carried(f, Glue(content, Text(everyName(whole))), by)
		}
	}
}
