package vaglio

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// maxBound is how many of the files and folders that a call names can be bound; maxLooks is
// how many names are looked up to find them.
const (
	maxBound = 200
	maxLooks = 5000
)

// bound returns the sources of a call that a person is asked about: the files that it runs,
// and the files and folders that it names. What it sends, applies or works in is bound like
// what it runs.
func (e *Engine) bound(p *Proposal, r *reading.Reading, runs []Source) []Source {
	out, cwd := slices.Clip(runs), p.Context.Cwd
	if e.files == nil || r == nil {
		return out
	}
	b := binding{e: e, folders: p.Context.Site.Readable, seen: map[string]FileKind{}, list: out, left: maxEntries, named: map[FileKind][]string{}}
	for _, s := range out {
		b.seen[s.Path] = RegularFile
	}
	b.call(r, cwd)
	b.elsewhere(p)
	if b.full {
		b.list = append(b.list, Source{Path: path.Join("/", cwd, "*"), Kind: SourceHanded, Unread: "is more than can be bound"})
	}
	return b.list
}

// binding collects the files and folders that a call names.
type binding struct {
	e       *Engine
	folders []string // nothing outside of them is opened
	seen    map[string]FileKind
	list    []Source
	bytes   int
	left    int  // folder entries that may still be looked at
	full    bool // there is more than may be bound
	// named are the files and folders that the words of a command name.
	named map[FileKind][]string
}

// call binds what a call names.
func (b *binding) call(r *reading.Reading, cwd string) {
	b.path("/", cwd)
	for i := range r.Commands {
		for j := range r.Commands[i].Script.Commands {
			b.command(&r.Commands[i].Script.Commands[j])
		}
	}
	for _, t := range r.Paths {
		b.path(cwd, t.Text)
	}
}

// command binds what the words of a command name, and the contents of folders that the
// command takes as a whole.
func (b *binding) command(c *shell.Command) {
	cwd, ok := c.Cwd.Text()
	if !ok || c.Remote != nil {
		return
	}
	b.path("/", cwd)
	clear(b.named)
	namesOf(c, min(1, len(c.Argv)), func(name string) { b.path(cwd, name) })
	b.brought(c, cwd)
}

// namesOf calls visit with what a command's words, from one on, and its inputs may name.
func namesOf(c *shell.Command, from int, visit func(name string)) {
	for _, w := range c.Argv[from:] {
		if text, ok := w.Text(); ok {
			namesIn(text, visit)
		}
	}
	for _, in := range c.Redirects {
		if text, ok := in.Target.Text(); ok && in.Kind == shell.RedirectRead {
			visit(text)
		}
	}
}

// namesIn calls visit with what a word may name: the whole word, and the parts of it behind
// an option or an address.
func namesIn(word string, visit func(name string)) {
	const longest = 4096
	if len(word) > longest || strings.ContainsAny(word, "\n\x00") {
		return
	}
	visit(word)
	for i := range len(word) {
		if c := word[i]; c == '=' || c == '@' || c == ':' && i > 0 {
			visit(word[i+1:])
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		visit(word[2:])
	}
}

// path binds the file or folder of that name, if there is one.
func (b *binding) path(cwd, name string) {
	name = place.Join(cwd, name)
	kind, seen := b.seen[name]
	switch {
	case !path.IsAbs(name):
		return
	case seen:
	case len(b.seen) >= maxLooks || len(b.list) >= maxBound:
		b.full = true
		return
	default:
		kind = b.look(name)
		b.seen[name] = kind
	}
	b.named[kind] = append(b.named[kind], name)
}

// look binds what lies at a path that was not seen before, and tells what it is.
func (b *binding) look(name string) FileKind {
	inside := place.Inside(b.folders, name)
	if !inside && !b.e.spaces.readable(name) {
		return NoFile // the agent must not learn even whether it exists
	}
	at, kind := b.e.files.Look(name)
	switch {
	case kind == Folder:
		s := Source{Path: name, Kind: SourceFolder, SHA256: digestOf(at)}
		if at != name {
			s.Real = at
		}
		b.list = append(b.list, s)
	case kind == RegularFile && inside:
		b.file(name)
	case kind == RegularFile:
		b.list = append(b.list, Source{Path: name, Kind: SourceHanded, Unread: "lies outside the workspace"})
	}
	return kind
}

// file binds a file by its content, and returns the content.
func (b *binding) file(name string) string {
	s := Source{Path: name, Kind: SourceHanded}
	data, err := b.e.files.Read(b.folders, name, min(maxSource, maxRead-b.bytes))
	switch {
	case errors.Is(err, ErrAbsent):
		return ""
	case err != nil:
		s.Unread = err.Error()
	default:
		b.bytes += len(data)
		s.holds(data)
	}
	b.list = append(b.list, s)
	return string(data)
}

// Witness is a judge that can tell which of a call's effects its session must remember.
type Witness interface {
	Did(p Proposal) Facts
}

// Weigher is a judge that can tell whether what a written file may run would be asked about or
// denied if anybody ran the file.
type Weigher interface {
	Loaded(p Proposal, s *shell.Script) bool
}

// Did returns what the session must remember of the effects of a call that a person allowed,
// as far as that can still be told: what existed before the call cannot.
func (e *Engine) Did(p Proposal) (all Facts) {
	if calls := p.Calls(); calls != nil {
		for _, c := range calls {
			c.Facts = slices.Concat(p.Facts, all)
			all = append(all, e.Did(c)...)
		}
		return all
	}
	e, seen := e.on(&p), e.Seen(p)
	var results []GradientResult
	for _, g := range e.gates {
		if w, ok := g.Judge.(Witness); ok {
			results = append(results, GradientResult{Did: w.Did(seen)})
		}
	}
	out := e.remembered(&seen, seen.Context.Reading, results)
	for i := range out {
		out[i].New, out[i].was = false, ""
	}
	if seen.Context.Site.Outside {
		out = append(out, Fact{Deed: Entered, Path: e.spaces.clean(p.Context.Cwd)})
	}
	return out
}

// remembered returns the facts that the judges report, completed with what is known of the
// content.
func (e *Engine) remembered(p *Proposal, r *reading.Reading, results []GradientResult) Facts {
	var out, moved Facts
	goesOn, put, said := false, putInOf(r), &says{}
	for _, root := range p.Context.Site.Claims {
		out = append(out, Fact{Deed: Entered, Path: root})
	}
	for i := range results {
		for _, f := range results[i].Did {
			switch f.Deed {
			case Moved:
				for _, f := range append(Facts{e.content(p, r, f, said)}, brought(p.Facts, r, f)...) {
					f.New = false
					moved = append(moved, f)
				}
				continue
			case Wrote, Fetched, Built:
				out = append(out, e.contents(p, r, f, put, said)...)
				continue
			case Awaited:
				goesOn = true
				continue
			case Started:
				goesOn = true
			case Installed, Entered, Unpacked, Let, Brought, Exported, Named, Opened, Taken, Kept:
			}
			out = append(out, f)
		}
	}
	if f, waits := awaited(p, r, goesOn, out); waits {
		out = append(out, f)
	}
	return append(out, moved...) // what was moved somewhere no longer counts as the session's own
}

// content completes a fact about something written.
func (e *Engine) content(p *Proposal, r *reading.Reading, f Fact, said *says) Fact {
	if !said.gathered {
		*said = saysOf(r)
	}
	w := said.met[f.Path]
	if w == nil {
		absent := e.absent(f.Path, p.Context.Cwd)
		text, known := e.writtenText(p, r, f.Path)
		w = new(wrote(f.Path, text, known))
		e.load(p, said, w, text, known)
		w.New, w.was = absent, e.stood(p, f.Path)
		said.met[f.Path] = w
	}
	out := *w
	out.Deed, out.Link, out.Folder, out.Far, out.Words = f.Deed, f.Link, f.Folder, f.Far, f.Words
	return out
}

// putIn holds the files that each command line of a call writes, by folder and sorted.
type putIn []map[string][]string

func putInOf(r *reading.Reading) putIn {
	var all putIn
	for i := 0; r != nil && i < len(r.Commands); i++ {
		wrote := r.Commands[i].Script.Wrote
		if len(wrote) == 0 {
			continue
		}
		if all == nil {
			all = make(putIn, len(r.Commands))
		}
		all[i] = map[string][]string{}
		for _, name := range slices.Sorted(maps.Keys(wrote)) {
			all[i][path.Dir(name)] = append(all[i][path.Dir(name)], name)
		}
	}
	return all
}

// contents returns the facts about what a call put at a path; if that is a folder, also those
// about the files put into it.
func (e *Engine) contents(p *Proposal, r *reading.Reading, f Fact, put putIn, said *says) Facts {
	out := append(Facts{e.content(p, r, f, said)}, brought(p.Facts, r, f)...)
	if all := takenFrom(r, f.Path); len(all) > 0 && f.Path != "/" && e.kindOf(f.Path) == Folder {
		for _, from := range all {
			in := f
			in.Path = path.Join(f.Path, path.Base(from))
			out = append(out, e.content(p, r, in, said))
		}
	}
	for i := range put {
		for _, name := range put[i][f.Path] {
			in := f
			in.Path = name
			out = append(append(out, e.content(p, r, in, said)), brought(p.Facts, r, in)...)
		}
	}
	return out
}

// brought returns the facts about the contents of a folder that a call copies or moves
// elsewhere: what the session is known to have written there.
func brought(known Facts, r *reading.Reading, f Fact) (out Facts) {
	for _, from := range takenFrom(r, f.Path) {
		from += "/"
		for _, name := range known.paths(func(fact *Fact) bool { return fact.changes() && strings.HasPrefix(fact.Path, from) }) {
			was, _ := known.last(name)
			was.Deed, was.Path, was.New, was.At = f.Deed, path.Join(f.Path, name[len(from):]), false, f.At
			out = append(out, was)
		}
	}
	return out
}

// takenFrom returns the files and folders that the command lines of a call copy or move to a path
// as they are.
func takenFrom(r *reading.Reading, to string) (all []string) {
	for i := 0; r != nil && i < len(r.Commands); i++ {
		if parts := r.Commands[i].Script.Wrote[to].Parts(); len(parts) == 1 && parts[0].File != "" {
			all = append(all, parts[0].File)
		}
	}
	return all
}

// writtenText returns what a call writes into a file, if that is known.
func (e *Engine) writtenText(p *Proposal, r *reading.Reading, name string) (string, bool) {
	if r == nil {
		return "", false
	}
	for i := range r.Commands {
		wrote := r.Commands[i].Script.Wrote
		if w, ok := wrote[name]; ok {
			return e.resolved(p, w, name)
		}
		if w, ok := wrote[path.Dir(name)]; ok {
			return e.resolved(p, w, name) // it was put into a folder
		}
	}
	return toolText(p, r, name)
}

// resolved returns the text that was written. For the parts that come from other files, or
// that were there before, it takes what those files hold before the call; a new file held
// nothing.
func (e *Engine) resolved(p *Proposal, w shell.Word, name string) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts() {
		text, known := part.Text, part.Kind == shell.PartText
		if part.Kind == shell.PartUnknown && part.File != "" {
			if text, known = e.held(p, part.File); !known && part.File == name {
				known = e.files != nil && e.kindOf(name) == NoFile && e.sees(p.Context.Cwd) && !p.Facts.Wrote(name)
			}
		}
		if b.WriteString(text); !known || b.Len() > maxSource {
			return "", false
		}
	}
	return b.String(), true
}

// held returns what a file holds, or what the session is known to have written there.
func (e *Engine) held(p *Proposal, name string) (string, bool) {
	if e.files != nil && len(p.Context.Site.Readable) > 0 {
		if data, err := e.files.Read(p.Context.Site.Readable, name, maxSource); err == nil {
			return string(data), utf8.Valid(data)
		}
	}
	return p.Facts.Text(name)
}

// toolText returns what a file tool writes into the only file that it names: the only text
// argument besides the path. With any other argument, the content is not known.
func toolText(p *Proposal, r *reading.Reading, name string) (content string, known bool) {
	if len(r.Commands) > 0 || len(r.Paths) != 1 || place.Join(p.Context.Cwd, r.Paths[0].Text) != name {
		return "", false
	}
	for key, v := range p.Args {
		text, ok := v.(string)
		role := r.Role(key)
		switch {
		case !ok:
			return "", false
		case role&(reading.RolePath|reading.RoleGoal) != 0, strings.Contains(reading.Normal(key), "description"):
		case role&reading.RoleData != 0 && !known:
			content, known = text, true
		default:
			return "", false
		}
	}
	return content, known
}
