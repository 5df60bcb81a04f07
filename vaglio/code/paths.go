package code

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/unixtext"
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

func reversed(p *program, v value, rest []value) value {
	if p.lang.has("flat") && len(rest) > 0 {
		v = listOf(append([]value{v}, rest...)...)
	}
	if p.lists(v) {
		return v
	}
	if v.multi() {
		v = v.listed(slices.Clone(p.iterated(v).list))
		slices.Reverse(v.list)
		return v
	}
	out := v.each(func(s string) (string, bool) {
		r := []rune(s)
		slices.Reverse(r)
		return string(r), p.spend(len(s)/bytesPerStep + 1)
	})
	if p.lang.name == "perl" { // it reverses a text, or a list of one
		out = out.or(v)
	}
	return out
}

// below returns a path with the home folder instead of its tilde, in the folder that follows it if one does.
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
		if v = v.sure(); v.idle() { // what a function gives that was not read to its end
			v = unknown("join()")
		}
		if i == 0 || strings.HasPrefix(v.word().Prefix(), "/") && !slices.Contains([]string{"node", "go"}, p.lang.name) {
			out = v
			continue
		}
		if !strings.HasSuffix(out.word().Suffix(), "/") {
			out = p.glue(p.folder(out), text("/"))
		}
		out = p.glue(out, v)
	}
	if out.multi() {
		return passedOn("join()", out.words()...)
	}
	return straight(out)
}

// straight returns a path without its detours; one that is partly unknown stays as it is.
func straight(v value) value {
	v.alts = slices.Clone(v.alts)
	for i, w := range v.alts {
		if s, ok := w.Text(); ok && s != "" {
			v.alts[i] = shell.Text(path.Clean(s))
		}
	}
	return v
}

// folder returns what begins a path: an empty one adds no slash, except in ruby.
func (p *program) folder(v value) value {
	if v.multi() || p.lang.name == "ruby" {
		return v
	}
	v.alts = slices.Clone(v.words())
	for i, w := range v.alts {
		v.alts[i] = w.AsFolder()
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
// hidden files, or leads out of the project, counts as listed by it whatever the function: a plain star never finds them.
func listsAs(name string, pattern value) string {
	if name == "os.scandir" { // elsewhere a function of this name returns plain names
		return name
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	if s, _ := pattern.text(); strings.HasSuffix(strings.ToLower(name), "sync") && hidden.MatchString(s) {
		return "glob"
	}
	return name
}

var hidden = regexp.MustCompile(`(^|/)\.[^./][^/]*[*?[]|^(/|\.\.|~)[^*?[{]*[*?[{]`)

// maxBraced limits how many words a pattern of several parts is expanded to.
const maxBraced = 64

// braced returns the words that the alternatives in braces of a pattern stand for, where the language's patterns have such.
func (p *program) braced(w shell.Word) []shell.Word {
	out := []shell.Word{{}}
	for _, part := range w.Parts() {
		forms, plain := unixtext.Braced(part.Text), part.Kind != shell.PartText || p.lang.name == "python" || p.lang.name == "go"
		if many := len(out) * len(forms); plain || many == 0 || many > maxBraced || !p.spend(many) {
			forms = []string{part.Text}
		}
		var next []shell.Word
		for _, before := range out {
			for _, s := range forms {
				part.Text = s
				next = append(next, shell.Glue(before, shell.NewWord(part)))
			}
		}
		out = next
	}
	return out
}

// sibling returns paths in the same folders with another name, in which no folder may stand.
func sibling(_ *program, v value, rest []value) value {
	return renamed(v, rest, func(w, name shell.Word) (shell.Word, bool) {
		dir := w.Prefix()[:strings.LastIndexByte(w.Prefix(), '/')+1]
		return shell.Glue(shell.Text(dir), name), w.Prefix() != ""
	})
}

// lastStep returns the last steps of paths, also where these are patterns.
func lastStep(_ *program, v value, _ []value) value {
	out := v.each(func(s string) (string, bool) { return path.Base(s), true })
	for i, w := range v.words() {
		name := w.Cut(strings.LastIndexByte(w.Prefix(), '/') + 1)
		if _, known := w.Text(); !known && !v.multi() && !name.HasUnknown() && !strings.Contains(name.String(), "/") {
			out.alts[i] = name
		}
	}
	return out
}

// withEnding returns paths whose names end in another way.
func withEnding(_ *program, v value, rest []value) value {
	return renamed(v, rest, func(w, end shell.Word) (shell.Word, bool) {
		s, known := w.Text()
		to, told := end.Text()
		return shell.Text(strings.TrimSuffix(s, path.Ext(s)) + to), known && told
	})
}

// renamed returns what paths become, and those of which that is not known as they are.
func renamed(v value, rest []value, to func(w, name shell.Word) (shell.Word, bool)) value {
	var out []shell.Word
	for _, w := range v.words() {
		for _, name := range first(rest).words() {
			if n, ok := to(w, name); ok {
				out = append(out, n)
				continue
			}
			out = append(out, w)
		}
	}
	return value{kind: v.kind, path: v.path, alts: capped(out)}
}

// withStem returns paths whose names keep only their ending.
func withStem(_ *program, v value, rest []value) value {
	return renamed(v, rest, func(w, name shell.Word) (shell.Word, bool) {
		s, known := w.Text()
		return shell.Glue(shell.Text(s[:strings.LastIndexByte(s, '/')+1]), name, shell.Text(path.Ext(s))), known
	})
}

// trimmed returns a function that cuts what a text begins or ends with: blankCharacters, or the characters it is given.
func trimmed(cut func(string, string) string) pure {
	return func(p *program, v value, rest []value) value {
		chars, known := blankCharacters, true
		if len(rest) > 0 && rest[0].kind != kindNone {
			chars, known = rest[0].text()
		}
		if !known || p.lang.name == "php" && strings.Contains(chars, "..") {
			return passedOn("strip()", v.words()...)
		}
		return v.line(v.each(func(s string) (string, bool) { return cut(s, chars), true }))
	}
}

// line returns what a text becomes without its line end, or in another encoding; that of a folder is the folder.
func (v value) line(becomes value) value {
	if w := v.word(); w.Equal(toplevel()) {
		becomes.alts = []shell.Word{w}
	}
	return becomes
}

// blankCharacters are what a text is trimmed of if nothing else is said.
const blankCharacters = " \t\n\r\x00\v\f"

// chomped cuts a line end, or the ending that it is given.
func chomped(_ *program, v value, rest []value) value {
	end, known := first(append(rest, text("\n"))).text()
	if !known {
		return passedOn("chomp()", v.words()...)
	}
	return v.line(v.each(func(s string) (string, bool) { return strings.TrimSuffix(s, end), true }))
}

// sortedList returns a list in order. Where another order is asked for, or an element is not known, nobody knows it.
func sortedList(p *program, v value, rest []value) value {
	if v = p.iterated(v); !v.multi() {
		v.name = ""
		return v
	}
	unsaid := func(e value) bool { _, ok := e.text(); return !ok || e.kind != kindText && e.kind != kindPath }
	if len(rest) > 0 || v.kind == kindMap || slices.ContainsFunc(v.list, unsaid) {
		return reordered(p, v, rest)
	}
	v.name, v.list = "", slices.Clone(v.list)
	slices.SortStableFunc(v.list, func(a, b value) int {
		s, _ := a.text()
		t, _ := b.text()
		return strings.Compare(s, t)
	})
	return v
}

// leadsOut reports whether a program names what its folders may be if they lie outside the project, or are the
// project: a path from the root, the home folder, the environment, or the folder that it runs in.
func leadsOut(src string) bool {
	src = staysIn.ReplaceAllString(src, "")
	for i := range len(src) - 1 {
		if quote := src[i] == '"' || src[i] == '\''; quote && (src[i+1] == '/' || src[i+1] == '~') ||
			(quote || src[i] == '/') && strings.HasPrefix(src[i+1:], "..") && i+3 < len(src) && strings.IndexByte("\"'/", src[i+3]) >= 0 {
			return true
		}
	}
	lower := strings.ToLower(src)
	names := strings.Fields(`home getenv get_env current_dir currentdir getcwd user.dir manifest_dir pathbuf::new() path::new("") ::path()`)
	return slices.ContainsFunc(names, func(s string) bool { return strings.Contains(lower, s) }) ||
		surroundingsIn.MatchString(src)
}

// surroundingsIn matches what programs call the environment and the folder that they run in. staysIn matches what
// looks like something that leads out but does not: a part of a name, another file of the program.
var (
	surroundingsIn = regexp.MustCompile(`\b(?:env|ENV|cwd|pwd)\b`)
	staysIn        = regexp.MustCompile(`\b(?:std::)?env(?:::(?:temp_dir|consts)\b|!\(|;)|` +
		`(?m:^[ \t]*(?:import|export|part|part[ \t]+of|#[ \t]*include)[ \t]+["'][^"'\n]*["'])`)
)

func submatches(src string, at []int) []string {
	out := make([]string, len(at)/2)
	for i := range out {
		if from := at[2*i]; from >= 0 {
			out[i] = src[from:at[2*i+1]]
		}
	}
	return out
}

// folder returns the name of an argument if it is that of a folder: another argument follows, or it is asked for what is in it; "" otherwise.
func (f *function) folder(name, behind string, bracketed bool) string {
	behind = strings.TrimLeft(strings.TrimPrefix(behind, "()"), " ")
	begins := func(s string) bool { return strings.HasPrefix(behind, s) }
	deletes := bracketed && f.verb == "delete tree"
	switch {
	case begins(",") && (len(f.args) == 2 || deletes), bracketed && begins("/ "):
		return name
	case !deletes:
		return ""
	case begins("+ "):
		return name + "+"
	case begins("(") && !isProject.MatchString(name):
		return beforeDot(name)
	}
	return ""
}

// beforeDot returns what a method is called on, "" if that is no name.
func beforeDot(name string) string {
	if last := strings.LastIndexByte(name, '.'); last > 0 {
		return name[:last] + "()"
	}
	return ""
}

// isProject matches what stands for the folder of the project, or is a class or module rather than a folder.
var isProject = regexp.MustCompile(`(?i:project|root|cwd|current|pwd)|::|^[A-Z]`)

// belowNamed puts the first text of a call below a folder of which only the name is known. A path that leaves it stays as it is written.
func belowNamed(folder string, texts []shell.Word) {
	if folder == "" || len(texts) != 1 {
		return
	}
	s := texts[0].Prefix()
	ending := strings.HasPrefix(s, ".") && strings.HasSuffix(folder, "+") && !strings.Contains(s, "/")
	if s != "" && (ending || !strings.ContainsAny(s[:1], "/.~")) && !strings.Contains(s, "..") {
		between := "/"
		if strings.HasSuffix(folder, "+") {
			between = ""
		}
		texts[0] = shell.Glue(unknownWord(folder), shell.Text(between), texts[0])
	}
}

// apart returns what a function makes of a value: another list or map, unless it changes the one that it is given.
func (v value) apart(op string, from value) value {
	if v.of == from.of && v.of != "" && !slices.Contains([]string{"append", "extend", "assign"}, op) {
		v.of, v.holder = "", ""
	}
	return v
}

// asksToplevel reports whether a command says where the repository begins that the program runs in.
func (p *program) asksToplevel(args value) bool {
	said, known := p.spaced(args.words(), " ").Text()
	return known && said == "git rev-parse --show-toplevel" && !p.entered && len(p.around.dirs)+len(p.around.gets)+len(p.exports) == 0
}

// toplevel returns the folder where the repository begins.
func toplevel() shell.Word {
	return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: shell.Toplevel, MayBeEmpty: true})
}

// globbed returns a word whose metacharacters stand for the matching names.
func globbed(w shell.Word) shell.Word {
	return shell.NewWord(lists.All(w.Parts(), func(part shell.Part) []shell.Part {
		if part.Kind == shell.PartText {
			return shell.Globs(part.Text)
		}
		return []shell.Part{part}
	})...)
}

// homeStep returns the home folder as a step to what the next text names below it.
func (p *program) homeStep() shell.Word { return shell.Glue(p.in.Home(""), shell.Text("/.")) }
