package effects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/filemode"
	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// told returns the operations that the knowledge base finds in a command, without those that only the guard uses. The caller must not change them.
func (c *command) told() commands.Told {
	was := &c.r.lastTold
	if was.of == c.invocation && was.program == c.called {
		return was.Told
	}
	words := make([]shell.Word, len(c.all))
	for i := range c.all {
		words[i] = c.all[i].shellWord()
	}
	t := c.r.judge.tables.Tell(commands.Command{Name: c.called, Words: words, Fed: c.stdin.kind != shell.InputInherited, Graded: true})
	t.Known = t.Graded
	*was = lastTold{Told: t, of: c.invocation, program: c.called}
	return t
}

// lastTold is what the knowledge base told last. Several rules ask about each command.
type lastTold struct {
	commands.Told
	of      *invocation
	program string
}

// shellWord returns the word that an argument was, or its text as a word.
func (a arg) shellWord() shell.Word {
	if a.word.Is("") {
		return shell.Text(a.text)
	}
	return a.word
}

// isSeveral reports whether a word names what a search, a pattern or a command printed, or in a program what it listed.
func (r *reading) isSeveral(v *invocation, a arg) bool {
	listed := v.Call == nil || strings.Contains(path.Base(a.text), "*") && slices.Contains(r.inlineListed, a.within())
	return a.isListed() || listed && a.word.HasGlob() || v.Call == nil && len(a.from) > 0 && len(a.names) == 0
}

// isThere reports whether a word names files that lie there: all that a pattern matches, git lists or a search finds.
func (a arg) isThere() bool {
	if !a.word.HasUnknown() {
		return a.word.HasGlob() && strings.ContainsAny(path.Base(a.text), "*?[")
	}
	return len(a.from) == 1 && (a.from[0] == "git" || a.isListed()) && strings.TrimPrefix(a.text, "./") == "$("+a.from[0]+")"
}

// replaces returns the effect of putting something else into a file: into all that lie there, that of their removal.
func (r *reading) replaces(v *invocation, a arg, verb wording.Phrase) []Effect {
	out := r.write(v, a, verb)
	if v.Call != nil || !a.isThere() || verb != "writes" && !strings.HasPrefix(string(verb), "copies") { // others change what is there
		return out
	}
	return insteadOfDeletes(r.remove(v, a), wording.Clause{Phrase: verb})
}

// operationsRule judges a command by its operations.
func operationsRule(c *command) []Effect {
	t := c.told()
	var out []Effect
	changes, links, since := false, false, len(c.r.did)
	c.keepsFetched(t.Operations)
	for i := range t.Operations {
		o := &t.Operations[i]
		links = links || o.Verb == operation.Link
		if (o.Verb == operation.Copy || links || c.settles(o)) && c.copiesExample(o) {
			return own(say("copies the example %s to %s", argOf(o.Object.Word).text, argOf(o.To).text))
		}
		changes = changes || !slices.Contains([]operation.Verb{operation.Read, operation.Use, operation.Inspect, operation.Search}, o.Verb)
		out = append(out, c.operation(o)...)
	}
	c.bothEnds(t.Operations, out)
	if links {
		c.r.linked(since)
		c.leadsOut(t.Operations)
	}
	c.brings(t.Operations)
	if t.Spent {
		out = append(out, unknown(say("runs %s with more names than are read", c.name), c.name)...)
	}
	if len(out) > 0 {
		return out
	}
	return c.onlyWorks(changes)
}

// onlyWorks returns the effect of a command whose operations have none of their own.
func (c *command) onlyWorks(changes bool) []Effect {
	switch {
	case c.why != "":
		return own(c.said(c.rest(c.took)))
	case changes:
		return own(say("works in the workspace"))
	}
	return nil
}

// settles reports whether something is moved to where a file with secrets belongs and nothing is.
func (c *command) settles(o *operation.Operation) bool {
	return o.Verb == operation.Move && c.secret(argOf(o.To)) && c.r.freeAt(c.invocation, argOf(o.To)) != ""
}

// brings records the folders that a command fills from outside the workspace, or that lead there.
func (c *command) brings(all []operation.Operation) {
	for i := range all {
		o := &all[i]
		from, to := argOf(o.Object.Word), argOf(o.To)
		if !bringsFolder(o, from) || to.text == "" || !c.direct() {
			continue
		}
		at := c.r.world.clean(to.text, c.cwd)
		if c.r.brings(c.r.world.clean(from.text, c.cwd)) {
			c.passesUnread(from, at)
		}
		if !c.r.liesOutside(c.invocation, from) {
			continue
		}
		c.r.brought = append(c.r.brought, path.Join(at, path.Base(from.text)))
		if at != c.r.world.cwd || strings.HasSuffix(from.text, "/") || strings.HasSuffix(from.text, "/.") {
			c.r.brought = append(c.r.brought, at)
		}
	}
}

// bringsFolder reports whether an operation may put a folder somewhere.
func bringsFolder(o *operation.Operation, from arg) bool {
	return o.Verb == operation.Copy && o.Recursive || (o.Verb == operation.Move || o.Verb == operation.Link) && path.Ext(from.text) == ""
}

// bothEnds says which files are moved, copied or linked to a place: those that the table names or, if it only names the place, the operands before it.
func (c *command) bothEnds(all []operation.Operation, out []Effect) {
	var names []string
	for i := range all {
		if v := all[i].Verb; v == operation.Move || v == operation.Copy || v == operation.Link {
			names = append(names, c.r.whole(c.invocation, argOf(all[i].Object.Written)).text)
		}
	}
	if last := len(c.operands) - 1; names == nil && c.took > 1 && last > 0 {
		names = lists.Each(c.operands[min(c.took, last)-1:last], func(a arg) string { return c.r.whole(c.invocation, a).text })
	}
	sayEnds(names, out)
}

// sayEnds names the sources in sentences that only name the target.
func sayEnds(names []string, out []Effect) {
	for i := range out {
		out[i].Why = spoken.Ends(out[i].Why, names)
	}
}

// transfers returns the effects of the options of a command that fetches or sends: the files that they name are saved or sent.
func (c *command) transfers() (out []Effect) {
	t := c.told()
	for i := range t.Operations {
		o := &t.Operations[i]
		a := argOf(o.Object.Word)
		if o.Role != operation.Option || a.text == "-" || a.text == "" || a.text == "%" {
			continue
		}
		if o.Verb == operation.Write {
			c.r.fetched[lastPart(a.text)] = true
		}
		out = append(out, c.operation(o)...)
	}
	return out
}

// operation returns the effect of one operation: what it does, and where.
func (c *command) operation(o *operation.Operation) []Effect {
	a := argOf(o.Object.Word)
	if o.Object.Host || slices.Contains([]operation.Role{operation.Inside, operation.Mention}, o.Role) {
		return c.elsewhereTo(o)
	}
	if m, on, ok := c.r.mounted(c.invocation, a); ok && a.known {
		return c.inMount(o, m, a, on)
	}
	return c.does(o, a)
}

// inMount returns the effect of an operation on a host folder or volume that a container sees.
func (c *command) inMount(o *operation.Operation, m mount, a, on arg) []Effect {
	switch {
	case m.volume() && (o.Verb == operation.Empty || o.Verb == operation.Move):
		return c.deletes(o, a)
	case m.volume():
		return c.does(o, a)
	}
	inner := *c
	inner.invocation = c.onHost(c.r.world.cwd)
	out := inner.does(o, on)
	if to, ok := c.r.onMount(c.invocation, argOf(o.To)); ok && o.Verb == operation.Move {
		inner.remembersMove(on, to)
	}
	for i := range out {
		out[i].lasts = true
	}
	return out
}

// does returns the effect of an operation where the command works.
func (c *command) does(o *operation.Operation, a arg) []Effect {
	a = c.r.whole(c.invocation, a)
	switch o.Verb {
	case operation.Delete:
		return c.deletes(o, a)
	case operation.Discard, operation.Trash:
		return c.discard(o.Verb, a)
	case operation.Empty:
		return c.r.empty(c.invocation, a)
	case operation.Write, operation.Replace, operation.Create, operation.MakeFolder:
		return c.writes(o, a)
	case operation.Move:
		return c.moveAway(a, c.r.whole(c.invocation, argOf(o.To)))
	case operation.Copy, operation.Read, operation.Link:
		return c.reveals(o, a)
	case operation.Permit:
		return c.r.permits(c.invocation, join(argsOf(o.With)), a)
	case operation.Search:
		return c.searches(o.With, a)
	default:
		return nil
	}
}

// elsewhereTo returns the effect of copying to another machine.
func (c *command) elsewhereTo(o *operation.Operation) []Effect {
	last := len(c.operands) - 1
	if o.Role != operation.Target || last < 1 {
		return nil
	}
	dest := c.operands[last].text
	if o.Verb == operation.Delete {
		return []Effect{usual(KindDelete).with(say("deletes what %s has besides", dest), dest).as(Irreversible, ReachShared)}
	}
	return one(KindSend, say("copies %s to %s", join(c.operands[:last]), dest), dest)
}

// writes returns the effect of writing a file, or of making one or a folder.
func (c *command) writes(o *operation.Operation, a arg) []Effect {
	if told := len(c.r.did); o.Verb == operation.MakeFolder || c.Call != nil && c.Call.Verb == shell.VerbCreate {
		defer func() {
			for i := range c.r.did[told:] {
				c.r.did[told+i].Folder = true
			}
		}()
	}
	if o.Verb != operation.Create && o.Verb != operation.MakeFolder {
		return c.r.replaces(c.invocation, a, cmp.Or(wording.Phrase(o.Phrase), "writes"))
	}
	out := c.r.write(c.invocation, a, cmp.Or(wording.Phrase(o.Phrase), "creates"))
	for i := range out {
		out[i].Kind, out[i].Reversibility = KindCreate, Reversible
	}
	return out
}

// deletes returns the effect of a removal; in a target, of everything that was not copied there.
func (c *command) deletes(o *operation.Operation, a arg) []Effect {
	out := c.r.remove(c.invocation, a)
	if o.Phrase != "" && o.Role != operation.Target {
		return insteadOfDeletes(out, wording.Clause{Phrase: wording.Phrase(o.Phrase)})
	}
	for i := range out {
		if why := out[i].Why; o.Role == operation.Target && why[0].Phrase == deletes && why[1].Text == a.text {
			out[i].Why = append(say("deletes what %s has besides the copied files", a.text), why[2:]...)
		}
	}
	return out
}

// reveals returns the effect of reading or copying a secret. A copy to another secret place reveals nothing.
func (c *command) reveals(o *operation.Operation, a arg) []Effect {
	switch {
	case !c.secret(a):
		return nil
	case o.Verb == operation.Read && len(c.invocation.writes) == 1 && c.secret(c.invocation.writes[0]) && !c.toError:
		return nil // what it prints goes to a file that holds secrets itself
	case o.Verb == operation.Read && c.r.hidden(c.invocation, a):
		return nil
	case o.Verb == operation.Read:
		return one(KindCredentials, wording.Sentence{{Phrase: cmp.Or(wording.Phrase(o.Phrase), "shows")}, wording.Say("the secrets in %s", a.text)}, a.text)
	case c.secret(argOf(o.To)):
		return nil
	case o.Verb == operation.Link:
		return linksSecrets(a, o.To.String())
	}
	return one(KindCredentials, say("copies the secrets in %s", a.text), a.text)
}

// linksSecrets returns the effect of another name for a file with secrets. In a folder it keeps its own, by which it is known.
func linksSecrets(a arg, to string) []Effect {
	if strings.HasSuffix(strings.TrimRight("/"+to, "."), "/") {
		return nil
	}
	return one(KindCredentials, say("gives the secrets in %s another name", a.text), a.text)
}

func (c *command) secret(a arg) bool { return c.r.world.placeOf(a, c.cwd) == placeSecret }

// discard is the effect of removing what can be had again, as from the trash.
func (c *command) discard(verb operation.Verb, a arg) []Effect {
	out := c.r.remove(c.invocation, a)
	for i := range out {
		out[i].Reversibility = Reversible
		if said := out[i].Why; verb == operation.Trash && said[0].Phrase == deletes {
			out[i].Why = append(say("moves %s to the trash", said[1].Text), said[2:]...)
		}
		if out[i].Counts() == ReachWorkspace {
			out[i].Kind = KindMove
		}
	}
	return out
}

// moveAway returns the effect of a move on the place that the file leaves.
func (c *command) moveAway(a, to arg) []Effect {
	c.remembersMove(a, to)
	switch c.r.world.placeOf(a, c.cwd) {
	case placeWorkspace, placeTemp:
		if to.text != "" && c.r.world.placeOf(to, c.cwd) == placeNowhere {
			return c.r.remove(c.invocation, a)
		}
		p, folder := c.r.world.clean(a.text, c.cwd), c.r.judge.tables.ofClass("repository-folder", lastPart(a.text))
		if !folder && c.r.judge.places.Classes(p)&place.Repository == 0 || c.r.made(c.invocation, p) {
			return nil
		}
	case placeNowhere, placeControl, placeSecret, placeHome, placeSystem, placeUnknown, placeOption:
	}
	why := say("moves %s away from where it lies", a.text)
	if to.text != "" {
		why = say("moves %s to %s", a.text, to.text)
	}
	return []Effect{usual(KindMove).with(why, a.text).as(Partial, ReachUser)}
}

// copiesExample reports whether a file that is meant to be copied, such as .env.example, is copied within the workspace.
func (c *command) copiesExample(o *operation.Operation) bool {
	a, to := argOf(o.Object.Word), argOf(o.To)
	return to.text != "" && !urls.IsRemote(to.text) &&
		c.r.judge.places.Purpose(a.text)&place.Example != 0 && !c.secret(a) && c.r.world.inside(c.r.world.clean(to.text, c.cwd)) &&
		!c.coversSecrets(to)
}

// coversSecrets reports whether a copy takes the place of a file with secrets, which is there and
// which nobody but a person filled. An option, or a test in front of the command, may spare it.
func (c *command) coversSecrets(to arg) bool {
	p := c.r.world.clean(to.text, c.cwd)
	spared := func(w shell.Word) bool { return c.r.world.clean(argOf(w).text, c.cwd) == p }
	return c.secret(to) && c.r.present(c.invocation, to.text) &&
		!c.has("-n", "--no-clobber", "--update=none", "-i") && !slices.ContainsFunc(c.Unless, spared)
}

// permits returns the effects of changing the mode of files.
func (r *reading) permits(v *invocation, mode string, files ...arg) (out []Effect) {
	for _, a := range files {
		e := usual(KindPermissions).with(say("changes who may use %s", a.text), a.text)
		p := r.world.placeOf(a, v.cwd)
		if p == placeSystem {
			e.Reach = ReachSystem
		}
		switch {
		case filemode.SetsID(mode):
			e = e.with(say("lets whoever runs %s act as its owner or group", a.text), a.text).inFolder(p == placeWorkspace)
		case filemode.OpensToAll(mode):
			e = e.with(say("opens %s to everyone", a.text), a.text).inFolder(p == placeWorkspace)
		case p == placeWorkspace, p == placeTemp, p == placeNowhere, p == placeSecret && filemode.Private(mode) && r.world.ofUser(a, v.cwd),
			p == placeControl && r.facts.Wrote(r.world.clean(a.text, v.cwd)): // what it does was judged when it was written
			e.Reach, e.Reversibility = ReachWorkspace, Reversible
		}
		out = append(out, e)
	}
	return out
}

// landed returns the content of a file that a script copies or moves, which it may have written.
func (r *reading) landed(s *shell.Script, from string) (string, bool) {
	if w, here := s.Wrote[from]; here {
		return r.textOf(w)
	}
	return r.means.Files.Content(from)
}
