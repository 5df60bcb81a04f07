package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// gatherer is how a program comes to read all that lies below a folder.
type gatherer struct {
	verb wording.Phrase
	// needs are options of which one makes it go below; none: it always does.
	needs []string
	// quiet are options of which one makes it tell no more than names.
	quiet []string
	// valued are options that take the next word, plain those whose value says
	// which files count.
	valued, plain []string
	// skip is how many operands stand before the folders, given the options of
	// which one stands for the first of them.
	skip  int
	given []string
	// word is what the first operand must be, if anything.
	word string
	// last says that the last operand is where things go, here that the current
	// folder is meant where none is named.
	last, here bool
}

// gatherers are the programs that print, copy, pack or send what lies below a
// folder.
func gatherers() map[string]gatherer {
	searches := gatherer{
		verb: "prints what it finds in all", skip: 1, here: true,
		given: []string{"-e", "-f", "--regexp", "--file"},
		quiet: []string{"-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent", "--files", "--type-list"},
		valued: []string{
			"-e", "-f", "-m", "-A", "-B", "-C", "-d", "-D", "-g", "-t", "-T", "-G", "-j", "--include", "--exclude", "--exclude-dir",
			"--glob", "--iglob", "--type", "--regexp", "--file", "--color",
		},
		plain: []string{"--include", "-g", "--glob", "--iglob", "-t", "--type", "-G"},
	}
	greps := searches
	greps.needs = []string{"-r", "-R", "--recursive", "--dereference-recursive"}
	copies := gatherer{
		verb: "copies all", last: true, needs: []string{"-r", "-R", "-a", "--recursive", "--archive"},
		valued: []string{
			"-e", "-t", "-S", "-f", "-T", "-P", "-i", "-o", "-F", "-J", "--rsh", "--exclude", "--include", "--filter", "--exclude-from",
			"--include-from", "--files-from",
		},
		plain: nil,
	}
	folders := copies
	folders.needs = nil
	packs := gatherer{verb: "packs all", skip: 1, needs: []string{"-r", "-R", "--recurse-paths"}, valued: []string{"-x", "-i", "-P", "-b"}}
	adds := gatherer{verb: "packs all", skip: 2, word: "a"}
	stages := gatherer{verb: "puts into the repository all", skip: 1, word: "add", valued: []string{"-C", "-c", "--git-dir", "--work-tree"}}
	serves := gatherer{verb: "serves all", here: true, valued: []string{"-l", "-p", "--listen", "--port", "-c", "--config", "-a"}}
	all := map[string]gatherer{"zip": packs, "git": stages, "ditto": folders}
	for names, g := range map[string]gatherer{
		"grep egrep fgrep zgrep bzgrep xzgrep pcregrep ugrep": greps, "rg ag ack ripgrep": searches, "cp gcp scp rsync": copies,
		"7z 7za 7zz 7zr rar": adds, "serve http-server live-server": serves,
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = g
		}
	}
	return all
}

// gathered is the effect of reading what lies below a folder that holds keys
// and logins, or the gate's own data.
func (r *reading) gathered(v *invocation) []Effect {
	switch {
	case v.box != "" || v.host != "":
		return nil
	case v.call != nil:
		return r.walked(v)
	case strings.HasSuffix(v.name, "tar"):
		return r.packed(v)
	case strings.HasPrefix(v.name, "python"):
		return r.served(v)
	}
	if out := r.found(v); out != nil {
		return out
	}
	g, ok := r.judge.gatherers[v.name]
	if !ok || !g.mayGather(v.args) {
		return nil
	}
	p := parse(v.args, &commands.Section{Values: setOf(g.valued)})
	if !g.gathers(p) || r.onlyPlain(p.values(g.plain...)) {
		return nil
	}
	return r.belowEach(v, g.verb, g.roots(p))
}

// gathers reports whether the options of a command line make it go below and
// tell what it finds.
func (g *gatherer) gathers(p *parsed) bool {
	return (len(g.needs) == 0 || p.has(g.needs...)) && !p.has(g.quiet...)
}

// mayGather is a cheap first look: without an option or a word that it needs a
// program does not go below.
func (g *gatherer) mayGather(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool {
		switch {
		case g.word != "":
			return a.text == g.word
		case len(g.needs) > 0:
			return strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "rRa")
		default:
			return true
		}
	})
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// roots are the folders that a command line names.
func (g *gatherer) roots(p *parsed) []arg {
	ops, skip := p.operands, g.skip
	if g.word != "" && (len(ops) == 0 || ops[0].text != g.word) {
		return nil
	}
	if p.has(g.given...) {
		skip--
	}
	ops = ops[min(skip, len(ops)):]
	if g.last && len(ops) > 0 && !p.has("-t", "--target-directory") {
		ops = ops[:len(ops)-1]
	}
	if len(ops) == 0 && g.here {
		return []arg{literal(".")}
	}
	return ops
}

// onlyPlain reports whether filters pick out only files of programs and texts.
func (r *reading) onlyPlain(filters []arg) bool {
	return len(filters) > 0 && !slices.ContainsFunc(filters, func(f arg) bool {
		name := f.text
		if !strings.Contains(name, ".") {
			name = "*." + name // a type
		}
		return !f.known || strings.ContainsAny(name, "!{[") || r.judge.places.Purpose(name)&place.Plain == 0
	})
}

func (r *reading) belowEach(v *invocation, verb wording.Phrase, roots []arg) []Effect {
	for _, a := range roots {
		if e, ok := r.below(v, verb, a); ok {
			return []Effect{e}
		}
	}
	return nil
}

// below is the effect of reading all that lies below one folder.
func (r *reading) below(v *invocation, verb wording.Phrase, root arg) (Effect, bool) {
	p := r.world.clean(root.text, v.cwd)
	is := r.judge.places.Below(place.Globbed(p))
	if is&(place.Secret|place.Own) == 0 || !strings.HasPrefix(p, "/") || r.world.inside(p) || r.judge.places.Classes(p+"/x")&place.Temporary != 0 {
		return Effect{}, false
	}
	among := wording.Phrase("that lies below %s, keys and logins among it")
	if is&place.Own != 0 {
		among = "that lies below %s, keys and logins and the gate's own data among it"
	}
	return usual(KindCredentials).with(wording.Sentence{{Phrase: verb}, wording.Say(among, root.text)}, root.text), true
}

// packed are the folders that tar packs.
func (r *reading) packed(v *invocation) []Effect {
	c := &call{invocation: v, parsed: parse(v.args, &commands.Section{}), r: r, called: r.canonical(v)}
	t := c.told()
	var roots []arg
	for i := range t.Operations {
		if o := &t.Operations[i]; o.Recursive && (o.Verb == operation.Read || o.Verb == operation.Copy) {
			roots = append(roots, argOf(o.Object.Word))
		}
	}
	return r.belowEach(v, "packs all", roots)
}

// served is the folder that Python's own server hands out.
func (r *reading) served(v *invocation) []Effect {
	at := slices.IndexFunc(v.args, func(a arg) bool { return a.text == "http.server" || a.text == "SimpleHTTPServer" })
	if at < 0 {
		return nil
	}
	p := parse(v.args[at+1:], &commands.Section{Values: setOf([]string{"-d", "--directory", "-b", "--bind"})})
	root, ok := p.value("-d", "--directory")
	if !ok {
		root = literal(".")
	}
	return r.belowEach(v, "serves all", []arg{root})
}

// walked is what an inline program reads of a folder whose names it lists.
func (r *reading) walked(v *invocation) []Effect {
	if v.call.Verb != shell.VerbCopy && v.call.Verb != shell.VerbRead {
		return nil
	}
	var roots []arg
	for _, t := range argsOf(v.call.Targets[:min(1, len(v.call.Targets))]) {
		switch root, found := t.foundBelow(); {
		case found && !r.onlyPlain([]arg{literal(t.text[strings.LastIndexByte(t.text, ')')+1:])}):
			roots = append(roots, root)
		case v.call.Verb == shell.VerbCopy && t.known:
			roots = append(roots, t)
		}
	}
	return r.belowEach(v, "copies or reads all", roots)
}

// foundBelow gives the folder below which a search has found what a word
// names.
func (a arg) foundBelow() (arg, bool) {
	if a.known || len(a.from) == 0 || !slices.Contains([]string{"find", "fd", "fdfind", "ls", "gfind"}, a.from[0]) {
		return arg{}, false
	}
	root, _, ok := strings.Cut(a.text, "$("+a.from[0])
	if !ok || root == "" {
		return arg{}, false
	}
	return literal(root), true
}

// found is the effect of showing or copying what a search of the same line has
// found.
func (r *reading) found(v *invocation) []Effect {
	if !r.judge.tables.ofClass("shows-found", v.name) {
		return nil
	}
	for _, a := range v.args {
		root, ok := a.foundBelow()
		if !ok || r.onlyPlain([]arg{literal(strings.TrimPrefix(a.text[strings.LastIndexByte(a.text, ')')+1:], "/"))}) {
			continue
		}
		if e, ok := r.below(v, "shows or copies what is found in all", root); ok {
			return []Effect{e}
		}
	}
	return nil
}

// searched is the effect of a tool that prints what it finds in all files
// below some folders.
func (t *tool) searched(v *invocation, folders []string) []Effect {
	_, searches := t.text("pattern", "regex", "query")
	mode, said := t.text("output_mode", "outputMode")
	if !searches || !t.has("grep", "search", "rg", "ripgrep") || said && mode != "content" || !said && t.name == "Grep" {
		return nil
	}
	var filters []arg
	for _, f := range t.list("glob", "include", "type") {
		filters = append(filters, literal(f))
	}
	if t.r.onlyPlain(filters) {
		return nil
	}
	for _, f := range folders {
		if e, ok := t.r.below(v, "prints what it finds in all", literal(f)); ok {
			return []Effect{e}
		}
	}
	return nil
}
