package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// unpacked returns the rule that is broken by what a command unpacks into a folder. If an archive cannot
// be listed, and settings that install the hook lie in the folder, a person is asked.
func (l *look) unpacked(o *operation.Operation, folder string) string {
	name := programName(l.c)
	if l.inside || folder == "" || o.Verb != operation.Write || !l.g.base.Nouns["unpacks"][name] && !strings.HasSuffix(name, "tar") {
		return ""
	}
	all := l.entries()
	in := unpacking{folder: realpath.On(l.g.machine, folder), leads: map[string]string{}}
	if in.folder == all.folder {
		return "" // another operation of the command unpacks there
	}
	all.folder = in.folder
	for _, entry := range all.names {
		if id := l.landing(&in, entry, all); id != "" {
			return id
		}
	}
	if (!all.whole || len(in.leads) >= maxLeads) && l.keepsSettings(in.folder, l.g.hooked) {
		l.s.t.doubts()
	}
	return ""
}

// landing returns the rule that an entry breaks, with any of its names if it may be unpacked under another.
func (l *look) landing(in *unpacking, at string, all *contents) string {
	for at != "" {
		if all.asked++; all.asked > maxLandings {
			l.s.t.doubts()
			break
		}
		if id := l.entryRule(in, at); id != "" || !all.moved {
			return id
		}
		_, at, _ = strings.Cut(at, "/")
	}
	return ""
}

// unpacking is where an archive is unpacked.
type unpacking struct {
	folder string            // its real path
	leads  map[string]string // where what lies there leads, by name
}

// contents is what the archives of a command hold.
type contents struct {
	names []string
	whole bool // false if any is not known
	moved bool // to other names: without the folders before them, or by a pattern
	// folder is the last one for which they were looked at, in which no rule was broken.
	folder string
	asked  int // how often it was asked where one of them comes to lie
}

// maxLeads is how many names in a folder are resolved, maxLandings how many entries are looked at in all the folders of a command.
const maxLeads, maxLandings = 64, 1 << 16

// at returns where an entry lands, if what it begins with is a link there.
func (in *unpacking) at(m realpath.Machine, entry string) string {
	first, rest, _ := strings.Cut(strings.TrimSuffix(entry, "/"), "/")
	if rest == "" || first == ".." || in.leads[first] == "" && len(in.leads) >= maxLeads {
		return path.Join(in.folder, entry)
	}
	if in.leads[first] == "" {
		in.leads[first] = realpath.Join(m, in.folder, first)
	}
	return path.Join(in.leads[first], rest)
}

// entryRule returns the rule that an entry of an archive breaks. In a folder of its own, a project may bring settings along.
func (l *look) entryRule(in *unpacking, entry string) string {
	at, d := in.at(l.g.machine, entry), place.Writes
	if strings.HasSuffix(entry, "/") { // a link, which may lead to anything
		if d = place.Empties; l.g.holdsLocal(at) && l.worksIn(path.Dir(at)) {
			return ownSettings
		}
	}
	if id := l.g.ownAt(at, d); id != ownSettings {
		return id
	}
	for i := range l.g.own {
		p := &l.g.own[i]
		project, is := strings.CutSuffix(at, p.path)
		if !p.anywhere && p.touched(at, d) || p.anywhere && is && l.worksIn(project) {
			return ownSettings
		}
	}
	return ""
}

// worksIn reports whether the line begins in a folder, or settings that install the hook lie there.
func (l *look) worksIn(folder string) bool {
	if from, ok := l.s.script.Commands[0].Cwd.Text(); ok && realpath.On(l.g.machine, from) == folder {
		return true
	}
	return l.keepsSettings(folder, nil)
}

// entries reads, once it is asked, what the archives hold that the command's words name, or that it gets as input.
func (l *look) entries() *contents {
	if l.packed != nil {
		return l.packed
	}
	all := &contents{moved: l.has("e", "sje") || slices.ContainsFunc(l.args, renaming.MatchString)}
	l.packed = all
	if l.g.packed == nil {
		return all
	}
	words := l.args
	if l.c.Stdin.Kind == shell.InputFile {
		words = append([]string{reading.Spot(l.c.Stdin.File)}, words...)
	}
	for _, w := range words {
		w = fileIn(w)
		if w == "" || w[0] == '-' || place.IsVague(w) {
			continue
		}
		names, listed, found := l.g.packed(realpath.On(l.g.machine, l.absolute(w)))
		all.names = append(all.names, names...)
		if all.whole = all.whole || found; found && !listed {
			all.whole = false
			return all
		}
	}
	return all
}

var renaming = regexp.MustCompile(`^--(?:strip|transform|xform)`)

// fileIn returns the file that a word names, perhaps glued to its option.
func fileIn(word string) string {
	if option, file, ok := strings.Cut(word, "="); ok && strings.HasPrefix(option, "-") {
		return file
	}
	return strings.TrimPrefix(word, "-f")
}

// losesSettings reports whether settings that install the hook lie in what has the name of a folder for them.
func (g *Guard) losesSettings(at string) bool {
	return slices.ContainsFunc(g.own, func(p ownPlace) bool {
		dir, name := path.Split(p.path)
		return p.anywhere && strings.HasSuffix(at+"/", dir) && g.isThere(at+"/"+name)
	})
}

// isThere reports whether anything lies at a path.
func (g *Guard) isThere(at string) bool {
	_, kind := g.machine.Readlink(at)
	return kind != realpath.Missing
}

// isPut reports whether anything lies at a path, or an earlier command of the line names it, as one does that writes it.
func (l *look) isPut(at string) bool {
	for i := range l.s.script.Commands[:l.s.at] {
		c := &l.s.script.Commands[i]
		cwd, _ := c.Cwd.Text()
		names := func(w shell.Word) bool {
			spot := reading.Spot(w)
			return spot != "" && (place.Clean(spot) == at || spot[0] != '/' && place.Clean(cwd+"/"+spot) == at)
		}
		if slices.ContainsFunc(c.Argv, names) || slices.ContainsFunc(c.Redirects, func(d shell.Redirect) bool { return names(d.Target) }) {
			return true
		}
	}
	return l.g.isThere(at)
}

// brings returns the rule that is broken by putting all of one folder into another, if a client's settings or a program of vaglio's lie there.
func (l *look) brings(folder string) string {
	for i := range l.ops {
		from := l.absolute(reading.Spot(l.ops[i].Object.Word))
		if v := l.ops[i].Verb; from == "" || place.IsVague(from) || v != operation.Copy && v != operation.Move {
			continue
		}
		at := slices.IndexFunc(l.g.own, func(p ownPlace) bool {
			dir, name := path.Split(p.path)
			return !p.closed && (folder+"/" == dir || p.anywhere && strings.HasSuffix(folder+"/", dir)) && l.isPut(from+"/"+name)
		})
		if at >= 0 {
			return l.g.own[at].rule
		}
	}
	return ""
}

// keepsSettings reports whether a folder of this machine holds settings that may install the hook, and according to their content do.
func (l *look) keepsSettings(folder string, do func(file string) bool) bool {
	for i := range l.g.own {
		p := &l.g.own[i]
		at := p.path
		if p.anywhere {
			at = folder + p.path
		} else if p.rule != ownSettings || !strings.HasPrefix(at, strings.TrimRight(folder, "/")+"/") {
			continue
		}
		if l.g.isThere(at) && (do == nil || do(at)) {
			return true
		}
	}
	return false
}
