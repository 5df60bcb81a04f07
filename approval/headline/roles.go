package headline

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// call is a call as read for its headline: what its tool is for, by its name, and what its
// arguments are for, by their keys.
type call struct {
	executor string
	// cwd is the folder in which it would run.
	cwd string
	// command is the first text that it would run, code the first that is no line of a shell; empty if there is none.
	command, code string
	words         []string
	// server is the number of leading words that name the tool's server.
	server int
	// resource says that the name is that of a resource with the verb behind it: invoices_create.
	resource bool
	// args are the texts of its arguments by their normalized keys, and spelled the words of these keys.
	args    map[string][]string
	spelled map[string]string
	// keys are the keys of args in order, and ranks the weights of those that were asked for.
	keys  []string
	ranks map[string]int
	// urls are the addresses that it requests.
	urls []string
	// deed is what the name says is done to files; paths are the files that are named.
	deed  operation.Verb
	paths []string
	// trial is the argument that asks for no change; empty if there is none.
	trial string
	// also is what arguments make it do besides, and steps are the operations that it is given a list of.
	also  []also
	steps []step
	// after is what an argument has it do to what its name says is read.
	after *spoken.Act
	// inner are the operations of a list by which it changes one thing.
	inner []step
	// mutations are what it is told to do in GraphQL.
	mutations []step
	// applied is what a manifest describes.
	applied resource
	// fields are those of a web page into which it types.
	fields []string
	// bindings say who gets which role.
	bindings []map[string]any
	// ordered says that the command is what a device is told to do, and no line of a shell.
	ordered bool
	// admits says that what they hold gives everyone a right, replaces that they overwrite what is there.
	admits, replaces bool
}

func callOf(p vaglio.Proposal) *call {
	rd := reading.NewReader(reading.Options{Arguments: true}).Read(p.Call())
	c := &call{executor: p.Executor, cwd: p.Context.Cwd, words: rd.Words, args: map[string][]string{}, spelled: map[string]string{}, ranks: map[string]int{}, trial: trial(p, rd), deed: rd.Deed.Verb, fields: fieldsIn(p.Args)}
	if at := strings.LastIndex(p.Executor, "__"); at > 0 {
		c.server = len(reading.Words(p.Executor[:at]))
	}
	c.ofService()
	c.onMarket()
	if !c.turns() {
		c.joined()
	}
	for i := range rd.Commands {
		if cmd := &rd.Commands[i]; !cmd.Doubt && !cmd.Verb {
			c.command, c.code = cmp.Or(c.command, cmd.Text), cmp.Or(c.code, program(cmd))
		}
	}
	for i := range rd.Paths {
		if rd.Paths[i].Role&reading.RolePath != 0 && !strings.Contains(rd.Paths[i].Text, "\n") {
			c.paths = append(c.paths, rd.Paths[i].Text)
		}
	}
	for i := range rd.URLs {
		c.urls = append(c.urls, rd.URLs[i].Text)
	}
	args := unfolded(unwrapped(p.Args))
	c.take(args)
	c.manifest(p.Args)
	c.specified()
	c.keys = slices.SortedFunc(maps.Keys(c.args), startFirst)
	c.bindings = bindingsIn(args)
	c.orders()
	c.mutations, c.replaces = fieldsAsSteps(args), replaces(p.Args)
	c.also, c.after = alsoOf(args), c.afterwards(args)
	c.steps, c.admits = c.stepsOf(args), admits(map[string]any(p.Args), false)
	return c
}

// startFirst orders keys, those that say when something ends after all others.
func startFirst(a, b string) int {
	end := func(key string) int { return len(ending.FindString(key)) }
	return cmp.Or(min(end(a), 1)-min(end(b), 1), strings.Compare(a, b))
}

// ending matches the keys that say when something ends.
var ending = regexp.MustCompile(`^end(s|ing)?(at|time|date|datetime|index|row|column|line|page|offset|cell)?$`)

// take reads the arguments. The parts of an object that nothing names as a whole are
// arguments, too.
func (c *call) take(args map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		name := reading.Normal(key)
		parts, _ := args[key].(map[string]any)
		if parts != nil && c.envelops(c.unprefixed(key)) {
			c.take(parts)
			continue
		}
		name, spelled, values := inUnits(name, key, args[key])
		c.spelled[name] = spelled
		if !holdsAccount(name, parts) {
			c.args[name] = append(c.args[name], enumerated(name, values)...)
		}
		list, _ := args[key].([]any)
		c.elements(key, list)
		if slices.Contains(amounts(), name) {
			c.currency(parts)
		}
		switch {
		case len(c.args[name]) > 0: // its name stands for the whole
		case spoken.Is("texts wrappers", name), name == "properties":
			c.take(parts)
		default:
			c.takeParts(name, parts)
		}
	}
}

// takeParts reads the parts of an argument that nothing names as a whole.
func (c *call) takeParts(name string, parts map[string]any) {
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		whole, spelled, values := inUnits(name+reading.Normal(part), part, parts[part])
		if !spoken.Is("texts holders", name) { // whose settings they are, the sentence says
			spelled = c.spelled[name] + " " + spelled
		}
		c.args[whole], c.spelled[whole] = append(c.args[whole], values...), spelled
	}
}

// unprefixed returns a key without the nouns of the tool's name with which it begins: of what the ticket_fields are, the name
// of update_ticket says.
func (c *call) unprefixed(key string) string {
	words := reading.Words(key)
	if n := len(words) - 1; n > 0 && c.updates() && !slices.ContainsFunc(words[:n], func(w string) bool { return !c.has(w) }) {
		return words[n]
	}
	return reading.Normal(key)
}

// envelops reports whether an object under a key only holds what others have as arguments. The key may be the verb: updateRequest.
func (c *call) envelops(key string) bool {
	if verb, asks := strings.CutSuffix(key, "request"); asks && verb != "" {
		c.args["action"] = append(c.args["action"], verb)
		return true
	}
	return spoken.Is("texts envelopes", key) || spoken.Is("texts changes", key) && c.updates()
}

// updates reports whether the tool's verb changes what is there.
func (c *call) updates() bool {
	act, _, _ := c.verb()
	return act != nil && (act.Phrase == "updates %s" || act.Phrase == "creates %s")
}

// all returns the values of all of these keys, in order.
func (c *call) all(keys ...string) []string {
	var out []string
	for _, k := range keys {
		out = append(out, c.args[k]...)
	}
	return out
}

// first returns the first value of the first of these keys that has one.
func (c *call) first(keys ...string) string {
	if values := c.values(keys); len(values) > 0 {
		return values[0]
	}
	return ""
}

// values returns all values of the first of these keys that has one.
func (c *call) values(keys []string) []string {
	for _, k := range keys {
		if values := slices.DeleteFunc(slices.Clone(c.args[k]), func(s string) bool { return strings.TrimSpace(s) == "" }); len(values) > 0 {
			return values
		}
	}
	return nil
}

// byRoles describes what a tool that runs no command does with its arguments, if its name
// and their roles tell, and whether that leaves for the outside. kind is how the effects
// judge classified it.
func (c *call) byRoles(kind operation.Kind) (said wording.Sentence, leaves bool) {
	if c.command != "" || kind == operation.KindRead || len(c.words) == 0 {
		return nil, false
	}
	for _, told := range []struct {
		by     func(operation.Kind) wording.Sentence
		leaves bool
	}{
		{c.traded, false},
		{c.exchanged, false},
		{c.payment, false},
		{c.admission, false},
		{c.raised, false},
		{c.assigned, false},
		{c.opened, c.toAll()},
		{c.forwarding, true},
		{c.draft, false},
		{c.forwarded, true},
		{c.mail, true},
		{c.dialed, true},
		{c.event, false},
		{c.issue, false},
		{c.webhook, false},
		{c.request, c.outside()},
		{c.answer, false},
		{c.handed, false},
		{c.posted, true},
		{c.message, c.phones() || c.broadcasts()},
		{c.device, false},
	} {
		if s := told.by(kind); s != nil {
			return s, told.leaves
		}
	}
	return nil, false
}

// outside reports whether one of the call's addresses is outside this machine and its
// private networks.
func (c *call) outside() bool {
	return slices.ContainsFunc(c.urls, func(s string) bool {
		u, err := url.Parse(s)
		if err != nil {
			return true
		}
		return !hosts.Internal(u.Hostname())
	})
}

// phones reports whether the tool sends something to a phone number.
func (c *call) phones() bool {
	return slices.ContainsFunc(c.recipients(), func(s string) bool {
		s = nameOf(s)
		_, number, by := strings.Cut(s, ":") // whatsapp:+39…
		if by {
			s = number
		}
		s, _, network := strings.Cut(s, "@") // 39…@s.whatsapp.net
		digits, ok := strings.CutPrefix(strings.Map(func(r rune) rune {
			if strings.ContainsRune(" -.()", r) {
				return -1
			}
			return r
		}, s), "+")
		return (ok || network || c.speaksOf("texts phones")) && len(digits) > 6 && strings.Trim(digits, "0123456789") == ""
	})
}

// recipients returns those to whom a message goes.
func (c *call) recipients() []string {
	keys := []string{"channel", "channelid", "channelname", "to", "recipient", "recipients", "chat", "chatid", "user", "phone", "phonenumber", "number", "receiveid", "receiverid"}
	for _, key := range slices.Clone(keys) {
		keys = append(keys, "to"+key, key+"s")
	}
	if to := c.all(keys...); len(to) > 0 {
		return to
	}
	return slices.DeleteFunc(c.values([]string{"userid", "userids", "username", "contactid", "customerid", "topic", "segment", "audience", "topicarn", "queue", "queueurl"}), func(s string) bool {
		return strings.EqualFold(s, "all") || spoken.Is("people everyone", reading.Normal(s))
	})
}

// mail describes what a tool sends by mail: to whom, and about what.
func (c *call) mail(kind operation.Kind) wording.Sentence {
	if !c.mails() || !c.sends() {
		return nil
	}
	if said := c.answer(kind); said != nil && said[0].Phrase == replies && len(c.mailed()) == 0 {
		return said
	}
	to, about := c.mailed(), c.first("subject", "oggetto", "title", "body", "text", "message", "content")
	if files := c.attached(); len(files) > 0 && len(to) > 0 {
		return withText(wording.Sentence{{Phrase: "sends mail to %s", Args: []wording.Clause{named(to)}}, {Phrase: "with %s", Args: []wording.Clause{named(files)}}}, about)
	}
	return c.sent("sends mail to %s: %s", "sends mail to %s", "sends mail: %s", to, about)
}

// attached returns the files that go along with what a tool sends.
func (c *call) attached() []string { return c.values(spoken.List("texts attached")) }

// withText adds a text, if there is one, to what is said.
func withText(said wording.Sentence, text string) wording.Sentence {
	if text == "" {
		return said
	}
	return append(said, wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(text)}})
}

// mails reports whether the tool belongs to mail.
func (c *call) mails() bool {
	return c.has("mail", "mails", "email", "emails", "gmail", "outlook", "smtp", "sendmail", "sendgrid", "mailgun")
}

// message describes what a tool says in a chat.
func (c *call) message(kind operation.Kind) wording.Sentence {
	if !c.sends() || c.makes() || kind != operation.KindPeople && kind != operation.KindSend && kind != operation.KindPublish && kind != operation.KindUnknown {
		return nil
	}
	what := cmp.Or(c.first("text", "message", "body", "content", "contents", "status", "title", "blocks"), c.payload())
	what = textIn(what)
	if files := c.attached(); len(files) > 0 && len(c.recipients()) > 0 {
		return withText(wording.Sentence{{Phrase: "sends %s to %s", Args: []wording.Clause{named(files), named(c.recipients())}}}, cmp.Or(what, c.first("caption")))
	}
	if what == "" || len(c.urls) > 0 {
		return nil
	}
	alone := map[bool]wording.Phrase{true: "broadcasts a message: %s", false: "sends a message: %s"}[c.broadcasts()]
	return c.sent("sends a message to %s: %s", "sends a message to %s", alone, c.recipients(), what)
}

// broadcasts reports whether a message goes to all whom a bot or a list reaches, who are no members of a team.
func (c *call) broadcasts() bool {
	return c.has("broadcast") && len(c.recipients()) == 0 && !c.members() && !c.speaksOf("queues names")
}

// makes reports whether the tool's name says that it makes or changes a thing, which is no message:
// a post is one of those.
func (c *call) makes() bool {
	does, _, _ := c.verb()
	if does == nil || !c.has("post", "posts") || c.has("message", "messages", "dm", "reply", "comment") {
		return false
	}
	t, _ := c.named()
	return does.Partly || does.Phrase == "schedules %s" || does.Phrase == "posts %s" && t.thing != nil && t.act.Makes
}

// payload returns what a message to somebody holds, if an argument is named so.
func (c *call) payload() string {
	if !c.has("message") || len(c.recipients()) == 0 {
		return ""
	}
	return c.first("payload", "value")
}

// sends reports whether the tool's name says that it sends something.
func (c *call) sends() bool {
	leads := c.server < len(c.words) && c.words[c.server] == "send" // send_to_list
	if at := slices.Index(c.words, "reply"); at > c.server+1 && at == len(c.words)-1 {
		if of, _, _ := spoken.ThingOf(c.words[:at]); of == nil && !leads {
			return false // a vacation_reply is sent later
		}
	}
	return (c.has("send", "invia", "spedisci", "inoltra", "post", "reply", "forward", "notify", "tweet", "broadcast", "sendmail", "message", "publish", "dm", "produce") || c.does("add", "message messages")) &&
		(leads || !c.has("list", "get", "read", "search", "find")) && !c.has("draft", "delete", "edit", "update", "schedule", "set", "auto", "configure")
}

// sent says that something goes to somebody, as far as both are named.
func (c *call) sent(both, whom, what wording.Phrase, to []string, about string) wording.Sentence {
	switch {
	case len(to) > 0 && about != "":
		return wording.Sentence{{Phrase: both, Args: []wording.Clause{named(to), prose(about)}}}
	case len(to) > 0:
		return wording.Sentence{{Phrase: whom, Args: []wording.Clause{named(to)}}}
	case about != "":
		return wording.Sentence{{Phrase: what, Args: []wording.Clause{prose(about)}}}
	default:
		return nil
	}
}

// plainly says only which command it is, or which tool, with the first of its arguments.
func (c *call) plainly() wording.Sentence {
	if line, _, _ := strings.Cut(strings.TrimSpace(c.command), "\n"); line != "" {
		return wording.Sentence{{Phrase: "runs %s", Args: []wording.Clause{prose(line)}}}
	}
	return c.told(wording.Sentence{{Phrase: "calls %s", Args: []wording.Clause{c.tool()}}})
}
