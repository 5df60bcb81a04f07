package headline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// commentsOn says that a tool writes below a thing without changing the thing.
const commentsOn wording.Phrase = "comments on %s: %s"

// replies says that a tool answers what somebody has written.
const replies wording.Phrase = "replies to %s: %s"

// besidesComment says that a change of a thing comes with words for those who see it.
const besidesComment wording.Phrase = "with a comment: %s"

// answer describes a reply to, or a comment on, a thing that the arguments name.
func (c *call) answer(operation.Kind) wording.Sentence {
	what, phrase := c.first("text", "message", "body", "comment", "commentbody", "content", "richtext"), replies
	if c.has("comment") && !c.has("reply", "respond") {
		phrase = commentsOn
	}
	if what == "" || !c.answers() {
		return nil
	}
	for _, key := range c.keys {
		if to := c.answered(key); to != nil {
			return wording.Sentence{{Phrase: phrase, Args: []wording.Clause{*to, prose(what)}}}
		}
	}
	return nil
}

// answered returns the thing that the argument with this key identifies, if one can answer it or
// comment on it, and the repository that it is in.
func (c *call) answered(key string) *wording.Clause {
	for _, end := range []string{"number", "id", "key", "iid", "idorkey", "keyorid"} {
		stem, ok := strings.CutSuffix(key, end)
		thing, _, _ := spoken.ThingOf([]string{stem})
		if !ok || thing == nil || slices.Contains(thing.Words, "comment") && !c.has("reply", "respond") || len(c.args[key]) == 0 {
			continue
		}
		if stem == "message" && c.mails() {
			thing, _, _ = spoken.ThingOf([]string{"mail"})
		}
		to := wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[key])}}
		if where := c.repository(); where != "" {
			to = wording.Clause{Phrase: "%s in %s", Args: []wording.Clause{to, {Text: where}}}
		}
		return &to
	}
	return nil
}

// answers reports whether the tool's name says that it replies to a thing, not to a person.
func (c *call) answers() bool {
	return c.has("comment", "reply", "respond") && !c.has("list", "get", "delete", "edit", "update", "resolve") && len(c.recipients()) == 0
}

// handed says that a tool hands the conversation over to a person, and why.
func (c *call) handed(operation.Kind) wording.Sentence {
	does, at, n := c.verb()
	if does == nil || !slices.Contains([]wording.Phrase{"transfers %s", "escalates %s"}, does.Phrase) || len(c.words) <= at+n || joins(c.words[at+n]) != "to %s" || !c.speaksOf("people staff") {
		return nil
	}
	if why := c.first("summary", "reason", "message", "text", "note"); why != "" {
		return wording.Sentence{{Phrase: "hands the conversation over to a person: %s", Args: []wording.Clause{prose(why)}}}
	}
	return wording.Sentence{{Phrase: "hands the conversation over to a person"}}
}

// dialed says which phone a tool calls.
func (c *call) dialed(operation.Kind) wording.Sentence {
	does, _, _ := c.verb()
	calls := slices.ContainsFunc(c.words[c.server:], func(w string) bool { return slices.Contains([]string{"call", "dial", "phone", "ring"}, w) })
	if !calls || c.has("sms", "text", "message", "send") || !c.phones() || does != nil && !does.Makes && !does.Sets {
		return nil
	}
	return c.sent("calls %s: %s", "calls %s", "", c.recipients(), c.first("message", "text", "say", "body", "content"))
}

// posted describes what a tool posts in public.
func (c *call) posted(operation.Kind) wording.Sentence {
	social := slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("public social", w) })
	what := c.first("title", "text", "status", "content", "message", "body", "caption")
	makes := c.sends() || slices.Index(c.words, "share") == c.server || c.has("create") && c.has("status", "tweet", "toot", "thread", "note", "skeet")
	if !social || !c.has("post", "tweet", "publish", "share", "create") || !makes || what == "" || len(c.recipients()) > 0 {
		return nil
	}
	return wording.Sentence{{Phrase: "posts publicly: %s", Args: []wording.Clause{prose(what)}}}
}

// mailed returns those to whom a mail goes.
func (c *call) mailed() []string {
	return c.all("to", "torecipients", "recipient", "recipients", "destinatario", "destinatari", "cc", "bcc")
}

// forwarded describes a mail that goes on to others, and to whom.
func (c *call) forwarded(operation.Kind) wording.Sentence {
	message, to := c.first("messageid", "emailid", "mailid", "threadid"), c.mailed()
	if message == "" || len(to) == 0 || !c.has("forward", "inoltra") || !c.sends() {
		return nil
	}
	said := wording.Sentence{{Phrase: "forwards the message %s to %s", Args: []wording.Clause{{Text: message}, named(to)}}}
	if words := c.first("comment", "note", "body", "text", "message"); words != "" {
		return append(said, wording.Clause{Phrase: besidesComment, Args: []wording.Clause{prose(words)}})
	}
	return said
}

// forwarding describes a rule that passes mail on by itself from then on, and to whom.
func (c *call) forwarding(kind operation.Kind) wording.Sentence {
	does, _, _ := c.act()
	if does == nil || kind == operation.KindDelete || c.sends() {
		return nil
	}
	rule := wording.Clause{Phrase: "a rule"}
	if c.has("filter", "filters") {
		rule.Phrase = "a filter"
	}
	for _, key := range c.keys {
		if to := c.args[key]; spoken.IsEnd("texts forwards", key) && len(to) > 0 && strings.Contains(to[0], "@") {
			return wording.Sentence{{Phrase: does.Phrase, Args: []wording.Clause{rule}}, {Phrase: "that forwards mail to %s", Args: []wording.Clause{named(to)}}}
		}
	}
	return nil
}

// besides returns the words that come with a change of a thing, or "".
func (c *call) besides(t *toolName) string {
	if !t.act.Partly || t.act.Phrase == "creates %s" {
		return ""
	}
	return c.first("comment", "commentbody")
}

// added adds to what a tool does the words that come with it: an answer, a role, a comment, or what
// a thing without a name is about.
func (c *call) added(out wording.Sentence, t *toolName, bare bool) wording.Sentence {
	if said := c.first("response", "answer", "reply"); said != "" {
		return append(out, wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(said)}})
	}
	out = c.ranked(out, t)
	if said := c.besides(t); said != "" {
		return append(out, wording.Clause{Phrase: besidesComment, Args: []wording.Clause{prose(said)}})
	}
	if value := c.recorded(t); value != "" {
		return append(out, wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(value)}})
	}
	if only := c.values(spoken.List("things-that parts")); t.act.Phrase == "empties %s" && len(only) > 0 {
		return append(out, wording.Clause{Phrase: ": %s", Args: []wording.Clause{named(only)}})
	}
	if price := c.amount(); t.act.Paid && len(price) == 1 {
		return c.priced(out, t, price[0])
	}
	if said := c.amongMany(t, bare); said != nil {
		return append(out, said...)
	}
	if about := c.about(t.plural); bare && about.Phrase != "" && !tells(out, about) {
		out = append(out, about)
	}
	return out
}

// amongMany says how many things a tool is told to act on or, of one for all of them, which.
func (c *call) amongMany(t *toolName, bare bool) wording.Sentence {
	for _, many := range []string{"count", "maxcount", "quantity"} {
		if t.plural && c.first(many) != "" {
			return c.inBrackets([]string{many})
		}
	}
	if t.all && bare {
		return bracketed(c.details(mostNamed, titleKey, idKey, otherKey))
	}
	return nil
}

// settledBy adds the account of somebody to whom money may go from then on.
func (c *call) settledBy(said wording.Sentence, t *toolName) wording.Sentence {
	account := c.first("iban", "accountnumber")
	if account == "" || !t.act.Makes || strings.Contains(said.String(), account) || len(said[0].Args) != 1 || len(said[0].Args[0].Args) == 0 {
		return said
	}
	return said.And("(%s)", account)
}

// ranked adds as what somebody is added or gets to see something, and who that is.
func (c *call) ranked(said wording.Sentence, t *toolName) wording.Sentence {
	said = c.settledBy(said, t)
	role := c.first("role", "permission", "accesslevel", "access")
	if all := c.mayAll(); role == "" && all != "" && (t.act.Makes || t.act.Phrase == "invites %s") {
		return said.And("as %s", all)
	}
	rights := t.act.Partly && t.rights()
	said = c.forWhom(said, t, rights)
	as := slices.Contains([]wording.Phrase{"adds %s", "invites %s", "shares %s", "assigns %s"}, t.act.Phrase) && !stands(said.String(), role)
	if role == "" || !rights && !as {
		return said
	}
	return append(said, wording.Say("as %s", role))
}

// mayAll returns what an argument calls somebody who may do everything, or "".
func (c *call) mayAll() string {
	for _, key := range spoken.List("people-rights all") {
		if c.first(key) == "true" {
			return strings.TrimPrefix(c.spelled[key], "is ")
		}
	}
	return ""
}

// forWhom adds who has the rights that the tool changes, or that everyone has.
func (c *call) forWhom(said wording.Sentence, t *toolName, rights bool) wording.Sentence {
	whom := c.first("email", "emailaddress", "user", "userid", "username", "grantee")
	switch {
	case rights && c.shownToAll(), c.admits && c.opens(t):
		return append(said, wording.Clause{Phrase: "for everyone"})
	case rights && whom != "" && !strings.Contains(said.String(), whom):
		return said.And("for %s", whom)
	default:
		return said
	}
}

// recorded returns what a DNS record that is made or changed says, or "".
func (c *call) recorded(t *toolName) string {
	if t.thing == nil || !slices.Contains(t.thing.Words, "dns-record") || !t.act.Partly && !t.act.Makes {
		return ""
	}
	return c.first("content", "value", "data", "rdata")
}

// priced adds what is paid, and to what the thing belongs.
func (c *call) priced(said wording.Sentence, t *toolName, price wording.Clause) wording.Sentence {
	if whose := c.booked(t); whose != nil && len(said) == 1 {
		said = append(said, wording.Clause{Phrase: "of %s", Args: []wording.Clause{*whose}})
	}
	return append(said, wording.Clause{Phrase: "(%s)", Args: []wording.Clause{price}})
}

// booked returns the other thing that is named, to which the paid one belongs: the booking of a seat.
func (c *call) booked(t *toolName) *wording.Clause {
	for _, key := range c.keys {
		if thing := spoken.ThingAt(key); thing != nil && thing != t.thing && thing.Final && len(c.args[key]) > 0 {
			return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[key])}}
		}
	}
	return nil
}

// tells reports whether a sentence already names what a clause is about.
func tells(said wording.Sentence, about wording.Clause) bool {
	what := about.Args[0].String()
	return anyThing(said, func(text string) bool { return text == what })
}

// version is a word that tells one tool from an older one, or one behind which the name leaves the rest to the arguments.
var version = regexp.MustCompile(`^(v[0-9]+|after|before)$`)

// unversioned returns the words of a name without such a word at their end.
func unversioned(words []string) []string {
	if n := len(words); n > 0 && version.MatchString(words[n-1]) {
		return words[:n-1]
	}
	return words
}

// issue describes what a tool files in a tracker.
func (c *call) issue(operation.Kind) wording.Sentence {
	if t, _ := c.named(); !c.does("create open new add file", "issue issues bug") || t.thing != nil && !slices.Contains(t.thing.Words, "issue") {
		return nil // what is added may be a part of one
	}
	where := c.repository("project", "projectkey", "team", "teamid", "teamkey", "board")
	var in []string
	if where != "" {
		in = []string{where}
	}
	return c.sent("creates an issue in %s: %s", "creates an issue in %s", "creates an issue: %s", in, c.first("title", "summary", "subject", "name"))
}

// draft describes what a tool prepares for somebody without sending it.
func (c *call) draft(kind operation.Kind) wording.Sentence {
	if kind != operation.KindCreate || !c.has("draft", "drafts") {
		return nil
	}
	return c.sent("keeps a draft to %s: %s", "keeps a draft to %s", "keeps a draft: %s", c.all("to", "recipient", "recipients", "cc", "bcc"),
		c.first("subject", "title", "body", "text", "message", "content"))
}

// event describes what a tool puts into a calendar, and who is invited.
func (c *call) event(operation.Kind) wording.Sentence {
	if !c.does("create add schedule new insert book invite send", "event events meeting appointment invite") {
		return nil
	}
	who, what := c.guests(), c.first("title", "summary", "subject", "name")
	if len(who) > 0 {
		what = cmp.Or(what, c.first("topic"))
	}
	said := c.sent("invites %s: %s", "invites %s", "creates an event: %s", who, what)
	if where := c.first("calendar", "calendarid"); said != nil && where != "" && where != "primary" {
		return append(said, wording.Clause{Phrase: inside, Args: []wording.Clause{{Phrase: "the calendar %s", Args: []wording.Clause{{Text: where}}}}})
	}
	return said
}

// guests returns those who are invited, also where the key says to what.
func (c *call) guests() []string {
	if who := c.all(invited()...); len(who) > 0 {
		return who
	}
	for _, key := range c.keys {
		if spoken.IsEnd("people invited", key) && len(c.args[key]) > 0 {
			return c.args[key]
		}
	}
	return nil
}

// invited are the keys of arguments that say who is invited.
func invited() []string {
	return []string{"attendees", "participants", "guests", "invitees", "to", "emails"}
}
