package vaglio

import (
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/metnos/vaglio/vaglio/guard"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// What a call writes into a file is weighed only when something may run the file. Most files
// are written again before that, so that the calls that write them are spared the cost.

// The limits of what waits to be weighed: bytes in one session, and successive changes of one
// file; and how many bytes one call's words may come to, read for one file after the other.
const (
	mostWaiting = 64 << 10
	mostBehind  = 16
	mostTold    = 1 << 19
)

// weight is the pending answer to whether a text is loaded. It is computed when first needed.
type weight struct {
	once   sync.Once
	weigh  func() bool // nil once weighed
	loaded bool
	done   atomic.Bool
	behind int // how many pending weights it depends on
}

// isLoaded reports whether what was written would be asked about or denied if it ran.
func (f *Fact) isLoaded() bool {
	w := f.weight
	if !f.Later || w == nil {
		return f.Loaded || f.Later
	}
	w.once.Do(func() {
		w.loaded = true // if weigh panics
		w.loaded = w.weigh()
		w.weigh = nil
		w.done.Store(true)
	})
	return w.loaded
}

func (f *Fact) waits() bool { return f.weight != nil && !f.weight.done.Load() }

// lets weighs the oldest pending texts until no more than wait bytes are pending.
func (f Facts) lets(wait int) {
	n := 0
	for i := range f {
		if f[i].waits() {
			n += len(f[i].text)
		}
	}
	for i := 0; i < len(f) && n > wait; i++ {
		if f[i].waits() {
			f[i].isLoaded()
			n -= len(f[i].text)
		}
	}
}

// says is what a call tells about the files that it writes.
type says struct {
	gathered bool
	written  []reading.Written // texts that the call itself puts into files
	texts    map[string][]reading.Written
	words    []string         // of its commands, without the programs' names
	met      map[string]*Fact // the files seen so far
	// The fields below are gathered when a file is seen whose content is not known.
	told  map[string]bool // by file or what is alike: whether the words alone are loaded in it
	read  int             // how many bytes of words were weighed
	all   func() told     // the words, one per line
	lines func() told     // those lines of all that tell what they may run
	named []string        // loaded files that the words name, themselves or by a folder
}

// told is a text, and whether the guard denies it for what it names, in whatever file it is.
type told struct {
	text  string
	names bool
}

func saysOf(r *reading.Reading) says {
	s := says{gathered: true, words: toldIn(r), met: map[string]*Fact{}}
	if r != nil {
		s.written = r.Written()
	}
	return s
}

// into returns the texts that the call itself puts into a file.
func (s *says) into(file string) []reading.Written {
	if s.texts == nil {
		s.texts = map[string][]reading.Written{}
		for _, t := range s.written {
			if t.Text != "" {
				s.texts[t.File] = append(s.texts[t.File], t)
			}
		}
	}
	return s.texts[file]
}

func (s *says) gather(p *Proposal, g *guard.Guard) {
	if s.told == nil {
		s.told, s.named = map[string]bool{}, namedLoaded(p, s.words)
		all := strings.Join(s.words, "\n")
		s.all = sync.OnceValue(func() told { return told{all, g.Names(all)} })
		s.lines = sync.OnceValue(func() told { lines := reading.Telling(all); return told{lines, g.Names(lines)} })
	}
}

// load finds out whether a written file holds what would be asked about or denied if it ran.
// For a file that is changed in part, it considers what was put into it and what it held
// before; for one that a program changes, the words of the program's command line. Only what
// the call itself puts into files may wait, because it can be found there even after a
// restart.
func (e *Engine) load(p *Proposal, said *says, w *Fact, text string, known bool) {
	texts := said.into(w.Path)
	if known {
		if whole := (reading.Written{File: w.Path, Text: text}); text != "" {
			at := slices.IndexFunc(texts, func(t reading.Written) bool { return t.Text == text })
			if at >= 0 {
				whole = texts[at]
			}
			e.put(p, w, Fact{}, []reading.Written{whole}, at >= 0)
		}
		return
	}
	was, _ := p.Facts.last(w.Path)
	if was.Loaded || len(texts) == 0 && len(said.words) == 0 {
		w.Loaded, w.Later, w.weight = was.Loaded, was.Later, was.weight
		return
	}
	said.gather(p, e.guard)
	e.loadTold(p, said, w, was, texts)
}

// loadTold also considers the words of the call's commands, once for all files of a folder that
// are alike. Beyond the limit, a file counts as loaded.
func (e *Engine) loadTold(p *Proposal, said *says, w *Fact, was Fact, texts []reading.Written) {
	if w.Loaded = slices.ContainsFunc(said.named, func(file string) bool { return file != w.Path }); w.Loaded {
		return
	}
	if len(said.words) > 0 {
		at, words := reading.Alike(w.Path), said.all
		if reading.IsPlain(w.Path) {
			words = said.lines
		}
		loaded, met := said.told[at]
		if !met {
			words := words()
			all := e.weighing(p.Context.Cwd, p.Context.Site, []reading.Written{{File: w.Path, Text: words.text}})
			loaded = said.read > mostTold || words.names || all.runs() || all.mayRun()
			said.told[at] = loaded
			said.read += len(words.text)
		}
		if w.Loaded = loaded; loaded || len(texts) == 0 && !was.Later {
			return
		}
	}
	e.put(p, w, was, texts, len(said.words) == 0)
}

// put has the judges look at what was added to a file, and at what the file held before: at
// once or, if the call itself holds all of it, when it is needed. What the file runs in any case was
// read for the guard already.
func (e *Engine) put(p *Proposal, w *Fact, was Fact, texts []reading.Written, own bool) {
	behind, size := 0, 0
	for _, t := range texts {
		size += len(t.Text)
	}
	if was.waits() {
		behind = 1 + was.weight.behind
	}
	later := own && behind <= mostBehind && size <= mostWaiting
	cwd, site := p.Context.Cwd, &Site{Workspaces: p.Context.Site.Workspaces, Kept: p.Context.Site.Kept}
	if w.Loaded = e.weighing(cwd, site, texts).runs(); w.Loaded {
		return
	}
	if later {
		// Copies, so that what waits does not keep the whole call in memory.
		cwd, site.Workspaces, site.Kept = strings.Clone(cwd), detached(site.Workspaces), detached(site.Kept)
		w.text = detach(texts)
	}
	weigh := e.weigher(was, e.weighing(cwd, site, texts))
	if !later {
		w.Loaded = weigh()
		return
	}
	p.Facts.lets(mostWaiting - size)
	w.Later, w.weight = true, &weight{weigh: weigh, behind: behind}
}

// weigher returns a function that weighs what a file held before, and then has the guard and
// the judges look at what may run of what was put into it. The function keeps what it captures for
// as long as the text waits.
func (e *Engine) weigher(was Fact, put weighing) func() bool {
	var before *Fact
	if was.Loaded || was.Later {
		held := was
		before = &held
	}
	guard := e.guard
	return func() bool {
		return before != nil && before.isLoaded() || slices.ContainsFunc(put.texts, func(t reading.Written) bool { return guard.Names(t.Text) }) || put.mayRun()
	}
}

// weighing asks the judges about texts that were put into a file.
type weighing struct {
	gates  []Gate
	reader *reading.Reader
	in     Context
	texts  []reading.Written
}

func (e *Engine) weighing(cwd string, site *Site, texts []reading.Written) weighing {
	return weighing{e.gates, e.reader, Context{Cwd: cwd, Site: site}, texts}
}

// runs reports whether a judge would ask about what one of the texts runs, or deny it.
func (w weighing) runs() bool { return w.stopped(w.reader.Loaded) }

// mayRun is like runs for what else may be commands in the texts.
func (w weighing) mayRun() bool { return w.stopped(w.reader.MayRun) }

func (w weighing) stopped(read func(t reading.Written, cwd string) *shell.Script) bool {
	return slices.ContainsFunc(w.texts, func(t reading.Written) bool {
		script := sync.OnceValue(func() *shell.Script { return read(t, w.in.Cwd) })
		return slices.ContainsFunc(w.gates, func(g Gate) bool {
			j, ok := g.Judge.(Weigher)
			s := script() // of most texts nothing runs
			return len(s.Unparsed) > 0 || ok && len(s.Commands)+len(s.Problems)+len(s.Ran) > 0 && j.Loaded(Proposal{Context: w.in}, s)
		})
	})
}

// detach copies the texts of one file out of the call, and returns them joined.
func detach(texts []reading.Written) string {
	var all strings.Builder
	for _, t := range texts {
		all.WriteString(t.Text)
	}
	name, rest := strings.Clone(texts[0].File), all.String()
	for i := range texts {
		n := len(texts[i].Text)
		texts[i], rest = reading.Written{File: name, Text: rest[:n]}, rest[n:]
	}
	return all.String()
}

// toldIn returns the words of a call's commands, without the programs' names; where the call runs what it
// changed, also the programs that may have changed it.
func toldIn(r *reading.Reading) (words []string) {
	if r == nil {
		return nil
	}
	again := len(stale(r)) > 0
	for i := range r.Commands {
		for _, c := range r.Commands[i].Script.Commands {
			for _, w := range c.Argv[min(1, len(c.Argv)):] {
				text, _ := w.Text()
				words = append(words, text)
			}
		}
		for _, ran := range r.Commands[i].Script.Ran {
			if again { // what runs next may be made of what the program says
				words = append(words, ran.Text)
			}
		}
	}
	return words
}

// namedLoaded returns the loaded files that words name, themselves or by a folder.
func namedLoaded(p *Proposal, words []string) []string {
	loaded := p.Facts.Loaded()
	if len(loaded) == 0 {
		return nil
	}
	in := path.Clean(p.Context.Cwd)
	parts := strings.FieldsFunc(strings.Join(words, " "), func(c rune) bool { return strings.ContainsRune("= '\"!;", c) })
	return slices.DeleteFunc(loaded, func(file string) bool {
		return !slices.ContainsFunc(parts, func(w string) bool {
			at := place.Join(p.Context.Cwd, w)
			return at != in && isBelow(at, file)
		})
	})
}
