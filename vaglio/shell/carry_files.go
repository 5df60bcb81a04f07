package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// What stands before the command in a line of a crontab: five fields of time or one of the @names, in a table of the system a user besides.
var (
	cronTime = regexp.MustCompile(`^[ \t]*(?:@[^ \t]+|[^ \t@#][^ \t]*(?:[ \t]+[^ \t]+){4})[ \t]+`)
	cronUser = regexp.MustCompile(cronTime.String() + `[^ \t]+[ \t]+`)
)

// tableIn returns the content of a file that crontab installs.
func (r *reader) tableIn(f *frame, p *program, w Word) (Word, bool) {
	if p.language != "crontab" || isStdin(w) {
		return Word{}, false
	}
	text, _, ok := r.load(f, w)
	return Text(text), ok
}

// crontab reads the commands of a table.
func (r *reader) crontab(f *frame, text Word, users bool) {
	before := cronTime
	if users {
		before = cronUser
	}
	for _, l := range text.Lines() {
		parts := l.Parts() // an output that is not known stands before the line, which it ends with a line break
		if begins := slices.IndexFunc(parts, func(p Part) bool { return p.Kind != PartUnknown }); begins > 0 {
			l = NewWord(parts[begins:]...)
		}
		if at := before.FindStringIndex(l.Prefix()); at != nil {
			r.carried(f, l.Cut(at[1]), "crontab")
		}
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
func (r *reader) runMove(f *frame, k *call, p *program, name string) Word {
	r.optionsIn(f, k, p, name)
	opts, rest := p.parse(k.argv[1:])
	if into, given := opts.Get(p.unless...); given {
		rest = append(slices.Clip(rest), Glue(into, Text("/")))
	}
	if len(rest) < 2 {
		return Word{}
	}
	to, last := rest[len(rest)-1], len(rest)-1
	folder := last > 1 || strings.HasSuffix(to.Suffix(), "/") || to.Is(".")
	for _, from := range rest[:last] {
		text, base := r.content(f, from), baseName(from)
		if at := strings.LastIndexByte(base, ':'); at > 0 || strings.Contains(from.Prefix(), ":/") { // on another machine
			text, base = NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Remote: true}), base[at+1:]
		}
		if folder {
			to = Glue(rest[last], Text("/"+base))
		}
		r.renames(f, from, to, text, name != "cp", name == "ln")
		r.moved(f, from, rest[last])
	}
	return Word{}
}

// keyLink is what a path leads to that the source made a link.
const keyLink = "link "

// renames gives a file the content of another one: as what it replaces, or in it. What is written to a link goes where that leads.
func (r *reader) renames(f *frame, from, to, content Word, replaces, links bool) {
	where, _ := r.filePath(to)
	if replaces {
		r.st.put(keyLink+where, nil)
	}
	if !content.Is(Dumped) {
		r.writeFile(f, to, content, false)
	}
	if links && !path.IsAbs(from.Prefix()) {
		from = Glue(Text(path.Dir(where)+"/"), from)
	}
	if links {
		r.st.set(keyLink+where, from)
	}
}

// move is a folder that the source copies, moves or links, and where it may be then.
type move struct{ from, to string }

// maxMoves limits the folders that are followed.
const maxMoves = 600

// moved records that a folder may be copied, moved or linked: to a name, or into a folder of that name.
func (r *reader) moved(f *frame, from, to Word) {
	source, ok := r.filePath(from)
	target, known := r.filePath(to)
	if known && from.HasGlob() {
		files, _ := r.matching(from)
		for _, file := range files {
			r.lands(file, path.Join(target, path.Base(file)))
		}
	}
	if !ok || !known {
		return
	}
	if len(r.moves) >= maxMoves {
		r.notRead(f, target, errEdited)
		return
	}
	r.follow(move{source, target})
	r.follow(move{source, path.Join(target, path.Base(source))})
	if !path.IsAbs(from.Prefix()) { // a link counts from its own folder
		r.follow(move{path.Join(path.Dir(target), from.String()), target})
	}
}

// lands notes what comes from a path to where it steers what runs by itself, and reads it.
func (r *reader) lands(from, to string) {
	files, _ := r.Below(from, -1, func(rel string) bool { return r.opts.Steers(path.Join(to, rel)) })
	if r.opts.Steers(to) && len(files) == 0 {
		files = []string{from}
	}
	for _, file := range files {
		if !r.step(r.looking, 1) {
			return
		}
		_, _ = r.from(file)
		r.out.Lands = append(r.out.Lands, Landing{file, path.Join(to, strings.TrimPrefix(file, from))})
	}
}

// follow keeps a move, of equal ones the last.
func (r *reader) follow(m move) {
	r.lands(m.from, m.to)
	r.moves = append(slices.DeleteFunc(r.moves, func(other move) bool { return other == m }), m)
}

// held returns the content of a file that the source did not write: what it copied there with its folder, or else what lies there.
func (r *reader) held(where string) (string, bool) {
	before := r.out.Sought[where]
	r.out.Sought[where] = before // looked for, and not forgotten what it held before
	for _, m := range slices.Backward(r.moves) {
		if rest, in := strings.CutPrefix(where, m.to+"/"); in && r.step(r.looking, 1) {
			if text, ok := r.from(path.Join(m.from, rest)); ok {
				return text, true
			}
		}
	}
	return r.opts.Files.Content(where)
}

// from returns the content of a file that the source may have copied.
func (r *reader) from(where string) (string, bool) {
	if r.written(Text(where)) {
		return r.content(&frame{}, Text(where)).Text()
	}
	return r.opts.Files.Content(where)
}

// consists reads the files that the content of a written file consists of, if that file steers what runs by itself.
func (r *reader) consists(file string, content Word) {
	for _, p := range content.Parts() {
		if p.File != "" && r.opts.Steers(file) {
			_, _ = r.from(p.File)
		}
	}
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

// runTee reads tee, which writes its input to files, or a program that changes the files behind others of its operands in place, if it is told to.
func (r *reader) runTee(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	for _, w := range tail(rest, p.from) {
		if p.from == 0 {
			r.writeFile(f, w, f.stdin.Text, opts.any("a", "append"))
		} else if opts.any("i", "in-place", "inplace") {
			r.writeFile(f, w, word.OutputOf(name), false)
		}
	}
	return out
}

// runDownload reads a program that writes what it fetches to a file: the file that an option names, or one named after the last element of the address.
func (r *reader) runDownload(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	fetched := NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Remote: true})
	opts, rest := p.parse(k.argv[1:])
	r.lines(f.at(k, name), &p.way, opts, name)
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
	if content := r.content(f, name); r.written(name) || !content.Known() {
		if whole, _, ok := r.loaded(f, content); ok || r.written(name) {
			r.carried(f, Glue(content, Text(everyName(whole))), by)
		}
	}
}

// runSed reads sed, whose scripts may run commands.
func (r *reader) runSed(f *frame, k *call, p *program, _ string) Word {
	out := r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	scripts := opts.all(p.text...)
	if len(scripts) == 0 && !opts.any(p.file...) && len(rest) > 0 {
		scripts = rest[:1]
	}
	g := f.at(k, "sed")
	g.stdin = Input{}
	for _, s := range scripts {
		r.sedCode(g, s, f.stdin.Text)
	}
	if opts.any("i", "in-place") {
		files := rest
		if !opts.any(p.text...) {
			files = tail(rest, 1)
		}
		r.editFiles(f, edit{scripts, opts.any("E", "r", "regexp-extended")}, files)
	}
	for _, file := range opts.all(p.file...) {
		text := r.content(f, file)
		whole, where, ok := r.loaded(f, text)
		if !ok && text.HasUnknown() { // any line of it may be a command
			detail := wording.Say("%s runs a file whose content is not part of the command", "sed")
			r.problem(g, Problem{Kind: ProblemDynamicCode, Detail: detail, Word: file, Interpreter: "sed"})
		}
		r.fromFile(g, sourceFile{path: where}, func(g *frame) Word { r.sedCode(g, whole, f.stdin.Text); return Word{} })
	}
	return out
}

// editsInPlace notes that a program of perl, ruby or awk changes the files that it is given.
func (r *reader) editsInPlace(f *frame, p *program, opts options, texts, rest []Word) {
	if how, inPlace := opts.Get("i", "in-place"); inPlace && (slices.Contains([]string{"perl", "ruby"}, p.language) || how.Is("inplace")) {
		scripts := []Word{word.Unknown("")}
		if p.language == "perl" && opts.any("p") && !variables.MatchString(Spaced(texts).Prefix()) {
			scripts = texts
		}
		r.editFiles(f, edit{scripts, true}, rest)
	}
}

// variables matches perl's variables.
var variables = regexp.MustCompile(`[$@][\w{&]`)

// edit is what sed or perl does to a file in place.
type edit struct {
	scripts  []Word
	extended bool
}

// editFiles notes that sed or perl changes files in place, for when one of them runs later.
func (r *reader) editFiles(f *frame, e edit, files []Word) {
	const most = 32 // edits of one file that are followed
	for _, file := range files {
		switch where, ok := r.filePath(file); {
		case !ok || f.Remote != nil:
		case r.written(file):
			out := word.OutputOf("sed")
			if text, known := r.content(f, file).Text(); known {
				if after, followed := r.after(f, e, text); followed {
					out = Text(after)
				}
			}
			r.writeFile(f, file, out, false)
		case len(r.edits[where]) <= most:
			if r.edits == nil {
				r.edits = map[string][]edit{}
			}
			if len(r.edits[where]) == most {
				e.scripts = []Word{word.Unknown("")}
			}
			r.edits[where] = append(r.edits[where], e)
		}
	}
}

// after returns a text after an edit; false if it is not followed.
func (r *reader) after(f *frame, e edit, text string) (string, bool) {
	for _, s := range e.scripts {
		code, known := s.Text()
		if !known {
			return "", false
		}
		if text, known = unixtext.SedEdited(code, e.extended, text, func(n int) bool { return r.step(f, n) }); !known {
			return "", false
		}
	}
	return text, true
}

// sedCode reads what a sed script runs, by its e, and what it writes, by its w.
func (r *reader) sedCode(f *frame, script, in Word) {
	unixtext.SedDoes(r.splice(script), func(verb byte, text string) {
		switch code := r.fillHoles(text); {
		case verb == 'w':
			r.emit(f, Command{Redirects: []Redirect{{Kind: RedirectWrite, Target: code}}})
		case verb == 's':
			r.carried(f, code, "sed s///e")
			r.carried(f, word.OutputOf("sed"), "sed s///e") // with the part that it does not replace
		case text == "":
			r.carried(f, in, "sed e") // the input is the code
		default:
			r.carried(f, code, "sed e")
		}
	})
}

// temporaryElsewhere reports whether a call was told to make its temporary files in a folder that is not the usual one.
func (r *reader) temporaryElsewhere(f *frame, k *call) bool {
	dir, set := assigned(slices.Concat(f.assigns, k.assigns), "TMPDIR")
	if !set {
		dir, set = r.value("TMPDIR")
	}
	return set && !dir.Is("") && !strings.HasPrefix(dir.Prefix()+"/", "/tmp/")
}

// isPlace reports whether a word of mktemp names a folder that is not the usual one, or may hold more than a name.
func isPlace(w Word) bool {
	odd := func(p Part) bool {
		return p.Kind == PartUnknown && p.Name != "TMPDIR" || strings.ContainsAny(p.Text, "'\"`;&|<>$() \t\n\\")
	}
	s := w.Prefix()
	if at := strings.IndexByte(s, '/'); at > 0 && s[0] == '-' {
		s = s[at:]
	}
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s+"/", "/tmp/") || strings.HasPrefix(s, "..") || slices.ContainsFunc(w.Parts(), odd)
}

// orInBrief reads a file's text, and once more in brief (each function once, with unknown arguments) if its share of the budget, or what that leaves of the
// whole, is too little. What was found by then counts. Without functions that are called, in brief is no less. What is still too much is unread.
func (r *reader) orInBrief(budget int, g *frame, read func(g *frame) Word) Word {
	cut := func() bool { return r.stopped && r.steps <= budget && len(r.out.Commands) <= maxCommands }
	mark, unparsed := r.st.mark(), len(r.out.Unparsed)
	out := read(g)
	switch {
	case !cut():
		r.st.keep()
		return out
	case r.brief != nil || r.called == nil:
		r.st.keep()
	default:
		r.st.rollback(mark)
		r.out.Unparsed, r.stopped, g.file.unread, g.file.line = r.out.Unparsed[:unparsed], false, false, g.file.first
		r.brief, r.budget = map[*syntax.Stmt]bool{}, r.steps+max(budget-r.steps-ownSteps, 0)/2
		out = read(g)
		if r.brief = nil; !cut() {
			return out
		}
	}
	r.stopped, g.file.unread = false, true
	r.unparsed(g.file.path, ProblemUnread)
	return out
}
