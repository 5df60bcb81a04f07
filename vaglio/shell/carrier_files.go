package shell

import (
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/wording"
)

// runMove reads cp, mv, ln and install, which give a known content another
// name.
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

// runDownload reads programs that write what they fetch to a file: the one
// that an option names, or one that is named as the address ends.
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

// sedCode reads the e command and the e flag of a sed script.
func (r *reader) sedCode(f *frame, script, in Word) {
	for _, l := range script.lines() {
		s := strings.TrimLeft(l.Prefix(), "0123456789,$!;{} \t")
		if s == "e" {
			r.carried(f, in, "sed e") // the input is the code
			continue
		}
		if code, ok := strings.CutPrefix(s, "e "); ok {
			r.carried(f, l.Cut(len(l.Prefix())-len(code)), "sed e")
			continue
		}
		if file, ok := strings.CutPrefix(s, "w "); ok {
			r.emit(f, Command{Redirects: []Redirect{{Kind: RedirectWrite, Target: Text(file)}}})
		}
		if _, ok := l.Text(); !ok || len(s) < 2 || s[0] != 's' {
			continue
		}
		if _, with, flags, _, ok := unixtext.SedCommand(s); ok && strings.Contains(flags, "e") {
			r.carried(f, Text(strings.ReplaceAll(with, `\/`, "/")), "sed s///e")
			r.carried(f, outputOf("sed"), "sed s///e") // with what it does not replace
		}
	}
}

// carriedFile reads a file that is run before anything else, if its content is
// known.
func (r *reader) carriedFile(f *frame, name Word, by string) {
	if content := r.content(f, name); r.written(name) || content.parts != nil {
		if whole, _, ok := r.loaded(f, content); ok || r.written(name) {
			r.carried(f, Glue(content, Text(everyName(whole))), by)
		}
	}
}
