package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// redirects holds the redirected files and inputs of one statement.
type redirects struct {
	list   []Redirect
	files  []Word // the files that receive standard output
	append bool
	output *syntax.ProcSubst // the process that receives standard output
}

func (d *redirects) wants() bool { return len(d.files) > 0 || d.output != nil }

// redirects evaluates redirections and sets the frame's input.
func (r *reader) redirects(f *frame, list []*syntax.Redirect) *redirects {
	d := &redirects{}
	for _, n := range list {
		switch n.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			r.here(f, n)
		case syntax.DplIn, syntax.DplOut:
			r.duplicate(f, d, n)
		default:
			r.redirect(f, d, n)
		}
	}
	return d
}

// here evaluates a here-document or a here-string.
func (r *reader) here(f *frame, n *syntax.Redirect) {
	var text Word
	switch {
	case n.Op == syntax.WordHdoc:
		text = Glue(r.text(f, n.Word), Text("\n"))
	case n.Hdoc != nil:
		text = r.heredoc(f, n)
	}
	if n.N != nil && n.N.Value != "0" {
		r.descriptor(n.N.Value, text)
		return
	}
	f.stdin = Input{Kind: InputText, Text: text}
}

// leadingTabs matches what <<- strips from the lines of its document.
var leadingTabs = regexp.MustCompile(`(?m)^\t+`)

func (r *reader) heredoc(f *frame, n *syntax.Redirect) Word {
	quoted := false
	for _, p := range n.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		quoted = quoted || !ok || strings.Contains(lit.Value, "\\")
	}
	e := expander{r: r, f: f}
	for _, p := range n.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok && quoted {
			e.quotedText(lit.Value)
			continue
		}
		e.parts([]syntax.WordPart{p}, true, tildeNone)
	}
	text := e.cur.Word()
	if n.Op == syntax.DashHdoc {
		text = text.MapText(func(s string) string { return leadingTabs.ReplaceAllString(s, "") })
	}
	return text
}

// descriptor makes text readable through a descriptor, given as a number or as a variable in braces that receives one.
func (r *reader) descriptor(fd string, text Word) {
	fd = r.numbered(fd)
	r.st.set(keyFD+fd, text)
	r.st.set(keyFile+"/dev/fd/"+fd, text)
	r.st.set(keyFile+"/proc/self/fd/"+fd, text)
}

// numbered returns the number of a descriptor, which a variable in braces receives.
func (r *reader) numbered(fd string) string {
	if name, ok := strings.CutPrefix(fd, "{"); ok {
		r.procs++
		fd = strconv.Itoa(9 + r.procs)
		r.st.set(strings.TrimSuffix(name, "}"), Text(fd))
	}
	return fd
}

func (r *reader) duplicate(f *frame, d *redirects, n *syntax.Redirect) {
	w := r.text(f, n.Word)
	s, ok := w.Text()
	num := strings.TrimSuffix(s, "-")
	_, err := strconv.Atoi(num)
	switch number := ok && (err == nil || s == "-"); {
	case n.Op == syntax.DplIn:
		if text, is := r.value(keyFD + num); ok && is {
			f.stdin = Input{Kind: InputText, Text: text, shared: true}
		}
	case !number:
		d.list = append(d.list, Redirect{Kind: RedirectWrite, Target: w})
		d.files = append(d.files, w)
	default:
		if file, is := r.value(keyTo + num); is && (n.N == nil || n.N.Value == "1") {
			d.files, d.append = append(d.files, file), true
		} else if is {
			r.st.set(keyTo+r.numbered(n.N.Value), file)
		}
	}
}

// redirect evaluates a redirection to or from a file.
func (r *reader) redirect(f *frame, d *redirects, n *syntax.Redirect) {
	if p := soleProcess(n.Word); p != nil && p.Op == syntax.CmdOut && n.Op != syntax.RdrIn && (n.N == nil || n.N.Value == "1") {
		d.output = p
		return
	}
	fields := r.fields(f, n.Word)
	if len(fields) == 0 {
		fields = []Word{{}}
	}
	for _, w := range fields {
		red := Redirect{Kind: redirectKind(n.Op), Target: w}
		if n.N != nil {
			red.FD = n.N.Value
		}
		r.redirectFile(f, d, red)
		if s, ok := w.Text(); !ok || !strings.HasPrefix(s, "/dev/fd/") {
			d.list = append(d.list, red)
		}
	}
}

func (r *reader) redirectFile(f *frame, d *redirects, red Redirect) {
	switch {
	case red.Kind == RedirectRead || red.Kind == RedirectReadWrite:
		content := r.content(f, red.Target)
		if red.FD == "" || red.FD == "0" {
			f.stdin = Input{Kind: InputFile, Text: content, File: red.Target, Here: f.Remote == nil}
		} else {
			r.descriptor(red.FD, content)
		}
	case red.FD == "" || red.FD == "1":
		d.files = append(d.files, red.Target)
		d.append = red.Kind == RedirectAppend
	case red.FD != "2": // what later commands send there is added
		to, more := r.through(red.Target)
		r.writeFile(f, to, Word{}, more || red.Kind == RedirectAppend)
		r.st.set(keyTo+r.numbered(red.FD), to)
	}
}

func soleProcess(w *syntax.Word) *syntax.ProcSubst {
	if len(w.Parts) != 1 {
		return nil
	}
	p, _ := w.Parts[0].(*syntax.ProcSubst)
	return p
}

// deliver sends a command's output to its redirections and returns what is left for the surrounding statement.
func (r *reader) deliver(f *frame, d *redirects, out Word) Word {
	if !d.wants() {
		return out
	}
	for _, w := range d.files {
		r.writeFile(f, w, out, d.append)
	}
	if d.output != nil {
		g := *f
		g.capture = false
		g.stdin = Input{Kind: InputText, Text: out, Piped: true}
		r.subshell(&g, d.output.Stmts)
	}
	return Word{}
}

// through returns the file that a descriptor named as a file writes to, and whether it does.
func (r *reader) through(file Word) (to Word, is bool) {
	name, _ := file.Text()
	if fd, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		if to, is = r.value(keyTo + fd); is {
			return to, true
		}
	}
	return file, false
}

// writeFile remembers the content of a file that the source writes.
func (r *reader) writeFile(f *frame, file, content Word, more bool) {
	file, adds := r.through(file)
	where, ok := r.filePath(file)
	if !ok || strings.HasPrefix(where, "/dev/") && !strings.HasPrefix(where, "/dev/shm/") {
		return
	}
	content = r.added(where, content, more || adds)
	if content.Size() > word.MaxSize || !r.step(f, content.Size()/32) {
		content = word.OutputOf("")
	}
	r.st.set(keyFile+where, content)
	r.wrote(f, where, content)
	r.writeThrough(f, where, content)
	dir := path.Dir(where)
	if users := dir == "/etc/cron.d" || where == "/etc/crontab"; users || dir == "/var/spool/cron" || dir == "/var/spool/cron/crontabs" {
		r.crontab(f.with("cron"), content, users)
	}
}

// added returns the content of a written file: the new content, after what the source wrote there before. If that is unknown, it notes that there may be more.
func (r *reader) added(file string, content Word, more bool) Word {
	mark := keyAdded + file
	switch e := r.st.get(keyFile + file); {
	case more && e.hasValue():
		return Glue(e.vals[0], content)
	case more:
		r.st.set(mark, Word{})
	case r.st.get(mark).hasValue():
		r.st.put(mark, nil)
	}
	return content
}

// wrote records a file of this machine whose content is known. Whole lines that are added to it are kept with those before them, once.
func (r *reader) wrote(f *frame, file string, content Word) {
	r.consists(file, content)
	text, ok := content.Text()
	if !ok || f.Remote != nil {
		return
	}
	for i := max(0, len(r.out.Writes)-64); i < len(r.out.Writes); i++ { // few, so that many writes to many files stay cheap
		if w := &r.out.Writes[i]; w.File == file && strings.HasSuffix(w.Text, "\n") && strings.HasPrefix(text, w.Text) {
			w.Text = text
			return
		}
	}
	r.out.Writes = append(r.out.Writes, Write{file, text})
}

// filePath returns the path by which a file's content is remembered.
func (r *reader) filePath(file Word) (string, bool) {
	s, ok := file.Text()
	if !ok || s == "" {
		return "", false
	}
	if !path.IsAbs(s) {
		cwd, known := r.cwd().Text()
		if !known {
			cwd = "." // relative to the same unknown folder
		}
		s = path.Join(cwd, s)
	}
	return path.Clean(s), true
}

// content returns what is known of a file's content.
func (r *reader) content(f *frame, file Word) Word {
	if isStdin(file) && f.stdin.Kind != InputInherited {
		return f.stdin.Text
	}
	if file.Is("/dev/null") {
		return Word{}
	}
	if w, ok := r.matched(f, file); ok {
		return w
	}
	p := Part{Kind: PartUnknown, From: "cat " + file.String(), MayBeEmpty: true}
	if where, ok := r.filePath(file); ok {
		p.File = where
		if written, ok := r.value(keyFile + where); ok {
			return r.whole(where, written)
		}
	}
	return NewWord(p)
}

// whole returns the content of a file that the source wrote. If the source only added to the file, it includes the previous content, if that can be read.
func (r *reader) whole(name string, written Word) Word {
	if !r.st.get(keyAdded + name).hasValue() {
		return written
	}
	before, ok := r.opts.Files.Content(name)
	if !ok || !r.step(nil, len(before)/bytesPerStep) {
		return written
	}
	return Glue(Text(before), written)
}

// written reports whether the source itself wrote the file.
func (r *reader) written(file Word) bool {
	if !r.st.wrote {
		return false
	}
	where, ok := r.filePath(file)
	return ok && r.st.get(keyFile+where) != nil
}

// substitute reads a command substitution and returns its output.
func (r *reader) substitute(f *frame, c *syntax.CmdSubst) Word {
	key := "$( " + strconv.Itoa(int(c.Pos().Offset()))
	if w, ok := r.chosen(key); ok {
		return w
	}
	g := *f
	g.capture, g.assigns = true, nil
	var ways []Word
	out := r.scoped(func() (out Word) {
		written, returned := r.outputs(func() { out = r.stmts(&g, c.Stmts) })
		for _, w := range either(written, returned) {
			ways = addAlternative(ways, captured(w))
		}
		return out
	})
	if slices.ContainsFunc(out.Parts(), func(p Part) bool { return p.Some && p.From == "find" }) {
		if lines := captured(out).Lines(); len(lines) > 1 {
			ways = lines // one of which head leaves
		}
	}
	return r.choose(key, captured(out), ways)
}

// procSubst reads a process substitution and returns the name of its file.
func (r *reader) procSubst(f *frame, p *syntax.ProcSubst) Word {
	r.procs++
	name := "/dev/fd/" + strconv.Itoa(63+r.procs)
	g := *f
	g.capture, g.stdin = true, Input{}
	if p.Op == syntax.CmdOut {
		g.capture, g.stdin = false, Input{Kind: InputText, Text: word.OutputOf(""), Piped: true}
		if f.stdin.Kind == InputText {
			g.stdin.Text = f.stdin.Text
		}
	}
	out := r.scoped(func() Word { return r.stmts(&g, p.Stmts) })
	if p.Op != syntax.CmdOut {
		r.st.set(keyFile+name, out)
	}
	return Text(name)
}

func (r *reader) folder(key, name string) Word {
	if w, ok := r.value(key); ok {
		return w
	}
	return word.NotEmpty(name)
}

// left returns the folder to which the source changed; the zero Word if it changed to none.
func (r *reader) left() Word {
	at := r.cwd()
	if prev, _ := r.value(keyPrev); prev.Equal(Word{}) || r.opts.Cwd != "" && at.Is(path.Clean(r.opts.Cwd)) {
		return Word{}
	}
	return at
}

// emit adds a command to the script and completes it from the frame.
func (r *reader) emit(f *frame, c Command) {
	cwd := r.cwd()
	deep := max(0, cwd.Size()-deepPath) * len(c.Argv) / bytesPerStep // each word may be a path from there
	if !r.step(f, commandCost+wordCost*(len(c.Redirects)+len(c.Assigns)+len(f.assigns))+deep) {
		return
	}
	if at := f.carrier(); at != nil {
		c.Span = *at
	}
	c.Cwd, c.Stdin, c.Context = cwd, f.stdin, f.Context
	if f.file != nil {
		c.File, c.Line, c.Own = f.file.path, f.file.line, f.file.owns(c.Call)
	}
	if len(f.assigns) > 0 {
		c.Assigns = append(slices.Clip(f.assigns), c.Assigns...)
	}
	if c.Remote == nil && len(c.Argv) > 0 {
		c.Exported = r.exported()
	}
	if c.Name == "" && len(c.Argv) > 0 {
		c.Name = baseName(c.Argv[0])
	}
	if n := len(r.out.Commands); n == cap(r.out.Commands) { // they are large, and append would copy them more often
		r.out.Commands = slices.Grow(r.out.Commands, max(1, n))
	}
	r.out.Commands = append(r.out.Commands, c)
}

// writeThrough writes what was written to a path where that leads, if the source made it a link.
func (r *reader) writeThrough(f *frame, where string, content Word) {
	if to, leads := r.value(keyLink + where); leads && r.enter(f) {
		r.writeFile(f, to, content, false)
		r.leave()
	}
}
