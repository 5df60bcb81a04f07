package headline

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// supported withdraws what the effects judge assumes about a call to be on the safe side,
// if its name and arguments may just as well mean something else: people must not be told
// anything that may be false.
func (c *call) supported(o *operations) {
	if c.command != "" {
		return
	}
	for i := range o.list {
		e := &o.list[i]
		c.shown(e)
		if c.doubted(e) {
			e.said = c.told(c.called())
			e.forget()
		}
		if set, _, _ := c.verb(); e.kind == operation.KindPermissions && c.operates() && set != nil && set.Partly {
			e.undo = operation.Partial // it is set to a value and gives nobody a right
		}
		if e.byName() {
			c.guess(e)
		} else if c.trashes() {
			e.trashed()
		}
	}
}

// trashed rewrites the deletion of one thing as moving it to the trash.
func (o *one) trashed() {
	if said := act(o.said); o.kind == operation.KindDelete && len(said) > 1 && said[0].Phrase == "deletes" {
		o.said, o.undo = wording.Sentence{{Phrase: toTrash, Args: said[1:2]}}, operation.Partial
	}
}

// belittled lets a command speak for itself if the judge says only that it changes
// something while the command says that it deletes. Whether that can be undone is then
// unknown.
func (c *call) belittled(o *operations) {
	if len(o.list) != 1 || strings.ContainsAny(c.command, ";|&$`\n") {
		return
	}
	e, words := &o.list[0], strings.Fields(c.command)
	deletes := slices.ContainsFunc(words[:min(verbStands, len(words))], func(w string) bool {
		verb, _, _ := strings.Cut(w, "-")
		return spoken.Is("verbs deletes", verb)
	})
	if said := act(e.said); deletes && len(said) > 0 && strings.HasPrefix(string(said[0].Phrase), "changes ") && !e.general && e.undo != operation.Irreversible {
		e.said, e.general = c.plainly(), true
	}
}

// narrowed says of a deletion that an option of its command narrows that it is of files below
// the folder: which they are, the judge does not tell.
func (c *call) narrowed(o *operations) {
	if !slices.ContainsFunc(strings.Fields(c.command), func(w string) bool {
		option, dashed := strings.CutPrefix(strings.ToLower(w), "-")
		return dashed && spoken.Is("options narrow", option)
	}) {
		return
	}
	for i := range o.list {
		e := &o.list[i]
		said := act(e.said)
		if len(said) < 2 || said[0].Phrase != "deletes" {
			continue
		}
		if folder := strings.TrimSuffix(said[1].Text, "/*"); !strings.ContainsAny(folder, "*?") {
			e.said = wording.Sentence{{Phrase: "deletes files below"}, {Text: cmp.Or(folder, "/")}}
		}
	}
}

// verbStands is the number of leading words among which a command's verb may be.
const verbStands = 5

// doubted reports whether the call may just as well do something else than the judge says.
func (c *call) doubted(e *one) bool {
	switch e.kind {
	case operation.KindDatabase:
		return c.looks()
	case operation.KindOverwrite:
		if e.byName() && c.deletes() {
			return true
		}
	default:
	}
	if len(e.said) == 0 {
		return false
	}
	switch e.said[0].Phrase {
	case "stays with the agent and its user: %s":
		return c.concerns()
	case "runs a check or a report: %s":
		return c.has("notebook", "script", "procedure")
	default:
		return false
	}
}

// concerns reports whether the call concerns others than the agent and its user: it names what is
// theirs or costs something, or hands something out.
func (c *call) concerns() bool { return c.members() || c.costs() }

// costs reports whether the call names what is others' or costs something, or hands something out.
func (c *call) costs() bool {
	if c.holdsFinal() || len(c.amount()) > 0 || c.first("account", "accountid", "customer", "customerid") != "" {
		return true
	}
	does, _, _ := c.verb()
	return does != nil && slices.Contains([]wording.Phrase{"releases %s", "publishes %s", deploys, "shares %s"}, does.Phrase)
}

// shown takes what everyone will see, or what a service keeps, for no matter of the agent and its user:
// the tool's name says what it is. Whom a thing touches that no service is said to keep, nobody knows.
func (c *call) shown(e *one) {
	if len(e.said) == 0 || e.said[0].Phrase != "stays with the agent and its user: %s" || c.costs() || c.ownServer() && !c.public() {
		return
	}
	reach := operation.Reach("")
	switch said, _ := c.object(); {
	case c.public():
		reach = operation.ReachPublic
	case said == nil:
		return
	case c.server > 0:
		reach = operation.ReachShared
	}
	e.said = wording.Sentence{{Phrase: spoken.Kind(string(operation.KindCreate))}, wording.Say(wording.ByTheTool, strings.Join(c.words, "_"))}
	e.kind, e.undo, e.reach = operation.KindCreate, operation.Partial, reach
}

// ownServer reports whether what the tool's server keeps is the agent's own.
func (c *call) ownServer() bool {
	server := slices.DeleteFunc(slices.Clone(c.words[:c.server]), func(w string) bool { return w == "mcp" })
	return spoken.Is("servers own", strings.Join(server, "-"))
}

// guess withdraws what is only based on one word of the tool's name.
func (c *call) guess(e *one) {
	switch {
	case e.kind == operation.KindPhysical && !c.operates() && !c.deletes() && c.has("open", "apri"):
		e.kind, e.undo = operation.KindCreate, operation.Partial // a ticket or an account: nothing physical
	case e.kind == operation.KindPublish && c.speaksOf("queues names"):
		e.reach = operation.ReachShared
	}
	if e.reach == operation.ReachShared && c.speaksOf("local names") {
		e.reach = operation.ReachUser
	}
}

// holdsFinal reports whether an argument names something that is nobody's own, such as a
// subscription.
func (c *call) holdsFinal() bool {
	for key, values := range c.args {
		if thing := spoken.ThingAt(key); thing != nil && thing.Final && len(values) > 0 && strings.HasSuffix(key, "id") {
			return true
		}
	}
	return false
}

// looks reports whether the tool's name says that it examines a text, without necessarily
// doing what the text says.
func (c *call) looks() bool {
	return c.speaksOf("texts looks") && !c.has("run", "execute", "exec", "apply")
}

// deletes reports whether an argument says that something is deleted, while the tool's name
// says only that it changes something.
func (c *call) deletes() bool {
	told := reading.Words(c.first("action", "operation", "method"))
	return len(told) > 0 && spoken.Is("verbs deletes", told[0])
}

// toTrash says that something goes where it can be had again.
const toTrash wording.Phrase = "moves %s to the trash"

// trashes reports whether the tool's name says that what it takes goes to the trash.
func (c *call) trashes() bool {
	does, _, _ := c.verb()
	return does != nil && does.Phrase == toTrash
}

// operates reports whether the call names something that is operated, not just a verb that
// is also used of such things.
func (c *call) operates() bool {
	for key, values := range c.args {
		if len(values) > 0 && spoken.Is("operated keys", key) {
			return true
		}
	}
	return c.speaksOf("operated names")
}

// speaksOf reports whether a word of the tool's name is on the list.
func (c *call) speaksOf(list string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is(list, w) })
}

// vague reports whether the judge gives only the kind of action, or only a change and the
// words of the call. Whether that can be undone is then unknown.
func (o *one) vague() bool {
	if len(o.said) == 0 {
		return false
	}
	does := o.said[0].Phrase
	if does == "sends a request that changes something by GraphQL" {
		return true
	}
	if does == "creates or replaces %s" && strings.HasPrefix(string(o.said[0].Args[0].Phrase), "the table") {
		return true // Of what stands in its place, the rows are gone.
	}
	if does == spoken.Kind(string(o.kind)) {
		return len(o.said) > 1 && (o.said[1].Phrase == ": %s" || o.kind == operation.KindOverwrite)
	}
	return strings.HasPrefix(string(does), "changes ") && (strings.HasSuffix(string(does), ": %s") || strings.HasSuffix(string(does), ": %s %s"))
}

// kept leaves the reach open if a file with secrets is written by a relative path: the
// secrets may reach further, and the file may be in the workspace.
func (o *one) kept() {
	what := act(o.said)
	if o.reach != operation.ReachUser || o.kind != operation.KindOverwrite || len(what) < 2 {
		return
	}
	file := what[1].Text
	if ends := what[0].Args; len(ends) > 0 && what[1].Phrase == ", which holds secrets" {
		file = ends[len(ends)-1].Text
	}
	if file != "" && isBelow(".", path.Clean(file)) && !strings.ContainsAny(file, "$`~") {
		o.reach = ""
	}
}

// served says nothing of what follows from a request to a service of this machine: what that
// makes of it is not known, and it need not lie in the workspace.
func (o *one) served() {
	if o.reach == operation.ReachWorkspace {
		o.reach, o.general = "", true
	}
}

// called says only which tool is called.
func (c *call) called() wording.Sentence {
	return wording.Sentence{{Phrase: "calls the tool %s", Args: []wording.Clause{c.tool()}}}
}

// tool names the tool as its server does, and the server, if the name tells them apart.
func (c *call) tool() wording.Clause {
	full, ok := strings.CutPrefix(c.executor, reading.MCPPrefix)
	server, name, two := strings.Cut(full, "__")
	if !ok || !two || server == "" || name == "" || strings.Contains(name, "__") {
		return wording.Clause{Text: c.executor}
	}
	return wording.Say("%s of %s", name, server)
}

// means reports whether the tool's name itself says what the judge graded it as. The judge
// goes by the most common meaning of the words.
func (c *call) means(kind operation.Kind) bool {
	switch kind {
	case operation.KindDelete:
		return c.speaksOf("verbs deletes") && !c.trashes()
	case operation.KindRead, operation.KindOverwrite, operation.KindMove, operation.KindKill, operation.KindInstall, operation.KindPower,
		operation.KindSchedule:
		return true
	case operation.KindPeople:
		return c.sends() && !c.operates() && (c.first("text", "message", "body", "content") != "" || len(c.recipients()) > 0)
	case operation.KindPhysical:
		return c.operates()
	default:
		said, _, _ := c.verb()
		return said != nil && said.Phrase == spoken.Kind(string(kind))+" %s"
	}
}

// guessed describes an action by the tool's name alone, if nothing else says what it applies to.
func (c *call) guessed(worst *one) wording.Sentence {
	own, ends := c.ownWords()
	switch {
	case own == nil && c.torn():
		worst.open()
	case c.means(worst.kind):
		c.finally(worst)
		if own == nil {
			return c.some(act(worst.said))
		}
	case c.nounsSay(worst.kind):
	case own != nil:
		c.set(worst)
	default:
		worst.forget()
	}
	switch {
	case own == nil:
		return c.told(c.called())
	case worst.kind == operation.KindCredentials: // nobody knows who else has them
		worst.reach = operation.ReachShared
	case ends && worst.changes():
		worst.undo = operation.Irreversible
	}
	return own
}

// nounsSay reports whether what a tool's name speaks of is enough to say that a call does this.
func (c *call) nounsSay(kind operation.Kind) bool {
	return kind == operation.KindSpend && c.has(strings.Fields(moneyWords())...) || kind == operation.KindCredentials
}

// set says of what is only set to a value, though its noun made it a right, and of a property, that it can be set back in
// part; whether all else can be undone stays open.
func (c *call) set(worst *one) {
	does, at, n := c.verb()
	known := worst.kind == operation.KindPermissions || spoken.Property(strings.Join(c.words[at+n:], "-")) != ""
	worst.open()
	if known && does.Partly {
		worst.general = false
	}
}

// exposed corrects whom a change touches that an argument lets everyone see.
func (c *call) exposed(worst *one) {
	if worst.changes() && c.public() {
		worst.reach = operation.ReachPublic
	}
}

// finally corrects whether what the name itself says can be undone.
func (c *call) finally(worst *one) {
	final := slices.ContainsFunc(c.words, func(w string) bool { act, _, _ := spoken.ActIn([]string{w}); return act != nil && act.Final })
	if does, _, _ := c.act(); worst.kind == operation.KindOverwrite && final && (does == nil || !does.Turns) {
		worst.undo = operation.Irreversible
	}
	worst.general = worst.kind != operation.KindCreate
}

// forget marks what the action does as unknown. What it was taken for still counts where
// the worst calls require more than a yes.
func (o *one) forget() {
	reach := o.touches()
	o.feared = o.undo == operation.Irreversible && (reach == operation.ReachShared || reach == operation.ReachPublic)
	o.kind = operation.KindUnknown
}

// trial returns the argument by which a call asks its tool to change nothing, or "". Nobody
// has declared that the tool knows it.
func trial(p vaglio.Proposal, rd *reading.Reading) string {
	for _, key := range slices.Sorted(maps.Keys(p.Args)) {
		if rd.Role(key)&reading.RoleClaim == 0 || reading.Normal(key) == "mode" {
			continue
		}
		if v := p.Args[key]; v == true || v == "true" {
			return key
		}
	}
	return ""
}

// tried adds that the call asks for no change by an argument that the tool may not know.
func (c *call) tried(said wording.Sentence) wording.Sentence {
	if c.trial == "" || c.command != "" || len(said) == 0 || strings.HasPrefix(string(said[0].Phrase), "calls") {
		return said
	}
	return said.And(", unless the tool heeds %s", c.trial)
}

// unjudged describes a tool call that no judge described, such as one that the guard
// denied, by its name and arguments. It returns nil if they do not tell.
func (c *call) unjudged() wording.Sentence {
	if c.command != "" || len(c.words) == 0 {
		return nil
	}
	if len(c.paths) > 0 && c.server == 0 || c.speaksOf("files names") {
		switch {
		case len(c.paths) == 0:
		case c.deed == operation.Write:
			return wording.Sentence{{Phrase: "writes"}, named(c.paths)}
		case c.deed == operation.Delete:
			return wording.Sentence{{Phrase: "deletes"}, named(c.paths)}
		case c.deed == operation.Use && c.speaksOf("texts shown"):
			return wording.Sentence{{Phrase: "reads %s", Args: []wording.Clause{named(c.paths)}}}
		}
	}
	said, _ := c.object()
	return said
}
