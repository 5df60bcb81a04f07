package vaglio

import (
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/metnos/vaglio/vaglio/reading"
)

// What a call writes into a file is weighed when something may run it: most files
// are written again before that, and none of them then costs the call that wrote it.

// The bounds of what waits to be weighed: of one session, in bytes, and how many
// changes of one file one after the other.
const (
	mostWaiting = 64 << 10
	mostBehind  = 16
)

// weight is what a text weighs that is weighed when somebody asks.
type weight struct {
	once   sync.Once
	weigh  func() bool // nil once it was
	loaded bool
	done   atomic.Bool
	behind int // how many that wait it may have to ask
}

// isLoaded says whether what was written would be asked about or denied if it ran.
func (f *Fact) isLoaded() bool {
	w := f.weight
	if !f.Later || w == nil {
		return f.Loaded || f.Later
	}
	w.once.Do(func() {
		w.loaded = true // if it cannot be weighed
		w.loaded = w.weigh()
		w.weigh = nil
		w.done.Store(true)
	})
	return w.loaded
}

func (f *Fact) waits() bool { return f.weight != nil && !f.weight.done.Load() }

// lets weighs what waited longest until no more than so many bytes wait.
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

// texts are those that a call puts into files, as it says them itself, by the files.
type texts func() map[string][]reading.Written

func textsOf(r *reading.Reading) texts {
	return sync.OnceValue(func() map[string][]reading.Written {
		by := map[string][]reading.Written{}
		if r == nil {
			return by
		}
		for _, t := range r.Written() {
			if t.Text != "" {
				by[t.File] = append(by[t.File], t)
			}
		}
		return by
	})
}

// load finds out whether a file that is written holds what would be asked about or
// denied if it ran. Of a file that is changed in part that is what was put into it,
// and what it held before; of one that a program changes, what that was told in words.
// Only what the call itself puts into files may wait: it is found there after a
// restart, too.
func (e *Engine) load(p *Proposal, r *reading.Reading, said texts, w *Fact, text string, known bool) {
	texts := said()[w.Path]
	if known {
		whole := reading.Written{File: w.Path, Text: text}
		own := slices.Contains(texts, whole)
		if text != "" {
			e.put(p, w, Fact{}, []reading.Written{whole}, own)
		}
		return
	}
	was, _ := p.Facts.last(w.Path)
	words := toldIn(r)
	if was.Loaded || len(texts) == 0 && len(words) == 0 {
		w.Loaded, w.Later, w.weight = was.Loaded, was.Later, was.weight
		return
	}
	if len(words) > 0 {
		texts = append(slices.Clip(texts), reading.Written{File: w.Path, Text: strings.Join(words, "\n")})
	}
	if w.Loaded = namesLoaded(p, w.Path, words); !w.Loaded {
		e.put(p, w, was, texts, len(words) == 0)
	}
}

// put has the judges look at what was put into a file that held something before, now
// or, if all of it stands in the call, when somebody asks.
func (e *Engine) put(p *Proposal, w *Fact, was Fact, texts []reading.Written, own bool) {
	behind, size := 0, sizeOf(texts)
	if was.waits() {
		behind = 1 + was.weight.behind
	}
	later := own && behind <= mostBehind && size <= mostWaiting
	site := p.Context.Site
	in := Context{Cwd: p.Context.Cwd, Site: &Site{Workspaces: site.Workspaces, Kept: site.Kept}}
	if later {
		// The call, of which these are parts, is not held as long as they are.
		in.Cwd, in.Site.Workspaces, in.Site.Kept = strings.Clone(in.Cwd), detached(site.Workspaces), detached(site.Kept)
		w.text = detach(texts)
	}
	weigh := weigher(was, in, e.gates, texts)
	if !later {
		w.Loaded = weigh()
		return
	}
	p.Facts.lets(mostWaiting - size)
	w.Later, w.weight = true, &weight{weigh: weigh, behind: behind}
}

// weigher asks what a file held before, and then the judges of what was put into it.
func weigher(was Fact, in Context, gates []Gate, texts []reading.Written) func() bool {
	return func() bool {
		return was.isLoaded() || slices.ContainsFunc(gates, func(g Gate) bool {
			j, ok := g.Judge.(Weigher)
			return ok && slices.ContainsFunc(texts, func(t reading.Written) bool { return j.Loaded(Proposal{Context: in}, t) })
		})
	}
}

func sizeOf(texts []reading.Written) (n int) {
	for _, t := range texts {
		n += len(t.Text)
	}
	return n
}

// detach takes the texts of one file out of the call, and gives them as one.
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

// toldIn are the words of a call's commands, behind the programs' names.
func toldIn(r *reading.Reading) (words []string) {
	if r == nil {
		return nil
	}
	for i := range r.Commands {
		for _, c := range r.Commands[i].Script.Commands {
			for _, w := range c.Argv[min(1, len(c.Argv)):] {
				text, _ := w.Text()
				words = append(words, text)
			}
		}
	}
	return words
}

// namesLoaded says whether words name another file than the one which they change that
// is loaded, or a folder with one.
func namesLoaded(p *Proposal, name string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	loaded := slices.DeleteFunc(p.Facts.Loaded(), func(file string) bool { return file == name })
	parts := strings.FieldsFunc(strings.Join(words, " "), func(c rune) bool { return strings.ContainsRune("= '\"!;", c) })
	return len(loaded) > 0 && slices.ContainsFunc(parts, func(w string) bool {
		at := joined(p.Context.Cwd, w)
		return at != path.Clean(p.Context.Cwd) && slices.ContainsFunc(loaded, func(file string) bool { return isBelow(at, file) })
	})
}
