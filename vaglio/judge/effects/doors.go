package effects

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// door is a setting that makes a program run other code, trust other files or talk to another host. The table doors.txt lists them.
type door struct {
	kind          string
	before, after string   // around the star of a name that is a pattern
	loads         []string // the options that load a file, for the kind "loads"
}

const (
	// doorEnv is the section of doors.txt about variables. Their case does not matter, as that of the settings
	// which an option carries, in the sections that name a program and the option.
	doorEnv = "env"
	doorGit = "git -c"
	// kindWords is a door for all words of a program, which load what a variable could load.
	kindWords = "words"
	// kindList is a door for a command line with commas between its words.
	kindList = "list"
)

//go:embed tables/doors.txt
var doorsText string

// doors holds all doors, by section and by name, which is "*" for those whose names are patterns.
type doors map[string]map[string][]door

// loadDoors reads doors.txt. Its error names the line.
var loadDoors = sync.OnceValues(func() (doors, error) { //nolint:gochecknoglobals // It is read once and never changed.
	t, owners := doors{}, []string(nil)
	return t, rows.Sections("doors.txt", doorsText, func(names, _ []string) error {
		if owners = names; len(names) > 1 && strings.HasPrefix(names[1], "-") { // an option whose values are settings
			owners = []string{names[0] + " " + names[1]}
		}
		return nil
	}, func(kind, names []string) error { return t.add(owners, kind[0], names) })
})

func (t doors) add(owners []string, kind string, names []string) error {
	kind, loads, _ := strings.Cut(kind, ":")
	if !slices.Contains(strings.Fields("search file home writes command list code shell loads registry named proxy always switch words"), kind) {
		return rows.Wrong(kind, "%q is no kind of doors", kind)
	}
	for _, o := range owners {
		if t[o] == nil {
			t[o] = map[string][]door{}
		}
		for _, n := range names {
			d := door{kind: kind, loads: strings.Split(loads, ",")}
			if kind == kindWords {
				d, n = t[doorEnv][strings.ToLower(n)][0], kindWords
			}
			if anyCase(o) {
				n = strings.ToLower(n)
			}
			if before, after, pattern := strings.Cut(n, "*"); pattern {
				n, d.before, d.after = "*", before, after
			}
			t[o][n] = append(t[o][n], d)
		}
	}
	return nil
}

// anyCase reports whether case does not matter in the names of a section: variables, and settings that an option carries.
func anyCase(owner string) bool { return owner == doorEnv || strings.Contains(owner, " ") }

// door returns the door for a setting, if there is one.
func (t doors) door(owner, name string) (door, bool) {
	if anyCase(owner) {
		name = strings.ToLower(name)
	}
	if d := t[owner][name]; d != nil {
		return d[0], true
	}
	at := slices.IndexFunc(t[owner]["*"], func(d door) bool {
		return len(name) > len(d.before)+len(d.after) && strings.HasPrefix(name, d.before) && strings.HasSuffix(name, d.after)
	})
	if at < 0 {
		return door{}, false
	}
	return t[owner]["*"][at], true
}

// throughDoors returns the effects of the settings that a command is given: in its environment, by export, by git's -c, by its own options.
func (r *reading) throughDoors(v *invocation) (out []Effect) {
	t := r.judge.doors
	set := func(owner, name string, value arg) {
		if t[owner+" "+name] != nil {
			owner += " " + name
			name, _, _ = strings.Cut(value.text, "=")
			name, value = strings.TrimSpace(name), value.slice(len(name)+1)
		}
		switch d, ok := t.door(owner, name); {
		case !ok, d.kind == "writes" && !isPath(value.text): // but a switch
		case d.kind == "writes":
			out = append(out, r.write(v, value, "writes")...)
		case d.kind == "home":
			out = append(out, r.throughDoor(v, door{kind: "code"}, name, literal(r.furnished(r.world.clean(value.text, v.cwd))))...)
		default:
			out = append(out, r.throughDoor(v, d, name, value)...)
		}
	}
	for _, a := range v.assigns {
		set(doorEnv, a.name, a.value)
	}
	for _, a := range shell.GitSettings(v.Assigns) {
		set(doorGit, a.Name, argOf(a.Value))
	}
	for _, a := range v.args {
		if name, _, ok := strings.Cut(a.text, "="); ok && slices.Contains([]string{"export", "declare", "typeset", "readonly", "make", "gmake"}, v.name) {
			set(doorEnv, name, a.slice(len(name)+1))
		}
	}
	r.optionDoors(v, set)
	return append(out, r.throughWords(v)...)
}

// throughWords returns the effect of a program's own words that make it load code.
func (r *reading) throughWords(v *invocation) []Effect {
	d, ok := r.judge.doors.door(v.name, kindWords)
	if !ok {
		return nil
	}
	bad := r.badOptions(v, d.loads, texts(v.args))
	if bad == "" {
		return nil
	}
	return one(KindForeignCode, sayOf("makes %s run or trust %s", object(v.name), object(bad)), bad)
}

// optionDoors finds the doors among a program's own options.
func (r *reading) optionDoors(v *invocation, set func(owner, name string, value arg)) {
	carries := func(option string) bool { return r.judge.doors[v.name+" "+option] != nil }
	for _, f := range r.parse(v.name, v.args).Flags {
		if f.Has && carries(f.Name) { // also -qesetting=x
			set(v.name, f.Name, v.args[f.At].slice(f.Cut))
		}
	}
	for i, a := range v.args {
		switch name, _, has := strings.Cut(a.text, "="); {
		case !strings.HasPrefix(a.text, "-"), carries(a.text), carries(name):
		case has:
			set(v.name, name, a.slice(len(name)+1))
		case strings.Contains(a.text, ":"): // -javaagent:x.jar
			name, _, _ := strings.Cut(a.text, ":")
			set(v.name, name+":", a.slice(len(name)+1))
		case i+1 < len(v.args):
			set(v.name, a.text, v.args[i+1])
		}
	}
}

// throughDoor returns the effect of one setting.
func (r *reading) throughDoor(v *invocation, d door, name string, value arg) []Effect {
	if value.text == "" || value.text == "$"+name {
		return nil
	}
	if d.kind == "switch" && !wordclass.Is("git-false", strings.ToLower(value.text)) {
		d.kind = "always"
	}
	if d.kind == "always" {
		return one(KindSafeguardOff, say("changes a safeguard of %s: %s", v.name, name+"="+value.text), name)
	}
	if d.kind == kindList {
		d.kind, value.text = "command", strings.ReplaceAll(value.text, ",", " ")
	}
	bad := r.behindDoor(v, d, name, value)
	if bad == "" {
		return r.throughLine(d, value)
	}
	who := object(v.name)
	if v.name == "" || v.name == "export" {
		who = wording.Say("what follows")
	}
	what := object(bad + " (" + name + ")")
	switch d.kind {
	case "registry", "named":
		return one(KindForeignCode, sayOf("makes %s fetch from %s", who, what), bad)
	case "proxy":
		return one(KindSend, sayOf("makes %s talk through %s", who, what), bad)
	}
	return one(KindForeignCode, sayOf("makes %s run or trust %s", who, what), bad)
}

// throughLine returns what a command line does that a setting names, except that its program may be unknown, as wrappers of compilers are.
func (r *reading) throughLine(d door, value arg) []Effect {
	if d.kind != "command" || !value.known || !strings.Contains(value.text, " ") {
		return nil
	}
	return slices.DeleteFunc(r.aside(value.text), func(e Effect) bool { return e.Kind == KindUnknown || e.Kind == KindForeignCode })
}

// behindDoor returns the offending part of a setting's value, "" if there is none.
func (r *reading) behindDoor(v *invocation, d door, name string, value arg) string {
	switch d.kind {
	case "search", "file":
		return r.badPath(v, name, value)
	case "code":
		return value.text
	case "command":
		return r.badCommand(v, value.slice(len(value.text)-len(strings.TrimPrefix(value.text, "!"))))
	case "shell":
		if strings.HasPrefix(value.text, "!") {
			return r.badCommand(v, value.slice(1))
		}
		return ""
	case "loads":
		bad := r.badOptions(v, d.loads, strings.Fields(value.text))
		if bad == "" && !value.known && strings.HasPrefix(value.text, "$(") && !strings.ContainsAny(value.text, " \t\n") {
			return value.text
		}
		return bad
	case "named":
		_, address, _ := strings.Cut(name, ".") // with another one behind the address
		return r.judge.tables.urls().Unusual(address[:max(0, strings.LastIndexByte(address, '.'))])
	}
	return r.judge.tables.urls().Unusual(value.text)
}

// badPath finds a path of a list from which nobody should take programs or settings.
func (r *reading) badPath(v *invocation, name string, value arg) string {
	if strings.HasPrefix(value.text, "data:") { // the program itself
		return value.text
	}
	for part := range strings.SplitSeq(value.text, ":") {
		if name == "PATH" {
			r.ahead = append(r.ahead, r.world.clean(part, v.cwd))
		}
		a := arg{text: part, names: value.names, from: value.from}
		if part != "" && part != "$"+name && !installed(part) && !r.trusted(v, a) {
			return part
		}
	}
	return ""
}

// installed reports whether a folder is where an installed tool keeps its programs, according to a variable that such tools set or to the tool's own output.
func installed(part string) bool {
	root, _, _ := strings.Cut(part, "/")
	if name, ok := strings.CutPrefix(root, "$("); ok {
		tool, _, _ := strings.Cut(strings.TrimSuffix(name, ")"), " ")
		return wordclass.Is("names-its-folder", tool)
	}
	name, ok := strings.CutPrefix(strings.ToUpper(root), "$")
	if !ok {
		return false
	}
	return !strings.Contains(name, "TMP") && !strings.Contains(name, "TEMP") &&
		slices.ContainsFunc(wordclass.Of("names-folder-at-end"), func(s string) bool { return strings.HasSuffix(name, s) })
}

// trusted reports whether code and settings may be loaded from a path: from the workspace, from where programs are installed, or from the user's own tools.
func (r *reading) trusted(v *invocation, a arg) bool {
	p := r.world.clean(a.text, v.cwd)
	switch at := r.world.placeOf(a, v.cwd); at {
	case placeWorkspace, placeNowhere:
		return !r.brings(p) && !r.fetched[path.Base(p)]
	case placeHome, placeControl, placeSecret:
		return at == placeSecret && r.world.inside(p) || r.world.ownTool(p)
	case placeSystem:
		return systemPath(p+"/") || strings.HasPrefix(p, "/etc/") || strings.HasPrefix(p, "/lib")
	case placeTemp, placeUnknown, placeOption:
	}
	return false
}

// ownTool reports whether a path is where people keep tools that they installed for themselves.
func (w *world) ownTool(p string) bool {
	rest, ok := strings.CutPrefix(p, w.home+"/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && w.home != "" && (strings.Contains(p, "/.") || path.Base(p) == "bin" || wordclass.Is("home-tools", first))
}

// badCommand returns a command line that should not be run through a setting: one that contains an untrusted path, a shell or interpreter with arguments, a
// program that fetches, or more than one command.
func (r *reading) badCommand(v *invocation, value arg) string {
	fields := strings.Fields(value.text)
	bad := func(f string) bool { return isPath(f) && !installed(f) && !r.trusted(v, literal(f)) }
	if len(fields) == 0 || !slices.ContainsFunc(fields, bad) && !badProgram(fields) && !strings.ContainsAny(value.text, ";|&`<>\n") &&
		(!strings.Contains(value.text, "$(") || installed(fields[0])) {
		return ""
	}
	return value.text
}

// badProgram reports whether a command line's program is unknown, or does whatever its words say.
func badProgram(fields []string) bool {
	first := path.Base(fields[0])
	switch {
	case strings.HasPrefix(first, "$") && !installed(fields[0]):
		return true
	case len(fields) == 1 && !strings.HasPrefix(first, "nc"):
		return false
	}
	return wordclass.Is("interpreter", wordclass.Bare(first)) || wordclass.Is("does-as-told", first)
}

// badOptions returns an option that loads an untrusted file, or that file behind it.
func (r *reading) badOptions(v *invocation, loads, fields []string) string {
	for i, f := range fields {
		for _, l := range loads {
			file, ok := loaded(fields[i:], l)
			if ok && ((isPath(file) || r.fetched[file]) && !r.trusted(v, literal(file)) || strings.HasPrefix(file, "$") || strings.HasPrefix(file, "data:")) {
				if !strings.Contains(f, file) {
					return file
				}
				return f
			}
		}
	}
	return ""
}

// loaded returns the file that the first of some words loads, if it is the given option. It drops agent settings after the file.
func loaded(fields []string, option string) (string, bool) {
	rest, ok := strings.CutPrefix(fields[0], option)
	file := strings.TrimLeft(rest, "=:")
	switch {
	case !ok:
		return "", false
	case file == "" && len(fields) > 1:
		file = fields[1]
	case strings.HasPrefix(option, "--") && file == rest:
		return "", false // a longer option
	}
	file, _, _ = strings.Cut(file, "=")
	return file, true
}

// exports records the variables that a shell which goes on passes to later calls, any if names are not known, and what names stand for in it.
func (r *reading) exports(v *invocation) {
	var names []string
	for _, a := range v.args {
		switch {
		case v.name == "alias":
			names = append(names, shell.Alias+a.text)
		case v.name == "export" && !a.known || v.name == "set" && shell.ExportsAll(a.text):
			names = append(names, shell.AnyVariable)
		}
	}
	if slices.Contains([]string{"export", "declare", "typeset"}, v.name) {
		r.leads = r.live(v)
		names = append(names, lists.All(v.assigns, func(a assignment) []string { return r.exported(&a) })...)
	}
	if len(names) > 0 && v.direct() {
		r.did = append(r.did, vaglio.Fact{Deed: vaglio.Exported, Words: names})
	}
}

// exported returns the variable's name, and its value, or what is first in it, if later calls run what that says.
func (r *reading) exported(a *assignment) []string {
	value, known := a.value.word.Text()
	d, _ := r.judge.doors.door(doorEnv, a.name)
	if d.kind == "search" {
		value = a.value.word.Prefix()
		known = value != ""
	}
	if !known || !slices.Contains([]string{"search", "file", "command", "code", "loads"}, d.kind) && !wordclass.Is("value-kept", a.name) {
		return []string{a.name}
	}
	return []string{a.name, a.name + "=" + value}
}

// makesKnown reports whether a file of the workspace is new, and what is put there known and no variable that steers programs.
func (r *reading) makesKnown(v *invocation, a arg) bool {
	at := r.freeAt(v, a)
	text, known := r.wrote[at].Text()
	return known && at != "" && r.world.inside(at) && !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		_, steers := r.judge.doors.door(doorEnv, strings.TrimSpace(name))
		return steers
	})
}
