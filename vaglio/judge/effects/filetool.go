package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// file reads executors that work on files of this machine.
func (t *tool) file() bool {
	if t.elsewhere() || t.rd.DryRun {
		return false
	}
	paths, source, dest := t.filesNamed()
	verb := t.fileVerb()
	if _, secret := t.secret(); secret || t.shared() || len(paths)+len(source)+len(dest) == 0 || verb == "" || verb == operation.Read && t.goesOn() {
		return false
	}
	if verb == operation.Read && t.writes() {
		verb = operation.Write
	}
	t.r.add(t.fileEffects(verb, paths, source, dest)...)
	if len(t.r.effects) == 0 {
		t.r.add(usual(KindRead).with(say("reads %s", strings.Join(append(paths, source...), " ")), ""))
	}
	return true
}

// goesOn reports whether an argument has a tool do something to what it reads by its name.
func (t *tool) goesOn() bool {
	act, _, ok := t.action()
	return ok && act.effect.Kind != KindRead || t.switched(true).Kind != ""
}

// writes reports whether a tool that reads by its name writes by its arguments.
func (t *tool) writes() bool {
	replaces := func(key string) bool { return wordclass.Is("replacing-key", readings.Normal(key)) }
	return t.is("write", "overwrite", "append", "truncate", "create", "save") || slices.ContainsFunc(readings.SortedKeys(t.args), replaces)
}

// filesNamed returns the paths of a call by role.
func (t *tool) filesNamed() (paths, source, dest []string) {
	for _, p := range t.rd.Paths {
		switch {
		case p.Role&readings.RolePath != 0:
			paths = append(paths, p.Text)
		case p.Role&readings.RoleGoal != 0:
			dest = append(dest, p.Text)
		case p.Role&readings.RoleSource != 0:
			source = append(source, p.Text)
		}
	}
	return paths, source, dest
}

// elsewhere reports whether a tool's files belong to a service.
func (t *tool) elsewhere() bool {
	return t.args["owner"] != nil || t.args["repo"] != nil || t.args["bucket"] != nil || t.noun("file-service") ||
		t.hasServer("drive", "dropbox", "github", "gitlab", "s3", "notion", "slack", "figma", "imap", "mail", "outlook")
}

// fills notes what a tool that writes one whole file puts there.
func (t *tool) fills(files []string) {
	text, ok := t.args["content"].(string)
	if part := t.has("append", "insert", "edit", "patch", "replace", "prepend"); part && len(t.rd.Written()) > 0 {
		text, ok = t.edited(t.rd.Written()[0])
	} else if part {
		ok = false
	}
	if ok && len(files) == 1 {
		t.r.wrote = map[string]shell.Word{t.r.world.clean(files[0], t.r.world.cwd): shell.Text(text)}
	}
}

// fileVerb returns what a tool does to files: read, write, delete, move, copy or permit; "" if its name is not a file tool's.
func (t *tool) fileVerb() operation.Verb {
	noun := t.noun("file-noun") || t.hasServer("filesystem", "fs", "file", "desktop")
	if !noun && (len(t.words) > 2 || slices.ContainsFunc([]string{"person", "money", "health", "access", "public"}, t.noun)) {
		return ""
	}
	for _, w := range t.words {
		for _, verb := range []operation.Verb{operation.Delete, operation.Move, operation.Copy, operation.Permit, operation.Write, operation.Read} {
			if t.r.judge.tables.ofClass("file-"+string(verb), w) && (noun || verb == operation.Read || slices.ContainsFunc(t.rd.Paths, pathlike)) {
				return verb // What it reads may be a secret, judging by its name.
			}
		}
	}
	return ""
}

// pathlike reports whether a text is a path by its key or its form. Not every destination is a file, nor is every target: a currency is none.
func pathlike(p readings.Text) bool {
	return p.Role&(readings.RolePath|readings.RoleGoal) == readings.RolePath ||
		strings.ContainsAny(p.Text, "/\\~") || strings.Contains(p.Text, ".") && !strings.Contains(p.Text, "@")
}

// What stands for what is no command of a line, or has no section in the tables.
//
//nolint:gochecknoglobals // They are never changed, like the commands and sections that were read.
var (
	noCommand  shell.Command
	farCommand = shell.Command{Context: shell.Context{Via: []string{"tool"}}} // of a server that may keep its files elsewhere
	noSection  commands.Section
)

// plain returns what is no command of a line, as one that works in the call's folder.
func (r *reading) plain(name string) *invocation {
	return &invocation{Command: &noCommand, name: name, cwd: r.world.cwd}
}

// command returns what stands for the tool in the place of a command: its server may keep its files elsewhere.
func (t *tool) command() *shell.Command {
	if slices.ContainsFunc(readings.Words(cmp.Or(t.server, "file")), func(w string) bool { return spoken.Is("files names", w) }) {
		return &noCommand
	}
	return &farCommand
}

// fileEffects returns the effects of what a tool does to files, as those of a command's operations.
func (t *tool) fileEffects(verb operation.Verb, paths, source, dest []string) []Effect {
	v := t.r.plain("tool")
	v.Command = t.command()
	c := t.r.callOf(v, "tool", &noSection)
	var out []Effect
	does := func(o operation.Operation, files ...string) {
		out = append(out, lists.All(files, func(f string) []Effect { return c.does(&o, literal(f)) })...)
	}
	switch verb {
	case operation.Read:
		files := append(paths, source...)
		if !t.has("list", "ls", "stat", "exists", "info", "glob", "tree", "find") { // Listing files shows no secret.
			does(operation.Operation{Verb: verb}, files...)
		}
		return append(out, t.searched(c.invocation, files)...)
	case operation.Write:
		t.fills(slices.Concat(paths, dest))
		does(operation.Operation{Verb: verb, Phrase: string(t.writing())}, slices.Concat(paths, dest, source)...)
	case operation.Delete:
		does(operation.Operation{Verb: verb}, append(paths, source...)...)
	case operation.Permit:
		mode, _ := t.text("mode", "permissions", "permission")
		does(operation.Operation{Verb: verb, With: []shell.Word{shell.Text(mode)}}, paths...)
	default: // move or copy
		if len(source) == 0 {
			source = paths
		}
		said := map[operation.Verb][2]wording.Phrase{
			operation.Move: {"moves files to", "moves %s to a place that is not known"},
			operation.Copy: {"copies files to", "copies %s to a place that is not known"},
		}[verb]
		does(operation.Operation{Verb: operation.Write, Phrase: string(said[0])}, dest...)
		sayEnds(append(t.requested(), source...), out)
		for _, p := range source {
			before := len(out)
			does(operation.Operation{Verb: verb, To: shell.Text(append(dest, "")[0])}, p)
			if len(dest) == 0 && len(out) == before {
				out = append(out, unknown(say(said[1], p), p)...)
			}
		}
	}
	return out
}

// writing says how a tool writes, judging by its name.
func (t *tool) writing() wording.Phrase {
	switch {
	case t.has("directory", "folder", "mkdir"):
		return "creates the folder"
	case t.has("edit", "multiedit", "replace"):
		return "edits"
	}
	return "writes"
}

// editor reads str_replace_based_edit_tool and similar tools, whose command is a verb of the editor.
func (t *tool) editor() bool {
	command, _ := t.text("command")
	path, has := t.text("path", "file_path")
	for _, verb := range []operation.Verb{operation.Read, operation.Write, operation.Delete} {
		if !has || !t.r.judge.tables.ofClass("editor-"+string(verb), command) {
			continue
		}
		if t.r.add(t.fileEffects(verb, []string{path}, nil, nil)...); len(t.r.effects) == 0 {
			t.r.add(reads()...)
		}
		return true
	}
	return false
}

// drives reports whether an executor drives a browser.
func (t *tool) drives() bool {
	return t.has("browser", "page", "puppeteer", "playwright", "web", "webdriver", "chrome", "selenium", "tab", "element") ||
		t.hasServer("browser", "puppeteer", "playwright", "chrome", "selenium")
}

// onPage reads executors that run a script on a web page. It can reach more there than a program can here, and passes only if it just looks.
func (t *tool) onPage() bool {
	scripts := append(t.under(readings.RoleScript|readings.RoleCode), t.list("function", "pageFunction", "expression", "text")...)
	if !t.drives() || !t.noun("browser-runs") || len(scripts) == 0 {
		return false
	}
	before := len(t.r.effects)
	t.commands() // what the guard and the judges know about its text anyway
	t.r.certain(before)
	t.addresses()
	if slices.ContainsFunc(scripts, func(s string) bool { return !t.r.judge.reader.LooksOnly(s) }) {
		t.r.add(unknown(say("runs a script on a web page"), t.name)...)
	}
	if len(t.r.effects) == before {
		t.r.add(reads()...)
	}
	return true
}

// browser reads executors that drive a browser.
func (t *tool) browser() bool {
	if !t.drives() {
		return false
	}
	for _, w := range t.words {
		if out := t.browses(w); out != nil {
			t.r.add(out...)
			return true
		}
	}
	return false
}

// browses returns what one word of a name does in a browser, nil if it says nothing.
func (t *tool) browses(w string) []Effect {
	if t.r.judge.tables.ofClass("browser-looks", w) {
		if address, ok := t.text("url"); ok {
			return t.r.request("GET", address, "")
		}
		return reads()
	}
	if t.r.judge.tables.ofClass("browser-works", w) {
		if t.hasServer("browser", "puppeteer", "playwright", "chrome", "devtools", "selenium") || t.has("browser", "playwright", "puppeteer") {
			return reads()
		}
	}
	switch w {
	case "select", "click", "tap", "press", "key", "keys", "drag", "check", "submit":
		return t.press(w)
	case "type", "fill", "input":
		if t.is("submit", "press_enter", "pressEnter") {
			return t.press("submit")
		}
		return t.fillIn()
	case "upload":
		if names := t.list("paths", "files", "path", "file", "file_path", "filePath"); len(names) > 0 {
			return one(KindSend, sayOf("uploads %s to a web page", wording.List(names)), names[0])
		}
		return unknown(say("uploads a file to a web page"), t.name)
	}
	if t.r.judge.tables.ofClass("browser-runs", w) {
		return unknown(say("runs a script on a web page"), t.name)
	}
	return nil
}

func (t *tool) press(verb string) []Effect {
	if verb == "select" {
		return t.choose()
	}
	var label []string
	for _, k := range []string{"element", "text", "label", "name", "description", "selector", "key", "keys", "target", "element_id", "id", "ref"} {
		if s, ok := t.args[k].(string); ok {
			label = append(label, s)
		}
	}
	text, called := strings.Join(label, " "), append(label, "")[0]
	if verb == "submit" {
		if typed, ok := t.text("text", "value"); ok && typed != called {
			called += ": " + clip(typed, 80)
		}
		return []Effect{usual(KindSend).with(say("submits a form on a web page: %s", called), text).as(Irreversible, ReachShared)}
	}
	classes := []string{"press-word"}
	if slices.Contains([]string{"press", "key", "keys"}, verb) {
		classes = append(classes, "press-key")
	}
	if t.confirms(text, classes...) {
		e := usual(KindSend).with(say("presses %s on a web page", called), text).as(Irreversible, ReachShared)
		e.Sure = 0.6
		return []Effect{e}
	}
	if text == "" || len(readings.Words(text)) == 0 {
		return unknown(say("presses something on a web page that is not known"), "")
	}
	e := usual(KindRead).with(say("presses %s on a web page", called), text)
	e.Sure = 0.5
	return []Effect{e}
}

// choose returns the effect of choosing something on a web page, which the page may keep. Where the words are those of a confirmation, it may be one.
func (t *tool) choose() []Effect {
	if t.has("tab", "tabs", "frame", "window") {
		return reads()
	}
	chosen := t.list("values", "text", "value", "option", "options", "label", "labels")
	in, _ := t.text("element", "name", "selector", "ref", "uid", "target", "id")
	said := say("chooses something on a web page that is not known")
	switch {
	case len(chosen) > 0 && in != "":
		said = sayOf("chooses %s in %s on a web page", wording.List(chosen), object(in))
	case len(chosen) > 0 || in != "":
		said = sayOf("chooses %s on a web page", object(strings.Join(chosen, ", ")+in))
	}
	e := usual(KindOverwrite).with(said, in)
	e.Sure, e.counts, e.Reach = 0.5, ReachWorkspace, ReachShared
	if t.confirms(strings.Join(append(chosen, in), " "), "press-word") {
		e = usual(KindSend).with(said, in).as(Irreversible, ReachShared)
		e.Sure = 0.6
	}
	return []Effect{e}
}

// confirms reports whether a word of a text belongs to one of the classes.
func (t *tool) confirms(text string, classes ...string) bool {
	return slices.ContainsFunc(readings.Words(text), func(w string) bool {
		return slices.ContainsFunc(classes, func(class string) bool { return t.r.judge.tables.ofClass(class, w) })
	})
}

func (t *tool) fillIn() []Effect {
	if slices.ContainsFunc(readings.SortedKeys(t.args), t.r.secretName) {
		return one(KindCredentials, say("types a password into a web page"), t.name)
	}
	for _, s := range namesIn(map[string]any(t.args)) {
		if t.r.secretName(s) || strings.Contains(strings.ToLower(s), "card") || strings.EqualFold(s, "cvv") {
			return one(KindCredentials, say("types a secret into a web page: %s", s), s)
		}
	}
	e := usual(KindOverwrite).with(say("fills in a field of a web page"), "")
	e.Sure, e.counts, e.Reach = 0.5, ReachWorkspace, ReachShared // the page may keep it before it is sent
	return []Effect{e}
}

// namesIn collects the values that nested arguments use to name fields.
func namesIn(v any) (out []string) {
	list, _ := v.([]any)
	out = lists.All(list, namesIn)
	object, _ := v.(map[string]any)
	for _, k := range readings.SortedKeys(object) {
		if s, ok := object[k].(string); ok && slices.Contains([]string{"name", "label", "element", "element_id", "selector", "ref", "type", "id"}, k) {
			out = append(out, s)
		}
		out = append(out, namesIn(object[k])...)
	}
	return out
}

// onMount returns the file of this machine that a container's file is, by a folder that it is given.
func (r *reading) onMount(v *invocation, a arg) (arg, bool) {
	m, on, ok := r.mounted(v, a)
	return on, ok && a.known && !m.volume()
}

// fillsExample reports whether a file, where nothing is, gets only the content of files that are meant to be copied.
func (r *reading) fillsExample(v *invocation, file arg) bool {
	return r.freeAt(v, file) != "" && v.name == "cat" && len(v.args) > 0 && len(v.writes) == 1 && !slices.ContainsFunc(v.args, func(a arg) bool {
		return r.judge.places.Purpose(a.text)&place.Example == 0 || r.world.placeOf(a, v.cwd) == placeSecret
	})
}

// present reports whether something is at a path that a command names, which only a person put there.
func (r *reading) present(v *invocation, name string) bool {
	p := r.world.clean(name, v.cwd)
	return v.direct() && r.means.Present != nil && r.means.Present(p) && !r.made(v, p)
}

// amongSecrets reports whether a listed name may be that of a file with secrets, as the listing was asked for such names.
func (w *world) amongSecrets(a arg, cwd string) bool {
	if key := a.among + "\x00" + cwd; key != w.among {
		w.among, w.hides = key, slices.ContainsFunc(strings.Split(a.among, "\n"), func(name string) bool {
			own := w.places.Classes("/"+place.AnyFolders+"/"+name) & place.Own // the gate's, wherever it was found
			return name != "" && own|(w.places.Classes(w.resolve(name, cwd))|w.places.Classes(w.resolve("."+name, cwd)))&place.Secret != 0
		})
	}
	return w.hides
}
