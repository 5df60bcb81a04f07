package code

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// parents returns the folders above a path.
func parents(_ *program, v value, _ []value) value {
	const most = 64
	out := value{kind: kindList}
	for s, ok := v.text(); ok && len(s) > 1 && len(out.list) < most; {
		s = path.Dir(s)
		out.list = append(out.list, pathOf(text(s)))
	}
	return out
}

// below returns a path with the home folder instead of its tilde, in the folder that follows it if
// one does.
func below(p *program, v value, rest []value) value {
	out := value{kind: v.kind}
	for _, w := range v.words() {
		out.alts = append(out.alts, p.expanded(w))
	}
	if len(rest) > 0 {
		return pathOf(p.joined([]value{rest[0], out}))
	}
	return out
}

// relativeURL returns an address, seen from the one that follows it. A file is its own address.
func relativeURL(_ *program, v value, rest []value) value {
	base, known := first(rest).text()
	if len(rest) > 0 && !known {
		return unknown("URL()")
	}
	return v.each(func(s string) (string, bool) {
		to, err := url.Parse(base)
		if err == nil {
			to, err = to.Parse(s)
		}
		if err != nil {
			return "", false
		}
		if to.Scheme == "file" {
			return to.Path, true
		}
		return to.String(), true
	})
}

// joined joins texts as the elements of a path.
func (p *program) joined(args []value) value {
	var parts []value
	for _, a := range args {
		parts = spreadInto(parts, a)
	}
	out := value{}
	for i, v := range parts {
		if i == 0 || strings.HasPrefix(v.word().Prefix(), "/") && p.lang.name != "node" {
			out = v
			continue
		}
		if !strings.HasSuffix(out.word().Suffix(), "/") {
			out = p.glue(p.folder(out), text("/"))
		}
		out = p.glue(out, v)
	}
	for i, w := range out.alts { // a partly unknown path stays as it is
		if s, ok := w.Text(); ok && s != "" && !out.multi() {
			out.alts = slices.Clone(out.alts)
			out.alts[i] = shell.Text(path.Clean(s))
		}
	}
	return out
}

// folder returns what begins a path: an empty one adds no slash, except in ruby.
func (p *program) folder(v value) value {
	if v.multi() || p.lang.name == "ruby" {
		return v
	}
	v.alts = slices.Clone(v.words())
	for i, w := range v.alts {
		if parts := slices.Clone(w.Parts()); w.IsUnknown() {
			parts[0].MayBeEmpty = false
			v.alts[i] = shell.NewWord(parts...)
		}
	}
	return v
}

// expanded returns a path with the home folder instead of its tilde.
func (p *program) expanded(w shell.Word) shell.Word {
	s := w.Prefix()
	for _, mark := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(s, mark); ok && (rest == "" || rest[0] == '/') {
			return shell.Glue(p.in.Home(""), w.Cut(len(s)-len(rest)))
		}
	}
	return w
}

// listsAs returns the name of a function that lists files, without what it belongs to. What matches a pattern of
// hidden files counts as listed by it whatever the function: a plain star never finds them.
func listsAs(name string, pattern value) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	if s, _ := pattern.text(); strings.HasSuffix(strings.ToLower(name), "sync") && hidden.MatchString(s) {
		return "glob"
	}
	return name
}

var hidden = regexp.MustCompile(`(^|/)\.[^./][^/]*[*?[]`)

// isHanded reports whether what is done to a target is for somebody else to say. Where a tool may run the
// file by itself, or another one that is read imports it, a function that nothing in it calls does nothing
// yet to what it is handed, nor to what has such a name in a folder of the project;
// those in a tool's settings, the tool calls. In languages that are
// not followed, a name that the program does not begin is one that it is handed as well.
func (p *program) isHanded(verb shell.Verb, w shell.Word) bool {
	unsaid := w.HasUnknown() && w.Prefix() == ""
	switch {
	case p.later > 0 && (p.in.Found || p.in.Imported || p.in.Settings):
		takesAway := verb == shell.VerbDelete || verb == shell.VerbDeleteTree
		return unsaid || w.Is("") || takesAway && w.HasUnknown() && p.inProject(w.Prefix())
	}
	return p.in.Found && unsaid && (p.isTold(verb, w) || p.out.Loose && verb == shell.VerbDeleteTree)
}

// inProject reports whether a path that begins so lies in a folder below the program's own, and in none
// that is hidden.
func (p *program) inProject(prefix string) bool {
	prefix = strings.TrimPrefix(prefix, "./")
	if p.in.Cwd != "" {
		prefix = strings.TrimPrefix(prefix, strings.TrimSuffix(p.in.Cwd, "/")+"/")
	}
	return strings.Contains(prefix, "/") && !strings.ContainsAny(prefix[:1], "/.~$") && !strings.Contains(prefix, "/.")
}
