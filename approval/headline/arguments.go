package headline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// unwrapped are the arguments of a tool that takes them all below one key.
func unwrapped(args map[string]any) map[string]any {
	for len(args) == 1 {
		for _, v := range args {
			inner, ok := v.(map[string]any)
			if !ok || texts(v) != nil {
				return args
			}
			args = inner
		}
	}
	return args
}

// texts are the plain values of an argument, of a list one for each.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e)...)
		}
		return out
	case map[string]any:
		return member(v)
	default:
		return []string{fmt.Sprint(v)}
	}
}

// member are the plain values of what an object is named by.
func member(object map[string]any) []string {
	if name, ok := object["name"].(string); ok && object["value"] != nil {
		if words := reading.Words(name); len(words) > 0 && kindOf(words[len(words)-1]) == titleKey {
			return texts(object["value"]) // It is a field that is called so.
		}
	}
	for _, key := range []string{"email", "emailAddress", "address", "login", "name", "id", "path", "value", "amount"} {
		if object[key] != nil {
			return texts(object[key])
		}
	}
	return nil
}

// names are the names or numbers of a thing, as the arguments tell them, and the key:
// one that is one of its words, or one that says no more than that it names.
func (c *call) names(thing *spoken.Thing, made bool, words ...string) (names []string, key string) {
	stems := []string{""}
	for _, w := range words {
		stems = append(stems, spoken.Singular(w)...)
	}
	titled := false
	if thing != nil {
		titled = thing.Titled && made
		for _, w := range slices.Concat(thing.Words, thing.Keys) {
			stems = append(stems, strings.ReplaceAll(w, "-", ""))
		}
	}
	passed := func(end string) bool {
		return end == "title" && titled || (end == "email" || end == "username") && nobody(thing)
	}
	if len(words) > 1 && words[0] != words[1] { // A key that says all of it is surer than one that says a part.
		if names, key := c.ends(spoken.Singular(words[0]), passed); len(names) > 0 {
			return names, key
		}
	}
	return c.ends(stems, passed)
}

// ends are the values of the first argument that is called as one of the stems, with what
// names end with, and the key; some ends are passed over.
func (c *call) ends(stems []string, passed func(end string) bool) (names []string, key string) {
	for _, end := range []string{
		"iid", "number", "id", "gid", "uid", "uuid", "name", "key", "slug", "", "title", "email", "username", "path", "arn",
		"idorkey", "idorname", "nameorid", "ids", "numbers", "names", "keys", "s", "inputs", "items",
	} {
		if passed(end) {
			continue
		}
		if names, key := c.under(stems, end); len(names) > 0 && !slices.Contains(amounts(), key) {
			return names, key
		}
	}
	return nil, ""
}

// nobody reports whether a thing is known, and is none that has a name and an address.
func nobody(thing *spoken.Thing) bool {
	return thing != nil && !slices.ContainsFunc(thing.Words, somebody)
}

// somebody reports whether a noun means one who has a name and an address.
func somebody(noun string) bool { return spoken.Is("people names", noun) }

// under are the values of the first argument whose key is one of the stems with an end.
func (c *call) under(stems []string, end string) (names []string, key string) {
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		if stem, ok := strings.CutSuffix(key, end); !ok || key == "" || key == "s" || !slices.Contains(stems, stem) || spoken.Is("texts run", key) {
			continue
		}
		found := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if len(found) > 0 && !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "\n") }) {
			return found, key
		}
	}
	return nil, ""
}

// empty reports whether a value names nothing.
func empty(s string) bool { return strings.TrimSpace(s) == "" || s == "true" || s == "false" }

// repository is the repository or project in which a tool works, with its owner.
func (c *call) repository(others ...string) string {
	where := c.first(append([]string{"repo", "repository", "reponame", "repositoryname", "reposlug", "projectid"}, others...)...)
	if owner := c.first("owner", "org", "organization", "namespace", "workspace"); owner != "" && where != "" && !strings.Contains(where, "/") {
		return owner + "/" + where
	}
	return where
}

// forge reports whether a tool works in a repository, whose branches are not those of a
// database.
func (c *call) forge() bool {
	return c.first("repo", "repository", "reponame", "reposlug", "repoid", "repositoryid") != "" ||
		slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("forges names", w) })
}

// byName reports whether the judge goes by the tool's name alone.
func (o *one) byName() bool {
	return slices.ContainsFunc(o.said, func(c wording.Clause) bool { return c.Phrase == wording.ByTheTool })
}

// byVerb says what a tool does of which the judge knows the name alone. The judge
// graded its kind; what the verb does to which thing tells more. Where the name says
// no more, the arguments do.
func (c *call) byVerb(worst *one) wording.Sentence {
	if !worst.byName() {
		return nil
	}
	said, t := c.object()
	switch {
	case said == nil && c.verbless():
		worst.forget() // A verb of its arguments may be done to anything.
		return c.told(c.called())
	case said == nil:
		return c.guessed(worst)
	}
	undo := t.undo(worst.undo, c.forge(), c.repository() != "" && c.first("branch", "message", "commitmessage") != "", worst.kind == operation.KindSpend)
	if pays := t.act.Makes && t.act.Turns && c.amount() != ""; undo == operation.Irreversible || !pays && !c.deletes() {
		worst.undo = undo
	}
	c.reached(worst, t)
	return said
}

// reached is whom it touches what a tool does by its name, as far as that is told.
func (c *call) reached(worst *one, t *toolName) {
	switch {
	case worst.kind == operation.KindPublish && t.act.Sets: // That another word of its name publishes is not what it does.
		worst.undo, worst.reach = operation.Partial, operation.ReachShared
	case worst.kind == operation.KindPeople && t.act.Phrase == "sends %s" && t.thing != nil && t.thing.Final:
		worst.reach = operation.ReachPublic // Whom it is sent to, the call does not tell.
	}
	if worst.reach == operation.ReachPublic && c.among(t) || worst.kind == operation.KindCredentials {
		worst.reach = operation.ReachShared // As a push to it does, and who else has the secret is not told.
	}
}

// among reports whether what a tool does stays among those who work on the same.
func (c *call) among(t *toolName) bool {
	return c.repository() != "" || c.members() || t.act.Phrase == deploys || t.queue()
}

// verbless reports whether no word of the tool's name is a verb, so that it leaves to an
// argument what is done.
func (c *call) verbless() bool {
	act, _, _ := c.verb()
	return act == nil && c.first("action") != ""
}

// deploys says that what runs for others is another version then.
const deploys wording.Phrase = "deploys %s"

// members reports whether the tool is of a service of which only members read what is
// written.
func (c *call) members() bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("members names", w) })
}

// told is what the judge says by the name alone, with the first of the arguments.
func (c *call) told(said wording.Sentence) wording.Sentence {
	if slices.ContainsFunc(said, func(c wording.Clause) bool { return c.Phrase == "(%s)" }) {
		return said
	}
	if details := c.details(mostNamed, titleKey, idKey, otherKey); len(details) > 0 {
		return said.And("(%s)", strings.Join(details, ", "))
	}
	return said
}

// details are the short values of the first arguments of these kinds, those of one
// kind before those of the next.
func (c *call) details(most int, kinds ...int) []string {
	keys := slices.SortedFunc(maps.Keys(c.args), func(a, b string) int {
		return cmp.Or(cmp.Compare(kindOf(a), kindOf(b)), strings.Compare(a, b))
	})
	var out []string
	for _, key := range keys {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if len(out) == most || len(values) == 0 || !slices.Contains(kinds, kindOf(key)) {
			continue
		}
		s := named(values)
		if text := s.String(); utf8.RuneCountInString(text) <= longestProse && !strings.Contains(text, "\n") {
			out = append(out, text)
		}
	}
	return out
}

// about is what the arguments tell of a thing that has no name, or of several.
func (c *call) about(several bool) wording.Clause {
	if several {
		if told := c.details(mostNamed, idKey); len(told) > 0 {
			return wording.Say("(%s)", strings.Join(told, ", "))
		}
		return wording.Clause{}
	}
	told := append(c.details(1, titleKey), c.details(mostNamed, otherKey)...)
	where := c.repository()
	told = slices.DeleteFunc(told, func(s string) bool { return where == s || strings.HasSuffix(where, "/"+s) }) // It is said by itself.
	if len(told) == 0 {
		return wording.Clause{}
	}
	at := max(0, slices.IndexFunc(told, func(s string) bool { return strings.Trim(s, "0123456789.") != "" }))
	return wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(told[at])}}
}

// The kinds of arguments, in the order in which they are told.
const (
	titleKey = iota // what it is called, or says
	idKey           // what it is known by
	otherKey
)

// kindOf is the kind of an argument by its key.
func kindOf(key string) int {
	switch {
	case slices.Contains([]string{"title", "subject", "topic", "summary", "name", "text", "message", "body", "content"}, key):
		return titleKey
	case slices.ContainsFunc([]string{"id", "ids", "key", "name", "owner"}, func(end string) bool { return strings.HasSuffix(key, end) }):
		return idKey
	default:
		return otherKey
	}
}

// holder is the user or the account that the arguments name, nil if they name none.
func (c *call) holder() *wording.Clause {
	for _, noun := range []string{"user", "account", "customer", "member"} {
		thing, _, _ := spoken.ThingOf([]string{noun})
		if names, _ := c.names(&spoken.Thing{}, false, noun); len(names) == 1 {
			return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(names)}}
		}
	}
	return nil
}
