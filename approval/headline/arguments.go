package headline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// unwrapped returns the arguments of a tool that takes all of them under one key. An object with a name
// may be a thing itself, but not under a key that says only that arguments follow.
func unwrapped(args map[string]any) map[string]any {
	for len(args) == 1 {
		for key, v := range args {
			inner, ok := v.(map[string]any)
			if !ok || texts(v) != nil && !spoken.Is("texts envelopes", reading.Normal(key)) {
				return args
			}
			args = inner
		}
	}
	return args
}

// unfolded returns the arguments with lists of objects in the place of texts that hold them in JSON, where a key says that
// several things follow.
func unfolded(args map[string]any) map[string]any {
	out := maps.Clone(args)
	for key, v := range args {
		text, _ := v.(string)
		thing, plural, _ := spoken.ThingOf(reading.Words(key))
		var list []any
		if listed := spoken.Is("steps keys", reading.Normal(key)) || thing != nil && plural; !listed || !isDocument(text) || strictjson.Unmarshal([]byte(text), &list) != nil {
			continue
		}
		if !slices.ContainsFunc(list, func(e any) bool { _, object := e.(map[string]any); return !object }) {
			out[key] = list
		}
	}
	return out
}

// texts returns the plain values of an argument; a list yields one for each element.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if _, row := e.([]any); row {
				continue // of a table: its cells name nothing
			}
			names := texts(e)
			if part, ok := e.(map[string]any); ok && names == nil {
				names = titleOf(part)
			}
			out = append(out, names...)
		}
		return out
	case map[string]any:
		return member(v)
	default:
		return []string{fmt.Sprint(v)}
	}
}

// titleOf returns the title or the text of one of several things that are described, or the address of
// one of several people, also where what it is called by lies deeper.
func titleOf(object map[string]any) []string {
	if title, ok := object["title"].(string); ok {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if name, ok := object[key].(string); ok && strings.HasSuffix(reading.Normal(key), "id") {
				return []string{name} // a title may be anything
			}
		}
		return []string{title}
	}
	for _, key := range []string{"properties", "billing_info"} {
		if inner, ok := object[key].(map[string]any); ok {
			return append(member(inner), titleOf(inner)...)
		}
	}
	if summary, ok := object["summary"].(string); ok {
		return []string{summary}
	}
	text, _ := object["text"].(map[string]any)
	return append(texts(text["content"]), texts(text["text"])...)
}

// member returns the plain values by which an object is named.
func member(object map[string]any) []string {
	if name, ok := object["name"].(string); ok && object["value"] != nil {
		if words := reading.Words(name); len(words) > 0 && kindOf(words[len(words)-1]) == titleKey {
			return texts(object["value"]) // a form field with this name
		}
	}
	if object["key"] != nil && object["value"] != nil {
		return texts(object["key"])
	}
	for _, name := range []string{"email", "emailaddress", "address", "login", "name", "id", "path", "filename", "value", "amount", "question"} {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if reading.Normal(key) == name && object[key] != nil {
				return texts(object[key])
			}
		}
	}
	return append(typed(object, "S"), typed(object, "N")...)
}

// typed returns the value of an object that only says of which type it is: {"S": "o-1"}.
func typed(object map[string]any, as string) []string {
	if value, ok := object[as].(string); ok && len(object) == 1 {
		return []string{value}
	}
	return nil
}

// elements takes what the elements of a list say as arguments: who gets how much, or the only thing of
// which the tool speaks.
func (c *call) elements(key string, list []any) {
	c.roleOfAll(list)
	c.changeOfAll(list)
	for _, e := range list {
		part, ok := e.(map[string]any)
		switch name := reading.Normal(key); {
		case !ok:
		case transfers(part), len(list) == 1 && c.single(key, part):
			c.take(part)
		case len(list) == 1 && name == "ingress" && part["port"] != nil:
			c.take(part)
		case len(list) == 1 && (name == "items" || name == "lineitems") && c.has("invoice", "invoices", "bill", "bills"):
			c.take(priceOf(part))
		}
	}
}

// roleOfAll takes the role that all elements of a list have for an argument, unless there is one.
func (c *call) roleOfAll(list []any) {
	role := ""
	for i, e := range list {
		part, _ := e.(map[string]any)
		its, _ := part["role"].(string)
		if its == "" || i > 0 && its != role {
			return
		}
		role = its
	}
	if role != "" && len(c.args["role"]) == 0 {
		c.args["role"], c.spelled["role"] = []string{role}, "role"
	}
}

// changeOfAll takes what all elements of a list are changed to, unless an argument says it.
func (c *call) changeOfAll(list []any) {
	var same map[string]any
	for i, e := range list {
		part, _ := e.(map[string]any)
		to := map[string]any{}
		for key, v := range part {
			if held, ok := v.(map[string]any); ok && spoken.Is("texts changes", reading.Normal(key)) {
				maps.Copy(to, held)
			}
		}
		if i == 0 {
			same = to
		}
		maps.DeleteFunc(same, func(key string, v any) bool { return len(texts(v)) != 1 || !slices.Equal(texts(v), texts(to[key])) })
	}
	if len(list) > 1 && len(same) > 0 && c.updates() {
		c.take(same)
	}
}

// single reports whether the only element of a list under a key is a new thing that is described by
// what the element holds: a page with a title, which has no name.
func (c *call) single(key string, part map[string]any) bool {
	thing, plural, _ := spoken.ThingOf([]string{reading.Normal(key)})
	if thing == nil || !plural || texts(part) != nil {
		return false
	}
	if of, many, _ := spoken.ThingOf(c.words); of == thing && many {
		c.words = append(slices.Clone(c.words[:len(c.words)-1]), thing.Words[0])
	}
	return true
}

// names returns the names or numbers that the arguments give the thing, and the key they
// are under: a key that is one of the thing's words, or a general one such as "id" or
// "name".
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
	if len(words) > 1 && words[0] != words[1] { // a key that matches all the words is more certain than one that matches some
		if names, key := c.ends(spoken.Singular(words[0]), passed); len(names) > 0 {
			return names, key
		}
	}
	return c.ends(stems, passed)
}

// ends returns the values of the first argument whose key is one of the stems followed by
// one of the endings that names have, and that key. It skips the endings that passed
// accepts.
func (c *call) ends(stems []string, passed func(end string) bool) (names []string, key string) {
	for _, end := range []string{
		"iid", "number", "id", "sid", "gid", "jid", "sysid", "uid", "uuid", "name", "key", "slug", "", "title", "email", "username", "path", "arn", "identifier", "url",
		"idorkey", "idorname", "nameorid", "filename", "ids", "numbers", "names", "keys", "s", "inputs", "items",
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

// nobody reports whether a thing is known not to be somebody with a name and an address.
func nobody(thing *spoken.Thing) bool {
	return thing != nil && !slices.ContainsFunc(thing.Words, somebody)
}

// somebody reports whether a noun means somebody who has a name and an address.
func somebody(noun string) bool { return spoken.Is("people names", noun) }

// under returns the values of the first argument whose key is one of the stems followed by
// end.
func (c *call) under(stems []string, end string) (names []string, key string) {
	for _, key := range c.keys {
		if stem, ok := strings.CutSuffix(key, end); !ok || key == "" || key == "s" || key == end && slices.Contains([]string{"url", "filename"}, end) || !either(stems, stem) || spoken.Is("texts run", key) {
			continue
		}
		found := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if len(found) > 0 && !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "\n") || isDocument(s) }) {
			return found, key
		}
	}
	return nil, ""
}

// either reports whether a key is one of the stems, or says that it names this or something else:
// "pageordatabase".
func either(stems []string, key string) bool {
	first, second, _ := strings.Cut(key, "or")
	both := spoken.ThingAt(first) != nil && spoken.ThingAt(second) != nil
	return slices.Contains(stems, key) || both && (slices.Contains(stems, first) || slices.Contains(stems, second))
}

// empty reports whether a value names nothing.
func empty(s string) bool { return strings.TrimSpace(s) == "" || s == "true" || s == "false" }

// nameless reports whether a value names nothing, or just the only one that somebody has.
func nameless(value string) bool { return empty(value) || value == "primary" }

// textIn returns the text of a message that is given in JSON, or what is given.
func textIn(given string) string {
	var object map[string]any
	if isDocument(given) && strictjson.Unmarshal([]byte(given), &object) == nil {
		if text, ok := object["text"].(string); ok {
			return text
		}
	}
	return given
}

// repository returns the repository or project that a tool works in, with its owner.
func (c *call) repository(others ...string) string {
	where := c.first(append([]string{"repo", "repository", "reponame", "repositoryname", "reposlug", "projectid"}, others...)...)
	if owner := c.first("owner", "org", "organization", "namespace", "workspace"); owner != "" && where != "" && !strings.Contains(where, "/") {
		return owner + "/" + where
	}
	return where
}

// forge reports whether a tool works in a code repository. A branch there is not a database
// branch.
func (c *call) forge() bool {
	return c.first("repo", "repository", "reponame", "reposlug", "repoid", "repositoryid") != "" ||
		slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("forges names", w) })
}

// turned returns what an argument of a tool that changes a thing makes of the thing, as
// archived=true does, or else the act itself.
func (c *call) turned(act *spoken.Act) *spoken.Act {
	if !changes(act) {
		return act
	}
	for _, key := range c.keys {
		for _, value := range c.args[key] {
			if turned := spoken.Turned(key, value); turned != nil {
				return turned
			}
			words := strings.Fields(c.spelled[key])
			if does, at, n := spoken.ActIn(words); value == "true" && at == 0 && does.Phrase == "clears %s" && n < len(words) && slices.Contains(c.words, words[len(words)-1]) {
				return does // clear_values of modify_sheet_values
			}
		}
	}
	return act
}

// changes reports whether an act changes a thing in a way that only the arguments tell.
func changes(act *spoken.Act) bool {
	return slices.Contains([]wording.Phrase{"updates %s", "sets %s", "switches %s"}, act.Phrase)
}

// opens reports whether the action lets everyone see a thing.
func (c *call) opens(t *toolName) bool {
	shares := t.with == "with %s" || (t.act.Makes || t.act.Partly) && t.rights()
	return t.act.Phrase == "makes %s public" || c.admits && (t.act.Partly || t.act.Makes) || shares && c.shownToAll() || (t.act.Makes || t.act.Phrase == puts) && c.public()
}

// rights reports whether the thing is what somebody may do.
func (t *toolName) rights() bool {
	return t.thing != nil && slices.Contains(t.thing.Words, "permission")
}

// puts says that something stands where it is put, whether or not it was there before.
const puts wording.Phrase = "puts %s"

// public reports whether an argument says that everyone will see what the tool makes.
func (c *call) public() bool {
	thing, _, _ := spoken.ThingOf(c.words)
	reviewed := thing != nil && thing.Titled && thing.Versioned // a pull request that is no draft is ready for review
	for key, values := range c.args {
		for _, value := range values {
			if does := c.makesOf(key, value); does != nil && does.Final && (!reviewed || key != "draft") {
				return true
			}
		}
	}
	return false
}

// makesOf returns what an argument makes of a thing, as the last word of its key says if the whole does not: requested_visibility.
func (c *call) makesOf(key, value string) *spoken.Act {
	words := strings.Fields(c.spelled[key])
	if does := spoken.Turned(key, value); does != nil || len(words) == 0 {
		return does
	}
	return spoken.Turned(words[len(words)-1], value)
}

// shownToAll reports whether an argument says that something is for everyone.
func (c *call) shownToAll() bool {
	for _, values := range c.args {
		if slices.ContainsFunc(values, func(s string) bool { return spoken.Is("people everyone", reading.Normal(s)) }) {
			return true
		}
	}
	return false
}

// holder returns the user or account that the arguments name, or nil.
func (c *call) holder() *wording.Clause {
	for _, noun := range []string{"user", "account", "customer", "member"} {
		thing, _, _ := spoken.ThingOf([]string{noun})
		if names, _ := c.names(&spoken.Thing{}, false, noun); len(names) == 1 {
			return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(names)}}
		}
	}
	return nil
}

// unkeyed reports whether an argument names nothing that a bare verb is done to: with whom something is shared, and as
// what, is not what is shared.
func (c *call) unkeyed(key string) bool {
	does, _, _ := c.verb()
	shared := does != nil && does.With == "with %s" && (spoken.Is("people whom", key) || key == "role" || key == "permission")
	return shared || spoken.Is("things-that unkeyed", key)
}
